//! The interface between the engine and a scheme, the way in which a method searches both levels.
//!
//! A new scheme is one new file and one entry in the list below.

use super::known::Known;
use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::{Config, Sizes};
use crate::family::family;
use crate::leader;
use crate::lower::SearchStreams;
use crate::nested;
use crate::portfolio;
use crate::problem::{Level, ProblemSpec};
use crate::record::{FollowerSeen, LowerSearches, ModelRecord, ModelSummary, Step, StopReason, Verification};
use crate::rng::{Purpose, Stream, Streams};
use crate::settings::{settings, words};

/// What a scheme says about itself.
#[derive(Clone, Copy, Debug)]
pub struct SchemeFacts {
    /// A generation, step by step, in words.
    pub steps: fn(&Config) -> Vec<String>,
    /// Whether it can solve a problem ...
    pub fits: fn(&ProblemSpec) -> bool,
    /// ... and the same in words.
    pub for_problems: &'static str,
    /// The scheme to use instead if only the follower's own solver knows its answers.
    pub with_solver: Option<SchemeKind>,
    /// Its default number of upper evaluations, relative to the published methods.
    pub budget: u64,
    /// The default weight of a position.
    pub position: f64,
    /// Its own time in seconds per evaluation at five variables, and the power with which that grows with the number
    /// of variables; `None` if negligible.
    pub own_time: Option<(f64, f64)>,
}

/// Everything a scheme is built from.
#[derive(Clone, Copy, Debug)]
pub struct SchemeSetup<'a> {
    /// The problem.
    pub spec: &'a ProblemSpec,
    /// The method's settings.
    pub config: &'a Config,
    /// The numbers that follow from settings and problem size.
    pub sizes: &'a Sizes,
    /// The random streams of the run.
    pub streams: Streams,
}

/// What a scheme can see and change of the run.
#[derive(Debug)]
pub struct RunView<'a> {
    /// The problem.
    pub spec: &'a ProblemSpec,
    /// Randomness.
    pub streams: Streams,
    /// Number of the generation, from 1.
    pub generation: u64,
    /// Number of the next point.
    pub issued: u64,
    /// Whether no more lower evaluations may be requested.
    pub lower_budget_is_spent: bool,
    /// Evaluations left of the run's total, and of the lower level's own budget.
    pub left: (u64, u64),
    /// The points to evaluate next.
    pub batch: &'a mut Batch,
    /// The best solution of the run.
    pub elite: &'a mut Option<Solved>,
    /// Counts of lower searches.
    pub searches: &'a mut LowerSearches,
    /// Weight of the leader's objective in the answers to lower batches, from the next generation on.
    pub lean: &'a mut f64,
}

impl RunView<'_> {
    /// Starts an empty batch at a level.
    pub fn ask(&mut self, level: Level) {
        self.batch.start(level, self.issued);
    }

    /// Asks for the upper evaluation of pairs (x, y).
    pub fn ask_upper(&mut self, pairs: &[Solved]) {
        self.ask(Level::Upper);
        for pair in pairs {
            self.batch.push_pair(self.spec, &pair.x, &pair.y);
        }
    }

    /// The random stream for a purpose in this generation.
    pub fn stream(&self, purpose: Purpose, index: u64) -> Stream {
        self.streams.open(purpose, self.generation, index)
    }

    /// Random streams for the tasks of a lower search in this generation.
    pub fn search_streams(&self, purpose: Purpose) -> SearchStreams {
        SearchStreams { streams: self.streams, purpose, generation: self.generation }
    }
}

/// What a scheme reports at the end of a generation.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// The best solution of the generation, as it was found: a second finalist next to the elite.
    pub best: Option<Solved>,
    /// Whether F failed at every decision of the generation.
    pub all_failed: bool,
    /// The scheme's own reason to stop, if it has one.
    pub stop: Option<StopReason>,
}

/// What a scheme adds to the record of a generation.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    /// Step size of the upper strategy.
    pub step_size: f64,
    /// Ratio of the longest to the shortest axis of the upper distribution.
    pub axis_ratio: f64,
    /// The ranking model, if there is one.
    pub model: Option<ModelRecord>,
}

/// Decides what a generation does.
pub trait Scheme {
    /// Starts a generation: fills the first batch.
    fn open(&mut self, run: &mut RunView<'_>);

    /// Takes the answers to `batch` and fills the next one (`run.batch`, which arrives empty). If it stays empty, the
    /// generation is over.
    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>);

    /// Ends a generation and learns from it.
    fn close(&mut self, run: &mut RunView<'_>) -> Outlook;

    /// Restarts from `start`, a point (x, y) that can be evaluated, because everything tried recently failed. What
    /// the scheme has learnt stays; an open generation is abandoned.
    fn restart(&mut self, setup: SchemeSetup<'_>, start: &[f64]);

    /// Starts from the given points (x, y), at least one, instead of random ones; returns how many of them it uses.
    /// `answered`: their y are known answers of the follower.
    fn begin_at(&mut self, setup: SchemeSetup<'_>, starts: &[Vec<f64>], _answered: bool) -> usize {
        starts.first().iter().for_each(|start| self.restart(setup, start));
        1
    }

    /// Takes known evaluations; returns whether they are used for more than the choice of a start.
    fn recall(&mut self, _setup: SchemeSetup<'_>, _known: &[Known]) -> bool {
        false
    }

    /// Whether the open batch belongs to a refinement, which is counted separately.
    fn is_refining(&self) -> bool {
        false
    }

    /// The best solution whose follower was rechecked, if the scheme does that.
    fn rechecked(&self) -> Option<Solved> {
        None
    }

    /// Takes the standard deviations of the noise of F and f.
    fn learn_noise(&mut self, _sizes: [f64; 2]) {}

    /// How much F and f vary over the box, if the scheme knows.
    fn spreads(&self) -> Option<[f64; 2]> {
        None
    }

    /// Whether it restarts by itself when it makes no progress, and decides when to stop doing so.
    fn restarts(&self) -> bool {
        false
    }

    /// Whether a training is due before the next generation.
    fn training_due(&self) -> bool {
        false
    }

    /// Trains the model, if a training is due.
    fn train(&mut self, _generation: u64) {}

    /// The accuracy of the ranking model over the run.
    fn model_summary(&self) -> ModelSummary {
        ModelSummary::default()
    }

    /// How the follower's answer in `solution` was verified; `None` if the method does not verify answers.
    fn verification(&self, _solution: &Solved) -> Option<Verification> {
        None
    }

    /// The searches so far, in order, and their outcomes.
    fn history(&self) -> Vec<Step> {
        Vec::new()
    }

    /// What the run has seen of the follower, for an audit of its answer to `x`.
    fn follower_seen(&self, _x: &[f64]) -> FollowerSeen {
        FollowerSeen::default()
    }

    /// After the end of the run: takes an answer that the follower may prefer at the final decision, and continues
    /// with a verdict on it. Returns false if that is not possible.
    fn object(&mut self, _spec: &ProblemSpec, _y: &[f64]) -> bool {
        false
    }

    /// The current state of the search.
    fn readings(&self) -> Readings;
}

family! {
    /// How a method searches both levels, by name.
    kind SchemeKind, default Nested;
    /// The schemes as serialisable state.
    state SchemeState: Scheme, from SchemeSetup<'_>, facts SchemeFacts;

    /// Every chosen decision gets its own lower search, as published.
    nested::Nested,
    /// For a follower with its own solver: searches only the leader's decisions.
    leader::Leader,
    /// Descents, populations and other searches; what they found so far decides which comes next.
    portfolio::Portfolio,
}

settings! {
    /// How the method searches both levels.
    pub struct SchemeConfig in scheme as "scheme";

    /// How both levels are searched: `nested` runs a lower search for every chosen candidate;
    /// `leader` searches the leader's decisions only, with your own solver for the follower; `portfolio`
    /// chooses among descents, populations and other searches by their results so far.
    kind: SchemeKind = SchemeKind::Nested, |_| words(SchemeKind::ALL);
}
