//! Describes in words what contrastive ranking does in a generation.

use super::{PoolRule, ShareRule};
use crate::config::Config;

/// How it chooses among the candidates.
pub(super) fn choice(config: &Config) -> String {
    let contrastive = &config.contrastive;
    let percent = |share: f64| format!("{:.1}%", 100.0 * share).replace(".0%", "%");
    let share = match contrastive.share {
        ShareRule::Adaptive => format!(
            "{}, or fewer if it ranks well, down to {} (all of them while it is new)",
            percent(contrastive.keep_max),
            percent(contrastive.keep_min)
        ),
        ShareRule::Fixed => percent(config.allocator.keep),
    };
    let explore = match contrastive.explore {
        0 => String::new(),
        1 => " One place goes to a random candidate.".to_string(),
        places => format!(" {places} places go to random candidates."),
    };
    let resample = match contrastive.resample_rounds {
        0 => "Nothing is sampled again.".to_string(),
        1 => "If the candidates look poor, more are sampled once.".to_string(),
        rounds => format!("If the candidates look poor, more are sampled (at most {rounds} times)."),
    };
    format!("Rank them with a small network and keep the best {share}.{explore} {resample}")
}

/// What it learns from solved candidates.
pub(super) fn training(config: &Config) -> Option<String> {
    Some(match config.contrastive.pool {
        PoolRule::Window => format!("Train the ranking network on the latest {} solutions.", config.contrastive.window),
        PoolRule::Accumulate => {
            "Add the solutions to the pool; once it is full, train the network and empty it.".into()
        }
    })
}
