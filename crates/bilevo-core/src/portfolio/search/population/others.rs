//! Answers other than those that were found: if the follower has several minima, a leader that searches in the basin
//! of one of them never learns that another is deeper.
//!
//! Every candidate's answer is compared with its nearest *rival*, an answer that a verdict once found next to another
//! one; at the incumbent's decision, a random answer is tried as well. A search continues from whichever wins.

use super::{Population, TOLERANCES};
use crate::portfolio::archive::distance;
use crate::portfolio::claim::Claim;
use crate::portfolio::follower::{Effort, Follower, apart};
use crate::portfolio::history::ALIKE;
use crate::portfolio::search::{Ground, Rows, Wanted};
use crate::problem::Level;
use crate::rng::{Purpose, Stream};

/// The range of the steps by which a random answer differs from the incumbent's.
const STEPS: (f64, f64) = (0.003, 0.3);
/// An answer elsewhere must be better by this share of f's scale.
const BETTER: f64 = 1e-6;
/// The first radius of a search from an answer that won.
const RADIUS: f64 = 0.05;

/// A decision with an answer of the follower to it.
pub(in crate::portfolio) type Rival = (Vec<f64>, Vec<f64>);

impl Population {
    /// For each follower that has found an answer, the rival nearest in x that differs from that answer.
    pub(super) fn try_rivals(&mut self, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        self.waiting.clear();
        if !self.others.is_on() {
            return;
        }
        for (i, follower) in self.followers.iter().enumerate().filter(|(_, f)| !f.row.is_empty()) {
            let different = self.rivals.iter().filter(|(_, y)| distance(y, &follower.y) > ALIKE);
            let near = |rival: &&Rival| apart(&rival.0, &follower.x);
            if let Some((_, y)) = different.min_by(|a, b| near(a).total_cmp(&near(b))) {
                wanted.push(&follower.x, y);
                self.waiting.push(i);
            }
        }
    }

    /// Followers whose rival won continue from there.
    pub(super) fn judge_rivals(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        let tolerance = (TOLERANCES.0 * self.spread()).max(1e-7);
        let effort = Effort { radius: RADIUS, tolerance, evaluations: 10 + 4 * (self.params.dim - self.m) };
        for ((&i, point), row) in self.waiting.iter().zip(wanted.iter()).zip(rows) {
            let follower = &mut self.followers[i];
            if beats(ground, row, &follower.row) {
                *follower = Follower::new(follower.x.clone(), point[self.m..].to_vec(), row.clone(), effort);
            }
        }
    }

    /// Other answers to try at the incumbent's x: one from elsewhere, and a random one.
    pub(super) fn scout(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        self.scouts.clear();
        let Some(incumbent) = self.incumbent.as_ref().filter(|_| self.others.is_on()) else { return };
        let mut stream = ground.streams.open(Purpose::Elite, self.generation, 0);
        let rivals = self.rivals.iter().map(|(_, y)| y).chain(self.judged.iter().map(|c| &c.y));
        let different: Vec<&Vec<f64>> = rivals.filter(|y| distance(y, &incumbent.y) > ALIKE).collect();
        if !different.is_empty() {
            self.scouts.push(different[stream.below(different.len())].clone());
        }
        self.scouts.push(random_answer(&incumbent.y, self.generation.is_multiple_of(2), &mut stream));
        self.scouts.iter().for_each(|y| wanted.push(&incumbent.x, y));
    }

    /// Starts the followers of the best candidate, if it would become the incumbent, and of a scout that won.
    pub(super) fn refine(&mut self, ground: &Ground<'_>, rows: &Rows) {
        self.followers.clear();
        self.starts.clear();
        let n = self.params.dim - self.m;
        let tolerance = (TOLERANCES.1 * self.spread()).max(1e-7);
        let effort = |radius: f64| Effort { radius, tolerance, evaluations: 20 + 5 * n };
        let best = self.best(ground).map(|i| &self.solutions[i]);
        let improves = |c: &&Claim| {
            self.incumbent.as_ref().is_none_or(|incumbent| self.merit(ground, c) < self.merit(ground, incumbent))
        };
        if let Some(best) = best.filter(improves) {
            let radius = 4.0 * tolerance;
            self.followers.push(Follower::new(best.x.clone(), best.y.clone(), best.lower.clone(), effort(radius)));
        }
        let Some(incumbent) = &self.incumbent else { return };
        let wins = |row: &[f64]| beats(ground, row, &incumbent.lower);
        let won = self.scouts.iter().zip(rows).filter(|(_, row)| wins(row)).min_by(|a, b| a.1[0].total_cmp(&b.1[0]));
        if let Some((y, row)) = won {
            self.followers.push(Follower::new(incumbent.x.clone(), y.clone(), row.clone(), effort(RADIUS)));
        }
    }
}

/// Whether one row of the follower is better than another, beyond rounding.
fn beats(ground: &Ground<'_>, row: &[f64], other: &[f64]) -> bool {
    let feasible = |row: &[f64]| ground.scales.answer_is_feasible(row);
    !row.is_empty() && (feasible(row) || !feasible(other)) && row[0] < other[0] - BETTER * ground.scales.follower()
}

/// A random answer: anywhere in the box, or the current one with one variable changed by a step of random size,
/// because the basins of sums lie along the variables.
fn random_answer(y: &[f64], anywhere: bool, stream: &mut Stream) -> Vec<f64> {
    if anywhere {
        return y.iter().map(|_| stream.uniform()).collect();
    }
    let changed = stream.below(y.len());
    let size = STEPS.0 * libm::pow(STEPS.1 / STEPS.0, stream.uniform());
    let mut answer = y.to_vec();
    answer[changed] = (y[changed] + size * stream.normal()).clamp(0.0, 1.0);
    answer
}

#[cfg(test)]
mod tests;
