//! How well a model orders solutions that it has not learnt from, measured in two ways.
//!
//! *Within a generation*: on all pairs of one generation's new solutions. This is what the model is used for. *Across
//! generations*: a model takes an [`Exam`] on all pairs of the next pool of new solutions, which spans several
//! generations; this is the paper's measure. It is harder, because the search moves on in the meantime, and easier,
//! because solutions of different generations differ more.

use super::{LabelRule, Model, Seen};
use crate::problem::Outcome;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Pairs judged so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Judged {
    /// Pairs in the right order; equal scores count half.
    pub(super) correct: f64,
    /// All pairs whose members really differ.
    pub(super) pairs: f64,
}

impl Judged {
    /// Compares the order by score (larger is better) with the true order.
    pub(super) fn new(scores: &[f64], outcomes: &[Outcome], labels: LabelRule) -> Self {
        let mut judged = Judged::default();
        for i in 0..outcomes.len() {
            for j in 0..i {
                let truth = labels.compare(&outcomes[i], &outcomes[j]);
                if truth == Ordering::Equal {
                    continue;
                }
                judged.pairs += 1.0;
                let said = scores[j].total_cmp(&scores[i]);
                judged.correct += if said == truth {
                    1.0
                } else if said == Ordering::Equal {
                    0.5
                } else {
                    0.0
                };
            }
        }
        judged
    }

    pub(super) fn add(&mut self, other: Judged) {
        self.correct += other.correct;
        self.pairs += other.pairs;
    }

    /// The share of correct pairs; `None` without pairs.
    pub(super) fn share(self) -> Option<f64> {
        (self.pairs > 0.0).then(|| self.correct / self.pairs)
    }
}

/// A model, and the solutions seen since it was trained.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Exam {
    model: Option<Model>,
    seen: Vec<Seen>,
    judged: Judged,
}

impl Exam {
    /// Starts an exam with this model, unless another exam is in progress.
    pub(super) fn offer(&mut self, model: &Model) {
        self.model.get_or_insert_with(|| model.clone());
    }

    /// Adds new solutions.
    pub(super) fn see(&mut self, new: impl Iterator<Item = Seen>) {
        if self.model.is_some() {
            self.seen.extend(new);
        }
    }

    /// The number of solutions seen so far.
    pub(super) fn seen(&self) -> usize {
        self.seen.len()
    }

    /// Ends the exam and grades the model; the next exam can begin.
    pub(super) fn end(&mut self, labels: LabelRule) {
        let Some(model) = self.model.take() else { return };
        let mut scratch = Vec::new();
        let scores: Vec<f64> = self.seen.iter().map(|seen| model.score(&seen.x, &mut scratch)).collect();
        let outcomes: Vec<Outcome> = self.seen.iter().map(|seen| seen.outcome).collect();
        self.judged.add(Judged::new(&scores, &outcomes, labels));
        self.seen.clear();
    }

    /// The share of correct pairs over all finished exams.
    pub(super) fn share(&self) -> Option<f64> {
        self.judged.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_once_and_ties_by_half() {
        let outcomes = [1.0, 2.0, 3.0, 3.0].map(|value| Outcome { value, violation: 0.0 });
        let judge = |scores: [f64; 4]| {
            let judged = Judged::new(&scores, &outcomes, LabelRule::Order);
            (judged.correct, judged.pairs)
        };
        // Five pairs: the two equal solutions do not count.
        assert_eq!(judge([9.0, 5.0, 1.0, 2.0]), (5.0, 5.0));
        assert_eq!(judge([1.0, 5.0, 9.0, 8.0]), (0.0, 5.0));
        assert_eq!(judge([0.0; 4]), (2.5, 5.0));
        assert_eq!(judge([5.0, 9.0, 1.0, 1.0]), (4.0, 5.0));
        assert_eq!(Judged::default().share(), None);
    }

    #[test]
    fn labels_by_the_objective_alone_do_not_see_violations() {
        let outcomes = [Outcome { value: 1.0, violation: 3.0 }, Outcome { value: 2.0, violation: 0.0 }];
        assert_eq!(Judged::new(&[0.0, 1.0], &outcomes, LabelRule::Order).correct, 1.0);
        assert_eq!(Judged::new(&[0.0, 1.0], &outcomes, LabelRule::Objective).correct, 0.0);
    }
}
