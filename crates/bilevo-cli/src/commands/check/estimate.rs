//! What a run will roughly take.

use super::time;
use crate::output::grouped;
use bilevo::ProblemSpec;
use bilevo::config::Config;
use bilevo::methods::Method;
use serde::Serialize;

/// Evaluations of both levels and the seconds they take, the method's own time included.
#[derive(Serialize)]
pub(super) struct Estimate {
    method: String,
    /// From, where it is known, and to.
    evaluations: (Option<u64>, u64),
    seconds: (Option<f64>, f64),
}

/// Half of the problems of 2 to 5 variables in the guide's tables take between 800 and 2,500 evaluations, those
/// with hard followers up to 10,000; with a known optimum runs end at it.
const USUAL: (f64, f64) = (800.0, 5_000.0);
const USUAL_TO_TARGET: (f64, f64) = (150.0, 2_500.0);
/// The share of upper evaluations in them.
const UPPER_SHARE: f64 = 0.45;
/// The own time of nested methods for an evaluation.
const NESTED_SECONDS: f64 = 1e-6;

impl Estimate {
    /// For a problem whose evaluations take so many seconds at the two levels.
    pub(super) fn new(spec: &ProblemSpec, method: &Method, config: &Config, [upper, lower]: [f64; 2]) -> Self {
        let method = method.name();
        match config.scheme.kind.facts().own_time {
            Some((seconds, growth)) => {
                let size = (spec.dim() as f64 / 5.0).max(1.0);
                let own = seconds * size.powf(growth);
                let each = own + UPPER_SHARE * upper + (1.0 - UPPER_SHARE) * lower;
                let (low, high) = if spec.best_known.is_empty() { USUAL } else { USUAL_TO_TARGET };
                let [low, high] = [low, high].map(|count| one_digit(count * size.sqrt()));
                Estimate {
                    method,
                    evaluations: (Some(low as u64), high as u64),
                    seconds: (Some(low * each), high * each),
                }
            }
            None => {
                let budget = spec.budget();
                let searches = budget.upper_evals as f64;
                let lower_evals = searches * budget.lower_evals as f64;
                let seconds = searches * (upper + NESTED_SECONDS) + lower_evals * (lower + NESTED_SECONDS);
                Estimate { method, evaluations: (None, (searches + lower_evals) as u64), seconds: (None, seconds) }
            }
        }
    }

    /// The estimate for people.
    pub(super) fn words(&self) -> String {
        let (count, seconds) = (grouped(self.evaluations.1), rough(self.seconds.1));
        match (self.evaluations.0, self.seconds.0) {
            (Some(from), Some(least)) => format!(
                "usually {} to {count} evaluations by {}, {} to {seconds} on one thread",
                grouped(from),
                self.method,
                rough(least)
            ),
            _ => format!("at most {count} evaluations by {}, {seconds} on one thread", self.method),
        }
    }
}

/// To one digit; more would be a pretence.
fn one_digit(number: f64) -> f64 {
    let digit = 10f64.powf(number.max(1e-9).log10().floor());
    (number / digit).round() * digit
}

/// A time to one digit of its unit.
fn rough(seconds: f64) -> String {
    let unit = match seconds {
        s if s < 120.0 => 1.0,
        s if s < 7200.0 => 60.0,
        _ => 3600.0,
    };
    time(one_digit(seconds / unit) * unit)
}
