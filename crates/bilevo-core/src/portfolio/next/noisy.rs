//! What comes next where values are noisy.
//!
//! There are only smoothed searches: first from where the run was when it noticed the noise, then from anywhere. Each
//! gets a verdict, and is repeated if that found another answer. The run ends when as many agree, within the noise,
//! as the effort requires, or after many that do not.

use super::{Next, is_agreed};
use crate::portfolio::config::{Effort, PortfolioConfig};
use crate::portfolio::history::{Entry, History, Kind};
use crate::portfolio::verify::Depth;

/// The maximum number of restarts.
const MOST: u64 = 8;
/// The maximum number of searches of a restart: a correction may be due to noise.
const CORRECTED: usize = 3;

pub(super) fn next(history: &History, config: &PortfolioConfig) -> Next {
    let smooth = |e: &&Entry| matches!(e.kind, Kind::Smooth | Kind::SmoothHere);
    let Some((last, claim)) = history.last().and_then(|last| Some((last, last.claim.as_ref()?))) else {
        return restart(history, config);
    };
    if !smooth(&last) {
        return Next::Smooth(Some(last.verified().unwrap_or(claim).clone()));
    }
    let Some(verdict) = &last.verdict else { return Next::Verify(history.entries.len() - 1, Depth::Full) };
    if last.is_corrected() && history.of_restart(last.restart).filter(smooth).count() < CORRECTED {
        return Next::Smooth(Some(verdict.claim.clone()));
    }
    restart(history, config)
}

fn restart(history: &History, config: &PortfolioConfig) -> Next {
    let most = match config.effort {
        Effort::Local | Effort::Quick | Effort::Normal => MOST,
        Effort::Thorough => 2 * MOST,
        Effort::Budget => u64::MAX,
    };
    let ends = is_agreed(history, config) || history.restart() >= most;
    if ends { Next::End } else { Next::Smooth(None) }
}
