//! Question B: is there any better decision for the leader?

use crate::follower::{FollowerVerdict, follower, is_feasible, meets};
use crate::graph::Grade;
use crate::interval::Interval;
use crate::known::Pool;
use crate::local;
use crate::problem::{Problem, Row};
use crate::prune::{Question, Wanted, prune};
use crate::tree::{Branch, Tree};
use crate::work::{Region, Work};
use crate::{Limits, Stopped};

/// What was found out about the leader's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaderVerdict {
    /// No decision is better by more than the tolerance.
    Proven,
    /// There is a better one.
    Better,
    /// Neither could be shown within the limits.
    Open,
}

/// A decision with the follower's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The leader's decision.
    pub x: Vec<f64>,
    /// The follower's answer.
    pub y: Vec<f64>,
    /// F(x, y), as the problem returns it.
    pub value: f64,
}

/// The finding about the leader's value. Objective values are as the problem returns them.
#[derive(Clone, Debug)]
pub struct LeaderProof {
    /// The finding as one word.
    pub verdict: LeaderVerdict,
    /// No decision has a better value than this: a lower bound of F, an upper one if F is maximised.
    pub bound: f64,
    /// The largest difference that counts as zero.
    pub tolerance: f64,
    /// The best decision found that is better than the claim; it and its answer are proven.
    pub better: Option<Decision>,
    /// Boxes examined.
    pub boxes: u64,
    /// Operations done: the same on every machine.
    pub work: u64,
    /// Wall time.
    pub seconds: f64,
    /// Why some boxes were not excluded, if so. If this is absent and there is a better decision, that decision
    /// is proven.
    pub stopped: Option<Stopped>,
}

/// The limits of one attempt to prove a better decision; all attempts together may take a third of the work, and this
/// much in any case.
const ATTEMPT: Limits = Limits { boxes: 300, work: 3_000_000, time: None, stop: None };
const ATTEMPTS: u64 = 10_000_000;

/// How many better decisions start a local search, and its maximum number of steps.
const POLISHES: u64 = 12;
const STEPS: u64 = 500;

/// Does any decision give the leader a value better than `claim` by more than `tolerance` · max(1, |claim|)?
pub fn leader(problem: &Problem, claim: f64, tolerance: f64, limits: &Limits) -> LeaderProof {
    // A claim that is not a number claims nothing: everything is better.
    let claim = if claim.is_finite() { problem.directions[0].flip(claim) } else { f64::MAX };
    let mut search = Search {
        work: Work::new(problem),
        pool: Pool::default(),
        limit: claim - tolerance * claim.abs().max(1.0),
        relative: tolerance,
        better: None,
        attempted: 0,
        polished: 0,
    };
    let mut tree = Tree::new(problem.bounds.clone(), limits);
    let (stopped, bound) = match problem.pessimistic {
        true => (Some(Stopped::Position), f64::NEG_INFINITY),
        false => search.run(&mut tree),
    };
    let flip = |value: f64| problem.directions[0].flip(value);
    LeaderProof {
        verdict: match (&search.better, stopped) {
            (Some(_), _) => LeaderVerdict::Better,
            (None, None) => LeaderVerdict::Proven,
            (None, Some(_)) => LeaderVerdict::Open,
        },
        bound: flip(bound),
        tolerance: tolerance * claim.abs().max(1.0),
        better: search.better.take().map(|(value, x, y)| Decision { x, y, value: flip(value) }),
        boxes: tree.boxes,
        work: search.work.spent,
        seconds: tree.seconds(),
        stopped,
    }
}

struct Search<'p> {
    work: Work<'p>,
    pool: Pool,
    /// The search is for decisions with F up to this.
    limit: f64,
    relative: f64,
    /// F, x and y of the best decision found.
    better: Option<(f64, Vec<f64>, Vec<f64>)>,
    /// Work of all attempts.
    attempted: u64,
    polished: u64,
}

impl Search<'_> {
    /// Goes through the tree; returns why it stopped early, and a lower bound of F.
    fn run(&mut self, tree: &mut Tree<'_>) -> (Option<Stopped>, f64) {
        let problem = self.work.problem;
        let mut rows: Vec<&Row> = vec![&problem.upper, &problem.lower];
        rows.extend(problem.lower_inequalities.iter().chain(&problem.upper_inequalities));
        while let Some(mut branch) = tree.next() {
            if let Some(why) = tree.stopped(self.work.spent) {
                return (Some(why), tree.least(Some(&branch)).min(self.limit));
            }
            if branch.bound > self.limit {
                continue;
            }
            let mut known = self.pool.answer(&mut self.work, &branch.region, &branch.known);
            if self.try_decision(&branch, known.as_ref().map(|(y, _)| &y[..])) {
                known = self.pool.answer(&mut self.work, &branch.region, &branch.known);
            }
            let wanted = Wanted {
                question: Question::Leader,
                limit: self.limit,
                known: known.as_ref().map(|(y, most)| (&y[..], *most)),
                hints: &[],
            };
            if prune(&mut self.work, &mut branch.region, &wanted) || self.is_settled(&branch.region) {
                continue;
            }
            branch.known = known.map_or(branch.known, |(y, _)| y);
            branch.bound = branch.bound.max(self.work.range(&problem.upper, &branch.region).value.lo);
            tree.split(&mut self.work, branch, &rows);
        }
        let left = tree.least(None);
        let why = (left < f64::INFINITY).then_some(Stopped::Resolution);
        (why, left.min(self.limit))
    }

    /// Tries the middle x of a region with answers from its middle and with the known one. Returns true if that
    /// revealed a better answer of the follower.
    fn try_decision(&mut self, branch: &Branch, known: Option<&[f64]>) -> bool {
        if self.attempted > ATTEMPTS + self.work.spent / 3 {
            return false;
        }
        let problem = self.work.problem;
        let nx = problem.nx;
        let rounded = |(i, whole): (&Interval, &bool)| if *whole { i.middle().round() } else { i.middle() };
        let middle: Vec<f64> = branch.region.iter().zip(&problem.whole).map(rounded).collect();
        let margins = vec![1e-9; problem.lower_inequalities.len()];
        let mut learned = false;
        for start in [Some(&middle[nx..]), known].into_iter().flatten() {
            let y = local::answer(&mut self.work, &middle[..nx], start, &margins, 60);
            if self.pool.beats(&mut self.work, &middle[..nx], &y) {
                continue;
            }
            let verdict = self.consider(&middle[..nx], &y);
            learned |= verdict == Some(FollowerVerdict::Refuted);
            if verdict == Some(FollowerVerdict::Proven) && self.polished < POLISHES {
                self.polished += 1;
                self.polish(middle[..nx].to_vec(), y);
            }
        }
        learned
    }

    /// Whether a region is a single decision with a single answer, which was adopted or for which the follower
    /// certainly has a better answer. An answer that is feasible only within a tolerance does not count: exclusions
    /// must be exact.
    fn is_settled(&mut self, region: &Region) -> bool {
        let problem = self.work.problem;
        let point: Vec<f64> = region.iter().filter(|i| i.is_point()).map(|i| i.lo).collect();
        let (x, y) = point.split_at(problem.nx.min(point.len()));
        let verdict = if point.len() == region.len() { self.consider(x, y) } else { None };
        match verdict {
            Some(FollowerVerdict::Proven) => true,
            Some(FollowerVerdict::Refuted) => {
                let best = self.pool.answer(&mut self.work, region, y);
                best.is_some_and(|(_, most)| most < self.work.range(&problem.lower, region).value.lo)
            }
            _ => false,
        }
    }

    /// Keeps a decision if it is certainly better than the limit and its answer is proven; `None` if it is not better
    /// or violates a constraint. If the follower has a better answer, that is remembered.
    fn consider(&mut self, x: &[f64], y: &[f64]) -> Option<FollowerVerdict> {
        let problem = self.work.problem;
        let at: Region = x.iter().chain(y).map(|&v| Interval::point(v)).collect();
        let value = self.work.range(&problem.upper, &at);
        let inside = at.iter().zip(&problem.bounds).all(|(v, bounds)| bounds.contains(v.lo));
        let improves = value.grade >= Grade::Defined && value.value.hi < self.limit && inside;
        if !improves
            || !meets(&mut self.work, &problem.upper_inequalities, &problem.upper_equalities, &at)
            || !is_feasible(&mut self.work, &at)
        {
            return None;
        }
        let proof = follower(problem, x, y, problem.follower_tolerance, &ATTEMPT);
        self.work.spent += proof.work;
        self.attempted += proof.work;
        if proof.verdict == FollowerVerdict::Proven {
            let value = value.value.hi;
            self.limit = value - self.relative * value.abs().max(1.0);
            self.better = Some((value, x.to_vec(), y.to_vec()));
        }
        if let Some((better, _)) = proof.better {
            self.pool.learn(better);
        }
        Some(proof.verdict)
    }

    /// Steps along the axes of x and in random directions, with the follower's answer to each, as long as F
    /// decreases. The end is then treated like any other decision.
    fn polish(&mut self, mut x: Vec<f64>, mut y: Vec<f64>) {
        let margins = vec![1e-9; self.work.problem.lower_inequalities.len()];
        let mut value = self.float_value(&x, &y);
        let (start, mut step, mut tries) = (value, 0.05, 0);
        while step > 1e-7 && tries < STEPS {
            let mut moved = false;
            for direction in self.directions() {
                tries += 1;
                let trial = self.moved(&x, &direction, step);
                let answer = local::answer(&mut self.work, &trial, &y, &margins, 60);
                let new = self.float_value(&trial, &answer);
                if new < value && !self.pool.beats(&mut self.work, &trial, &answer) {
                    (x, y, value) = (trial, answer, new);
                    moved = true;
                }
            }
            step *= if moved { 1.0 } else { 0.4 };
        }
        if value < start {
            // From here on, any gain counts.
            let limit = std::mem::replace(&mut self.limit, start);
            self.consider(&x, &y);
            self.limit = self.limit.min(limit);
        }
    }

    /// Both ways along every axis of x, and as many random directions if there is more than one.
    fn directions(&mut self) -> Vec<Vec<f64>> {
        let nx = self.work.problem.nx;
        let axis = |k: usize| (0..nx).map(|j| if j == k / 2 { [-1.0, 1.0][k % 2] } else { 0.0 }).collect();
        let mut all: Vec<Vec<f64>> = (0..2 * nx).map(axis).collect();
        for _ in 0..if nx > 1 { 2 * nx } else { 0 } {
            all.push((0..nx).map(|_| 2.0 * self.pool.random() - 1.0).collect());
        }
        all
    }

    /// x after a step, by shares of the box; whole numbers by at least one where they move.
    fn moved(&self, x: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
        let problem = self.work.problem;
        let coordinate = |j: usize| {
            let bounds = problem.bounds[j];
            let length = step * bounds.width() * direction[j];
            let length = if problem.whole[j] { direction[j].signum() * length.abs().ceil() } else { length };
            (x[j] + length).max(bounds.lo).min(bounds.hi)
        };
        (0..x.len()).map(coordinate).collect()
    }

    /// F in floating-point numbers; infinite if a constraint is violated.
    fn float_value(&mut self, x: &[f64], y: &[f64]) -> f64 {
        let problem = self.work.problem;
        let point: Vec<f64> = x.iter().chain(y).copied().collect();
        let inequalities = problem.upper_inequalities.iter().chain(&problem.lower_inequalities);
        let equalities = problem.upper_equalities.iter().chain(&problem.lower_equalities);
        let mut met = true;
        for row in inequalities {
            met &= self.work.float(row, &point) <= 0.0;
        }
        for row in equalities {
            met &= self.work.float(row, &point).abs() <= problem.equality_tolerance;
        }
        let value = self.work.float(&problem.upper, &point);
        if met && !value.is_nan() { value } else { f64::INFINITY }
    }
}
