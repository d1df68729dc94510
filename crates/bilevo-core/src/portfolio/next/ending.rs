//! The end of a run: whether restarts agree, or find nothing better any more, and what is looked at before.

use super::borders::{borders_may_pay, rivals, with_rival};
use super::ties::{LEANS_AFTER_WIN, is_found_by_leaning, lean, lean_from, leans_since, tied};
use super::{FINISHES, NARROW, Next, restarts};
use crate::portfolio::claim::Claim;
use crate::portfolio::config::{Effort, PortfolioConfig};
use crate::portfolio::history::{Entry, History, Kind};
use crate::portfolio::search::End;
use crate::portfolio::verify::Depth;

/// Values of F are the very same within this share of its scale.
const EXACT: f64 = 1e-7;
/// Restarts that find nothing better and do not agree after which a run ends: if a leaning descent found the
/// elite, and otherwise.
const FRUITLESS: (usize, usize) = (3, 15);

/// Descents from near the ends of the leader's box where restarts end on a plateau.
const PLATEAU: usize = 6;

/// Restarts that agree, and wide ones among them, that end a run.
fn wanted(effort: Effort) -> Option<(usize, usize)> {
    match effort {
        Effort::Local => Some((1, 0)),
        Effort::Quick => Some((2, 0)),
        Effort::Normal => Some((3, 1)),
        Effort::Thorough => Some((5, 2)),
        Effort::Budget => None,
    }
}

/// Whether as many restarts agree with the elite as are wanted, and one more where several ended elsewhere.
pub(in crate::portfolio) fn is_agreed(history: &History, config: &PortfolioConfig) -> bool {
    let (Some((all, wide)), Some(elite)) = (wanted(config.effort), history.elite()) else { return false };
    let times = if history.scales.is_feasible(elite) { 1 } else { 2 };
    let (agreeing, wide_ones) = history.agreement();
    let all = all + usize::from(history.elsewhere() > 1);
    agreeing >= times * all && wide_ones >= times * wide
}

/// Whether so many restarts have found nothing better than the elite that more of them are not worth their
/// cost, though they do not agree. What a leaning descent found the others never will.
pub(super) fn is_exhausted(history: &History, config: &PortfolioConfig) -> bool {
    let times = match config.effort {
        Effort::Local | Effort::Quick | Effort::Normal => 1,
        Effort::Thorough => 2,
        Effort::Budget => return false,
    };
    let since = history.entries.get(history.elite_since()).map_or(0, |e| e.restart);
    let plain = |kind: Kind| restarts(history, kind).filter(|e| e.restart > since).count();
    let fruitless = plain(Kind::Descent) + plain(Kind::Population);
    let by_ties = is_found_by_leaning(history) && leans_since(history) >= times * LEANS_AFTER_WIN;
    fruitless >= times * if by_ties { FRUITLESS.0 } else { FRUITLESS.1 }
}

/// What is still looked at when restarts agree.
pub(super) fn closing(history: &History, config: &PortfolioConfig) -> Next {
    if matches!(config.effort, Effort::Local | Effort::Quick) {
        return Next::End;
    }
    let (Some(at), Some(elite)) = (history.elite_at(), history.elite()) else { return Next::End };
    if config.exact.is_on()
        && !is_exact(history, at)
        && let Some(next) = make_exact(history, at, elite)
    {
        return next;
    }
    // What an earlier run looked at before its end is not all looked at again.
    let known = history.is_elite_known();
    let corner = config.descent > 0 && config.corner.is_on();
    if corner && !known && restarts(history, Kind::NearEnds).count() < corners(history) {
        return Next::Restart(Kind::NearEnds);
    }
    let entry = &history.entries[at];
    let Some(verdict) = &entry.verdict else { return Next::End };
    let looked =
        |e: &Entry| e.verdict.as_ref().is_some_and(|v| v.depth == Depth::Wide && v.claim.distance(elite) <= 1e-3);
    if !history.entries.iter().any(looked) {
        return Next::Verify(at, Depth::Wide);
    }
    let leant = history.entries[at..].iter().any(|e| e.kind == Kind::LeanHere);
    if let Some(claim) = tied(history, entry).filter(|_| config.ties > 0 && !leant) {
        return lean_from(claim);
    }
    let tried = history.entries[at..].iter().filter(|e| e.kind == Kind::Border).count();
    let mut hopes = verdict.others.iter().filter(|c| history.promises(c) && history.scales.is_feasible(c));
    if let Some(hoped) = hopes.nth(tried).filter(|_| config.borders.is_on() && borders_may_pay(history)) {
        return Next::Border(hoped.clone(), with_rival(rivals(history), &verdict.claim.y));
    }
    let ties = if known { config.ties.min(1) } else { config.ties };
    if leans_since(history) < ties { lean(history) } else { Next::End }
}

/// Descents from near the ends of the leader's box: the lower ones, and the upper ones too where not every restart
/// ended at the elite as it was claimed. On a plateau, which may fill a box far too wide but for a corner of it, closer
/// and closer to both.
fn corners(history: &History) -> usize {
    let easy = history.elsewhere() == 0 && history.entries.iter().all(|e| e.corrections == 0);
    match () {
        () if history.is_on_plateau() => PLATEAU,
        () if easy => 1,
        () => 2,
    }
}

/// Whether another restart ended at the very value of the elite. Where descents do not come to their end, as
/// on a kink of F, restarts agree long before.
fn is_exact(history: &History, at: usize) -> bool {
    let (elite, tolerance) = (&history.entries[at], EXACT * history.scales.leader());
    let same = |e: &Entry| {
        (e.verified().zip(elite.verified())).is_some_and(|(a, b)| (a.value() - b.value()).abs() <= tolerance)
    };
    history.entries.iter().any(|e| e.restart != elite.restart && same(e))
}

/// A descent from the elite if it is not the end of one; then a population that arrived there goes on.
fn make_exact(history: &History, at: usize, elite: &Claim) -> Option<Next> {
    let Entry { kind, end, .. } = history.entries[at];
    let by_descent =
        end == End::Converged && matches!(kind, Kind::Descent | Kind::Known | Kind::NearEnds | Kind::Finish);
    let is_finish = |e: &Entry| e.kind == Kind::Finish;
    let tried = history.entries[at + 1..].iter().any(is_finish)
        || history.of_restart(history.restart()).filter(|e| is_finish(e)).count() >= FINISHES;
    if !by_descent && !tried {
        return Some(Next::Finish(elite.clone(), NARROW * NARROW));
    }
    let population = history.entries.iter().rfind(|e| e.kind == Kind::Population)?;
    (population.end == End::Arrived).then_some(Next::Resume)
}
