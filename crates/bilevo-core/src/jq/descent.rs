//! A local descent of both levels from one point, on a joint model of the follower.
//!
//! All lower evaluations lie in one space (x, y), so a model of the follower's function around the
//! present point learns from every x tried, and predicts the answer at the next one. The leader
//! steps on a model of F along the response. Both models are Gaussian processes
//! (`process`), both steps are trust-region steps (`step`).
//! Variables are scaled to the unit box.
//!
//! 1. The follower is solved at the start point, then at one point along each upper variable.
//! 2. The leader proposes an x: the minimiser of its model, or, where the data say too little about
//!    the minimiser, a point that teaches more.
//! 3. The follower's search starts at the predicted answer and ends when the predicted minimiser
//!    and its doubt are within a tenth of the leader's step.
//! 4. F is evaluated there. A base that is not improved may owe its value to an answer that was not
//!    accurate enough: it is settled to the present tolerance and judged again.
//! 5. Where steps fail though the minimiser is in doubt, one more point along each variable, close by.

pub(crate) mod archive;
pub(crate) mod follower;
mod leader;
pub(crate) mod merit;
mod polish;
mod response;

pub(crate) use polish::Polish;

use crate::batch::{Answers, Batch};
use crate::problem::{Level, Outcome, ProblemSpec};
use archive::Data;
use follower::{Follower, Knowledge};
use leader::{Answer, Leader, Proposal};
use merit::Merit;
use serde::{Deserialize, Serialize};

/// First length of the kernels.
const LENGTH: f64 = 0.3;
/// First length of the leader's kernel in the follower's variables: along the response they say
/// little that x does not say.
const LONG: f64 = 3.0;
/// Radius of the first follower's search.
const FIRST_RADIUS: f64 = 0.1;
/// Smallest tolerance of a follower's answer.
const FINEST: f64 = 1e-5;
/// Tolerance of the answer at which the descent ends.
const POLISHED: f64 = 1e-7;
/// Lower evaluations of the first follower, and of the others.
const EFFORT: (usize, usize) = (100, 30);

/// Steps that are short, and how many of them in a row may lack an answer.
const SHORT: f64 = 1e-3;
const LOST: usize = 3;

/// What the answers to a batch are for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    /// Lower: the follower's search at a proposed x.
    Follow(Proposal),
    /// Upper: judges the proposal.
    Judge(Proposal),
    /// Lower: settles the base's follower to a tolerance, after a step of this length failed.
    Settle(f64),
    /// Upper: judges the base again.
    Correct(f64),
    Finished,
}

/// The descent: plain data, so it can be saved between any two batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Descent {
    upper_bounds: Vec<(f64, f64)>,
    lower_bounds: Vec<(f64, f64)>,
    budget: u64,
    spent: u64,
    knowledge: Knowledge,
    leader: Leader,
    follower: Follower,
    phase: Phase,
    /// Points to be evaluated next, in the unit box.
    wanted: Vec<f64>,
    /// Short steps in a row whose follower was not solved.
    astray: usize,
}

/// The best point found.
#[derive(Clone, Debug, PartialEq)]
pub struct Incumbent {
    /// The leader's decision.
    pub x: Vec<f64>,
    /// The follower's answer.
    pub y: Vec<f64>,
    /// F and the upper constraint values.
    pub upper: Vec<f64>,
    /// f and the lower constraint values.
    pub lower: Vec<f64>,
    /// Whether the answer is as accurate as was asked for.
    pub settled: bool,
}

impl Descent {
    /// A descent from the point `start` = (x, y) that ends after at most `budget` evaluations.
    pub fn new(spec: &ProblemSpec, start: &[f64], budget: u64) -> Self {
        Descent::near(spec, start, 1.0, budget)
    }

    /// A descent from a point that is nearly right: its first steps are `size` times as long as usual.
    pub fn near(spec: &ProblemSpec, start: &[f64], size: f64, budget: u64) -> Self {
        let (m, n) = (spec.upper.dim(), spec.lower.dim());
        let bounds = spec.upper.space.bounds().iter().chain(spec.lower.space.bounds());
        let unit: Vec<f64> = start.iter().zip(bounds).map(|(v, (l, h))| ((v - l) / (h - l)).clamp(0.0, 1.0)).collect();
        let (x, y) = (unit[..m].to_vec(), unit[m..].to_vec());
        let mut wanted = unit.clone();
        for i in 0..n {
            let mut point = unit.clone();
            point[m + i] += if point[m + i] > 0.5 { -size * FIRST_RADIUS } else { size * FIRST_RADIUS };
            wanted.extend(point);
        }
        let merit = |level: Level| Merit::new(spec.level(level).inequalities, spec.level(level).equalities);
        let outputs = |level: Level| 1 + spec.level(level).constraints();
        let knowledge =
            Knowledge { data: Data::new(outputs(Level::Lower), vec![LENGTH; m + n]), merit: merit(Level::Lower) };
        let joint = Data::new(outputs(Level::Upper), [vec![LENGTH; m], vec![LONG; n]].concat());
        let along = Data::new(outputs(Level::Upper), vec![LENGTH; m]);
        let kinked = spec.lower.constraints() > 0;
        let follower = Follower::new(
            x.clone(),
            y.clone(),
            Vec::new(),
            size * FIRST_RADIUS,
            size * Leader::first_tolerance(),
            EFFORT.0,
        );
        Descent {
            upper_bounds: spec.upper.space.bounds().to_vec(),
            lower_bounds: spec.lower.space.bounds().to_vec(),
            budget,
            spent: 0,
            knowledge,
            leader: Leader::new(merit(Level::Upper), along, joint, kinked, size),
            follower,
            phase: Phase::Follow(Proposal::first(x, y)),
            wanted,
            astray: 0,
        }
    }

    /// Whether nothing more is wanted.
    pub fn finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// Whether it came to its end within its evaluations.
    pub fn converged(&self) -> bool {
        self.finished() && self.spent < self.budget && !self.is_lost()
    }

    /// Whether its models say nothing about the follower: early on, answers to decisions close by are
    /// not found again and again. Late ones may fail because the values differ by too few digits.
    fn is_lost(&self) -> bool {
        self.astray >= LOST && self.spent < self.budget / 4
    }

    /// Ends the follower's search with what it has, because no lower evaluation is left.
    pub fn cut(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        self.wanted.clear();
        match phase {
            Phase::Follow(proposal) if !self.follower.row.is_empty() => {
                self.phase = Phase::Judge(proposal);
                self.want(self.follower.y.clone());
            }
            Phase::Judge(_) | Phase::Correct(_) => {
                self.phase = phase;
                self.want(self.follower.y.clone());
            }
            _ => {}
        }
    }

    /// Evaluations so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Writes the points to evaluate next into `batch`, numbered from `first_id`; the same ones until
    /// their answers are told, and none once finished.
    pub fn ask(&self, batch: &mut Batch, first_id: u64) {
        batch.start(self.level(), first_id);
        let m = self.upper_bounds.len();
        for point in self.wanted.chunks_exact(self.dim()) {
            let point = self.to_problem(point);
            batch.push(&point[..m]).copy_from_slice(&point[m..]);
        }
    }

    /// The level of the points wanted.
    pub(crate) fn level(&self) -> Level {
        match self.phase {
            Phase::Judge(_) | Phase::Correct(_) => Level::Upper,
            _ => Level::Lower,
        }
    }

    fn dim(&self) -> usize {
        self.upper_bounds.len() + self.lower_bounds.len()
    }

    fn to_problem(&self, point: &[f64]) -> Vec<f64> {
        let bounds = self.upper_bounds.iter().chain(&self.lower_bounds);
        point.iter().zip(bounds).map(|(u, (l, h))| (l + (h - l) * u).clamp(*l, *h)).collect()
    }

    /// Takes the answers to the points asked for.
    pub fn tell(&mut self, answers: Answers<'_>) {
        let wanted = std::mem::take(&mut self.wanted);
        self.spent += answers.outcomes.len() as u64;
        let row = |(i, outcome): (usize, &Outcome)| match outcome.is_failed() {
            true => Vec::new(),
            false => [&[outcome.value], answers.constraints(i)].concat(),
        };
        let rows: Vec<Vec<f64>> = answers.outcomes.iter().enumerate().map(row).collect();
        match std::mem::replace(&mut self.phase, Phase::Finished) {
            Phase::Judge(proposal) => self.judge(proposal, rows.first().map_or(&[], |r| r)),
            Phase::Correct(length) => {
                self.leader.correct(self.answer(), rows.first().map_or(&[], |r| r), length);
                self.settle_or_go_on(length);
            }
            phase => {
                let (dim, m) = (self.dim(), self.upper_bounds.len());
                for (point, row) in wanted.chunks_exact(dim).zip(&rows) {
                    if !row.is_empty() {
                        self.knowledge.data.archive.push(point, row);
                    }
                    self.follower.tell(&point[m..], row, &self.knowledge);
                }
                self.phase = phase;
                self.follow();
            }
        }
        if self.spent >= self.budget {
            self.phase = Phase::Finished;
        }
        if self.phase == Phase::Finished {
            self.wanted.clear();
        }
    }

    /// Goes on with the follower's search, or with what comes after it.
    fn follow(&mut self) {
        if let Some(y) = self.follower.next(&mut self.knowledge) {
            self.want(y);
            return;
        }
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        if self.follower.row.is_empty() {
            return;
        }
        match phase {
            Phase::Follow(proposal) => self.phase = Phase::Judge(proposal),
            Phase::Settle(length) => {
                let before = &self.leader.answer().y;
                let moved = distance(before, &self.follower.y);
                if moved > 0.5 * self.follower.tolerance {
                    self.phase = Phase::Correct(length);
                } else {
                    self.leader.confirm(self.follower.tolerance, self.follower.settled);
                    self.propose();
                    return;
                }
            }
            _ => return,
        }
        self.want(self.follower.y.clone());
    }

    fn want(&mut self, y: Vec<f64>) {
        self.wanted.clear();
        self.wanted.extend_from_slice(&self.follower.x);
        self.wanted.extend(y);
    }

    fn answer(&self) -> Answer {
        let Follower { y, row, tolerance, settled, .. } = &self.follower;
        Answer { y: y.clone(), row: row.clone(), tolerance: *tolerance, settled: *settled }
    }

    fn judge(&mut self, proposal: Proposal, row: &[f64]) {
        let better = self.leader.judge(&proposal, self.answer(), row);
        if self.leader.answers.is_empty() {
            return;
        }
        let astray = !self.follower.settled && proposal.length < SHORT;
        self.astray = if astray { self.astray + 1 } else { 0 };
        if self.is_lost() {
            return;
        }
        if better { self.propose() } else { self.settle_or_go_on(proposal.length) }
    }

    /// Settles the base to the present tolerance if it was not judged with it.
    fn settle_or_go_on(&mut self, length: f64) {
        let tolerance = tolerance(length);
        let Answer { y, row, tolerance: old, .. } = self.leader.answer().clone();
        if old <= 1.01 * tolerance {
            self.propose();
            return;
        }
        let radius = 4.0 * tolerance.max(0.1 * old);
        self.follower = Follower::new(self.leader.x().to_vec(), y, row, radius, tolerance, EFFORT.1);
        self.phase = Phase::Settle(length);
        self.follow();
    }

    /// The leader's next point and the start of its follower, or the end.
    fn propose(&mut self) {
        let Some(proposal) = self.leader.propose(&mut self.knowledge) else {
            self.polish();
            return;
        };
        let y = proposal.y.clone();
        let tolerance = tolerance(proposal.length);
        let radius = (0.5 * proposal.length).max(4.0 * tolerance);
        self.follower = Follower::new(proposal.x.clone(), y.clone(), Vec::new(), radius, tolerance, EFFORT.1);
        self.phase = Phase::Follow(proposal);
        self.want(y);
    }

    /// Settles the base at which the descent ends more accurately than any step needs: where the leader
    /// gains from every error of the follower, its decision would look better than it is.
    fn polish(&mut self) {
        let Answer { y, row, tolerance: old, .. } = self.leader.answer().clone();
        if old <= POLISHED {
            self.phase = Phase::Finished;
            return;
        }
        let radius = 0.4 * old;
        self.follower = Follower::new(self.leader.x().to_vec(), y, row, radius, POLISHED, EFFORT.1);
        self.phase = Phase::Settle(0.0);
        self.follow();
    }

    /// All lower evaluations that did not fail: the point (x, y), then f and the constraint values.
    pub fn evaluated(&self) -> impl Iterator<Item = (Vec<f64>, &[f64])> {
        let archive = &self.knowledge.data.archive;
        (0..archive.len()).map(|i| (self.to_problem(archive.point(i)), archive.row(i)))
    }

    /// The best point, once F was evaluated anywhere.
    pub fn incumbent(&self) -> Option<Incumbent> {
        let leader = &self.leader;
        let answer = leader.answers.get(leader.base)?;
        let point = self.to_problem(&[leader.x(), &answer.y[..]].concat());
        let (x, y) = point.split_at(self.upper_bounds.len());
        Some(Incumbent {
            x: x.to_vec(),
            y: y.to_vec(),
            upper: leader.row().to_vec(),
            lower: answer.row.clone(),
            settled: answer.settled,
        })
    }
}

/// Accuracy of the follower's answer that a step of this length needs.
fn tolerance(length: f64) -> f64 {
    (0.1 * length).max(FINEST)
}

/// The trust radius after a step of a length whose gain was `ratio` times the promised one. It never
/// shrinks for a step that ended inside.
fn trust(radius: f64, length: f64, ratio: f64) -> f64 {
    if ratio > 0.7 && length > 0.9 * radius {
        (2.5 * radius).min(1.0)
    } else if ratio >= 0.1 {
        radius
    } else {
        (0.4 * length).min(0.5 * radius)
    }
}

/// A point `reach` from `from` along a direction, in the unit box; to the other side if the box leaves
/// little of the way. None if it does so on both sides.
fn teaching_point(from: &[f64], direction: &[f64], reach: f64) -> Option<Vec<f64>> {
    let point =
        |reach: f64| -> Vec<f64> { from.iter().zip(direction).map(|(v, d)| (v + reach * d).clamp(0.0, 1.0)).collect() };
    [reach, -reach].into_iter().map(point).find(|p| distance(p, from) > 0.3 * reach.abs())
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
