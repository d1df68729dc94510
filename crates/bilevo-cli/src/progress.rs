//! The live line on stderr while a run goes on; invisible unless stderr is a terminal.

use crate::output::{digits, grouped};
use bilevo::{Event, Level, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;

/// Shows the share of the upper evaluations that is used, evaluations at both levels, best F, step
/// size, skipped searches, and the time left if all upper evaluations are used.
pub(crate) struct Progress {
    bar: ProgressBar,
    upper: u64,
    lower: u64,
    skipped: u64,
    best: String,
}

impl Progress {
    /// A line for a run that may spend `budget` upper evaluations.
    pub(crate) fn new(budget: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(budget), ProgressDrawTarget::stderr_with_hz(10));
        let template = "{bar:12} {percent:>3}% {wide_msg} {eta:>4} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar, upper: 0, lower: 0, skipped: 0, best: "F –".into() }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints words above the line.
    pub(crate) fn warn(&self, text: &str) {
        self.bar.suspend(|| crate::output::warn(text));
    }

    fn draw(&self) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position(self.upper);
        let (upper, lower) = (grouped(self.upper), grouped(self.lower));
        self.bar.set_message(format!("{upper} + {lower} evals · {} · {} skipped", self.best, grouped(self.skipped)));
    }
}

impl Observer for Progress {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Started { engine } => {
                let evaluations = engine.summary().evaluations;
                (self.upper, self.lower) = (evaluations.upper, evaluations.lower);
            }
            Event::BatchDone { level, points } => match level {
                Level::Upper => self.upper += *points as u64,
                Level::Lower => self.lower += *points as u64,
            },
            Event::GenerationDone { record, .. } => {
                self.skipped = record.lower_searches.skipped;
                self.best = format!("F {} · step {}", digits(record.upper_value, 3), digits(record.step_size, 3));
            }
            Event::SaveFailed { error } => self.warn(&format!("{error}; the run goes on")),
            Event::Finished { .. } => self.clear(),
            _ => return ControlFlow::Continue(()),
        }
        self.draw();
        ControlFlow::Continue(())
    }
}
