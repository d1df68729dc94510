//! What a run reports to observers.

use crate::checkpoint::CheckpointError;
use crate::result::{RunResult, Times};
use bilevo_core::Engine;
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::{Failure, Level};
use bilevo_core::record::GenerationRecord;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Evaluations after which a run reports its progress.
pub const PROGRESS_EVALS: usize = 50;
/// A run reports its progress after this time, even within a batch if its points are evaluated one by one.
pub const PROGRESS_TIME: Duration = Duration::from_secs(1);

/// Something that happened in a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run starts, or continues from a checkpoint.
    Started {
        /// The engine as it starts; its generations are 0 unless the run was resumed.
        engine: &'a Engine,
    },
    /// A batch was evaluated.
    BatchDone {
        /// Its level.
        level: Level,
        /// Its number of points.
        points: usize,
        /// The points.
        batch: &'a Batch,
        /// The answers, retries included.
        replies: &'a Replies,
    },
    /// An evaluation failed for good.
    EvaluationFailed {
        /// Its level.
        level: Level,
        /// Number of the point within the run.
        id: u64,
        /// The leader's decision.
        x: &'a [f64],
        /// The follower's answer.
        y: &'a [f64],
        /// What went wrong.
        failure: &'a Failure,
    },
    /// Progress within a generation: reported after [`PROGRESS_EVALS`] evaluations or [`PROGRESS_TIME`],
    /// whichever comes first, if no generation ended in between.
    Progress {
        /// The engine as it was after the last whole batch.
        engine: &'a Engine,
        /// How many evaluations of the current batch are done, and its level.
        under_way: (Level, usize),
        /// Wall time so far.
        times: Times,
    },
    /// A generation ended.
    GenerationDone {
        /// Its record.
        record: &'a GenerationRecord,
        /// The engine at its end.
        engine: &'a Engine,
        /// Wall time so far.
        times: Times,
    },
    /// A checkpoint was written (or the file holds a later state of the same run).
    Saved {
        /// The file.
        path: &'a Path,
    },
    /// A checkpoint could not be written; the run continues and the earlier file is untouched.
    SaveFailed {
        /// Why.
        error: &'a CheckpointError,
    },
    /// The run ended.
    Finished {
        /// How, and with what result.
        result: &'a RunResult,
    },
}

/// Watches a run. It cannot change the engine; `Break` ends the run after the current batch.
pub trait Observer {
    /// Called for every event, in order.
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()>;
}

/// Keeps the record of every generation.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The records, first generation first.
    pub records: Vec<GenerationRecord>,
}

impl Observer for History {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::GenerationDone { record, .. } = event {
            self.records.push((*record).clone());
        }
        ControlFlow::Continue(())
    }
}
