//! The border between the engine and the way a method goes about both levels.
//!
//! A new scheme is one new file and one entry in the list below.

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::{Config, SchemeKind, Settings};
use crate::jq::JointQuadratic;
use crate::lower::SearchStreams;
use crate::nested::Nested;
use crate::problem::{Level, ProblemSpec};
use crate::record::{LowerSearches, ModelRecord, StopReason};
use crate::rng::{Purpose, Stream, Streams};
use serde::{Deserialize, Serialize};

/// What a scheme is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemeSetup<'a> {
    pub(crate) spec: &'a ProblemSpec,
    pub(crate) config: &'a Config,
    pub(crate) settings: &'a Settings,
    pub(crate) streams: Streams,
}

/// What a scheme sees of the run, and may change in it.
#[derive(Debug)]
pub(crate) struct RunView<'a> {
    pub(crate) spec: &'a ProblemSpec,
    pub(crate) streams: Streams,
    /// Number of the generation, from 1.
    pub(crate) generation: u64,
    /// Number of the next point.
    pub(crate) issued: u64,
    /// Whether no further lower evaluation may be asked for.
    pub(crate) lower_budget_is_spent: bool,
    /// The points to evaluate next.
    pub(crate) batch: &'a mut Batch,
    /// The best solution of the run.
    pub(crate) elite: &'a mut Option<Solved>,
    /// Counts of lower searches.
    pub(crate) searches: &'a mut LowerSearches,
}

impl RunView<'_> {
    /// Starts an empty batch at a level.
    pub(crate) fn ask(&mut self, level: Level) {
        self.batch.start(level, self.issued);
    }

    /// Asks for the upper evaluation of pairs (x, y).
    pub(crate) fn ask_upper(&mut self, pairs: &[Solved]) {
        self.ask(Level::Upper);
        for pair in pairs {
            self.batch.push(&pair.x).copy_from_slice(&pair.y);
        }
    }

    /// The random stream for a purpose in this generation.
    pub(crate) fn stream(&self, purpose: Purpose, index: u64) -> Stream {
        self.streams.open(purpose, self.generation, index)
    }

    /// Random streams for the tasks of a lower search in this generation.
    pub(crate) fn search_streams(&self, purpose: Purpose) -> SearchStreams {
        SearchStreams { streams: self.streams, purpose, generation: self.generation }
    }
}

/// What a scheme says at the end of a generation.
#[derive(Clone, Debug)]
pub(crate) struct Outlook {
    /// The best solution of the generation, as it was found: a second finalist beside the elite.
    pub(crate) best: Option<Solved>,
    /// Whether every upper evaluation failed.
    pub(crate) all_failed: bool,
    /// A reason of its own to stop.
    pub(crate) stop: Option<StopReason>,
}

/// What a scheme adds to the record of a generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readings {
    pub(crate) step_size: f64,
    pub(crate) axis_ratio: f64,
    pub(crate) model: Option<ModelRecord>,
}

/// What a generation does.
pub(crate) trait Scheme {
    /// Starts a generation: fills the first batch.
    fn open(&mut self, run: &mut RunView<'_>);

    /// Takes the answers to `batch` and fills the next one (`run.batch`, which arrives empty); if it
    /// stays empty, the generation is over.
    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>);

    /// Ends a generation: learns from it.
    fn close(&mut self, run: &mut RunView<'_>) -> Outlook;

    /// Whether the open batch belongs to a refinement (counted apart).
    fn is_refining(&self) -> bool {
        false
    }

    /// Whether it restarts by itself when it makes no progress, and decides when that is enough.
    fn restarts(&self) -> bool {
        false
    }

    /// Whether a training is due before the next generation.
    fn training_due(&self) -> bool {
        false
    }

    /// Does the training that is due.
    fn train(&mut self, _generation: u64) {}

    /// Mean accuracy of a ranking model over the run, and the number of trainings.
    fn model_summary(&self) -> (Option<f64>, u64) {
        (None, 0)
    }

    /// How the search stands.
    fn readings(&self) -> Readings;
}

/// The schemes as serialisable state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SchemeState {
    Nested(Box<Nested>),
    JointQuadratic(Box<JointQuadratic>),
}

impl SchemeState {
    pub(crate) fn new(setup: SchemeSetup<'_>) -> Self {
        match setup.config.scheme.kind {
            SchemeKind::Nested => SchemeState::Nested(Box::new(Nested::new(setup))),
            SchemeKind::JointQuadratic => SchemeState::JointQuadratic(Box::new(JointQuadratic::new(setup))),
        }
    }
}

impl std::ops::Deref for SchemeState {
    type Target = dyn Scheme;

    fn deref(&self) -> &Self::Target {
        match self {
            SchemeState::Nested(scheme) => &**scheme,
            SchemeState::JointQuadratic(scheme) => &**scheme,
        }
    }
}

impl std::ops::DerefMut for SchemeState {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            SchemeState::Nested(scheme) => &mut **scheme,
            SchemeState::JointQuadratic(scheme) => &mut **scheme,
        }
    }
}
