//! The phase machine of a run: ask / tell, one generation after the other.
//!
//! One generation: sample -> allocate -> lower search -> upper evaluation -> refine -> update ->
//! learn -> record. The engine never calls user code: [`Engine::ask`] hands out a batch of points,
//! [`Engine::tell`] takes the answers. Its whole state is plain serialisable data, so a run can be
//! saved between any two batches and goes on bit for bit.
//!
//! Source: the common skeleton of BL-CMA-ES (He et al., 2018) and TLEA (Chen et al., 2021).

use crate::allocate::{Allocation, Allocator, AllocatorState, Solved};
use crate::batch::{Batch, Replies};
use crate::config::{Config, ConfigError, Settings};
use crate::lower::{Independent, LowerRules, LowerSearch, LowerState, SearchStreams};
use crate::order;
use crate::problem::{Level, LowerConstraints, Outcome, ProblemSpec};
use crate::record::{Accuracy, Evaluations, GenerationRecord, LowerSearches, Solution, StopReason, Summary};
use crate::rng::{Purpose, Streams};
use crate::stop::StopWatch;
use crate::upper::{Candidate, Upper};
use serde::{Deserialize, Serialize};

/// What the engine wants next.
#[derive(Debug)]
pub enum Ask<'a> {
    /// Evaluate these points and tell the answers.
    Evaluate(&'a Batch),
    /// Nothing more.
    Finished(StopReason),
}

/// Why a reply was refused; the engine is unchanged.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TellError {
    /// No batch is open.
    #[error("nothing was asked, so nothing can be told")]
    NothingAsked,
    /// The reply has the wrong number of answers.
    #[error("{asked} points were asked for, but {told} answers came")]
    Length {
        /// Points in the open batch.
        asked: usize,
        /// Answers told.
        told: usize,
    },
    /// The reply is for the other level.
    #[error("the answers are for the {told} level, but the {asked} level was asked")]
    Level {
        /// Level of the open batch.
        asked: Level,
        /// Level of the answers.
        told: Level,
    },
}

/// Where in a generation the run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Before a generation.
    Sample,
    /// Lower searches for the chosen candidates.
    Lower,
    /// Upper evaluation of the answers.
    Upper,
    /// Lower search for the solution to refine.
    RefineLower,
    /// Upper evaluation of the refined answer.
    RefineUpper,
    /// The run is over.
    Finished(StopReason),
}

/// Which solution is being refined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Refined {
    Elite,
    /// The candidate at this index of the generation.
    Candidate(usize),
}

/// The state of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    spec: ProblemSpec,
    config: Config,
    settings: Settings,
    streams: Streams,
    upper: Upper,
    lower: LowerState,
    refiner: Independent,
    allocator: AllocatorState,
    phase: Phase,
    batch: Batch,
    /// Points handed out so far, over both levels.
    issued: u64,
    generation: u64,
    /// Candidates that get a lower search in this generation.
    running: Vec<Candidate>,
    /// Their answers and values.
    solved: Vec<Solved>,
    /// The best of them before refinement.
    best: Option<usize>,
    refined: Refined,
    refining: Option<Solved>,
    elite: Option<Solved>,
    evaluations: Evaluations,
    searches: LowerSearches,
    watch: StopWatch,
}

impl Engine {
    /// Starts a run.
    ///
    /// # Errors
    /// A config or a problem that makes no sense, with the field named.
    pub fn new(spec: ProblemSpec, config: Config, seed: u64) -> Result<Engine, ConfigError> {
        let settings = config.check(&spec)?;
        let streams = Streams::new(seed);
        let mut start = streams.open(Purpose::Start, 0, 0);
        let lower_rules = LowerRules::new(&spec, &config.lower, &settings);
        Ok(Engine {
            upper: Upper::new(&spec, settings.population, config.upper.initial_step, &mut start),
            lower: LowerState::new(config.lower.kind, lower_rules),
            refiner: Independent::new(LowerRules::refining(&spec, &config.lower, &settings)),
            allocator: AllocatorState::new(&config.allocator, &spec, settings.population, streams),
            phase: Phase::Sample,
            batch: Batch::new(&spec),
            issued: 0,
            generation: 0,
            running: Vec::new(),
            solved: Vec::new(),
            best: None,
            refined: Refined::Elite,
            refining: None,
            elite: None,
            evaluations: Evaluations::default(),
            searches: LowerSearches::default(),
            watch: StopWatch::new(&config.stop, &settings.budget),
            spec,
            config,
            settings,
            streams,
        })
    }

    /// The next batch; the same one again until it is answered.
    pub fn ask(&mut self) -> Ask<'_> {
        if self.batch.is_empty() && self.phase == Phase::Sample {
            self.train();
            self.open_generation();
        }
        match self.phase {
            Phase::Finished(reason) => Ask::Finished(reason),
            _ => Ask::Evaluate(&self.batch),
        }
    }

    /// Answers the open batch; returns a record if that ended a generation.
    ///
    /// # Errors
    /// Answers that do not fit the open batch.
    pub fn tell(&mut self, replies: &Replies) -> Result<Option<GenerationRecord>, TellError> {
        self.check_replies(replies)?;
        self.count(replies);
        let batch = std::mem::replace(&mut self.batch, Batch::new(&self.spec));
        let outcomes = replies.outcomes();
        match self.phase {
            Phase::Lower => {
                self.lower.tell(&batch, outcomes);
                self.recycle(batch);
                self.next_lower();
            }
            Phase::Upper => {
                self.recycle(batch);
                self.take_upper(outcomes);
                self.open_refinement();
            }
            Phase::RefineLower => {
                self.refiner.tell(&batch, outcomes);
                self.recycle(batch);
                self.next_refinement();
            }
            Phase::RefineUpper => {
                self.recycle(batch);
                self.take_refined(outcomes[0]);
            }
            Phase::Sample | Phase::Finished(_) => self.recycle(batch),
        }
        Ok(if self.generation_is_over() { Some(self.close_generation()) } else { None })
    }

    /// Samples candidates, lets the allocator choose, opens their lower searches.
    fn open_generation(&mut self) {
        self.generation += 1;
        let mut candidates = Vec::new();
        let mut round = 0;
        let run = loop {
            candidates.extend(self.upper.sample(&mut self.stream(Purpose::Sample, round)));
            let mut stream = self.stream(Purpose::Allocate, round);
            match self.allocator.allocate(&candidates, round as usize, &mut stream) {
                Allocation::Run(run) => break run,
                Allocation::Resample => round += 1,
            }
        };
        self.searches.run += run.len() as u64;
        self.searches.skipped += (self.settings.population - run.len().min(self.settings.population)) as u64;
        self.searches.resampled += round * self.settings.population as u64;
        self.running = run.iter().map(|&index| candidates[index].clone()).collect();
        let streams = self.search_streams(Purpose::Lower);
        self.lower.open(&self.running, &self.upper.lower_prior(), streams);
        self.phase = Phase::Lower;
        self.next_lower();
    }

    /// The next round of the lower searches, or the upper evaluation of their answers.
    fn next_lower(&mut self) {
        self.batch.start(Level::Lower, self.issued);
        if !self.watch.lower_budget_is_spent(&self.evaluations) {
            self.lower.ask(&mut self.batch);
        }
        if self.batch.is_empty() {
            self.ask_upper();
        }
    }

    fn ask_upper(&mut self) {
        self.phase = Phase::Upper;
        self.batch.start(Level::Upper, self.issued);
        let answers = self.lower.answers();
        let pair = |(candidate, answer): (&Candidate, crate::lower::LowerAnswer)| Solved {
            x: candidate.x.clone(),
            y: answer.y,
            upper: Outcome::FAILED,
            lower: answer.outcome,
            converged: answer.converged,
        };
        self.solved = self.running.iter().zip(answers).map(pair).collect();
        for solved in &self.solved {
            self.batch.push(&solved.x).copy_from_slice(&solved.y);
        }
    }

    fn take_upper(&mut self, outcomes: &[Outcome]) {
        for (solved, outcome) in self.solved.iter_mut().zip(outcomes) {
            solved.upper = judged(self.spec.lower_constraints, outcome, &solved.lower);
        }
    }

    /// Refines the best candidate if it is not worse than the elite or a coin says so, else the
    /// elite, by one more independent lower search.
    fn open_refinement(&mut self) {
        self.best = self.best_candidate().filter(|&index| !self.solved[index].upper.is_failed());
        let coin = self.stream(Purpose::Elite, 0).uniform() < self.config.refine.probability;
        self.refined = match (self.best, &self.elite) {
            (None, None) => return,
            (Some(best), None) => Refined::Candidate(best),
            (Some(best), Some(elite)) if coin || order::not_worse(&self.solved[best].upper, &elite.upper) => {
                Refined::Candidate(best)
            }
            _ => Refined::Elite,
        };
        let target = match self.refined {
            Refined::Candidate(best) => Some(&self.solved[best]),
            Refined::Elite => self.elite.as_ref(),
        };
        let Some(target) = target.cloned() else { return };
        let task = Candidate { x: target.x.clone(), guess: target.y.clone() };
        self.refining = Some(target);
        let streams = self.search_streams(Purpose::Refine);
        self.refiner.open(&[task], &self.upper.lower_prior(), streams);
        self.phase = Phase::RefineLower;
        self.next_refinement();
    }

    /// The next round of the refining search; at its end, an upper evaluation if the answer is not
    /// worse than the stored one.
    fn next_refinement(&mut self) {
        self.batch.start(Level::Lower, self.issued);
        if !self.watch.lower_budget_is_spent(&self.evaluations) {
            self.refiner.ask(&mut self.batch);
        }
        if !self.batch.is_empty() {
            return;
        }
        let answer = self.refiner.answers().pop();
        match (answer, &mut self.refining) {
            (Some(answer), Some(target)) if order::not_worse(&answer.outcome, &target.lower) => {
                target.y = answer.y;
                target.lower = answer.outcome;
                self.phase = Phase::RefineUpper;
                self.batch.start(Level::Upper, self.issued);
                self.batch.push(&target.x).copy_from_slice(&target.y);
            }
            _ => self.settle_refined(),
        }
    }

    /// Judges the refined answer; if its evaluation failed, the solution stays as it was.
    fn take_refined(&mut self, outcome: Outcome) {
        if outcome.is_failed() {
            self.refining = match self.refined {
                Refined::Elite => self.elite.clone(),
                Refined::Candidate(index) => self.solved.get(index).cloned(),
            };
        } else if let Some(target) = &mut self.refining {
            target.upper = judged(self.spec.lower_constraints, &outcome, &target.lower);
        }
        self.settle_refined();
    }

    /// Puts the refined solution where it belongs: a refined elite replaces itself, a refined
    /// candidate replaces the elite if it is not worse.
    fn settle_refined(&mut self) {
        let Some(target) = self.refining.take() else { return };
        match self.refined {
            Refined::Elite => self.elite = Some(target),
            Refined::Candidate(index) => {
                if self.elite.as_ref().is_none_or(|elite| order::not_worse(&target.upper, &elite.upper)) {
                    self.elite = Some(target.clone());
                }
                self.solved[index] = target;
            }
        }
    }

    fn generation_is_over(&self) -> bool {
        self.batch.is_empty() && !matches!(self.phase, Phase::Sample | Phase::Finished(_))
    }

    /// Update, learn, record, and decide whether to go on.
    fn close_generation(&mut self) -> GenerationRecord {
        let mut parents: Vec<&Solved> = self.solved.iter().filter(|s| !s.upper.is_failed()).collect();
        if self.allocator.recalls(self.generation) {
            let unbeaten = |elite: &&Solved| parents.iter().all(|p| order::better(&elite.upper, &p.upper));
            parents.extend(self.elite.iter().find(unbeaten));
        }
        let outcomes: Vec<Outcome> = parents.iter().map(|s| s.upper).collect();
        let mut ranking = Vec::new();
        order::rank(&outcomes, self.config.upper.constraint_rule, &mut ranking);
        let ranked = ranking.iter().map(|&i| parents[i]);
        self.upper.update(ranked.map(|s| (s.x.as_slice(), s.y.as_slice())));
        self.allocator.learn(&self.solved);
        let record = self.record();
        self.phase = match self.reason_to_stop() {
            Some(reason) => Phase::Finished(reason),
            None => Phase::Sample,
        };
        record
    }

    fn reason_to_stop(&mut self) -> Option<StopReason> {
        let best = self.best.map(|index| &self.solved[index]);
        let finalists = [self.elite.as_ref(), best];
        let meets = |s: &&&Solved| self.watch.target_is_met(&self.config.stop, &self.spec, s);
        let winner = finalists.iter().flatten().find(meets).map(|s| (*s).clone());
        if winner.is_some() {
            self.elite = winner;
            return Some(StopReason::Target);
        }
        let all_failed = self.solved.iter().all(|s| s.upper.is_failed());
        self.watch
            .reason(&self.config.stop, &self.evaluations, self.elite.as_ref(), all_failed)
            .or_else(|| self.upper.is_collapsed().then_some(StopReason::Collapsed))
    }

    /// The best-ranked candidate among those whose lower search settled; among all if none did.
    fn best_candidate(&self) -> Option<usize> {
        let anybody = self.solved.iter().any(|s| s.converged);
        let eligible = (0..self.solved.len()).filter(|&i| self.solved[i].converged || !anybody);
        eligible.min_by(|&i, &j| order::compare(&self.solved[i].upper, &self.solved[j].upper))
    }

    fn check_replies(&self, replies: &Replies) -> Result<(), TellError> {
        if self.batch.is_empty() {
            return Err(TellError::NothingAsked);
        }
        if replies.level() != self.batch.level() {
            return Err(TellError::Level { asked: self.batch.level(), told: replies.level() });
        }
        let (asked, told) = (self.batch.len(), replies.outcomes().len());
        if asked == told { Ok(()) } else { Err(TellError::Length { asked, told }) }
    }

    fn count(&mut self, replies: &Replies) {
        let (count, failed) = (self.batch.len() as u64, replies.failures().len() as u64);
        self.issued += count;
        let evaluations = &mut self.evaluations;
        evaluations.retried += replies.retries();
        match replies.level() {
            Level::Upper => {
                evaluations.upper += count;
                evaluations.failed_upper += failed;
            }
            Level::Lower => {
                evaluations.lower += count;
                evaluations.failed_lower += failed;
            }
        }
        if self.phase == Phase::RefineLower {
            evaluations.refine_lower += count;
        }
    }

    /// Takes the answered batch back, for its buffers.
    fn recycle(&mut self, mut batch: Batch) {
        batch.start(Level::Lower, self.issued);
        self.batch = batch;
    }

    fn stream(&self, purpose: Purpose, index: u64) -> crate::rng::Stream {
        self.streams.open(purpose, self.generation, index)
    }

    fn search_streams(&self, purpose: Purpose) -> SearchStreams {
        SearchStreams { streams: self.streams, purpose, generation: self.generation }
    }
}

/// What a leader's decision is worth: F, and the violations that count at the upper level.
fn judged(rule: LowerConstraints, upper: &Outcome, lower: &Outcome) -> Outcome {
    match rule {
        LowerConstraints::Shared => *upper,
        LowerConstraints::Added => Outcome { value: upper.value, violation: upper.violation + lower.violation },
    }
}

/// What can be seen of a run.
impl Engine {
    /// The problem.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    /// The config the run was started with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The numbers that config and problem size give together.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.streams.seed()
    }

    /// Whether a training of the ranking model is due; `ask` does it if nobody calls `train` before.
    pub fn training_due(&self) -> bool {
        self.phase == Phase::Sample && self.allocator.training_due()
    }

    /// Does the training that is due, if any (a driver calls it to time it).
    pub fn train(&mut self) {
        if self.training_due() {
            self.allocator.train(self.generation);
        }
    }

    /// The run so far.
    pub fn summary(&self) -> Summary {
        let solution = self.elite.as_ref().map(|elite| self.as_seen(elite));
        let (model_accuracy, trainings) = self.allocator.model_summary();
        Summary {
            accuracy: solution.as_ref().and_then(|s| self.accuracy(s)),
            solution,
            evaluations: self.evaluations,
            lower_searches: self.searches,
            model_accuracy,
            trainings,
            generations: self.generation - u64::from(self.in_generation()),
            stop: if let Phase::Finished(reason) = self.phase { Some(reason) } else { None },
        }
    }

    fn in_generation(&self) -> bool {
        !matches!(self.phase, Phase::Sample | Phase::Finished(_))
    }

    fn record(&self) -> GenerationRecord {
        let elite = self.elite.as_ref().map(|elite| self.as_seen(elite));
        let of = |get: fn(&Solution) -> f64| elite.as_ref().map_or(f64::NAN, get);
        GenerationRecord {
            generation: self.generation,
            evaluations: self.evaluations,
            lower_searches: self.searches,
            upper_value: of(|s| s.upper_value),
            lower_value: of(|s| s.lower_value),
            upper_violation: of(|s| s.upper_violation),
            lower_violation: of(|s| s.lower_violation),
            accuracy: elite.as_ref().and_then(|s| self.accuracy(s)),
            step_size: self.upper.step_size(),
            axis_ratio: self.upper.axis_ratio(),
            model: self.allocator.model_record(),
        }
    }

    /// A solution in the problem's own direction.
    fn as_seen(&self, solved: &Solved) -> Solution {
        Solution {
            x: solved.x.clone(),
            y: solved.y.clone(),
            upper_value: self.spec.upper.direction.flip(solved.upper.value),
            lower_value: self.spec.lower.direction.flip(solved.lower.value),
            upper_violation: solved.upper.violation,
            lower_violation: solved.lower.violation,
        }
    }

    fn accuracy(&self, solution: &Solution) -> Option<Accuracy> {
        let best = self.spec.best_known?;
        Some(Accuracy {
            upper: (solution.upper_value - best.upper).abs(),
            lower: best.lower.map(|lower| (solution.lower_value - lower).abs()),
        })
    }
}
