//! Ties: when leaning descents are made, with which weights, and what follows them.

use super::borders::{may_cost, rivals, with_rival};
use super::{NARROW, Next, restarts};
use crate::portfolio::claim::Claim;
use crate::portfolio::config::PortfolioConfig;
use crate::portfolio::history::{Entry, History, Kind};
use crate::portfolio::verify::{Depth, Verdict};

/// A leaning descent has lost its way if F changes by this many times as much as under the previous weight.
const LEAP: f64 = 4.0;
/// The share of a leaning descent's promise that may fade with the weight, and that may be lost at a decision where the
/// follower loses nothing.
const FADES: f64 = 0.05;
const NEARLY: f64 = 0.02;
/// The number of leaning descents that must follow the elite if one of them found it.
pub(super) const LEANS_AFTER_WIN: usize = 6;
/// The weights of leaning descents, one after the other: at first the leader gets almost what it wants, at last the
/// follower hardly leans. Each is half the one before, so that the answer stays where the leader wants it. Under the
/// last weights a false gain vanishes, and a true one is close to where it can be had.
pub(super) const WEIGHTS: [f64; 16] =
    [102.4, 51.2, 25.6, 12.8, 6.4, 3.2, 1.6, 0.8, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003_125];
/// The first weight for leaning from the elite.
pub(super) const GENTLE: usize = 10;

/// The decision of an entry that is as good as the elite, if the follower is indifferent there and the leader is not.
pub(super) fn tied<'a>(history: &History, entry: &'a Entry) -> Option<&'a Claim> {
    let (elite, verdict) = (history.elite()?, entry.verdict.as_ref()?);
    let Verdict { claim, others, .. } = verdict;
    let matters = |other: &Claim| (other.value() - claim.value()).abs() > history.scales.tolerance(claim.value());
    let counts = history.scales.agree(claim, elite) && verdict.hoped.is_none();
    (verdict.tied && counts && others.iter().any(matters)).then_some(claim)
}

/// A leaning descent from a decision that might be better for the leader.
pub(super) fn lean_from(claim: &Claim) -> Next {
    Next::Lean { kind: Kind::LeanHere, from: Some(claim.clone()), weight: WEIGHTS[GENTLE] }
}

/// An exact end that led to a better elite is refined by a plain descent: if nothing is tied, that has fewer
/// variables.
pub(super) fn after_exact(history: &History, last: &Entry) -> Option<Next> {
    let is_elite = last.kind == Kind::Exact && history.elite_at() == Some(history.entries.len() - 1);
    let claim = last.verified().filter(|_| is_elite && !last.is_corrected())?;
    Some(Next::Finish(claim.clone(), NARROW * NARROW))
}

/// A leaning descent that promises more than the elite continues under a smaller weight, then to its exact end. If it
/// leaps, or no longer promises anything, it has lost its way, and the exact end starts from the one before. A verdict
/// may show on the way that the follower loses nothing by what is promised.
pub(super) fn after_leaning(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let (first, last) = (restart.first()?, restart.last()?);
    if last.verdict.is_some() && !last.is_corrected() {
        return Some(Next::Exact(last.claim.clone()?, rivals(history)));
    }
    let free = first.kind == Kind::LeanAway && !has_ended_away(history);
    if !free && !may_cost(history, config, Kind::Exact) {
        return None;
    }
    let ladder = ladder(history, first);
    let promising = restart.iter().map_while(|e| e.claim.as_ref().filter(|c| history.nearly_promises(c)));
    let mut claims: Vec<&Claim> = promising.collect();
    let tolerance = |claim: &Claim| history.scales.tolerance(claim.value());
    let slack = |claim: &Claim| history.elite().map_or(0.0, |elite| fades(elite, claim)).max(tolerance(claim));
    let leaps = |a: &Claim, b: &Claim, c: &Claim| change(b, c) > LEAP * change(a, b) + slack(b);
    // If it no longer promises anything, it was already on its way there before ...
    let lost = claims.len() < restart.len();
    // ... unless the leader got all it wanted until the follower let go: that is what the leader would choose alone.
    // From there, one exact end is enough.
    let stood_still = matches!(claims[..], [.., a, b] if change(a, b) <= tolerance(a));
    if lost && stood_still && history.entries.iter().any(|e| e.kind == Kind::Exact) {
        return None;
    }
    if let [.., a, b, c] = claims[..]
        && (lost || leaps(a, b, c))
    {
        claims.pop();
    }
    let claim = *claims.last()?;
    let goes_on = claims.len() == restart.len();
    let weight = ladder.get(claims.len()).filter(|_| goes_on);
    // If F no longer depends on the weight, the follower may be indifferent right here: is it, at the first such
    // weight or at the last one?
    let is_gentle = ladder[claims.len() - 1] <= WEIGHTS[GENTLE];
    let is_due = last.verdict.is_none() && (weight.is_none() || restart.iter().all(|e| e.looks == 0));
    if goes_on && is_gentle && is_due && is_independent(history, &claims) {
        return Some(Next::Verify(history.entries.len() - 1, Depth::Full));
    }
    if let Some(weight) = weight {
        return Some(Next::Lean { kind: Kind::LeanOn, from: Some(claim.clone()), weight: *weight });
    }
    if let Some(verdict) = &last.verdict {
        return Some(Next::Exact(claim.clone(), with_rival(rivals(history), &verdict.claim.y)));
    }
    remains(history, ladder, &claims).unwrap_or(goes_on).then(|| Next::Exact(claim.clone(), rivals(history)))
}

/// If nothing is tied, the gain grows with the weight: would any of it remain at weight zero? `None` if a single weight
/// does not tell.
fn remains(history: &History, ladder: &[f64], claims: &[&Claim]) -> Option<bool> {
    let [.., before, claim] = claims else { return None };
    let elite = history.elite()?;
    let share = 1.0 / (ladder[claims.len() - 2] / ladder[claims.len() - 1] - 1.0);
    let (gain, former) = (elite.value() - claim.value(), elite.value() - before.value());
    Some(gain - (former - gain) * share > history.scales.tolerance(elite.value()))
}

/// How much F differs between two claims.
fn change(a: &Claim, b: &Claim) -> f64 {
    (b.value() - a.value()).abs()
}

/// Whether F does not depend on the weight: under weights that differ by a factor of eight, only a small share of what
/// is promised fades. If nothing is tied, all of it does in proportion to the weight, but for searches that do not
/// move.
fn is_independent(history: &History, claims: &[&Claim]) -> bool {
    let (Some(elite), [.., a, b, c, d]) = (history.elite(), claims) else { return false };
    let range = [a, b, c].map(|claim| change(claim, d)).into_iter().fold(0.0, f64::max);
    d.point() != a.point() && range <= fades(elite, d)
}

/// The part of a promise that may fade.
fn fades(elite: &Claim, claim: &Claim) -> f64 {
    FADES * (elite.value() - claim.value())
}

/// If exact ends lead nowhere: from the promise of the leaning descent to a decision where the follower loses nothing
/// by an answer that is nearly as good.
pub(super) fn regret(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let last = restart.last().filter(|e| e.kind == Kind::Exact)?;
    // Some of what an earlier run tried need not be tried again.
    let had = history.is_elite_known() || restart.iter().any(|e| e.kind == Kind::Regret);
    let leans = |e: &&&Entry| matches!(e.kind, Kind::LeanHere | Kind::LeanAway | Kind::LeanOn);
    let leant =
        restart.iter().rev().filter(leans).find_map(|e| e.claim.as_ref().filter(|c| history.nearly_promises(c)))?;
    let elite = history.elite().filter(|elite| last.verified() != Some(elite))?;
    let level = leant.value() + NEARLY * (elite.value() - leant.value());
    (!had && may_cost(history, config, Kind::Regret)).then(|| Next::Regret(leant.clone(), level))
}

/// The exact end of a leaning descent, repeated from where the follower loses nothing.
pub(super) fn after_regret(history: &History, last: &Entry) -> Option<Next> {
    let found = last.verdict.as_ref().filter(|verdict| verdict.hoped.is_none())?;
    Some(Next::Exact(found.claim.clone(), rivals(history)))
}

/// Whether a leaning descent from elsewhere was followed to its exact end. One of them always is, whatever those from
/// the elite have cost.
fn has_ended_away(history: &History) -> bool {
    let away = |restart: u64| history.of_restart(restart).next().is_some_and(|e| e.kind == Kind::LeanAway);
    history.entries.iter().any(|e| e.kind == Kind::Exact && away(e.restart))
}

/// The weights of a leaning restart. From the elite, only the small ones; from elsewhere all of them the first time,
/// then fewer, so that not all of them end where the leader alone would.
fn ladder(history: &History, first: &Entry) -> &'static [f64] {
    let before = history.entries.iter().filter(|e| e.kind == Kind::LeanAway && e.restart < first.restart).count();
    weights(if first.kind == Kind::LeanHere { GENTLE } else { before })
}

/// The weights of a leaning restart from elsewhere after some others.
fn weights(before: usize) -> &'static [f64] {
    &WEIGHTS[(3 * before).min(GENTLE)..]
}

/// The number of leaning descents since the elite was found.
pub(super) fn leans_since(history: &History) -> usize {
    let since = history.elite_since();
    history.entries.iter().skip(since).filter(|e| matches!(e.kind, Kind::LeanHere | Kind::LeanAway)).count()
}

pub(super) fn is_found_by_leaning(history: &History) -> bool {
    let elite = history.entries.get(history.elite_since());
    elite.is_some_and(|e| e.kind.is_about_ties())
}

/// As long as restarts do not agree: one after each of them, and repeatedly if a leaning descent found the elite.
pub(super) fn lean_is_due(history: &History, config: &PortfolioConfig) -> bool {
    let leans = |e: &&Entry| matches!(e.kind, Kind::LeanHere | Kind::LeanAway);
    let made = history.entries.iter().filter(leans).count() as u64;
    let populations = restarts(history, Kind::Population).count() as u64;
    history.elite().is_some()
        && (is_found_by_leaning(history) && leans_since(history) < LEANS_AFTER_WIN
            || populations > made && may_cost(history, config, Kind::Exact))
}

/// From the elite first, then from the best of a sample of the box, then from anywhere.
pub(super) fn lean(history: &History) -> Next {
    if let Some(elite) = history.elite().filter(|_| leans_since(history) == 0) {
        return lean_from(elite);
    }
    let of = |kind: Kind| history.entries.iter().filter(move |e| e.kind == kind);
    let before = of(Kind::LeanAway).count();
    match of(Kind::Sample).next() {
        None => Next::Restart(Kind::Sample),
        Some(sample) => {
            let from = sample.claim.clone().filter(|_| before == 0);
            Next::Lean { kind: Kind::LeanAway, from, weight: weights(before)[0] }
        }
    }
}
