//! The follower's search at one x: steps on the joint model, samples where it fails.
//!
//! The search proposes its next points and receives their values, so that the searches of all tasks
//! go on side by side. It starts at one point, then repeats:
//!
//! 1. *Step*: the minimiser of the model under the modelled constraints within a trust radius. If
//!    it is a proper minimum, inside the radius and near the present answer, the answer is
//!    *settled*; otherwise it is evaluated. A step whose gain is not as predicted halves the radius.
//! 2. *Sample*: without a model, or after two such steps, one generation of a CMA-ES. Two
//!    generations without gain settle the search too.
//!
//! It ends when settled or when its evaluations are used up.

use super::archive::Archive;
use super::coordinates::{Coordinates, inside, moved};
use super::minimiser::{minimise, walls};
use super::model::{FitScratch, JointModel, TaskModel};
use crate::cma::{Cma, CmaParams, Scratch};
use crate::problem::Outcome;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// Violation below which an answer counts as feasible inside the search.
pub(crate) const FEASIBLE: f64 = 1e-7;
/// Change of the penalty after a search that ends infeasible, and after others. It falls fast, down to
/// what the constraints are worth: a high one holds searches off better answers beyond an infeasible
/// strip (SMD9).
const PENALTY: (f64, f64) = (1.5, 0.8);
/// First trust radius.
const RADIUS: f64 = 3.0;
/// A step is as predicted if its gain is the predicted one within this share.
const AGREEMENT: f64 = 0.5;
/// Disappointing steps in a row before a generation is sampled.
const PATIENCE: usize = 2;
/// Generations without gain that settle a search.
const QUIET: usize = 2;
/// Share of the coordinates outside their box that go to the bound, the others go halfway to it:
/// optima often lie on bounds.
const AT_BOUND: f64 = 0.5;

/// An answer of the follower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) y: Vec<f64>,
    pub(crate) outcome: Outcome,
    pub(crate) constraints: Vec<f64>,
    /// Whether the search that found it had come to its end.
    pub(crate) settled: bool,
}

impl Answer {
    /// f + `penalty` * violation.
    pub(crate) fn merit(&self, penalty: f64) -> f64 {
        merit(&self.outcome, penalty)
    }

    /// Whether this answer beats `other` at the same x by more than `margin`, relative, without
    /// being less feasible.
    pub(crate) fn exposes(&self, other: &Answer, penalty: f64, margin: f64) -> bool {
        self.outcome.violation <= other.outcome.violation.max(FEASIBLE)
            && self.merit(penalty) < other.merit(penalty) - margin * (1.0 + other.outcome.value.abs())
    }

    /// Whether this answer is feasible and `other` is not.
    pub(crate) fn repairs(&self, other: &Answer) -> bool {
        self.outcome.violation <= FEASIBLE && other.outcome.violation > FEASIBLE
    }
}

/// Value + `penalty` * violation; infinite if the evaluation failed.
pub(crate) fn merit(outcome: &Outcome, penalty: f64) -> f64 {
    if outcome.is_failed() { f64::INFINITY } else { outcome.value + penalty * outcome.violation }
}

/// What a search is allowed and asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Effort {
    /// Evaluations at most.
    pub(crate) evaluations: usize,
    /// Length of the last model step that settles an answer.
    pub(crate) tolerance: f64,
    /// Gain of a generation, relative to the first spread, that is none.
    pub(crate) gain: f64,
    /// Size of the sampled region in units of the coordinates.
    pub(crate) region: f64,
}

/// What all searches share.
pub(crate) struct Ground<'a> {
    pub(crate) archive: &'a Archive,
    /// The joint model, if it is to be used.
    pub(crate) model: Option<&'a JointModel>,
    pub(crate) coordinates: &'a Coordinates,
    pub(crate) bounds: &'a [(f64, f64)],
    pub(crate) inequalities: usize,
    pub(crate) params: &'a CmaParams,
    pub(crate) penalty: f64,
    /// Points a search may sample at once while no model exists.
    pub(crate) share: usize,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) fit: &'a mut FitScratch,
}

impl Ground<'_> {
    /// The model around (x, y), if there is one.
    fn model(&mut self, x: &[f64], y: &[f64]) -> Option<TaskModel> {
        self.model?.around(self.archive, &[x, y].concat(), self.inequalities, self.fit)
    }
}

/// What the points asked for are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Start,
    /// A model step: its predicted gain and its length.
    Step {
        predicted: f64,
        length: f64,
    },
    Sample,
    Ended,
}

/// The search for the answer to one x.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Follower {
    pub(crate) x: Vec<f64>,
    start: Vec<f64>,
    effort: Effort,
    stream: Stream,
    stage: Stage,
    best: Option<Answer>,
    /// Whether the search began at a known answer.
    known: bool,
    used: usize,
    radius: f64,
    misses: usize,
    sampler: Option<Cma>,
    generation: Vec<Answer>,
    /// Merit before the present generation.
    before: Option<f64>,
    first_spread: Option<f64>,
    quiet: usize,
    multiplier: f64,
    feasible_seen: bool,
}

impl Follower {
    /// A search from `start`.
    pub(crate) fn from_start(x: Vec<f64>, start: Vec<f64>, effort: Effort, stream: Stream) -> Self {
        Follower {
            x,
            start,
            effort,
            stream,
            stage: Stage::Start,
            best: None,
            known: false,
            used: 0,
            radius: RADIUS,
            misses: 0,
            sampler: None,
            generation: Vec::new(),
            before: None,
            first_spread: None,
            quiet: 0,
            multiplier: 0.0,
            feasible_seen: false,
        }
    }

    /// A search that goes on from a known answer.
    pub(crate) fn from_answer(x: Vec<f64>, answer: Answer, effort: Effort, stream: Stream) -> Self {
        let mut search = Follower::from_start(x, answer.y.clone(), effort, stream);
        search.best = Some(Answer { settled: false, ..answer });
        search.known = true;
        search.stage = Stage::Sample;
        search
    }

    /// The best answer so far.
    pub(crate) fn answer(&self) -> Option<&Answer> {
        self.best.as_ref()
    }

    /// The penalty after this search: not below twice its largest multiplier once it is settled,
    /// raised if the answer is infeasible though a feasible one was seen, else falling.
    pub(crate) fn judged_penalty(&self, penalty: f64) -> f64 {
        let Some(best) = &self.best else { return penalty };
        let exact = if best.settled { penalty.max(2.0 * self.multiplier) } else { penalty };
        exact * if best.outcome.violation > FEASIBLE && self.feasible_seen { PENALTY.0 } else { PENALTY.1 }
    }

    /// The price of violation in this search: that of the run, or an exact one if it turned out to
    /// be too low.
    fn penalty(&self, ground: &Ground<'_>) -> f64 {
        ground.penalty.max(2.0 * self.multiplier)
    }

    /// Appends the next points; none when the search has ended.
    pub(crate) fn ask(&mut self, ground: &mut Ground<'_>, points: &mut Vec<Vec<f64>>) {
        if self.stage == Stage::Ended {
            return;
        }
        let Some(best) = self.best.clone() else {
            points.push(self.start.iter().zip(ground.bounds).map(|(&y, &b)| inside(y, b)).collect());
            return;
        };
        if self.misses < PATIENCE
            && let Some(task) = ground.model(&self.x, &best.y)
            && self.ask_step(&task, &best, ground, points)
        {
            return;
        }
        self.ask_samples(&best, ground, points);
    }

    /// Takes the model's minimiser: settles, or asks for its evaluation. False if
    /// there is none worth a try.
    fn ask_step(&mut self, task: &TaskModel, best: &Answer, ground: &Ground<'_>, points: &mut Vec<Vec<f64>>) -> bool {
        let factor = &ground.coordinates.lower;
        let mut constraints = task.constraints.clone();
        constraints.extend(walls(&best.y, factor, ground.bounds, self.radius));
        let Some(found) = minimise(&task.objective, &constraints, task.constraints.len(), self.radius) else {
            return false;
        };
        let y = moved(&best.y, factor, &found.step, ground.bounds);
        let mut step: Vec<f64> = y.iter().zip(&best.y).map(|(a, b)| a - b).collect();
        ground.coordinates.whiten_step(&mut step);
        let length = step.iter().map(|s| s * s).sum::<f64>().sqrt();
        let proper = found.bounded && found.interior;
        if let Some(multiplier) = found.multiplier.filter(|_| proper) {
            self.multiplier = multiplier;
        }
        let predicted = predicted_gain(task, &step, self.penalty(ground));
        if best.outcome.is_failed() && length <= self.effort.tolerance {
            return false;
        }
        let negligible = predicted.abs() <= noise(best) && best.outcome.violation <= FEASIBLE;
        if proper && (length <= self.effort.tolerance || negligible) {
            self.end(true);
        } else if self.is_spent() {
            self.end(false);
        } else if predicted <= 0.0 {
            return false;
        } else {
            self.stage = Stage::Step { predicted, length };
            points.push(y);
        }
        true
    }

    fn is_spent(&self) -> bool {
        self.used >= self.effort.evaluations && self.used > 0
    }

    fn end(&mut self, settled: bool) {
        self.stage = Stage::Ended;
        if let Some(best) = &mut self.best {
            best.settled = settled;
        }
    }

    /// Asks for samples of the present generation.
    fn ask_samples(&mut self, best: &Answer, ground: &mut Ground<'_>, points: &mut Vec<Vec<f64>>) {
        if self.is_spent() {
            self.end(false);
            return;
        }
        let penalty = self.penalty(ground);
        self.before.get_or_insert(best.merit(penalty));
        let sampler = match &mut self.sampler {
            Some(sampler) => sampler,
            none => {
                let around_best = self.known || ground.archive.len() > 40;
                let mean = if around_best { best.y.clone() } else { self.start.clone() };
                let mut round = Cma::round(mean.clone(), 1.0);
                round.reshape(&mean, &ground.coordinates.lower_covariance(self.effort.region), ground.scratch);
                self.generation.clear();
                self.generation.push(best.clone());
                none.insert(round)
            }
        };
        let wanted = ground.params.population.saturating_sub(self.generation.len());
        let count = wanted.min(self.effort.evaluations.saturating_sub(self.used)).min(ground.share).max(1);
        for _ in 0..count {
            let mut y = vec![0.0; ground.bounds.len()];
            sample(sampler, &mut self.stream, ground.bounds, &mut y);
            points.push(y);
        }
        self.stage = Stage::Sample;
    }

    /// Takes the values of the points asked for.
    pub(crate) fn tell(&mut self, answers: Vec<Answer>, ground: &mut Ground<'_>) {
        let penalty = self.penalty(ground);
        self.used += answers.len();
        self.feasible_seen |= answers.iter().any(|a| a.outcome.violation <= FEASIBLE);
        let before = self.best.as_ref().map_or(f64::INFINITY, |best| best.merit(penalty));
        let last = answers.last().map_or(f64::INFINITY, |a| a.merit(penalty));
        for answer in answers {
            if self.sampler.is_some() {
                self.generation.push(answer.clone());
            }
            if self.best.as_ref().is_none_or(|best| answer.merit(penalty) <= best.merit(penalty)) {
                self.best = Some(answer);
            }
        }
        match self.stage {
            Stage::Step { predicted, length } => self.judge_step(before - last, predicted, length),
            Stage::Sample => self.judge_samples(ground),
            Stage::Start | Stage::Ended => {}
        }
    }

    /// Adapts the trust radius to how a step turned out.
    fn judge_step(&mut self, gain: f64, predicted: f64, length: f64) {
        let noise = self.best.as_ref().map_or(0.0, noise);
        let nothing = predicted.abs() <= noise && gain.abs() <= noise;
        if nothing || (gain / predicted - 1.0).abs() < AGREEMENT {
            self.misses = 0;
            if length >= 0.9 * self.radius {
                self.radius *= 2.0;
            }
        } else {
            self.misses += 1;
            self.radius = 0.5 * length.min(self.radius);
        }
    }

    /// Ends a generation of samples once it is full.
    fn judge_samples(&mut self, ground: &mut Ground<'_>) {
        let penalty = self.penalty(ground);
        let Some(sampler) = &mut self.sampler else { return };
        if self.generation.len() < ground.params.population || self.used >= self.effort.evaluations {
            return;
        }
        self.generation.sort_by(|a, b| a.merit(penalty).total_cmp(&b.merit(penalty)));
        let at = |i: usize| self.generation[i].merit(penalty);
        let spread = (at(self.generation.len() / 2) - at(0)).abs();
        let first_spread = *self.first_spread.get_or_insert(if spread.is_finite() { spread } else { 0.0 });
        let usable = self.generation.iter().filter(|a| !a.outcome.is_failed());
        sampler.update(ground.params, usable.map(|a| a.y.as_slice()), ground.scratch);
        self.generation.clear();
        self.misses = 0;
        self.radius = RADIUS;
        let Some(best) = &self.best else { return };
        let gain = self.before.take().map_or(f64::INFINITY, |before| before - best.merit(penalty));
        let least = self.effort.gain * first_spread.max(1e-10 * (1.0 + best.outcome.value.abs()));
        self.quiet = if gain < least { self.quiet + 1 } else { 0 };
        if self.quiet >= QUIET {
            self.end(true);
        }
    }
}

/// Gain in merit that a model predicts for a step.
fn predicted_gain(task: &TaskModel, step: &[f64], penalty: f64) -> f64 {
    let excess = |k: &super::minimiser::Constraint, value: f64| k.excess(value);
    let origin: f64 = task.constraints.iter().map(|k| excess(k, k.function.constant)).sum();
    let there: f64 = task.constraints.iter().map(|k| excess(k, k.function.value(step))).sum();
    task.objective.constant - task.objective.value(step) + penalty * (origin - there)
}

/// Differences of merit that are rounding.
fn noise(best: &Answer) -> f64 {
    1e-13 * (1.0 + best.outcome.value.abs())
}

/// Draws a point; each coordinate outside its box goes to the bound or halfway to it.
pub(crate) fn sample(cma: &Cma, stream: &mut Stream, bounds: &[(f64, f64)], point: &mut [f64]) {
    cma.draw(stream, point);
    for ((coordinate, &mean), &(low, high)) in point.iter_mut().zip(&cma.mean).zip(bounds) {
        if *coordinate < low || *coordinate > high {
            let bound = if *coordinate < low { low } else { high };
            let halfway = inside(0.5 * mean + 0.5 * bound, (low, high));
            *coordinate = if stream.uniform() < AT_BOUND { bound } else { halfway };
        }
    }
}

/// The start of a search: the expected answer, moved by that part of the guess to which the
/// follower is indifferent. Directions along which f does not curve belong to the leader, all
/// others to the follower: w = δ² (H² + δ²)⁻¹ w_guess.
pub(crate) fn start(ground: &mut Ground<'_>, x: &[f64], guess: &[f64]) -> Vec<f64> {
    /// Curvature, relative to the largest, below which the follower is indifferent.
    const INDIFFERENT: f64 = 1e-3;
    let bounds = ground.bounds;
    let expected = ground.coordinates.expected(x);
    let expected: Vec<f64> = expected.iter().zip(bounds).map(|(&y, &b)| inside(y, b)).collect();
    let Some(task) = ground.model(x, &expected) else { return expected };
    let n = expected.len();
    let mut w: Vec<f64> = guess.iter().zip(&expected).map(|(a, b)| a - b).collect();
    ground.coordinates.whiten_step(&mut w);
    let hessian = &task.objective.hessian;
    let row = |i: usize| &hessian[i * n..(i + 1) * n];
    let mut square: Vec<f64> = (0..n * n).map(|k| crate::linalg::dot(row(k / n), row(k % n))).collect();
    let largest = (0..n).map(|i| square[i * n + i]).fold(0.0, f64::max);
    if largest > 0.0 {
        let small = INDIFFERENT * INDIFFERENT * largest;
        (0..n).for_each(|i| square[i * n + i] += small);
        let mut factor = Vec::new();
        if !crate::linalg::cholesky::factor_with_ridge(n, &square, 1e-15, &mut factor) {
            return expected;
        }
        w.iter_mut().for_each(|w| *w *= small);
        crate::linalg::cholesky::solve(n, &factor, &mut w);
    }
    moved(&expected, &ground.coordinates.lower, &w, bounds)
}
