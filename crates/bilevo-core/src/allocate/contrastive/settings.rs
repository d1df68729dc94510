//! The settings of contrastive ranking and its presets.

use crate::allocate::AllocatorKind;
use crate::engine::SchemeKind;
use crate::order;
use crate::problem::Outcome;
use crate::settings::{choice, flag, number, settings, whole, words};
use std::cmp::Ordering;

choice! {
    /// Which evaluated solutions the ranking model learns from.
    pub enum PoolRule {
        /// The latest `window` solutions; training after every generation.
        Window,
        /// Collect until the pairs are `pairs_per_weight` times the weights, train, start again with none (as
        /// published).
        Accumulate,
    }
}

choice! {
    /// Where a training starts from.
    pub enum WeightsRule {
        /// New random weights for every training.
        Fresh,
        /// The weights of the previous training (as published).
        Carried,
    }
}

choice! {
    /// What Adam remembers at the start of a training that continues from carried weights.
    pub enum OptimiserRule {
        /// The moments from the end of the previous training.
        Carried,
        /// Nothing: a new optimiser for every training (as published, in our reading).
        Fresh,
    }
}

choice! {
    /// Which of two solutions counts as the better one.
    pub enum LabelRule {
        /// The one that selection prefers: feasible first, then the smaller F.
        Order,
        /// The one with the smaller F, feasible or not (as published).
        Objective,
    }
}

impl LabelRule {
    /// Compares two solutions; `Less` means better.
    pub fn compare(self, a: &Outcome, b: &Outcome) -> Ordering {
        match self {
            LabelRule::Order => order::compare(a, b),
            LabelRule::Objective => a.value.total_cmp(&b.value),
        }
    }
}

choice! {
    /// The scale in which the model sees the leader's decisions.
    pub enum InputRule {
        /// Mean 0 and deviation 1 over the pool.
        Standardised,
        /// Unchanged.
        Raw,
    }
}

choice! {
    /// Whether the share of searched candidates depends on how well the model ranks.
    pub enum ShareRule {
        /// It follows the model's measured accuracy.
        Adaptive,
        /// It is fixed, however good the model is (as published).
        Fixed,
    }
}

settings! {
    /// Contrastive ranking.
    pub struct ContrastiveConfig in contrastive as "allocator",
        if "allocator.kind = contrastive" |c| c.allocator.kind == AllocatorKind::Contrastive;

    /// `adaptive`: the share of candidates searched follows the model's measured accuracy, after a new
    /// model has been tested on 50 pairs. `fixed`: always `allocator.keep` (as published).
    share: ShareRule = ShareRule::Adaptive, |_| words(ShareRule::ALL);
    /// The share while the model ranks no better than a coin toss.
    keep_max: f64 = 0.625, |_| number(0.01, 1.0),
        if "allocator.share = adaptive" |c| c.contrastive.share == ShareRule::Adaptive;
    /// The share once the model orders 85 % of the pairs correctly; linear in between.
    keep_min: f64 = 0.375, |_| number(0.01, 1.0),
        if "allocator.share = adaptive" |c| c.contrastive.share == ShareRule::Adaptive;
    /// How often to resample, at most, if the candidates look poor.
    resample_rounds: usize = 1, |_| whole(0, 1000);
    /// How many of the searched candidates are chosen at random instead of by rank.
    explore: usize = 1, |_| whole(0, 1000);
    /// Hidden units of the ranking network; if null, as many as both levels have variables (as
    /// published, in our reading).
    hidden: Option<usize> = Some(32), |_| whole(1, 4096);
    /// Epochs per training.
    epochs: usize = 100, |_| whole(1, 1_000_000);
    /// Learning rate of Adam.
    learning_rate: f64 = 0.1, |_| number(1e-9, 1e3);
    /// What the model learns from: a `window` of the latest solutions, or `accumulate` (fill a pool,
    /// train, empty it; as published).
    pool: PoolRule = PoolRule::Window, |_| words(PoolRule::ALL);
    /// Solutions in the window.
    window: usize = 32, |_| whole(2, 10_000),
        if "allocator.pool = window" |c| c.contrastive.pool == PoolRule::Window;
    /// Solutions needed for the first training; at most `allocator.window`.
    first_training: usize = 16, |c| whole(2, c.contrastive.window as u64),
        if "allocator.pool = window" |c| c.contrastive.pool == PoolRule::Window;
    /// Train once there are this many pairs per weight.
    pairs_per_weight: usize = 10, |_| whole(1, 1_000_000),
        if "allocator.pool = accumulate" |c| c.contrastive.pool == PoolRule::Accumulate;
    /// Scale of the inputs: `standardised` over the pool, or `raw`.
    inputs: InputRule = InputRule::Standardised, |_| words(InputRule::ALL);
    /// Start of a training: `fresh` random weights, or `carried` over (as published).
    weights: WeightsRule = WeightsRule::Fresh, |_| words(WeightsRule::ALL);
    /// Whether Adam keeps its moments from the previous training (`carried`) or starts from zero (`fresh`).
    optimiser: OptimiserRule = OptimiserRule::Carried, |_| words(OptimiserRule::ALL),
        if "allocator.weights = carried" |c| c.contrastive.weights == WeightsRule::Carried;
    /// Which of two solutions is better: by the `order` of selection, feasible first, or by the
    /// `objective` F alone (as published).
    labels: LabelRule = LabelRule::Order, |_| words(LabelRule::ALL);
    /// Whether elites that a refinement evaluated again join the pool too, each once (as published).
    learn_refined: bool = false, |_| flag(),
        if "scheme.kind = nested" |c| c.scheme.kind == SchemeKind::Nested;
}

impl ContrastiveConfig {
    /// A plain window: a fresh model in every generation and a fixed share, with nothing that counteracts greed.
    pub fn plain_window() -> Self {
        ContrastiveConfig { share: ShareRule::Fixed, explore: 0, ..Self::default() }
    }

    /// The allocator in our reading of the paper. It follows everything that is printed; where the text is silent
    /// (units, memory of the optimiser, scale of the inputs), it does what fits the published figures best.
    pub fn published() -> Self {
        ContrastiveConfig {
            hidden: None,
            pool: PoolRule::Accumulate,
            weights: WeightsRule::Carried,
            optimiser: OptimiserRule::Fresh,
            labels: LabelRule::Objective,
            learn_refined: true,
            ..Self::plain_window()
        }
    }
}
