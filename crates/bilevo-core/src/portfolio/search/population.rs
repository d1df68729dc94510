//! A population: CMA-ES over (x, y) whose followers are solved on the shared surrogate.
//!
//! One generation: sample -> allocate (the paper's ranking) -> followers side by side -> their rivals -> F of all
//! answers -> refine the best if it would become the incumbent, and try other answers at the incumbent's x -> F of
//! what changed -> update, learn.
//!
//! Its purpose is to find a basin, not the bottom of it: once it has shrunk to a tenth of its first size, a descent
//! tries to finish it. If that fails, it continues from the better of the two to a tenth of that size, and so on
//! until its own end.
//!
//! Sources: BL-CMA-ES (He et al., 2018) for the skeleton, CMA-ES restarts (Auger and Hansen, 2005).
//! Randomness: `Purpose::Sample`, `Allocate`, `Elite` by generation, counted over all populations.

mod closing;
mod opening;
mod others;

pub(in crate::portfolio) use others::Rival;

use super::{End, Goal, Ground, Rows, Search, Shape, Wanted};
use crate::allocate::{AllocatorSetup, AllocatorState};
use crate::cma::{Cma, CmaParams, Scratch};
use crate::config::Config;
use crate::portfolio::archive::{Archive, Learner};
use crate::portfolio::claim::Claim;
use crate::portfolio::config::Switch;
use crate::portfolio::follower::{Follower, Knowledge};
use crate::portfolio::merit::Merit;
use crate::portfolio::next::NARROW;
use crate::problem::Level;
use crate::record::LowerSearches;
use serde::{Deserialize, Serialize};

/// The first step size, as a share of the box.
const STEP: f64 = 0.3;
/// The first length of the kernel.
const LENGTH: f64 = 0.3;
/// The accuracy of an answer, as a share of the leader's spread: for all candidates, and for the best.
const TOLERANCES: (f64, f64) = (0.1, 0.02);
/// The first price of violation, in units of F's scale.
const PRICE: f64 = 1.0;

/// What is being evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Between generations.
    Open,
    /// Lower: the followers of all chosen candidates.
    Follow,
    /// Lower: their rivals, and the followers whose rival won.
    Rivals,
    Chase,
    /// Upper: F of all answers.
    Judge,
    /// Lower: other answers at the incumbent's x.
    Scout,
    /// Lower: the followers of the best candidate and of a scout that won.
    Refine,
    /// Upper: F of the answers that changed.
    Confirm,
}

/// What a population needs to begin.
pub(in crate::portfolio) struct Start<'a> {
    pub(in crate::portfolio) shape: Shape,
    /// Where it begins.
    pub(in crate::portfolio) mean: Vec<f64>,
    pub(in crate::portfolio) config: &'a Config,
    pub(in crate::portfolio) size: usize,
    /// Its number among the populations, from 0, and the generations of those before it.
    pub(in crate::portfolio) number: u64,
    pub(in crate::portfolio) generation: u64,
    /// Where it may end early.
    pub(in crate::portfolio) goal: Option<Goal>,
    /// Decisions at which a verdict found several answers.
    pub(in crate::portfolio) rivals: Vec<Rival>,
}

/// The state of a population.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::portfolio) struct Population {
    m: usize,
    number: u64,
    pub(in crate::portfolio) generation: u64,
    cma: Cma,
    params: CmaParams,
    pub(in crate::portfolio) allocator: AllocatorState,
    recall: u64,
    knowledge: Knowledge,
    stage: Stage,
    followers: Vec<Follower>,
    /// Where they start, until that is evaluated, and which of them wait for a value.
    starts: Vec<Vec<f64>>,
    waiting: Vec<usize>,
    solutions: Vec<Claim>,
    scouts: Vec<Vec<f64>>,
    judged: Vec<Claim>,
    incumbent: Option<Claim>,
    price: f64,
    /// The best incumbent so far, feasible ones first, the upper evaluations, and when it last improved.
    record: Option<Claim>,
    clock: (u64, u64),
    /// The number of corrections of the incumbent that restarted the record.
    corrected: usize,
    patience: u64,
    flat: usize,
    /// The size at which it ends.
    narrow: f64,
    goal: Option<Goal>,
    rivals: Vec<Rival>,
    others: Switch,
    end: Option<End>,
    pub(in crate::portfolio) searches: LowerSearches,
    #[serde(skip)]
    scratch: Scratch,
}

impl Population {
    /// A population that starts somewhere in the box.
    pub(in crate::portfolio) fn new(ground: &Ground<'_>, start: Start<'_>) -> Self {
        let Start { shape, mean, config, size, number, generation, goal, rivals } = start;
        let setup = AllocatorSetup { spec: ground.spec, config, streams: ground.streams };
        let learner = Learner::new(vec![LENGTH; shape.dim()], ground.archive.lower.len());
        Population {
            m: shape.upper[0],
            number,
            generation,
            cma: Cma::round(mean, STEP),
            params: CmaParams::new(shape.dim(), size),
            allocator: AllocatorState::new(config.allocator.kind, setup),
            recall: config.joint_cma.recall as u64,
            knowledge: Knowledge { learner, merit: Merit::new(shape.lower[1], shape.lower[2]) },
            stage: Stage::Open,
            followers: Vec::new(),
            starts: Vec::new(),
            waiting: Vec::new(),
            solutions: Vec::new(),
            scouts: Vec::new(),
            judged: Vec::new(),
            incumbent: None,
            price: PRICE,
            record: None,
            clock: (0, 0),
            corrected: 0,
            patience: config.portfolio.patience,
            flat: 0,
            narrow: NARROW,
            goal,
            rivals,
            others: config.portfolio.others,
            end: None,
            searches: LowerSearches::default(),
            scratch: Scratch::default(),
        }
    }

    /// Continues until it is narrower still, from what a descent made of its claim if that is better.
    pub(in crate::portfolio) fn resume(&mut self, claim: Option<&Claim>, goal: Option<Goal>) {
        self.narrow *= NARROW;
        // One that ended near another claim continues to its own end.
        self.goal = goal.filter(|_| self.end != Some(End::Arrived));
        self.end = None;
        let better = |c: &&Claim| self.incumbent.as_ref().is_none_or(|incumbent| c.value() < incumbent.value());
        if let Some(claim) = claim.filter(|c| c.settled).filter(better) {
            self.incumbent = Some(claim.clone());
        }
    }

    /// Whether it was interrupted before.
    pub(in crate::portfolio) fn is_resumed(&self) -> bool {
        self.narrow < NARROW
    }

    /// Its size relative to the first.
    pub(in crate::portfolio) fn narrowed(&self) -> f64 {
        self.cma.reach() / STEP
    }

    /// F plus the priced violation; infinite if there is no value.
    fn merit(&self, ground: &Ground<'_>, claim: &Claim) -> f64 {
        if claim.upper.is_empty() {
            return f64::INFINITY;
        }
        let scales = ground.scales;
        claim.value() + self.price * scales.leader() * scales.violation(claim)
    }

    /// The next points of all followers.
    fn follow(&mut self, archive: &Archive, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        self.waiting.clear();
        for (i, follower) in self.followers.iter_mut().enumerate() {
            let start = self.starts.get_mut(i).filter(|start| !start.is_empty()).map(std::mem::take);
            if let Some(y) = start.or_else(|| follower.next(&archive.lower, &mut self.knowledge)) {
                wanted.push(&follower.x, &y);
                self.waiting.push(i);
            }
        }
    }

    /// Index of the best solution of the generation.
    fn best(&self, ground: &Ground<'_>) -> Option<usize> {
        let merit = |i: usize| self.merit(ground, &self.solutions[i]);
        (0..self.solutions.len()).filter(|&i| merit(i).is_finite()).min_by(|&a, &b| merit(a).total_cmp(&merit(b)))
    }

    /// What the followers found, as claims without F.
    fn answers(&self) -> Vec<Claim> {
        let solved = self.followers.iter().filter(|f| !f.row.is_empty());
        let claim = |f: &Follower| Claim {
            x: f.x.clone(),
            y: f.y.clone(),
            upper: Vec::new(),
            lower: f.row.clone(),
            settled: f.settled,
        };
        solved.map(claim).collect()
    }
}

impl Search for Population {
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        while wanted.is_empty() && self.end.is_none() {
            match self.stage {
                Stage::Open => self.open(ground),
                Stage::Follow => {
                    self.follow(ground.archive, wanted);
                    if wanted.is_empty() {
                        self.stage = Stage::Rivals;
                        self.try_rivals(wanted);
                    }
                }
                Stage::Rivals | Stage::Chase => {
                    self.follow(ground.archive, wanted);
                    if wanted.is_empty() {
                        self.stage = Stage::Judge;
                        self.solutions = self.answers();
                        if self.solutions.is_empty() {
                            self.close(ground);
                        }
                    }
                }
                Stage::Judge => {
                    wanted.clear(Level::Upper);
                    self.solutions.iter().for_each(|s| wanted.push(&s.x, &s.y));
                }
                Stage::Scout => {
                    self.scout(ground, wanted);
                    if wanted.is_empty() {
                        self.refine(ground, &Rows::new());
                        self.stage = Stage::Refine;
                    }
                }
                Stage::Refine => {
                    self.follow(ground.archive, wanted);
                    if wanted.is_empty() {
                        self.stage = Stage::Confirm;
                    }
                }
                Stage::Confirm => {
                    wanted.clear(Level::Upper);
                    self.answers().iter().for_each(|c| wanted.push(&c.x, &c.y));
                    if wanted.is_empty() {
                        self.close(ground);
                    }
                }
            }
        }
    }

    fn tell(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        match self.stage {
            Stage::Rivals => {
                self.judge_rivals(ground, wanted, rows);
                self.stage = Stage::Chase;
            }
            Stage::Follow | Stage::Chase | Stage::Refine => {
                for ((&i, point), row) in self.waiting.iter().zip(wanted.iter()).zip(rows) {
                    self.followers[i].tell(&point[self.m..], row, &self.knowledge.merit);
                }
            }
            Stage::Judge => {
                self.clock.0 += rows.len() as u64;
                self.solutions.iter_mut().zip(rows).for_each(|(s, row)| s.upper.clone_from(row));
                self.stage = Stage::Scout;
            }
            Stage::Scout => {
                self.refine(ground, rows);
                self.stage = Stage::Refine;
            }
            Stage::Confirm => self.confirm(ground, rows),
            Stage::Open => {}
        }
    }

    fn claim(&self) -> Option<Claim> {
        self.incumbent.clone()
    }

    fn end(&self) -> Option<End> {
        self.end
    }

    fn cut(&mut self) {
        self.end = Some(End::Spent);
    }

    fn reach(&self) -> (f64, f64) {
        (self.cma.step_size, self.cma.axis_ratio())
    }
}

#[cfg(test)]
mod tests;
