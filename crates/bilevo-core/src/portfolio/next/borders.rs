//! After a correction: the true answer, and the border between it and the answer that the leader hoped for.

use super::{ANEW, Next};
use crate::portfolio::archive::distance;
use crate::portfolio::config::PortfolioConfig;
use crate::portfolio::history::{Entry, History, Kind};
use crate::portfolio::verify::DIFFERENT;

/// The number of restarts whose searches along borders may fail, plus twice the number of those that succeed.
const BORDERS: usize = 3;
/// Rounds of such a search or of an exact end, each with the rivals that verdicts have found so far.
pub(super) const ROUNDS: usize = 6;
/// What failing borders and exact ends may cost, each: this many times the evaluations of a descent, plus this share
/// of all others; and the share for searches for a follower without regret.
const ALLOWANCE: (u64, f64) = (3, 0.25);
const REGRETS: f64 = 0.1;
/// The maximum number of rivals; the latest count.
const RIVALS: usize = 6;

/// A descent from the true answer, once in a restart; then along the border to the answer that was hoped for.
pub(super) fn after_correction(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let plain = |e: &Entry| !matches!(e.kind, Kind::Exact | Kind::Border);
    let corrected = || (0..restart.len()).filter(|&i| plain(restart[i]) && restart[i].is_corrected());
    let at = corrected().next_back()?;
    let verdict = restart[at].verdict.as_ref()?;
    let moved_on = corrected().count() > 1 || restart[at + 1..].iter().any(|e| e.kind == Kind::Finish);
    if verdict.claim.settled && !moved_on {
        return Some(Next::Finish(verdict.claim.clone(), ANEW));
    }
    let had = restart.iter().any(|e| e.kind == Kind::Border);
    let may_pay = || borders_may_pay(history) && may_cost(history, config, Kind::Border);
    let hoped = verdict.hoped.as_ref().filter(|_| config.borders.is_on() && !had && may_pay())?;
    let pays = history.promises(hoped) && history.scales.is_feasible(hoped);
    pays.then(|| Next::Border(hoped.clone(), with_rival(rivals(history), &verdict.claim.y)))
}

/// An exact end or a border whose answer a verdict replaced is repeated with that answer among the rivals. So is an
/// exact end that stands but falls short of what its leaning descent promised, with the answers that are equally good
/// there: they hold it back where the follower is indifferent.
pub(super) fn another_round(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let last = restart.last().filter(|e| matches!(e.kind, Kind::Exact | Kind::Border))?;
    let verdict = last.verdict.as_ref()?;
    let (hoped, given) = match &verdict.hoped {
        Some(hoped) => (hoped, vec![&verdict.claim.y]),
        None if last.kind == Kind::Exact && verdict.tied => {
            let leant = restart.iter().rfind(|e| matches!(e.kind, Kind::LeanHere | Kind::LeanAway | Kind::LeanOn))?;
            let apart = |y: &&Vec<f64>| last.rivals.iter().all(|rival| distance(rival, y) > DIFFERENT);
            (leant.claim.as_ref()?, verdict.others.iter().map(|c| &c.y).filter(apart).collect())
        }
        None => return None,
    };
    if given.is_empty() || !history.promises(hoped) {
        return None;
    }
    // If a rival moved only a little, the rounds are about to converge.
    let converges = given.iter().any(|y| last.rivals.iter().any(|rival| distance(rival, y) <= DIFFERENT));
    let rounds = restart.iter().filter(|e| e.kind == last.kind).count();
    if rounds >= ROUNDS || !converges && !may_cost(history, config, last.kind) {
        return None;
    }
    let rivals = given.into_iter().fold(last.rivals.clone(), |rivals, y| with_rival(rivals, y));
    Some(match last.kind {
        Kind::Exact => Next::Exact(hoped.clone(), rivals),
        _ if converges => Next::Tracked(hoped.clone(), rivals),
        _ => Next::Border(hoped.clone(), rivals),
    })
}

/// The rivals plus another one, which replaces those close to it.
pub(super) fn with_rival(mut rivals: Vec<Vec<f64>>, y: &[f64]) -> Vec<Vec<f64>> {
    rivals.retain(|rival| distance(rival, y) > DIFFERENT);
    rivals.push(y.to_vec());
    let old = rivals.len().saturating_sub(RIVALS);
    rivals.split_off(old)
}

/// The rivals of all such searches so far: the follower may answer with any of them, whatever x is.
pub(super) fn rivals(history: &History) -> Vec<Vec<f64>> {
    let changed = history.entries.iter().filter(|e| matches!(e.kind, Kind::Exact | Kind::Border));
    let given = |e: &Entry| e.verdict.as_ref().filter(|v| v.hoped.is_some()).map(|v| v.claim.y.clone());
    let all = changed.flat_map(|e| e.rivals.iter().cloned().chain(given(e)));
    all.fold(Vec::new(), |rivals, y| with_rival(rivals, &y))
}

/// Whether searches along borders have not failed too often. If the follower has many minima, a third one is better
/// than both sides of a border.
pub(super) fn borders_may_pay(history: &History) -> bool {
    let Some(elite) = history.elite() else { return true };
    let is = |e: &Entry| e.kind == Kind::Border;
    let mut tried: Vec<u64> = history.entries.iter().filter(|e| is(e)).map(|e| e.restart).collect();
    tried.dedup();
    let won = tried.iter().filter(|r| history.of_restart(**r).any(|e| history.is_border_of(e, elite))).count();
    tried.len() - won < BORDERS + 2 * won
}

/// Whether searches of this kind have not cost too much without leading to the elite.
pub(super) fn may_cost(history: &History, config: &PortfolioConfig, kind: Kind) -> bool {
    let Some(elite) = history.elite() else { return true };
    let won = |restart: u64| history.of_restart(restart).any(|e| history.is_won_by(e, kind, elite));
    let spent = |failed: bool| -> u64 {
        let is_failed = |e: &Entry| e.kind == kind && !won(e.restart);
        history.entries.iter().filter(|e| is_failed(e) == failed).map(|e| e.spent).sum()
    };
    let descent = (config.descent * (elite.x.len() + elite.y.len())) as u64;
    let share = if kind == Kind::Regret { REGRETS } else { ALLOWANCE.1 };
    spent(true) as f64 <= (ALLOWANCE.0 * descent) as f64 + share * spent(false) as f64
}
