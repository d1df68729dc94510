//! A population: CMA-ES over (x, y) whose followers are solved on the shared surrogate.
//!
//! One generation: sample -> allocate (the paper's ranking) -> followers side by side -> F of all answers
//! -> refine the best if it would become the incumbent, and try other answers at the incumbent's x ->
//! F of what changed -> update, learn.
//!
//! It is there to find a basin, not its bottom: once it has narrowed to a tenth of its first size, a
//! descent finishes it. Where that fails it goes on to its own end.
//! Sources: BL-CMA-ES (He et al., 2018) for the skeleton, CMA-ES restarts (Auger and Hansen, 2005).
//! Randomness: `Purpose::Start`, `Sample`, `Allocate`, `Elite` by generation, counted over all populations.

use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::allocate::{Allocation, AllocatorSetup, AllocatorState, Sampled};
use crate::candidate::{Candidate, Solved};
use crate::cma::{Cma, CmaParams, Scratch};
use crate::config::Config;
use crate::portfolio::archive::{Archive, Learner, distance};
use crate::portfolio::claim::Claim;
use crate::portfolio::follower::{Effort, Follower, Knowledge, apart, predict};
use crate::portfolio::merit::Merit;
use crate::problem::{Level, Outcome};
use crate::record::LowerSearches;
use crate::rng::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// First step size, as a share of the box.
const STEP: f64 = 0.3;
/// First length of the kernel.
const LENGTH: f64 = 0.3;
/// Accuracy of an answer, as a share of the leader's spread: of all, and of the best.
const TOLERANCES: (f64, f64) = (0.1, 0.02);
/// Share of the coordinates outside the box that go to the bound, the others go halfway to it: optima
/// often lie on bounds.
const AT_BOUND: f64 = 0.5;
/// Size, relative to the first, at which a descent takes over.
const NARROW: f64 = 0.1;
/// Longest axis below which the distribution has collapsed.
const COLLAPSED: f64 = 1e-9;
/// Generations in a row whose F differ by less than this share of F's scale end it.
const FLAT: (f64, usize) = (1e-10, 2);
/// Price of violation in units of F's scale: first, its change while the incumbent is infeasible, and
/// otherwise.
const PRICE: (f64, f64, f64) = (1.0, 1.5, 0.7);
/// Answers remembered to predict others by, in populations.
const MEMORY: usize = 4;
/// Range of the steps by which a random answer differs from the incumbent's.
const SCOUTS: (f64, f64) = (0.003, 0.3);
/// An answer elsewhere is better by this share of f's scale.
const BETTER: f64 = 1e-6;

/// What is being evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Between generations.
    Open,
    /// Lower: the followers of all chosen candidates.
    Follow,
    /// Upper: F of all answers.
    Judge,
    /// Lower: other answers at the incumbent's x.
    Scout,
    /// Lower: the followers of the best and of a scout that won.
    Refine,
    /// Upper: F of the answers that changed.
    Confirm,
}

/// What a population is made from.
pub(in crate::portfolio) struct Start<'a> {
    pub(in crate::portfolio) shape: Shape,
    pub(in crate::portfolio) config: &'a Config,
    pub(in crate::portfolio) size: usize,
    /// Number among the populations, from 0, and generations of those before it.
    pub(in crate::portfolio) number: u64,
    pub(in crate::portfolio) generation: u64,
    /// A claim near which it may end: how near, and how close in F.
    pub(in crate::portfolio) known: Option<(Claim, f64, f64)>,
    /// Answers of the follower elsewhere, to be tried in turn.
    pub(in crate::portfolio) rivals: Vec<Vec<f64>>,
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
    /// Where they start, until that was evaluated; and which of them wait for a value.
    starts: Vec<Vec<f64>>,
    waiting: Vec<usize>,
    solutions: Vec<Claim>,
    scouts: Vec<Vec<f64>>,
    judged: Vec<Claim>,
    incumbent: Option<Claim>,
    price: f64,
    /// Upper evaluations so far, and when the incumbent last became better.
    clock: (u64, u64),
    patience: u64,
    flat: usize,
    /// Size at which it ends.
    narrow: f64,
    known: Option<(Claim, f64, f64)>,
    rivals: Vec<Vec<f64>>,
    end: Option<End>,
    pub(in crate::portfolio) searches: LowerSearches,
    #[serde(skip)]
    scratch: Scratch,
}

impl Population {
    /// A population that starts anywhere in the box.
    pub(in crate::portfolio) fn new(ground: &Ground<'_>, start: Start<'_>) -> Self {
        let Start { shape, config, size, number, generation, known, rivals } = start;
        let mut stream = ground.streams.open(Purpose::Start, generation, 1 + number);
        let mean = (0..shape.dim()).map(|_| stream.uniform()).collect();
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
            price: PRICE.0,
            clock: (0, 0),
            patience: config.portfolio.patience,
            flat: 0,
            narrow: NARROW,
            known,
            rivals,
            end: None,
            searches: LowerSearches::default(),
            scratch: Scratch::default(),
        }
    }

    /// Goes on to its own end.
    pub(in crate::portfolio) fn resume(&mut self) {
        self.narrow = 0.0;
        self.end = None;
    }

    /// Whether it goes on to its own end.
    pub(in crate::portfolio) fn is_resumed(&self) -> bool {
        self.narrow <= 0.0
    }

    /// Its size relative to the first.
    pub(in crate::portfolio) fn narrowed(&self) -> f64 {
        self.cma.reach() / STEP
    }

    pub(in crate::portfolio) fn step_size(&self) -> (f64, f64) {
        (self.cma.step_size, self.cma.axis_ratio())
    }

    /// Spread of the leader's variables.
    fn spread(&self) -> f64 {
        let d = self.cma.mean.len();
        let sum: f64 = (0..self.m).map(|i| self.cma.cov[i * d + i]).sum();
        (self.cma.step_size * (sum / self.m as f64).sqrt()).min(STEP)
    }

    /// F plus violation at its price; infinite if there is no value.
    fn merit(&self, ground: &Ground<'_>, claim: &Claim) -> f64 {
        if claim.upper.is_empty() {
            return f64::INFINITY;
        }
        let scales = ground.scales;
        claim.value() + self.price * scales.leader() * scales.leader_violation(&claim.upper, &claim.lower)
    }

    /// Samples and chooses candidates, and opens their followers.
    fn open(&mut self, ground: &Ground<'_>) {
        self.generation += 1;
        let chosen = self.choose(ground);
        let (spread, n) = (self.spread(), self.params.dim - self.m);
        let tolerance = (TOLERANCES.0 * spread).max(1e-7);
        self.followers.clear();
        self.starts.clear();
        for candidate in chosen {
            let nearest =
                self.judged.iter().min_by(|a, b| apart(&a.x, &candidate.x).total_cmp(&apart(&b.x, &candidate.x)));
            // Every other population leaves the choice of a basin of the follower to its samples.
            let base = nearest.filter(|_| self.number.is_multiple_of(2)).cloned();
            let (y, radius) = match base {
                Some(base) => {
                    let far = apart(&base.x, &candidate.x);
                    (predict(&base, &candidate.x, tolerance, &ground.archive.lower, &mut self.knowledge), 0.5 * far)
                }
                None => (candidate.guess, spread),
            };
            let effort = Effort { radius: radius.max(4.0 * tolerance), tolerance, evaluations: 10 + 4 * n };
            self.followers.push(Follower::new(candidate.x, y.clone(), Vec::new(), effort));
            self.starts.push(y);
        }
        self.stage = Stage::Follow;
    }

    /// Samples until the allocator is content.
    fn choose(&mut self, ground: &Ground<'_>) -> Vec<Candidate> {
        let population = self.params.population;
        let mut candidates = Vec::new();
        let mut point = vec![0.0; self.params.dim];
        let mut round = 0;
        let run = loop {
            let mut stream = ground.streams.open(Purpose::Sample, self.generation, round);
            for _ in 0..population {
                sample(&self.cma, &mut stream, &mut point);
                candidates.push(Candidate { x: point[..self.m].to_vec(), guess: point[self.m..].to_vec() });
            }
            let mut stream = ground.streams.open(Purpose::Allocate, self.generation, round);
            let sampled = Sampled { candidates: &candidates, population, round: round as usize };
            match self.allocator.allocate(&sampled, &mut stream) {
                Allocation::Run(run) => break run,
                Allocation::Resample => round += 1,
            }
        };
        self.searches.run += run.len() as u64;
        self.searches.skipped += (population - run.len().min(population)) as u64;
        self.searches.resampled += round * population as u64;
        run.iter().map(|&index| candidates[index].clone()).collect()
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

    /// Other answers to try at the incumbent's x: one from elsewhere and a random one.
    fn scout(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        self.scouts.clear();
        let Some(incumbent) = &self.incumbent else { return };
        let mut stream = ground.streams.open(Purpose::Elite, self.generation, 0);
        let rivals = self.rivals.iter().chain(self.judged.iter().map(|c| &c.y));
        let different: Vec<&Vec<f64>> = rivals.filter(|y| distance(y, &incumbent.y) > 0.05).collect();
        if !different.is_empty() {
            self.scouts.push(different[stream.below(different.len())].clone());
        }
        self.scouts.push(random_answer(&incumbent.y, self.generation.is_multiple_of(2), &mut stream));
        self.scouts.iter().for_each(|y| wanted.push(&incumbent.x, y));
    }

    /// Opens the followers of the best, if it would become the incumbent, and of a scout that won.
    fn refine(&mut self, ground: &Ground<'_>, rows: &Rows) {
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
        let feasible = |row: &[f64]| ground.scales.answer_is_feasible(row);
        let wins = |row: &[f64]| {
            !row.is_empty()
                && (feasible(row) || !feasible(&incumbent.lower))
                && row[0] < incumbent.lower[0] - BETTER * ground.scales.follower()
        };
        let won = self.scouts.iter().zip(rows).filter(|(_, row)| wins(row)).min_by(|a, b| a.1[0].total_cmp(&b.1[0]));
        if let Some((y, row)) = won {
            self.followers.push(Follower::new(incumbent.x.clone(), y.clone(), row.clone(), effort(0.05)));
        }
    }

    /// Index of the best solution of the generation.
    fn best(&self, ground: &Ground<'_>) -> Option<usize> {
        let merit = |i: usize| self.merit(ground, &self.solutions[i]);
        (0..self.solutions.len()).filter(|&i| merit(i).is_finite()).min_by(|&a, &b| merit(a).total_cmp(&merit(b)))
    }

    /// Takes the refined answers with their F, and closes the generation.
    fn confirm(&mut self, ground: &Ground<'_>, rows: &Rows) {
        self.clock.0 += rows.len() as u64;
        let refined = self.answers();
        for (mut claim, row) in refined.into_iter().zip(rows).filter(|(_, row)| !row.is_empty()) {
            claim.upper.clone_from(row);
            if self.incumbent.as_ref().is_some_and(|incumbent| incumbent.x == claim.x) {
                // The incumbent owed its value to an answer that is not the follower's.
                self.rivals.push(claim.y.clone());
                self.incumbent = Some(claim.clone());
                self.clock.1 = self.clock.0;
            }
            let known = self.solutions.iter_mut().chain(&mut self.judged).filter(|s| s.x == claim.x);
            known.for_each(|s| s.clone_from(&claim));
        }
        self.close(ground);
    }

    /// Who is the incumbent, what is learnt, and whether to go on.
    fn close(&mut self, ground: &Ground<'_>) {
        let best = self.best(ground).map(|i| self.solutions[i].clone());
        let former = self.judged.iter().filter(|c| c.settled);
        let former = former.min_by(|a, b| self.merit(ground, a).total_cmp(&self.merit(ground, b))).cloned();
        for claim in best.into_iter().chain(former) {
            let better = |incumbent: &Claim| self.merit(ground, &claim) < self.merit(ground, incumbent);
            if self.incumbent.as_ref().is_none_or(better) {
                self.incumbent = Some(claim);
                self.clock.1 = self.clock.0;
            }
        }
        self.is_flat(ground);
        self.update(ground);
        let feasible = self.incumbent.as_ref().is_some_and(|c| ground.scales.is_feasible(c));
        self.price *= if feasible { PRICE.2 } else { PRICE.1 };
        self.judged.append(&mut self.solutions);
        let old = self.judged.len().saturating_sub(MEMORY * self.params.population);
        self.judged.drain(..old);
        self.stage = Stage::Open;
        let arrived = |(known, near, tolerance): &(Claim, f64, f64)| {
            self.incumbent.as_ref().is_some_and(|c| {
                c.settled && c.distance(known) <= *near && (c.value() - known.value()).abs() <= *tolerance
            })
        };
        self.end = if self.known.as_ref().is_some_and(arrived) {
            Some(End::Arrived)
        } else if self.narrowed() < self.narrow && feasible {
            Some(End::Converged)
        } else if self.clock.0 - self.clock.1 > self.patience || self.flat >= FLAT.1 || self.cma.reach() < COLLAPSED {
            Some(End::Spent)
        } else {
            None
        };
    }

    fn is_flat(&mut self, ground: &Ground<'_>) {
        let merits: Vec<f64> = self.solutions.iter().map(|s| self.merit(ground, s)).filter(|m| m.is_finite()).collect();
        let (low, high) = merits.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), m| (l.min(*m), h.max(*m)));
        let flat = merits.len() > 1 && high - low <= FLAT.0 * ground.scales.leader();
        self.flat = if flat { self.flat + 1 } else { 0 };
    }

    fn update(&mut self, ground: &Ground<'_>) {
        let mut parents: Vec<(f64, Vec<f64>)> =
            self.solutions.iter().map(|s| (self.merit(ground, s), s.point())).filter(|p| p.0.is_finite()).collect();
        if let Some(incumbent) =
            self.incumbent.as_ref().filter(|_| self.recall > 0 && self.generation.is_multiple_of(self.recall))
        {
            let merit = self.merit(ground, incumbent);
            if parents.iter().all(|p| merit < p.0) {
                parents.push((merit, incumbent.point()));
            }
        }
        parents.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.cma.update(&self.params, parents.iter().map(|p| p.1.as_slice()), &mut self.scratch);
        let solved = |s: &Claim| Solved {
            x: s.x.clone(),
            y: s.y.clone(),
            upper: match self.merit(ground, s) {
                merit if merit.is_finite() => Outcome { value: merit, violation: 0.0 },
                _ => Outcome::FAILED,
            },
            upper_constraints: Vec::new(),
            lower: Outcome { value: s.lower[0], violation: 0.0 },
            converged: s.settled,
        };
        let solved: Vec<Solved> = self.solutions.iter().map(solved).collect();
        self.allocator.learn(&solved);
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
            Stage::Follow | Stage::Refine => {
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
}

/// Draws a point; each coordinate outside the box goes to the bound or halfway to it.
fn sample(cma: &Cma, stream: &mut Stream, point: &mut [f64]) {
    cma.draw(stream, point);
    for (coordinate, &mean) in point.iter_mut().zip(&cma.mean) {
        if !(0.0..=1.0).contains(coordinate) {
            let bound = if *coordinate < 0.0 { 0.0 } else { 1.0 };
            let halfway = (0.5 * mean + 0.5 * bound).clamp(0.0, 1.0);
            *coordinate = if stream.uniform() < AT_BOUND { bound } else { halfway };
        }
    }
}

/// A random answer: anywhere in the box, or the present one with one variable changed by a step of
/// random size, as the basins of functions that are sums lie along the variables.
fn random_answer(y: &[f64], anywhere: bool, stream: &mut Stream) -> Vec<f64> {
    if anywhere {
        return y.iter().map(|_| stream.uniform()).collect();
    }
    let changed = stream.below(y.len());
    let size = SCOUTS.0 * libm::pow(SCOUTS.1 / SCOUTS.0, stream.uniform());
    let mut answer = y.to_vec();
    answer[changed] = (y[changed] + size * stream.normal()).clamp(0.0, 1.0);
    answer
}
