//! Whether values are noisy, and by how much.
//!
//! The best point of a run is evaluated once more at both levels. If the values are equal, there is no noise, and
//! nothing else happens. Otherwise three more evaluations measure the noise, and the scheme is told. At the end of
//! the run, the answer is evaluated several more times, and its values become the means.

use super::Engine;
use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::position::PositionKind;
use crate::problem::{Follower, Level};
use crate::record::{Noise, Solution, StopReason};
use serde::{Deserialize, Serialize};

/// After this many evaluations, the best point is evaluated again; earlier if the run ends.
const AFTER: u64 = 300;
/// How many values of a point show whether there is noise, and how many measure it.
const NOTICED: usize = 2;
const MEASURED: usize = 5;
/// How many values of the answer are taken at each level, at the end.
const REPEATS: usize = 16;
/// Values differ if they do so by more than this share of the larger one (summing in another order is not noise) ...
const SAME: f64 = 1e-9;
/// ... and by more than this share of their variation over the box.
const NEGLIGIBLE: f64 = 1e-8;

/// A point that is being evaluated again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Repeated {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Values of F and of f.
    values: [Vec<f64>; 2],
    /// How many values of each are wanted.
    wanted: usize,
    /// Why the run ends afterwards.
    stop: Option<StopReason>,
}

/// The answer with the means of its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Means {
    x: Vec<f64>,
    y: Vec<f64>,
    values: [f64; 2],
    noise: Noise,
}

/// What is known about the noise.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Repeats {
    repeated: Option<Repeated>,
    is_checked: bool,
    /// Standard deviations of F and f.
    size: Option<[f64; 2]>,
    answer: Option<Means>,
}

impl Repeats {
    /// Whether a point is being evaluated again.
    pub(super) fn is_open(&self) -> bool {
        self.repeated.is_some()
    }

    /// Standard deviations of the noise of F and f, if there is noise.
    pub(super) fn size(&self) -> Option<[f64; 2]> {
        self.size
    }

    /// The level to ask next.
    pub(super) fn level(&self) -> Option<Level> {
        let repeated = self.repeated.as_ref()?;
        let lacks = |level: usize| repeated.values[level].len() < repeated.wanted;
        if lacks(1) { Some(Level::Lower) } else { lacks(0).then_some(Level::Upper) }
    }

    /// Appends the point as many times as needed.
    pub(super) fn ask(&self, level: Level, batch: &mut Batch) {
        let Some(Repeated { x, y, values, wanted, .. }) = &self.repeated else { return };
        let known = values[usize::from(level == Level::Lower)].len();
        (known..*wanted).for_each(|_| batch.push(x).copy_from_slice(y));
    }

    /// Takes values; returns whether all wanted values are there.
    fn tell(&mut self, level: Level, answers: Answers<'_>) -> Option<Repeated> {
        let repeated = self.repeated.as_mut()?;
        let all = &mut repeated.values[usize::from(level == Level::Lower)];
        all.extend(answers.outcomes.iter().map(|o| if o.is_failed() { f64::NAN } else { o.value }));
        if self.level().is_some() {
            return None;
        }
        self.repeated.take()
    }

    /// The means for a solution, if it is the one that was evaluated again.
    fn means(&self, solved: &Solved) -> Option<&Means> {
        self.answer.as_ref().filter(|means| means.x == solved.x && means.y == solved.y)
    }

    /// The noise of a solution's values; that of single values if the solution was not evaluated again.
    pub(super) fn noise(&self, solved: Option<&Solved>) -> Option<Noise> {
        let [upper, lower] = self.size?;
        let once = Noise { upper, lower, upper_error: upper, lower_error: lower, repeats: 1 };
        Some(solved.and_then(|solved| self.means(solved)).map_or(once, |means| means.noise))
    }
}

impl Engine {
    /// Evaluates the best point again: once to detect noise, and at the end if there is noise.
    pub(super) fn repeat(&mut self) {
        let searches = self.scheme.spreads().is_some() && self.spec.follower == Follower::Search;
        let Some(best) = self.elite.as_ref().filter(|_| searches && !self.boxes.is_probing()) else { return };
        let values = match (self.repeats.is_checked, self.stop) {
            (_, Some(StopReason::Target | StopReason::AllFailed)) => return,
            (false, None) if self.evaluations.total() < AFTER => return,
            (true, None) => return,
            (true, Some(_)) if self.repeats.size.is_none() || self.repeats.means(best).is_some() => return,
            // The follower's value may contain a part of the leader's.
            (false, _) if self.config.position.kind != PositionKind::Any => [vec![best.upper.value], vec![]],
            (false, _) => [vec![best.upper.value], vec![best.lower.value]],
            (true, Some(_)) => [vec![], vec![]],
        };
        let wanted = if self.repeats.is_checked { REPEATS } else { NOTICED };
        if !self.has_room_for(wanted as u64) {
            return;
        }
        self.repeats.is_checked = true;
        let (x, y) = (best.x.clone(), best.y.clone());
        self.repeats.repeated = Some(Repeated { x, y, values, wanted, stop: self.stop.take() });
    }

    /// Whether the budgets that the user set leave this many evaluations at each level.
    fn has_room_for(&self, count: u64) -> bool {
        let stop = &self.config.stop;
        let fits = |most: Option<u64>, spent: u64| most.is_none_or(|most| spent <= most);
        fits(stop.max_evals, self.evaluations.total() + 2 * count)
            && fits(stop.max_upper_evals, self.evaluations.upper + count)
            && fits(stop.max_lower_evals, self.evaluations.lower + count)
    }

    /// Takes values of a point that is being evaluated again.
    pub(super) fn repeated(&mut self, level: Level, answers: Answers<'_>) {
        let Some(mut repeated) = self.repeats.tell(level, answers) else { return };
        if repeated.wanted == NOTICED && repeated.values.iter().any(|values| differ(values)) {
            repeated.wanted = MEASURED;
            self.repeats.repeated = Some(repeated);
            return;
        }
        let found = repeated.values.each_ref().map(|values| mean_and_deviation(values));
        match (repeated.wanted, repeated.stop) {
            (MEASURED, stop) => {
                let spreads = self.scheme.spreads().unwrap_or([0.0; 2]);
                let sizes = [0, 1].map(|i| if found[i].1 > NEGLIGIBLE * spreads[i] { found[i].1 } else { 0.0 });
                self.stop = stop;
                if sizes != [0.0; 2] {
                    self.repeats.size = Some(sizes);
                    self.scheme.learn_noise(sizes);
                    self.stop = None;
                }
            }
            (REPEATS, stop) => {
                // Both samples together say more about the noise than either.
                let before = self.repeats.size.unwrap_or([0.0; 2]);
                let size = |i: usize| match before[i] {
                    0.0 => 0.0,
                    before => ((found[i].1 * found[i].1 + before * before) / 2.0).sqrt(),
                };
                let (upper, lower) = (size(0), size(1));
                let error = |size: f64| size / (REPEATS as f64).sqrt();
                let (upper_error, lower_error) = (error(upper), error(lower));
                let noise = Noise { upper, lower, upper_error, lower_error, repeats: REPEATS as u64 };
                let Repeated { x, y, .. } = repeated;
                self.repeats.answer = Some(Means { x, y, values: [found[0].0, found[1].0], noise });
                self.stop = stop;
            }
            (_, stop) => self.stop = stop,
        }
    }

    /// Replaces single values with means, if this solution is the one that was evaluated again.
    pub(super) fn put_means(&self, solved: &Solved, solution: &mut Solution) {
        if let Some(means) = self.repeats.means(solved) {
            solution.upper_value = self.spec.upper.direction.flip(means.values[0]);
            solution.lower_value = self.spec.lower.direction.flip(means.values[1]);
        }
    }
}

fn differ(values: &[f64]) -> bool {
    values.windows(2).any(|v| (v[0] - v[1]).abs() > SAME * v[0].abs().max(v[1].abs()))
}

/// Mean and deviation of the values that are numbers. They are summed in sorted order, because equal points may come
/// back in any order.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_in_another_order_are_no_noise() {
        assert!(!differ(&[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1]) && differ(&[0.1, 0.1001]));
        assert!(!differ(&[f64::NAN, 1.0]) && !differ(&[0.0, 0.0]));
    }

    #[test]
    fn means_do_not_depend_on_the_order() {
        let (mean, deviation) = mean_and_deviation(&[1.0, f64::NAN, 3.0]);
        assert!(mean == 2.0 && (deviation - 2.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(mean_and_deviation(&[0.1, 1e9, 0.7, -1e9]), mean_and_deviation(&[1e9, -1e9, 0.7, 0.1]));
    }
}
