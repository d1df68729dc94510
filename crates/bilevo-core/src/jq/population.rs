//! One population: a joint CMA-ES over (x, y) whose followers are solved on a shared model.
//!
//! One generation: sample -> allocate -> inject the minimiser of the leader's model -> follower
//! searches side by side -> rivals -> upper evaluation -> verify the best and the incumbent ->
//! update, learn, adapt. Without verification the leader would exploit followers that are not
//! solved: a generation's best is refined before it may become incumbent, an unsettled solution
//! never displaces a settled one, and the incumbent is refined again with every fresher model.

mod closing;
mod opening;
mod verification;

pub(crate) use closing::EFFORT;

use super::config::JqConfig;
use super::coordinates::Coordinates;
use super::follower::{Answer, Effort, FEASIBLE, Follower};
use super::model::JointModel;
use super::response;
use super::rivals;
use super::searches::{Knowledge, Searches, Wanted, answer};
use super::solution::{Solution, first_penalty};
use crate::allocate::{AllocatorSetup, AllocatorState};
use crate::batch::Answers;
use crate::candidate::Candidate;
use crate::cma::{Cma, CmaParams, Scratch};
use crate::config::{Config, PositionKind};
use crate::engine::Readings;
use crate::problem::{Level, ProblemSpec};
use crate::record::LowerSearches;
use crate::rng::{Purpose, Streams};
use serde::{Deserialize, Serialize};

/// Length of the last model step that settles an answer, in the first search and when verifying.
const TOLERANCES: (f64, f64) = (0.1, 0.03);
/// Gain of a sampled generation, relative to the first spread, that is none.
const GAIN: f64 = 1e-3;
/// Relative difference of f up to which a rival may be as good as an answer, after a first search and
/// after verification.
const TIES: (f64, f64) = (1e-3, 1e-4);
/// Longest axis below which any distribution has collapsed.
const COLLAPSED: f64 = 1e-11;

/// What is being evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Before a generation.
    Open,
    /// Lower: the searches of all chosen candidates.
    Search,
    /// Lower: for each of them the nearest rival.
    Rivals,
    /// Lower: searches from the rivals that won.
    RivalSearch,
    /// Upper: F of all answers.
    Judge,
    /// Lower: the generation's best and the incumbent once more, and a random answer.
    Verify,
    /// Lower: a search from the random answer, if it won.
    Discovery,
    /// Upper: F of the verified answers that changed.
    Confirm,
    Ended,
}

/// How the next generation is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Opening {
    /// From the distribution.
    Sampled,
    /// From the distribution, its centre first.
    Centred,
    /// From all over the box; the distribution then moves to the best.
    Spread,
}

/// Merits of a generation before verification.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Unverified {
    /// Of the best solution.
    merit: f64,
    /// Difference between the best and the median.
    spread: f64,
}

/// Progress in upper evaluations.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Clock {
    now: u64,
    /// When the incumbent last changed, and its merit then.
    progress: u64,
    merit: f64,
    /// How often the incumbent turned out to be worse than it seemed.
    corrections: u64,
}

/// Surroundings of a population that outlive it.
pub(crate) struct World<'a> {
    pub(crate) spec: &'a ProblemSpec,
    pub(crate) config: &'a JqConfig,
    /// Which of equally good answers counts.
    pub(crate) position: PositionKind,
    pub(crate) streams: Streams,
    /// Whether searches have to end with what they have.
    pub(crate) lower_budget_is_spent: bool,
    pub(crate) knowledge: &'a mut Knowledge,
    pub(crate) searches: &'a mut LowerSearches,
}

impl World<'_> {
    /// Whether an answer that is as good as another within `margin`, relative, would matter.
    fn may_tie(&self, rival: &Answer, other: &Answer, margin: f64) -> bool {
        let penalty = self.knowledge.penalty;
        let close = (rival.merit(penalty) - other.merit(penalty)).abs() <= margin * (1.0 + other.outcome.value.abs());
        self.position != PositionKind::Any && close && rival.outcome.violation <= other.outcome.violation.max(FEASIBLE)
    }

    /// Whether the first of two decisions with the same x counts.
    fn counts(&self, first: &Solution, second: &Solution, penalty: f64) -> bool {
        let worse = first.merit(penalty) > second.merit(penalty);
        worse == (self.position == PositionKind::Pessimistic)
    }

    /// Share of the box by which answers must differ to be rivals.
    fn apart(&self) -> f64 {
        if self.position == PositionKind::Any { rivals::DIFFERENT } else { rivals::FINER }
    }
}

/// What a population is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) spec: &'a ProblemSpec,
    pub(crate) config: &'a Config,
    /// Candidates in a generation.
    pub(crate) size: usize,
    pub(crate) streams: Streams,
    /// Number of the restart, from 1.
    pub(crate) restart: u64,
    /// Generations before it, over all restarts.
    pub(crate) generation: u64,
    pub(crate) origin: Origin<'a>,
    /// Size, as a share of the box, and relative progress that are none; 0 for the utmost.
    pub(crate) accuracy: f64,
}

/// Where a population starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// At a random point, as large as usual.
    Anywhere,
    /// At the best of a first generation that is spread over the box, its corners included.
    Scan,
    /// At a point (x, y), with a size relative to the usual one.
    Near(&'a [f64], f64),
}

/// The state of a population.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Population {
    /// Number of the restart, from 1.
    restart: u64,
    /// Generations over all restarts, for the random streams.
    generation: u64,
    cma: Cma,
    params: CmaParams,
    pub(crate) allocator: AllocatorState,
    /// Every so many generations the incumbent joins the parents; 0 = never.
    recall: usize,
    model: JointModel,
    stage: Stage,
    opening: Opening,
    chosen: Vec<Candidate>,
    /// Position of the injected candidate among the chosen ones.
    injected: Option<usize>,
    searches: Searches,
    /// Tasks of the open searches or points, where not all have one.
    tasks: Vec<usize>,
    answers: Vec<Answer>,
    /// Answers of rivals that are as good as those of their tasks, if that matters.
    ties: Vec<(usize, Answer)>,
    solutions: Vec<Solution>,
    unverified: Unverified,
    /// Whether the best of the generation is verified, before the incumbent.
    verifies_best: bool,
    /// Their answers after verification.
    reverified: Vec<Answer>,
    /// Answers to be tried at the incumbent's x: its rival and a random one; and the better of them.
    scouts: Vec<Vec<f64>>,
    discovery: Option<Answer>,
    /// An answer that is as good as the incumbent's, if that matters.
    tie: Option<Answer>,
    pub(crate) incumbent: Option<Solution>,
    /// Whether every decision of the latest generation failed.
    pub(crate) fruitless: bool,
    /// The verified best of the latest generation.
    pub(crate) latest: Option<Solution>,
    history: Vec<Solution>,
    judged: Vec<Solution>,
    penalty: f64,
    radius: f64,
    clock: Clock,
    flat: usize,
    accuracy: f64,
    first_reach: f64,
    /// Longest axis below which the distribution has collapsed.
    collapsed: f64,
    #[serde(skip)]
    scratch: Scratch,
}

impl Population {
    /// A population that starts anywhere in the box.
    pub(crate) fn new(start: &Start<'_>) -> Self {
        let Start { spec, config, size, streams, restart, generation, origin, accuracy } = *start;
        let bounds: Vec<(f64, f64)> =
            spec.upper.space.bounds().iter().chain(spec.lower.space.bounds()).copied().collect();
        let mut stream = streams.open(Purpose::Start, generation, 0);
        let anywhere: Vec<f64> = bounds.iter().map(|&(low, high)| low + (high - low) * stream.uniform()).collect();
        let mut widths: Vec<f64> = bounds.iter().map(|&(low, high)| high - low).collect();
        widths.sort_by(f64::total_cmp);
        let d = widths.len();
        let median = 0.5 * widths[(d - 1) / 2] + 0.5 * widths[d / 2];
        let (mean, share) = match origin {
            Origin::Near(point, share) => (point.to_vec(), share),
            Origin::Anywhere | Origin::Scan => (anywhere, 1.0),
        };
        let opening = match origin {
            Origin::Anywhere => Opening::Sampled,
            Origin::Scan => Opening::Spread,
            Origin::Near(..) => Opening::Centred,
        };
        let cma = Cma::round(mean, config.joint_cma.initial_step * median * share);
        let first_reach = cma.reach();
        Population {
            restart,
            generation,
            params: CmaParams::new(d, size),
            allocator: AllocatorState::new(config.allocator.kind, AllocatorSetup { spec, config, streams }),
            recall: config.joint_cma.recall,
            model: JointModel::new(Coordinates::new(&cma, spec.upper.dim())),
            cma,
            stage: Stage::Open,
            opening,
            chosen: Vec::new(),
            injected: None,
            searches: Searches::default(),
            tasks: Vec::new(),
            answers: Vec::new(),
            ties: Vec::new(),
            solutions: Vec::new(),
            unverified: Unverified { merit: f64::INFINITY, spread: 0.0 },
            verifies_best: false,
            reverified: Vec::new(),
            scouts: Vec::new(),
            discovery: None,
            tie: None,
            incumbent: None,
            fruitless: false,
            latest: None,
            history: Vec::new(),
            judged: Vec::new(),
            penalty: 0.0,
            radius: response::RADIUS,
            clock: Clock { now: 0, progress: 0, merit: f64::INFINITY, corrections: 0 },
            flat: 0,
            accuracy,
            first_reach,
            collapsed: COLLAPSED.max(accuracy * median),
            scratch: Scratch::default(),
        }
    }

    /// Generations over all restarts, this one included.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The model of the followers.
    pub(crate) fn model(&self) -> &JointModel {
        &self.model
    }

    /// Whether the points wanted belong to a verification.
    pub(crate) fn is_verifying(&self) -> bool {
        matches!(self.stage, Stage::Verify | Stage::Discovery)
    }

    /// How the search stands.
    pub(crate) fn readings(&self) -> Readings {
        Readings {
            step_size: self.cma.step_size,
            axis_ratio: self.cma.axis_ratio(),
            model: self.allocator.model_record(),
        }
    }

    /// Its size, relative to the first one.
    pub(crate) fn narrowed(&self) -> f64 {
        self.cma.reach() / self.first_reach
    }

    /// Whether it is over.
    pub(crate) fn ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Ends it with the generation.
    pub(crate) fn end(&mut self) {
        if self.stage == Stage::Open {
            self.stage = Stage::Ended;
        }
    }

    /// Whether a generation is complete and no other has begun.
    pub(crate) fn between_generations(&self) -> bool {
        matches!(self.stage, Stage::Open | Stage::Ended)
    }

    /// The level of the points wanted.
    pub(crate) fn level(&self) -> Level {
        if matches!(self.stage, Stage::Judge | Stage::Confirm) { Level::Upper } else { Level::Lower }
    }

    /// The next points; none when a generation is complete.
    pub(crate) fn ask(&mut self, world: &mut World<'_>, wanted: &mut Wanted) {
        if self.stage == Stage::Open {
            self.open_generation(world);
        }
        while wanted.is_empty() && !self.between_generations() {
            if world.config.model.is_on() && !self.model.exists() {
                world.knowledge.teach(&mut self.model, None);
            }
            if !world.lower_budget_is_spent {
                let model = world.config.model.is_on().then_some(&self.model);
                let mut ground = world.knowledge.ground(world.spec, model, &self.model.coordinates);
                self.searches.ask(&mut ground, wanted);
                if let (Stage::Verify, Some(incumbent)) = (self.stage, &self.incumbent) {
                    wanted.extend(self.scouts.iter().map(|y| [&incumbent.x[..], y].concat()));
                }
            }
            if wanted.is_empty() {
                self.proceed(world, wanted);
            }
        }
    }

    /// From a stage in which nothing is left to search to the next one.
    fn proceed(&mut self, world: &mut World<'_>, wanted: &mut Wanted) {
        world.knowledge.penalty = self.searches.judged_penalty(world.knowledge.penalty);
        match self.stage {
            Stage::Search => {
                // Searches that had no time for a single evaluation have no answer.
                let found: Vec<Option<Answer>> = self.searches.all().iter().map(|s| s.answer().cloned()).collect();
                let mut index = 0..;
                self.chosen.retain(|_| index.next().is_some_and(|i| found[i].is_some()));
                self.answers = found.into_iter().flatten().collect();
                if self.opening == Opening::Spread {
                    let answers = self.chosen.iter().zip(&self.answers);
                    answers.for_each(|(candidate, answer)| world.knowledge.rivals.push(&candidate.x, &answer.y));
                }
                self.ask_rivals(world, wanted);
                if wanted.is_empty() {
                    self.ask_upper(wanted);
                }
            }
            Stage::RivalSearch => {
                for (&task, search) in self.tasks.iter().zip(self.searches.all()) {
                    match search.answer() {
                        Some(rival) if world.may_tie(rival, &self.answers[task], TIES.0) => {
                            self.ties.push((task, rival.clone()));
                        }
                        Some(rival) if rival.exposes(&self.answers[task], world.knowledge.penalty, 0.0) => {
                            self.answers[task].clone_from(rival);
                        }
                        _ => {}
                    }
                }
                self.ask_upper(wanted);
            }
            Stage::Verify => {
                self.reverified = self.searches.all().iter().filter_map(Follower::answer).cloned().collect();
                self.open_discovery(world, wanted);
            }
            Stage::Discovery => {
                self.adopt_discovery(world);
                self.ask_confirmation(world, wanted);
            }
            _ => self.stage = Stage::Ended,
        }
    }

    /// One point for each task that has a rival.
    fn ask_rivals(&mut self, world: &World<'_>, wanted: &mut Wanted) {
        self.stage = Stage::Rivals;
        self.tasks.clear();
        self.ties.clear();
        self.searches = Searches::default();
        let (upper, lower) = (world.spec.upper.space.bounds(), world.spec.lower.space.bounds());
        if world.lower_budget_is_spent {
            return;
        }
        for (task, (candidate, answer)) in self.chosen.iter().zip(&self.answers).enumerate() {
            let apart = world.apart();
            if let Some(y) = world.knowledge.rivals.nearest((&candidate.x, &answer.y), upper, lower, apart) {
                self.tasks.push(task);
                wanted.push([&candidate.x[..], y].concat());
            }
        }
    }

    fn ask_upper(&mut self, wanted: &mut Wanted) {
        self.stage = Stage::Judge;
        let points = self.chosen.iter().zip(&self.answers).map(|(c, a)| [&c.x[..], &a.y[..]].concat());
        wanted.extend(points);
        wanted.extend(self.ties.iter().map(|(task, a)| [&self.chosen[*task].x[..], &a.y[..]].concat()));
    }

    /// Takes the values of the wanted points.
    pub(crate) fn tell(&mut self, world: &mut World<'_>, wanted: &Wanted, answers: &Answers<'_>) {
        if self.level() == Level::Upper {
            self.clock.now += wanted.len() as u64;
        }
        match self.stage {
            Stage::Search | Stage::RivalSearch | Stage::Verify | Stage::Discovery => {
                let means = (world.config.model.is_on().then_some(&self.model), &self.model.coordinates);
                let told = self.searches.tell(wanted, answers, world.knowledge, world.spec, means);
                if self.stage == Stage::Verify {
                    self.judge_scouts(world, told, answers);
                }
            }
            Stage::Rivals => self.judge_rivals(world, wanted, answers),
            Stage::Judge => self.judge(world, answers),
            Stage::Confirm => self.confirm(world, answers),
            Stage::Open | Stage::Ended => {}
        }
    }

    /// Searches go on from the rivals that beat a task's answer, or from all if one that is as good would
    /// matter: that shows only at its own minimum.
    fn judge_rivals(&mut self, world: &mut World<'_>, wanted: &Wanted, answers: &Answers<'_>) {
        let penalty = world.knowledge.penalty;
        let effort = self.effort(world);
        let mut searches = Vec::new();
        let m = world.spec.upper.dim();
        let mut winners = Vec::new();
        for (index, &task) in self.tasks.iter().enumerate() {
            let rival = answer(wanted[index][m..].to_vec(), answers, index);
            world.knowledge.note(&self.model, &wanted[index][..m], &rival);
            if world.position != PositionKind::Any || rival.exposes(&self.answers[task], penalty, 1e-9) {
                let stream = world.streams.open(Purpose::Refine, self.generation, 10 + task as u64);
                let effort = Effort { region: 0.5, ..effort };
                searches.push(Follower::from_answer(wanted[index][..m].to_vec(), rival, effort, stream));
                winners.push(task);
            }
        }
        self.tasks = winners;
        self.searches = Searches::new(searches);
        self.stage = Stage::RivalSearch;
    }

    /// What a first search may spend.
    fn effort(&self, world: &World<'_>) -> Effort {
        let evaluations = (libm::round(world.knowledge.effort) as usize).max(2);
        Effort { evaluations, tolerance: TOLERANCES.0, gain: GAIN, region: 1.0 }
    }

    /// Sets the first penalty of the leader once violations of different size were seen.
    fn price(&mut self) {
        if self.penalty <= 0.0 {
            let seen = || self.judged.iter().chain(&self.solutions).filter(|s| !s.upper.is_failed());
            let mut values: Vec<f64> = seen().map(|s| s.upper.value).collect();
            let mut violations: Vec<f64> = seen().map(|s| s.upper.violation).collect();
            self.penalty = first_penalty(&mut values, &mut violations, 0.5).unwrap_or(0.0);
        }
    }

    /// Index of the best solution of the generation.
    fn best(&self) -> usize {
        let merit = |i: usize| self.solutions[i].merit(self.penalty);
        (0..self.solutions.len()).min_by(|&a, &b| merit(a).total_cmp(&merit(b))).unwrap_or(0)
    }
}
