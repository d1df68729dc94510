//! The phase machine.
use crate::batch::{Batch, Replies};
use crate::config::{Config, ConfigError};
use crate::problem::ProblemSpec;
use crate::record::{GenerationRecord, StopReason, Summary};
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
    #[error("nothing was asked")]
    NothingAsked,
    /// The reply is not for the open batch.
    #[error("{asked} points were asked for, {told} answers came")]
    Length {
        /// Points in the open batch.
        asked: usize,
        /// Answers told.
        told: usize,
    },
    /// The reply is for the other level.
    #[error("the replies are for the wrong level")]
    Level,
}

/// The state of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    spec: ProblemSpec,
    config: Config,
    seed: u64,
    batch: Batch,
}

#[allow(clippy::todo)]
impl Engine {
    /// Starts a run.
    pub fn new(spec: ProblemSpec, config: Config, seed: u64) -> Result<Engine, ConfigError> {
        let batch = Batch::new(&spec);
        Ok(Engine { spec, config, seed, batch })
    }
    /// The problem.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }
    /// The config the run was started with.
    pub fn config(&self) -> &Config {
        &self.config
    }
    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }
    /// The next batch; the same one again until it is answered.
    pub fn ask(&mut self) -> Ask<'_> {
        Ask::Evaluate(&self.batch)
    }
    /// Answers the open batch; returns a record if that ended a generation.
    pub fn tell(&mut self, _replies: &Replies) -> Result<Option<GenerationRecord>, TellError> {
        todo!()
    }
    /// Whether a training of the ranking model is due. `ask` does it if nobody calls `train` before.
    pub fn training_due(&self) -> bool {
        todo!()
    }
    /// Does the training that is due (a driver calls it to time it).
    pub fn train(&mut self) {
        todo!()
    }
    /// The run so far.
    pub fn summary(&self) -> Summary {
        todo!()
    }
}
