//! What comes next where values are noisy.
//!
//! Smoothed searches are the only ones: first from where the run stood when the noise was noticed, then from
//! anywhere, each with a verdict, and once more where that found another answer. The run ends when as many agree as
//! the effort asks for, within the noise, or when many did not.

use super::{Next, is_agreed};
use crate::portfolio::config::{Effort, PortfolioConfig};
use crate::portfolio::history::{Entry, History, Kind};
use crate::portfolio::verify::Depth;

/// Restarts at most.
const MOST: u64 = 8;
/// Searches of a restart at most: corrections may come from noise.
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
