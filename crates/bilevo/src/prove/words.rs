//! What was proven, in words.

use super::{FollowerFinding, FollowerVerdict, LeaderFinding, LeaderVerdict, Proof};
use crate::result::Names;

impl Proof {
    /// The findings as sentences: about the follower, then about the leader. Variables appear under their names, if
    /// they have any.
    pub fn words(&self, names: Option<&Names>) -> Vec<String> {
        let follower = self.follower.as_ref().map(|follower| follower.words(names));
        follower.into_iter().chain(self.leader_words(names)).collect()
    }

    /// The finding about the leader as a sentence; `None` if the question was not asked.
    pub fn leader_words(&self, names: Option<&Names>) -> Option<String> {
        let leader = self.leader.as_ref()?;
        Some(match (leader.verdict, self.refuted_answer(), leader.lower_bound) {
            // The bound holds, but it does not prove a value that cannot be reached.
            (LeaderVerdict::Proven, Some(_), Some(bound)) => {
                format!("no decision gives better than F = {}; with this answer F is not reached", number(bound))
            }
            // No decision was given: a valid bound does not mean that its value can be reached.
            (LeaderVerdict::Proven, None, Some(bound)) if self.x.is_none() => format!(
                "proven: no decision gives better than F = {}; whether F = {} is reached was not asked",
                number(bound),
                number(self.upper_value)
            ),
            _ => leader.words(self.upper_value, names),
        })
    }
}

/// Rounding errors of a run do not count as violations.
const VIOLATION: f64 = 1e-6;

impl FollowerFinding {
    /// The finding as a sentence.
    pub fn words(&self, names: Option<&Names>) -> String {
        let gap = self.gap.map_or(String::new(), |gap| format!(" by more than {}", rounded_up(gap)));
        match (self.verdict, &self.better) {
            (FollowerVerdict::Proven, _) => format!("the follower's answer is proven: none is better{gap}"),
            (FollowerVerdict::Refuted, better) if self.violation.is_none_or(|violation| violation > VIOLATION) => {
                let broken = self.violation.map_or(String::new(), |violation| format!(" by {}", number(violation)));
                let other = better.as_ref().map_or(String::new(), |better| {
                    let answer = named("y", names.map(|names| &*names.y), &better.y);
                    format!("; one that meets them is {answer} with f = {}", number(better.lower_value))
                });
                format!("the follower's answer violates its own constraints{broken}{other}")
            }
            (FollowerVerdict::Refuted, Some(better)) => format!(
                "the follower has a better answer: f = {} at {}",
                number(better.lower_value),
                named("y", names.map(|names| &*names.y), &better.y)
            ),
            (FollowerVerdict::Refuted, None) => "the follower's answer is refuted".into(),
            (FollowerVerdict::Open, _) => {
                format!("open: whether the follower has a better answer{gap} could not be decided")
            }
        }
    }
}

impl LeaderFinding {
    /// The finding as a sentence about a claimed value.
    pub fn words(&self, claim: f64, names: Option<&Names>) -> String {
        let bound = self.lower_bound.map_or("none was found".into(), number);
        match (self.verdict, &self.better) {
            (LeaderVerdict::Proven, _) => {
                format!("the leader's value is proven: no decision gives better than F = {bound}")
            }
            (LeaderVerdict::Better, Some(better)) => format!(
                "there is a better decision: F = {} at {}, {}; the bound is {bound}",
                number(better.upper_value),
                named("x", names.map(|names| &*names.x), &better.x),
                named("y", names.map(|names| &*names.y), &better.y)
            ),
            _ => format!("open: nothing better than F = {} was found; the bound is {bound}", number(claim)),
        }
    }
}

/// A bound with two digits, rounded so that it stays valid.
fn rounded_up(value: f64) -> String {
    let two = |value: f64| format!("{value:.1e}").parse::<f64>().unwrap_or(value);
    let short = two(value);
    format!("{:?}", if short < value * (1.0 - 1e-9) { two(1.05 * value) } else { short })
}

/// A number with seven digits.
fn number(value: f64) -> String {
    let short: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    format!("{short:?}")
}

/// A point with the names of its variables, or as a vector with a letter.
fn named(letter: &str, names: Option<&[String]>, values: &[f64]) -> String {
    let numbers: Vec<String> = values.iter().map(|&value| number(value)).collect();
    match names.filter(|names| names.len() == values.len()) {
        Some(names) => names.iter().zip(&numbers).map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join(", "),
        None => format!("{letter} = [{}]", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_go_by_their_names() {
        let names = ["trips".to_string(), "fee".to_string()];
        assert_eq!(named("y", Some(&names), &[3.0, 0.5]), "trips = 3.0, fee = 0.5");
        assert_eq!(named("y", None, &[3.0, 0.5]), "y = [3.0, 0.5]");
        assert_eq!(named("y", Some(&names), &[3.0]), "y = [3.0]", "an own solver's answers have any length");
    }

    #[test]
    fn bounds_have_two_digits_and_are_not_too_small() {
        for (bound, shown) in [(1e-4, "0.0001"), (0.0001999991, "0.0002"), (0.00312, "0.0033"), (12.0, "12.0")] {
            assert_eq!(rounded_up(bound), shown);
        }
    }
}
