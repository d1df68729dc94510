//! The end of a run: whether restarts agree or no longer find anything better, and what is tried before the end.

use super::borders::{borders_may_pay, rivals, with_rival};
use super::ties::{LEANS_AFTER_WIN, is_found_by_leaning, lean, lean_from, leans_since, tied};
use super::{FINISHES, NARROW, Next, restarts};
use crate::portfolio::config::{Effort, PortfolioConfig};
use crate::portfolio::history::{Entry, History, Kind};
use crate::portfolio::search::End;
use crate::portfolio::verify::Depth;

/// A run ends after this many restarts that find nothing better and do not agree: if a leaning descent found the
/// elite, and otherwise.
const FRUITLESS: (usize, usize) = (3, 15);

/// The maximum number of dents from which descents start.
const DENTS: usize = 3;
/// The number of descents from near the ends of the leader's box if restarts end on a plateau.
const PLATEAU: usize = 6;

/// How many restarts must agree to end a run, and how many of them must be wide.
fn wanted(effort: Effort) -> Option<(usize, usize)> {
    match effort {
        Effort::Local => Some((1, 0)),
        Effort::Quick => Some((2, 0)),
        Effort::Normal => Some((3, 1)),
        Effort::Thorough => Some((5, 2)),
        Effort::Budget => None,
    }
}

/// Whether enough restarts agree with the elite; one more is needed if several ended elsewhere.
pub(in crate::portfolio) fn is_agreed(history: &History, config: &PortfolioConfig) -> bool {
    let Some((all, wide)) = required(history, config) else { return false };
    let (agreeing, wide_ones) = history.agreement();
    agreeing >= all && wide_ones >= wide
}

/// The same, but for one restart.
fn nearly_agreed(history: &History, config: &PortfolioConfig) -> bool {
    required(history, config).is_some_and(|(all, _)| history.agreement().0 + 1 >= all)
}

fn required(history: &History, config: &PortfolioConfig) -> Option<(usize, usize)> {
    let ((all, wide), elite) = (wanted(config.effort)?, history.elite()?);
    let times = if history.scales.is_feasible(elite) { 1 } else { 2 };
    Some((times * (all + usize::from(history.elsewhere() > 1)), times * wide))
}

/// Whether so many restarts have found nothing better that more of them are not worth their cost, although they do
/// not agree: if a leaning descent found the elite, the other searches never will.
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

/// What still has to be tried when restarts agree.
pub(super) fn closing(history: &History, config: &PortfolioConfig) -> Next {
    if matches!(config.effort, Effort::Local | Effort::Quick) {
        return Next::End;
    }
    let (Some(at), Some(elite)) = (history.elite_at(), history.elite()) else { return Next::End };
    if config.descent > 0 && config.exact.is_on() && !is_end_of_descent(history, at) {
        return Next::Finish(elite.clone(), NARROW * NARROW);
    }
    // Some of what an earlier run tried before its end need not be tried again.
    let known = history.is_elite_known();
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

/// A survey of the box once restarts agree but for one, then descents from its dents. On a plateau, which may fill all
/// but a corner of a box that is far too wide, descents from closer and closer to the ends of the box.
pub(super) fn surveyed(history: &History, config: &PortfolioConfig) -> Option<Next> {
    let thorough = matches!(config.effort, Effort::Normal | Effort::Thorough);
    // Some of what an earlier run tried before its end need not be tried again.
    if config.descent == 0 || !config.survey.is_on() || !thorough || history.is_elite_known() {
        return None;
    }
    if !history.entries.iter().any(|e| e.kind == Kind::Survey) {
        let is_due = nearly_agreed(history, config) || is_exhausted(history, config);
        return is_due.then_some(Next::Restart(Kind::Survey));
    }
    let dent = history.dents.iter().take(DENTS).nth(restarts(history, Kind::Dent).count());
    let closer = history.is_on_plateau() && restarts(history, Kind::NearEnds).count() < PLATEAU;
    dent.cloned().map(Next::Dent).or_else(|| closer.then_some(Next::Restart(Kind::NearEnds)))
}

/// Whether the elite is the end of a descent, or no descent can refine it.
fn is_end_of_descent(history: &History, at: usize) -> bool {
    let Entry { kind, end, .. } = history.entries[at];
    let by_descent = end == End::Converged
        && matches!(kind, Kind::Descent | Kind::Known | Kind::NearEnds | Kind::Dent | Kind::Finish);
    let is_finish = |e: &Entry| e.kind == Kind::Finish;
    let tried = history.entries[at + 1..].iter().any(is_finish)
        || history.of_restart(history.restart()).filter(|e| is_finish(e)).count() >= FINISHES;
    by_descent || tried
}
