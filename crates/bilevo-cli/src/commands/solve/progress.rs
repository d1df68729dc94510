//! What is said on stderr while a run goes on: a live line on a terminal, elsewhere a line every few
//! seconds.

use crate::output::{digits, grouped, say, vector, warn};
use bilevo::{Engine, Event, Level, Observer};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(5);

/// Shows the share of the upper evaluations that is used, evaluations at both levels, best F, step
/// size, skipped searches, and the time left if all upper evaluations are used.
pub(super) struct Progress {
    bar: ProgressBar,
    budget: u64,
    upper: u64,
    lower: u64,
    skipped: u64,
    best: String,
    pace: Pace,
    said: Instant,
    /// Whether a failed evaluation was told; all are counted in the result.
    told_failure: bool,
}

impl Progress {
    /// For a run of `engine`.
    pub(super) fn new(engine: &Engine) -> Self {
        let budget = engine.sizes().budget.upper_evals;
        let bar = ProgressBar::with_draw_target(Some(budget), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:12} {percent:>3}% {wide_msg}") {
            bar.set_style(style);
        }
        let now = Instant::now();
        let evaluations = engine.summary().evaluations;
        let (upper, lower) = (evaluations.upper, evaluations.lower);
        let pace = Pace { started: now, at_start: upper };
        Progress { bar, budget, upper, lower, skipped: 0, best: "F –".into(), pace, said: now, told_failure: false }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn words(&self, now: Instant) -> String {
        let (upper, lower, skipped) = (grouped(self.upper), grouped(self.lower), grouped(self.skipped));
        let left = self.pace.left(now, self.upper, self.budget);
        let left = left.map(|left| format!(" · at most {} left", HumanDuration(left))).unwrap_or_default();
        format!("{upper} + {lower} evals · {} · {skipped} skipped{left}", self.best)
    }

    fn show(&mut self) {
        let now = Instant::now();
        if !self.bar.is_hidden() {
            self.bar.set_position(self.upper);
            self.bar.set_message(self.words(now));
        } else if now - self.said >= EVERY {
            self.said = now;
            say(self.words(now));
        }
    }
}

/// How fast upper evaluations are used.
struct Pace {
    started: Instant,
    at_start: u64,
}

impl Pace {
    /// Time left at this pace; unknown before the first upper evaluations.
    fn left(&self, now: Instant, used: u64, budget: u64) -> Option<Duration> {
        let done = used.checked_sub(self.at_start).filter(|done| *done > 0)?;
        let rest = budget.saturating_sub(used) as f64 / done as f64;
        Duration::try_from_secs_f64((now - self.started).as_secs_f64() * rest).ok()
    }
}

impl Observer for Progress {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::BatchDone { level, points } => match level {
                Level::Upper => self.upper += *points as u64,
                Level::Lower => self.lower += *points as u64,
            },
            Event::GenerationDone { record, .. } => {
                self.skipped = record.lower_searches.skipped;
                self.best = format!("F {} · step {}", digits(record.upper_value, 3), digits(record.step_size, 3));
            }
            Event::EvaluationFailed { level, x, y, failure, .. } if !self.told_failure => {
                self.told_failure = true;
                let at = format!("x = {}, y = {}", vector(x), vector(y));
                let words = format!("the first failed evaluation, at the {level} level: {failure}\n  at {at}");
                self.bar.suspend(|| warn(words));
            }
            Event::SaveFailed { error } => self.bar.suspend(|| warn(format_args!("{error}; the run goes on"))),
            Event::Finished { .. } => self.clear(),
            _ => return ControlFlow::Continue(()),
        }
        self.show();
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_unknown_before_the_first_upper_evaluations() {
        let started = Instant::now();
        let pace = Pace { started, at_start: 100 };
        let at = |seconds, used| pace.left(started + Duration::from_secs(seconds), used, 300);
        assert_eq!(at(10, 100), None);
        assert_eq!(at(10, 200), Some(Duration::from_secs(10)));
        assert_eq!(at(10, 300), Some(Duration::ZERO));
        assert_eq!(at(10, 310), Some(Duration::ZERO));
    }
}
