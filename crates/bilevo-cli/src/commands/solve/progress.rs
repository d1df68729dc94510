//! Progress on stderr: a live line on a terminal, otherwise a line every few seconds.

use crate::output::{digits, grouped, point, say, warn};
use bilevo::{Engine, Event, Level, Names, Observer};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Time between two lines without a terminal.
const EVERY: Duration = Duration::from_secs(5);

/// Shows the evaluations at both levels, the best F, the step size, and skipped searches. If the run has a limit, it
/// also shows how much of it is used and, once that can be estimated, the time left. How long a run takes that ends
/// by itself is unknown.
pub(super) struct Progress {
    bar: ProgressBar,
    limits: Limits,
    used: Used,
    /// Evaluations of the current batch that are already counted.
    counted: usize,
    skipped: u64,
    best: String,
    pace: Pace,
    said: Instant,
    /// Whether a failed evaluation has been reported; the result counts all of them.
    told_failure: bool,
    names: Option<Names>,
}

impl Progress {
    /// For a run of `engine` that may take this much time.
    pub(super) fn new(engine: &Engine, time: Option<Duration>) -> Self {
        let stop = &engine.config().stop;
        let limits = Limits { upper: stop.max_upper_evals, lower: stop.max_lower_evals, time };
        let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr_with_hz(10));
        let template = if limits.are_none() { "{spinner} {wide_msg}" } else { "{bar:12} {percent:>3}% {wide_msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let now = Instant::now();
        let evaluations = engine.summary().evaluations;
        let used = Used { upper: evaluations.upper, lower: evaluations.lower, seconds: 0.0 };
        Progress {
            bar,
            pace: Pace { started: now, at_start: limits.budget_share(&used).unwrap_or(0.0) },
            limits,
            used,
            counted: 0,
            skipped: 0,
            best: "F –".into(),
            said: now,
            told_failure: false,
            names: Names::of(engine.spec()),
        }
    }

    /// Removes the line.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn words(&self, now: Instant) -> String {
        let (upper, lower) = (grouped(self.used.upper), grouped(self.used.lower));
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!(" · {} searches skipped", grouped(skipped)),
        };
        let left = self.limits.left(&self.used, &self.pace, now).map(|words| format!(" · {words}")).unwrap_or_default();
        format!("{upper} upper + {lower} lower evaluations · {}{skipped}{left}", self.best)
    }

    /// Counts the completed points of a batch.
    fn count(&mut self, level: Level, done: usize) {
        let new = done.saturating_sub(self.counted) as u64;
        match level {
            Level::Upper => self.used.upper += new,
            Level::Lower => self.used.lower += new,
        }
        self.counted = self.counted.max(done);
    }

    fn show(&mut self) {
        let now = Instant::now();
        if !self.bar.is_hidden() {
            match self.limits.share(&self.used) {
                Some(share) => self.bar.set_position((share * PARTS as f64) as u64),
                None => self.bar.tick(),
            }
            self.bar.set_message(self.words(now));
        } else if now - self.said >= EVERY {
            self.said = now;
            say(self.words(now));
        }
    }
}

/// Steps of a full bar.
const PARTS: u64 = 1000;

/// The limits of the run.
struct Limits {
    upper: Option<u64>,
    lower: Option<u64>,
    time: Option<Duration>,
}

/// What has been used of them, including earlier sessions.
struct Used {
    upper: u64,
    lower: u64,
    seconds: f64,
}

impl Limits {
    fn are_none(&self) -> bool {
        self.upper.is_none() && self.lower.is_none() && self.time.is_none()
    }

    /// The largest used share of any limit; `None` without a limit.
    fn share(&self, used: &Used) -> Option<f64> {
        let time = self.time.map(|limit| used.seconds / limit.as_secs_f64());
        let time = time.map(|share| if share.is_nan() { 1.0 } else { share.min(1.0) });
        self.budget_share(used).into_iter().chain(time).reduce(f64::max)
    }

    /// The larger used share of the two budgets; `None` without a budget.
    fn budget_share(&self, used: &Used) -> Option<f64> {
        let shares = [
            self.upper.map(|limit| used.upper as f64 / limit as f64),
            self.lower.map(|limit| used.lower as f64 / limit as f64),
        ];
        shares.into_iter().flatten().map(|share| share.min(1.0)).reduce(f64::max)
    }

    /// Which limit comes first, and when. A time limit is known to the second, a budget only at the current pace.
    fn left(&self, used: &Used, pace: &Pace, now: Instant) -> Option<String> {
        let budget = self.budget_share(used).and_then(|share| pace.left(now, share));
        let time =
            self.time.map(|limit| limit.saturating_sub(Duration::try_from_secs_f64(used.seconds).unwrap_or_default()));
        match (budget, time) {
            (Some(budget), time) if time.is_none_or(|time| budget < time) => {
                Some(format!("budget spent in about {}", HumanDuration(budget)))
            }
            (_, Some(time)) => Some(format!("at most {} left", HumanDuration(time))),
            (_, None) => None,
        }
    }
}

/// How fast a budget is used.
struct Pace {
    started: Instant,
    at_start: f64,
}

impl Pace {
    /// Before this share is used, an estimate would be a guess, ...
    const SAMPLE: f64 = 0.05;
    /// ... and likewise before this time.
    const SOON: Duration = Duration::from_secs(3);

    /// Time left at the current pace, once it can be estimated.
    fn left(&self, now: Instant, share: f64) -> Option<Duration> {
        let (done, elapsed) = (share - self.at_start, now - self.started);
        let known = done > 0.0 && done >= Pace::SAMPLE * (1.0 - self.at_start) && elapsed >= Pace::SOON;
        known.then(|| Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - share) / done).ok()).flatten()
    }
}

impl Observer for Progress {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::BatchDone { level, points, .. } => {
                self.count(*level, *points);
                self.counted = 0;
            }
            Event::GenerationDone { record, times, .. } => {
                self.used.seconds = times.seconds;
                self.skipped = record.lower_searches.skipped;
                self.best = format!("F {} · step size {}", digits(record.upper_value, 3), digits(record.step_size, 3));
            }
            Event::Progress { engine, under_way: (level, points), times } => {
                self.count(*level, *points);
                self.used.seconds = times.seconds;
                if let Some(solution) = engine.summary().solution {
                    self.best = format!("F {}", digits(solution.upper_value, 3));
                }
            }
            Event::EvaluationFailed { level, x, y, failure, .. } if !self.told_failure => {
                self.told_failure = true;
                let at = match &self.names {
                    Some(names) => format!("{}, {}", point(Some(&names.x), x), point(Some(&names.y), y)),
                    None => format!("x = {}, y = {}", point(None, x), point(None, y)),
                };
                let words = format!("the first failed evaluation, at the {level} level: {failure}\n  at {at}");
                self.bar.suspend(|| warn("W301", words));
            }
            Event::SaveFailed { error } => {
                self.bar.suspend(|| warn("W401", format_args!("{error}; the run continues")))
            }
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

    const NONE: Limits = Limits { upper: None, lower: None, time: None };

    fn used(upper: u64, seconds: f64) -> Used {
        Used { upper, lower: 7, seconds }
    }

    #[test]
    fn the_bar_shows_whatever_ends_the_run_first() {
        let both = Limits { upper: Some(200), time: Some(Duration::from_secs(40)), ..NONE };
        assert_eq!(NONE.share(&used(100, 10.0)), None);
        assert_eq!(both.share(&used(100, 10.0)), Some(0.5));
        assert_eq!(both.share(&used(100, 30.0)), Some(0.75));
        assert_eq!(both.share(&used(900, 0.0)), Some(1.0));
    }

    #[test]
    fn the_time_left_is_told_when_it_is_known() {
        let (started, seconds) = (Instant::now(), Duration::from_secs);
        let pace = Pace { started, at_start: 0.25 };
        let left = |limits: &Limits, used: Used, at| limits.left(&used, &pace, started + seconds(at));
        let budget = Limits { upper: Some(200), ..NONE };
        let both = Limits { time: Some(seconds(25)), ..budget };
        assert_eq!(left(&NONE, used(100, 10.0), 10), None);
        assert_eq!(left(&budget, used(51, 10.0), 10), None, "too little was done");
        assert_eq!(left(&budget, used(100, 1.0), 1), None, "too early");
        assert_eq!(left(&budget, used(100, 10.0), 10).unwrap(), "budget spent in about 20 seconds");
        assert_eq!(left(&both, used(100, 10.0), 10).unwrap(), "at most 15 seconds left");
        assert_eq!(left(&both, used(100, 4.0), 10).unwrap(), "budget spent in about 20 seconds");
        assert_eq!(left(&both, used(51, 1.0), 1).unwrap(), "at most 24 seconds left");
        assert_eq!(left(&budget, used(200, 10.0), 10).unwrap(), "budget spent in about 0 seconds");
    }
}
