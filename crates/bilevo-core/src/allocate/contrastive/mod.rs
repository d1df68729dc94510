//! Contrastive ranking: lower searches only for the candidates a learned ranking finds promising.
//!
//! A small siamese network ([`network`]) learns from pairs of solved decisions which of two x is
//! better, judged by the same order that selection uses. Before the lower searches of a generation
//! it scores the candidates; the best share of them is searched, and if even the best candidate
//! scores below the best of the last evaluated population, another population is sampled first.
//!
//! Two presets. *Published*: the pool collects solutions until its pairs are ten times the weights,
//! one training follows, the pool is emptied; inputs are raw and weights carry over. *Windowed* (the
//! default): a fresh network is trained after every generation on the latest solutions, with inputs
//! standardised over them; [`trust`] decides whether it is in charge.
//!
//! Accuracy of the model = share of correctly ordered pairs among newly evaluated solutions, judged
//! by the model that existed before they were used for training.
//! Randomness: `Purpose::Train` for initial weights, `Purpose::Allocate` for exploration.
//! Source: CR-BLEA, Algorithms 1-3.

pub mod network;
pub mod train;
pub mod trust;

use super::{Allocation, Allocator, Solved, kept};
use crate::config::{AllocatorConfig, InputRule, PoolRule, WeightsRule};
use crate::order;
use crate::problem::{Outcome, ProblemSpec};
use crate::record::ModelRecord;
use crate::rng::{Purpose, Stream, Streams};
use crate::upper::Candidate;
use network::{Network, Shape};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::VecDeque;
use train::{Adam, Pool, Schedule, Trainer};
use trust::Trust;

/// An evaluated decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seen {
    x: Vec<f64>,
    outcome: Outcome,
}

/// A trained network and the units of its inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Model {
    network: Network,
    adam: Adam,
    shift: Vec<f64>,
    scale: Vec<f64>,
    loss: f64,
}

/// The allocator's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contrastive {
    config: AllocatorConfig,
    shape: Shape,
    keep: usize,
    streams: Streams,
    pool: VecDeque<Seen>,
    /// The population evaluated last, which new candidates should beat.
    parents: Vec<Vec<f64>>,
    model: Option<Model>,
    due: bool,
    trust: Trust,
    in_charge: bool,
    accuracy: Option<f64>,
    /// Correct and all pairs over the run.
    judged: (f64, f64),
    trainings: u64,
    #[serde(skip)]
    trainer: Trainer,
    #[serde(skip)]
    scratch: Vec<f64>,
}

impl Contrastive {
    /// An allocator that has seen nothing yet.
    pub fn new(config: &AllocatorConfig, spec: &ProblemSpec, population: usize, streams: Streams) -> Self {
        let shape = Shape { inputs: spec.upper.dim(), response: spec.lower.dim(), hidden: config.hidden };
        Contrastive {
            keep: kept(config.keep, population),
            trust: Trust::new(config.trust),
            config: config.clone(),
            shape,
            streams,
            pool: VecDeque::new(),
            parents: Vec::new(),
            model: None,
            due: false,
            in_charge: false,
            accuracy: None,
            judged: (0.0, 0.0),
            trainings: 0,
            trainer: Trainer::default(),
            scratch: Vec::new(),
        }
    }

    /// Whether a training is due before the next generation.
    pub fn training_due(&self) -> bool {
        self.due
    }

    /// Mean accuracy over the run, and the number of trainings.
    pub fn summary(&self) -> (Option<f64>, u64) {
        let (correct, pairs) = self.judged;
        ((pairs > 0.0).then(|| correct / pairs), self.trainings)
    }

    /// The model in the present generation.
    pub fn record(&self) -> ModelRecord {
        ModelRecord { accuracy: self.accuracy, loss: self.model.as_ref().map(|m| m.loss), in_charge: self.in_charge }
    }

    /// Trains on the pool.
    pub fn train(&mut self, generation: u64) {
        self.due = false;
        let (shift, scale) = self.input_units();
        let carried = match self.config.weights {
            WeightsRule::Carried => self.model.take(),
            WeightsRule::Fresh => None,
        };
        let (mut network, mut adam) = match carried {
            Some(model) => (model.network, model.adam),
            None => {
                let mut stream = self.streams.open(Purpose::Train, generation, 0);
                (Network::new(self.shape, &mut stream), Adam::default())
            }
        };
        let inputs: Vec<f64> = self.pool.iter().flat_map(|seen| in_units(&seen.x, &shift, &scale)).collect();
        let ranks = rank_classes(&self.pool);
        let schedule = Schedule { epochs: self.config.epochs, learning_rate: self.config.learning_rate };
        let training = self.trainer.train(&mut network, &mut adam, Pool { inputs: &inputs, ranks: &ranks }, schedule);
        self.model = Some(Model { network, adam, shift, scale, loss: training.loss });
        self.trainings += 1;
        if self.config.pool == PoolRule::Accumulate {
            self.pool.clear();
        }
    }

    /// Mean and deviation of each coordinate over the pool, or no units at all.
    fn input_units(&self) -> (Vec<f64>, Vec<f64>) {
        let m = self.shape.inputs;
        if self.config.inputs == InputRule::Raw {
            return (vec![0.0; m], vec![1.0; m]);
        }
        let count = self.pool.len() as f64;
        let mean = |k: usize| self.pool.iter().map(|seen| seen.x[k] / count).sum::<f64>();
        let shift: Vec<f64> = (0..m).map(mean).collect();
        let deviation = |k: usize| {
            // Scaled by the largest distance, so that squares neither overflow nor vanish.
            let reach = self.pool.iter().map(|seen| (seen.x[k] - shift[k]).abs()).fold(0.0, f64::max);
            let squares = self.pool.iter().map(|seen| ((seen.x[k] - shift[k]) / reach).powi(2) / count).sum::<f64>();
            let deviation = reach * squares.sqrt();
            if deviation.is_finite() && deviation > 0.0 { deviation } else { 1.0 }
        };
        let scale = (0..m).map(deviation).collect();
        (shift, scale)
    }

    /// Whether enough has been seen since the last training.
    fn enough_seen(&self) -> bool {
        let seen = self.pool.len();
        match self.config.pool {
            PoolRule::Window => seen >= self.config.first_training,
            PoolRule::Accumulate => {
                let needed = self.config.pairs_per_weight.saturating_mul(self.shape.weight_count());
                seen * seen.saturating_sub(1) >= needed
            }
        }
    }

    /// Compares the model's order of new solutions with the true one.
    fn judge(&mut self, solved: &[&Solved]) {
        self.accuracy = None;
        let Some(model) = &self.model else { return };
        let scores: Vec<f64> = solved.iter().map(|s| model.score(&s.x, &mut self.scratch)).collect();
        let (mut correct, mut pairs) = (0.0, 0.0);
        for i in 0..solved.len() {
            for j in 0..i {
                let truth = order::compare(&solved[i].upper, &solved[j].upper);
                if truth == Ordering::Equal {
                    continue;
                }
                pairs += 1.0;
                // A larger score means better; a tie is half right.
                let said = scores[j].total_cmp(&scores[i]);
                correct += if said == truth {
                    1.0
                } else if said == Ordering::Equal {
                    0.5
                } else {
                    0.0
                };
            }
        }
        if pairs > 0.0 {
            self.accuracy = Some(correct / pairs);
            self.judged = (self.judged.0 + correct, self.judged.1 + pairs);
            self.trust.observe(correct, pairs);
        }
    }
}

impl Model {
    fn score(&self, x: &[f64], scratch: &mut Vec<f64>) -> f64 {
        let inputs: Vec<f64> = in_units(x, &self.shift, &self.scale).collect();
        self.network.score(&inputs, scratch)
    }

    fn best_score<'a>(&self, points: impl Iterator<Item = &'a [f64]>, scratch: &mut Vec<f64>) -> f64 {
        points.map(|x| self.score(x, scratch)).fold(f64::NEG_INFINITY, f64::max)
    }
}

fn in_units<'a>(x: &'a [f64], shift: &'a [f64], scale: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    x.iter().zip(shift).zip(scale).map(|((x, shift), scale)| (x - shift) / scale)
}

/// Rank of each member of the pool; equals share a rank.
fn rank_classes(pool: &VecDeque<Seen>) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..pool.len()).collect();
    sorted.sort_by(|&i, &j| order::compare(&pool[i].outcome, &pool[j].outcome));
    let mut ranks = vec![0; pool.len()];
    for pair in sorted.windows(2) {
        let step = order::better(&pool[pair[0]].outcome, &pool[pair[1]].outcome);
        ranks[pair[1]] = ranks[pair[0]] + usize::from(step);
    }
    ranks
}

impl Allocator for Contrastive {
    fn allocate(&mut self, candidates: &[Candidate], round: usize, stream: &mut Stream) -> Allocation {
        let everything = || Allocation::Run((0..candidates.len()).collect());
        self.in_charge = self.model.is_some() && self.trust.is_earned();
        let (true, Some(model)) = (self.in_charge, &self.model) else { return everything() };
        let scores: Vec<f64> = candidates.iter().map(|c| model.score(&c.x, &mut self.scratch)).collect();
        let mut ranked: Vec<usize> = (0..candidates.len()).collect();
        ranked.sort_by(|&i, &j| scores[j].total_cmp(&scores[i]));
        if round < self.config.resample_rounds {
            let to_beat = model.best_score(self.parents.iter().map(Vec::as_slice), &mut self.scratch);
            if scores[ranked[0]] < to_beat {
                return Allocation::Resample;
            }
        }
        for slot in 0..self.config.explore.min(self.keep) {
            let other = self.keep + stream.below(ranked.len() - self.keep);
            ranked.swap(self.keep - 1 - slot, other);
        }
        ranked.truncate(self.keep);
        Allocation::Run(ranked)
    }

    fn learn(&mut self, solved: &[Solved]) {
        let usable: Vec<&Solved> = solved.iter().filter(|s| !s.upper.is_failed()).collect();
        self.judge(&usable);
        if usable.is_empty() {
            return;
        }
        self.parents = usable.iter().map(|s| s.x.clone()).collect();
        self.pool.extend(usable.iter().map(|s| Seen { x: s.x.clone(), outcome: s.upper }));
        if self.config.pool == PoolRule::Window {
            let surplus = self.pool.len().saturating_sub(self.config.window);
            self.pool.drain(..surplus);
        }
        self.due = self.enough_seen();
    }
}
