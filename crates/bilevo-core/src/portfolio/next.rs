//! Which search comes next, from where, and when a run ends: a function of the history alone.
//!
//! 1. Every claim gets a verdict.
//! 2. A restart is brought to its end. A descent finishes a population; if the descent does not converge, the
//!    population continues. If a verdict finds another answer, a descent continues from there. If the claim would
//!    have paid off, a search follows the border between the two answers, and does so again with every further answer
//!    that a verdict finds there; a rival that merely moved is tracked. If the restart claimed a better value at a
//!    decision without an answer, a search looks for the last decision that has one. A leaning descent gets
//!    a verdict if F no longer depends on the weight, then continues to its exact end and, if that leads nowhere, to a
//!    decision where the follower loses nothing.
//! 3. If no other restart agrees with the elite, it is verified again: its value may come from an answer that is not
//!    the follower's.
//! 4. When all but one of the restarts needed agree, a survey looks for other basins of the leader, and descents start
//!    from its dents.
//! 5. The run ends when three feasible and uncorrected restarts agree, one of them wide. A survey is a wide restart; it
//!    agrees if every descent from its dents does. A restart that saw only one value of F, as on a plateau, agrees with
//!    no other. Before the end come a thorough look at the elite's other answers, and leaning descents. An infeasible
//!    elite needs twice the agreement. The run also ends without agreement when many restarts have found nothing
//!    better.
//! 6. If values are noisy, simpler rules replace all of this (`noisy`).
//! 7. Otherwise it restarts: with descents as long as they end at the same value, then with populations and descents
//!    in turn. A leaning descent follows each restart that decided nothing.

mod borders;
mod ending;
mod noisy;
mod ties;

pub(super) use ending::is_agreed;

use super::claim::Claim;
use super::config::PortfolioConfig;
use super::history::{Entry, History, Kind};
use super::search::End;
use super::verify::{DIFFERENT, Depth};
use borders::{after_correction, another_round, may_cost};
use ending::{closing, is_exhausted, surveyed};
use ties::{after_exact, after_leaning, after_regret, lean, lean_from, lean_is_due, regret, tied};

/// The number of descents before the first population, as long as they end at the same value.
const FIRST_DESCENTS: usize = 2;
/// The size of a population at which a descent tries to finish it: relative to its first size, and after a failure
/// relative to the size at that time.
pub(super) const NARROW: f64 = 0.1;
/// The number of restarts that end elsewhere for each new verdict on an elite with which none agrees.
const DOUBT: u64 = 2;
/// The size of the first steps of a descent that continues with another answer.
const ANEW: f64 = 0.25;
/// The size of the first steps of a descent that continues where another stopped, and their number in one restart.
const GO_ON: f64 = 0.1;
const FINISHES: usize = 3;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// A restart.
    Restart(Kind),
    /// The latest population continues.
    Resume,
    /// A descent from a claim, with first steps of this size.
    Finish(Claim, f64),
    /// A leaning descent from a claim, or from anywhere, under a weight.
    Lean { kind: Kind, from: Option<Claim>, weight: f64 },
    /// From a leaning descent to a decision where the follower loses nothing by an answer with at most this F.
    Regret(Claim, f64),
    /// The exact end of a leaning descent, with answers that the follower must not prefer.
    Exact(Claim, Vec<Vec<f64>>),
    /// The best decision at which the follower prefers the answer the leader hopes for to its rivals.
    Border(Claim, Vec<Vec<f64>>),
    /// The same, with the last rival following the decision.
    Tracked(Claim, Vec<Vec<f64>>),
    /// A descent from a decision of the survey.
    Dent(Claim),
    /// A descent from a claim that also obeys the follower's constraints.
    Feasible(Claim),
    /// The last decision with an answer, on the way from a claim to a decision without one.
    Edge(Claim, Vec<f64>),
    /// A smoothed search from a claim, or from anywhere.
    Smooth(Option<Claim>),
    /// A verdict on the claim of an entry.
    Verify(usize, Depth),
    /// Restarts agree.
    End,
}

/// The next step of a run.
pub(super) fn next(history: &History, config: &PortfolioConfig) -> Next {
    if history.scales.is_noisy() {
        return noisy::next(history, config);
    }
    let Some(last) = history.last() else { return restart(history, config) };
    if let Some(next) = feasible(history, last).filter(|_| config.feasible.is_on()) {
        return next;
    }
    if let Some(verdict) = verdict(history, last) {
        return verdict;
    }
    if let Some(step) = follow_up(history, config) {
        return step;
    }
    if let Some(at) = doubted(history).filter(|_| config.doubt.is_on()) {
        return Next::Verify(at, Depth::Full);
    }
    if let Some(next) = surveyed(history, config) {
        return next;
    }
    if is_agreed(history, config) || is_exhausted(history, config) {
        return closing(history, config);
    }
    if config.ties > 0 && lean_is_due(history, config) {
        return lean(history);
    }
    restart(history, config)
}

/// A descent that ended where no answer is feasible continues with the follower's constraints as the leader's.
fn feasible(history: &History, last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref().filter(|_| last.verdict.is_none())?;
    let descends = matches!(last.kind, Kind::Descent | Kind::Known | Kind::NearEnds | Kind::Dent | Kind::Finish);
    let had = history.of_restart(last.restart).any(|e| e.kind == Kind::Feasible);
    if !descends || had || history.scales.answer_is_feasible(&claim.lower) {
        return None;
    }
    let mut claims = history.of_restart(last.restart).rev().filter_map(|e| e.claim.as_ref());
    let from = claims.find(|c| history.scales.answer_is_feasible(&c.lower)).unwrap_or(claim);
    Some(Next::Feasible(from.clone()))
}

/// A verdict on the latest claim, if it deserves one.
fn verdict(history: &History, last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref().filter(|_| last.verdict.is_none())?;
    let feasible = |c: &Claim| history.scales.is_feasible(c);
    let at_elite = history.elite().is_some_and(|elite| history.scales.agree(claim, elite));
    let hopeless = !feasible(claim) && history.elite().is_some_and(feasible) && !at_elite;
    let former = history.of_restart(last.restart).rev().skip(1).find_map(|e| e.verified().or(e.claim.as_ref()));
    // If a decision close to an earlier claim is worse, that claim owed its value to an inaccurate answer.
    let lost = |former: &Claim| former.distance(claim) > DIFFERENT && history.scales.promises(former, claim);
    let worse = last.kind == Kind::Finish && former.is_some_and(lost);
    let promises = history.promises(claim);
    let resumes = history.of_restart(last.restart).any(|e| e.kind == Kind::Population);
    let deserved = match last.kind {
        _ if hopeless || worse => false,
        Kind::Population | Kind::Sample | Kind::Survey | Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => false,
        Kind::Regret | Kind::Exact | Kind::Border | Kind::Edge => promises,
        // They occur only with noise, which has its own rules.
        Kind::Smooth | Kind::SmoothHere => false,
        Kind::Descent | Kind::Known | Kind::NearEnds | Kind::Dent | Kind::Finish | Kind::Feasible => match last.end {
            End::Converged => true,
            End::Arrived => false,
            End::Spent => goes_on(history).is_none() && (promises || claim.settled && (at_elite || !resumes)),
            End::Lost => claim.settled && history.elite().is_some() && promises,
        },
    };
    let depth = match last.kind {
        _ if history.is_at_elite(claim) => Depth::Light,
        // At the end, nothing more is looked for.
        Kind::Known if history.is_known_widely => Depth::Wide,
        _ => Depth::Full,
    };
    deserved.then_some(Next::Verify(history.entries.len() - 1, depth))
}

/// A descent that used up its evaluations continues where it stopped, as long as that pays off.
fn goes_on(history: &History) -> Option<Next> {
    let last = history.last()?;
    let claim = last.claim.as_ref().filter(|c| c.settled && last.end == End::Spent && last.verdict.is_none())?;
    let mut before = history.of_restart(last.restart).rev().skip(1);
    let finishes = before.clone().filter(|e| e.kind == Kind::Finish).count();
    let pays = match last.kind {
        Kind::Feasible => false,
        Kind::Descent | Kind::Known => true,
        Kind::Finish => {
            let former = before.find_map(|e| e.claim.as_ref());
            former.is_none_or(|former| history.scales.promises(claim, former))
        }
        _ => history.promises(claim),
    };
    (pays && finishes < FINISHES).then(|| Next::Finish(claim.clone(), GO_ON))
}

/// What remains to be done in the restart of the latest search.
fn follow_up(history: &History, config: &PortfolioConfig) -> Option<Next> {
    let last = history.last()?;
    let restart: Vec<&Entry> = history.of_restart(last.restart).collect();
    if let Some(next) = goes_on(history) {
        return Some(next);
    }
    match last.kind {
        Kind::Population => return after_population(&restart, last),
        Kind::Sample => return Some(lean(history)),
        Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => return after_leaning(history, config, &restart),
        Kind::Regret => return after_regret(history, last),
        Kind::Finish | Kind::Feasible if last.verdict.is_none() || !restart.iter().any(|e| e.is_corrected()) => {
            if let Some(next) = after_finish(history, &restart) {
                return Some(next);
            }
        }
        _ => {}
    }
    if let Some(next) = another_round(history, config, &restart)
        .or_else(|| after_exact(history, last))
        .or_else(|| regret(history, config, &restart))
    {
        return Some(next);
    }
    if let Some(claim) = tied(history, last).filter(|_| config.ties > 0 && last.kind != Kind::Exact) {
        return Some(lean_from(claim));
    }
    after_correction(history, config, &restart)
        .or_else(|| left_behind(history, &restart))
        .or_else(|| edge(history, config, &restart).filter(|_| config.feasible.is_on()))
}

/// If a restart claimed a better value than the elite's at a decision without an answer: the last decision on the way
/// there that has one.
fn edge(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let elite = history.elite().filter(|elite| history.scales.is_feasible(elite))?;
    let had = restart.iter().any(|e| e.kind == Kind::Edge);
    let gains = |c: &&Claim| {
        !history.scales.answer_is_feasible(&c.lower)
            && c.value() < elite.value() - history.scales.tolerance(elite.value())
    };
    let claims = restart.iter().filter_map(|e| e.claim.as_ref());
    let without = claims.filter(gains).min_by(|a, b| a.value().total_cmp(&b.value()))?;
    let may = !had && may_cost(history, config, Kind::Edge);
    may.then(|| Next::Edge(elite.clone(), without.x.clone()))
}

/// A claim that is better than the elite, if the descent that should have finished it ended elsewhere: it may have
/// slid over an edge, and a verdict on the claim would show that.
fn left_behind(history: &History, restart: &[&Entry]) -> Option<Next> {
    let first = history.entries.len() - restart.len();
    let claim = |e: &Entry| e.claim.clone().filter(|_| e.kind.is_plain() && e.verdict.is_none());
    let better = |c: &Claim| c.settled && history.scales.is_feasible(c) && history.promises(c);
    let (_, before) = restart.split_last()?;
    let at = before.iter().rposition(|e| claim(e).is_some_and(|c| better(&c)))?;
    Some(Next::Verify(first + at, Depth::Full))
}

/// A descent finishes a population that has ended.
fn after_population(restart: &[&Entry], last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref().filter(|_| last.end != End::Arrived && last.verdict.is_none())?;
    let times = restart.iter().filter(|e| e.kind == Kind::Population).count();
    Some(Next::Finish(claim.clone(), libm::pow(NARROW, times as f64)))
}

/// If that descent did not converge, the population continues; when the population itself ends, its claim is verified
/// as it is.
fn after_finish(history: &History, restart: &[&Entry]) -> Option<Next> {
    let last = restart.last()?;
    let population = restart.iter().rposition(|e| e.kind == Kind::Population)?;
    let Entry { end, claim, verdict, .. } = restart[population];
    let known = last.verdict.is_some() && history.agreement().0 > 1;
    let promises = claim.as_ref().is_some_and(|claim| history.promises(claim));
    // What it has found since it last continued is still the same optimum.
    let former = restart[..population].iter().rfind(|e| e.kind == Kind::Population).and_then(|e| e.claim.as_ref());
    let stands = claim.as_ref().zip(former).is_some_and(|(a, b)| history.scales.agree(a, b));
    match (last.end, end) {
        (End::Arrived, _) | (_, End::Arrived) => None,
        (End::Spent, End::Converged) if !known && !stands => Some(Next::Resume),
        _ if last.verdict.is_some() => None,
        (_, End::Converged) if promises && !stands => Some(Next::Resume),
        _ if claim.is_some() && verdict.is_none() => {
            Some(Next::Verify(history.entries.len() - (restart.len() - population), Depth::Full))
        }
        _ => None,
    }
}

/// The elite, if it is to be verified again: no other restart agrees with it, and since its last verdict twice as
/// many restarts have ended elsewhere as it has had verdicts.
fn doubted(history: &History) -> Option<usize> {
    let (at, elite) = (history.elite_at()?, history.elite()?);
    let entry = &history.entries[at];
    let elsewhere = |e: &&Entry| e.verified().is_some_and(|claim| !history.scales.agree(claim, elite));
    let mut restarts: Vec<u64> = history.entries[at + 1..].iter().filter(elsewhere).map(|e| e.restart).collect();
    restarts.dedup();
    (history.agreement().0 <= 1 && restarts.len() as u64 >= DOUBT * entry.looks).then_some(at)
}

/// The first searches of the restarts of a kind.
fn restarts(history: &History, kind: Kind) -> impl DoubleEndedIterator<Item = &Entry> {
    let first = move |e: &&Entry| e.kind == kind;
    let all = &history.entries;
    let begins = |i: usize| i == 0 || all[i - 1].restart != all[i].restart;
    (0..all.len()).filter(move |&i| begins(i)).map(|i| &all[i]).filter(first)
}

/// The next restart. Where descents converge they are the cheaper kind, but they end at the nearest optimum, so they
/// alternate with populations after the first two. If they do not converge, end at different values, or meet a
/// follower with several answers, only populations follow.
fn restart(history: &History, config: &PortfolioConfig) -> Next {
    let descents = restarts(history, Kind::Descent).count();
    let populations = restarts(history, Kind::Population).count();
    let descends = restarts(history, Kind::Descent).next_back().is_none_or(|latest| {
        let elite = history.elite();
        let group: Vec<&Entry> = history.of_restart(latest.restart).collect();
        let ended = group.last().filter(|e| matches!(e.end, End::Converged | End::Arrived));
        let claim = ended.and_then(|e| e.verified().or(e.claim.as_ref()));
        let near = |e: &Claim, c: &Claim| history.scales.agree(c, e) || ended.is_some_and(|l| l.end == End::Arrived);
        let at_elite = elite.zip(claim).is_some_and(|(e, c)| near(e, c));
        at_elite && group.iter().all(|e| e.corrections == 0)
    });
    let wanted = config.descent > 0 && descends && descents < populations + FIRST_DESCENTS;
    Next::Restart(if wanted { Kind::Descent } else { Kind::Population })
}

#[cfg(test)]
mod tests;
