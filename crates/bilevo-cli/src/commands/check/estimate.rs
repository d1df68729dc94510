//! A rough estimate of the cost of a run.

use super::time;
use crate::output::grouped;
use bilevo::calibration;
use bilevo::config::{Config, SchemeKind};
use bilevo::methods::Method;
use bilevo::{ProblemSpec, methods};
use serde::Serialize;

/// Evaluations of both levels and the seconds they take, including the method's own time.
#[derive(Serialize)]
pub(super) struct Estimate {
    method: String,
    /// The range, if known.
    evaluations: (Option<u64>, Option<u64>),
    seconds: (Option<f64>, Option<f64>),
    /// Whether this is the most that the method may spend, rather than what test runs took.
    is_limit: bool,
}

/// The share of upper evaluations in the default method.
const UPPER_SHARE: f64 = 0.45;
/// The own time of nested methods per evaluation.
const NESTED_SECONDS: f64 = 1e-6;

impl Estimate {
    /// For a problem whose evaluations take this many seconds at the two levels.
    pub(super) fn new(spec: &ProblemSpec, method: &Method, config: &Config, [upper, lower]: [f64; 2]) -> Self {
        let name = method.name();
        let is_limit = config.scheme.kind == SchemeKind::Nested;
        let (evaluations, seconds) = match config.scheme.kind {
            SchemeKind::Portfolio if name == methods::DEFAULT => {
                let (low, high) = calibration::evaluations(spec.dim()).unzip();
                let (seconds, growth) = config.scheme.kind.facts().own_time.unwrap_or_default();
                let own = seconds * (spec.dim() as f64 / 5.0).max(1.0).powf(growth);
                let each = own + UPPER_SHARE * upper + (1.0 - UPPER_SHARE) * lower;
                // Runs end at a known optimum, sometimes early.
                let low = low.filter(|_| spec.best_known.is_empty());
                let taken = |count: Option<u64>| count.map(|count| count as f64 * each);
                ((low, high), (taken(low), taken(high)))
            }
            SchemeKind::Nested => {
                let budget = spec.budget();
                let searches = budget.upper_evals as f64;
                let lower_evals = searches * budget.lower_evals as f64;
                let seconds = searches * (upper + NESTED_SECONDS) + lower_evals * (lower + NESTED_SECONDS);
                ((None, Some((searches + lower_evals) as u64)), (None, Some(seconds)))
            }
            _ => ((None, None), (None, None)),
        };
        Estimate { method: name, evaluations, seconds, is_limit }
    }

    /// The estimate for people.
    pub(super) fn words(&self) -> String {
        let method = &self.method;
        let (Some(count), Some(seconds)) = (self.evaluations.1.map(grouped), self.seconds.1.map(rough)) else {
            return format!("with {method}; how long that takes was not measured for problems of this size");
        };
        match (self.evaluations.0, self.seconds.0) {
            (Some(from), Some(least)) => format!(
                "eight of ten test problems of this size took {} to {count} evaluations with {method}; \
                 here, that takes {} to {seconds} on one thread",
                grouped(from),
                rough(least)
            ),
            _ if self.is_limit => format!("at most {count} evaluations with {method}, {seconds} on one thread"),
            _ => format!(
                "nine of ten test problems of this size took at most {count} evaluations with {method}; \
                 here, that takes {seconds} on one thread"
            ),
        }
    }
}

/// Rounded to one digit; more would suggest a false precision.
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
