//! Which search comes next, from where, and when a run ends: a function of the history alone.
//!
//! 1. A claim gets a verdict.
//! 2. A restart is brought to its end: a population is finished by a descent; where the verdict found
//!    another answer, the border between the two is searched if the claim would have paid, else a descent
//!    goes on from the true answer.
//! 3. The run ends when restarts agree: three that are feasible and uncorrected, one of them wide. Before
//!    that, a descent from near the ends of the box, a wide look at the elite's other answers, and
//!    leaning descents. An infeasible elite needs twice the agreement.
//! 4. Otherwise it restarts: descents as long as they end at the same value, then in turn populations and
//!    descents. After each restart that decided nothing a leaning descent.

use super::claim::Claim;
use super::config::{Effort, PortfolioConfig};
use super::history::{Entry, History, Kind};
use super::search::End;
use super::verify::Depth;

/// Descents before the first population, as long as they end at the same value.
const FIRST_DESCENTS: usize = 2;
/// Searches along borders that may fail, and twice as many more for each that does not.
const BORDERS: usize = 3;
/// Size of a descent that goes on with another answer.
const ANEW: f64 = 0.25;
/// Size of a descent that goes on from where another stopped, and how many do in one restart.
const GO_ON: f64 = 0.1;
const FINISHES: usize = 3;
/// Leaning descents that must follow the elite if one of them found it.
const LEANS_AFTER_WIN: usize = 6;
/// Weights of leaning descents: the first from far away, and the usual one.
const WEIGHTS: (f64, f64) = (1.0, 0.1);

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// A restart.
    Restart(Kind),
    /// The latest population goes on.
    Resume,
    /// A descent from a claim, with first steps of this size.
    Finish(Claim, f64),
    /// A leaning descent from a claim, or from anywhere, under a weight.
    Lean { kind: Kind, from: Option<Claim>, weight: f64 },
    /// The exact end of a leaning descent.
    Exact(Claim),
    /// The best decision to which the follower gives the first answer rather than the second.
    Border { hoped: Claim, given: Claim },
    /// A verdict on the claim of an entry.
    Verify(usize, Depth),
    /// Restarts agree.
    End,
}

/// The next step of a run.
pub(super) fn next(history: &History, config: &PortfolioConfig) -> Next {
    let Some(last) = history.last() else { return restart(history, config) };
    if let Some(verdict) = verdict(history, last) {
        return verdict;
    }
    if let Some(step) = follow_up(history, config) {
        return step;
    }
    if is_agreed(history, config) {
        return closing(history, config);
    }
    if config.ties > 0 && lean_is_due(history) {
        return lean(history);
    }
    restart(history, config)
}

/// A verdict on the latest claim, if it deserves one.
fn verdict(history: &History, last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref().filter(|_| last.verdict.is_none())?;
    let feasible = |c: &Claim| history.scales.is_feasible(c);
    let hopeless = !feasible(claim) && history.elite().is_some_and(feasible);
    let former = history.of_restart(last.restart).rev().skip(1).find_map(|e| e.verified().or(e.claim.as_ref()));
    let worse = last.kind == Kind::Finish && former.is_some_and(|former| history.scales.promises(former, claim));
    let deserved = match last.kind {
        _ if hopeless || worse => false,
        Kind::Population | Kind::Sample | Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => false,
        Kind::Exact | Kind::Border => history.promises(claim),
        Kind::Descent | Kind::NearEnds | Kind::Finish => match last.end {
            End::Converged => true,
            End::Arrived => false,
            End::Spent => claim.settled && goes_on(history).is_none(),
            End::Lost => claim.settled && history.elite().is_some() && history.promises(claim),
        },
    };
    let depth = if history.is_at_elite(claim) { Depth::Light } else { Depth::Full };
    deserved.then_some(Next::Verify(history.entries.len() - 1, depth))
}

/// A descent whose evaluations were used up goes on from where it stood, as long as that pays.
fn goes_on(history: &History) -> Option<Next> {
    let last = history.last()?;
    let claim = last.claim.as_ref().filter(|c| c.settled && last.end == End::Spent && last.verdict.is_none())?;
    let mut before = history.of_restart(last.restart).rev().skip(1);
    let finishes = before.clone().filter(|e| e.kind == Kind::Finish).count();
    let pays = match last.kind {
        Kind::Descent => true,
        Kind::Finish => {
            let former = before.find_map(|e| e.claim.as_ref());
            former.is_none_or(|former| history.scales.promises(claim, former))
        }
        _ => history.promises(claim),
    };
    (pays && finishes < FINISHES).then(|| Next::Finish(claim.clone(), GO_ON))
}

/// What the latest search leaves to be done in its restart.
fn follow_up(history: &History, config: &PortfolioConfig) -> Option<Next> {
    let last = history.last()?;
    let restart: Vec<&Entry> = history.of_restart(last.restart).collect();
    if let Some(next) = goes_on(history) {
        return Some(next);
    }
    match last.kind {
        Kind::Population => return after_population(&restart, last),
        Kind::Sample => return Some(lean(history)),
        Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => return after_leaning(history, &restart),
        Kind::Finish if last.verdict.is_none() && last.end != End::Arrived => {
            let population = restart.iter().rposition(|e| e.kind == Kind::Population)?;
            let at = history.entries.len() - (restart.len() - population);
            let Entry { end, claim, verdict, .. } = restart[population];
            return match end {
                End::Arrived => None,
                End::Converged => Some(Next::Resume),
                _ if claim.is_some() && verdict.is_none() => Some(Next::Verify(at, Depth::Full)),
                _ => None,
            };
        }
        _ => {}
    }
    let at = restart.iter().rposition(|e| e.verdict.is_some()).filter(|&at| restart[at].is_corrected())?;
    let verdict = restart[at].verdict.as_ref()?;
    // What a changed problem claimed is not worth more of the kind.
    if matches!(restart[at].kind, Kind::Exact | Kind::Border) {
        return None;
    }
    let since = |kind: Kind| restart[at..].iter().any(|e| e.kind == kind);
    let had = restart.iter().any(|e| e.kind == Kind::Border);
    let hoped = verdict.hoped.as_ref().filter(|_| config.borders.is_on() && !had && borders_may_pay(history));
    if let Some(hoped) = hoped.filter(|h| history.promises(h) && history.scales.is_feasible(h)) {
        return Some(Next::Border { hoped: hoped.clone(), given: verdict.claim.clone() });
    }
    let moves_on = verdict.claim.settled && !since(Kind::Finish);
    moves_on.then(|| Next::Finish(verdict.claim.clone(), ANEW))
}

/// Whether searches along borders have not failed too often: where the follower has many minima, a third
/// one is better than both.
fn borders_may_pay(history: &History) -> bool {
    let borders = history.entries.iter().filter(|e| e.kind == Kind::Border);
    let led = |e: &Entry| history.elite().is_some_and(|elite| history.is_border_of(e, elite));
    let (won, failed): (Vec<&Entry>, _) = borders.partition(|e| led(e));
    failed.len() < BORDERS + 2 * won.len()
}

/// A population that ended is finished by a descent, and verified if that came to nothing.
fn after_population(restart: &[&Entry], last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref()?;
    let finishes = restart.iter().filter(|e| e.kind == Kind::Finish).count();
    (last.end != End::Arrived && last.verdict.is_none())
        .then(|| Next::Finish(claim.clone(), 0.1 / (1 + finishes) as f64))
}

/// A leaning descent that promises more than the elite goes on under a smaller weight, then to its exact
/// end.
fn after_leaning(history: &History, restart: &[&Entry]) -> Option<Next> {
    let last = restart.last()?;
    let claim = last.claim.as_ref().filter(|claim| history.promises(claim))?;
    let first = restart.first()?;
    if last.kind == Kind::LeanAway && is_from_sample(history, first.restart) {
        return Some(Next::Lean { kind: Kind::LeanOn, from: Some(claim.clone()), weight: WEIGHTS.1 });
    }
    // The gain grows with the weight where nothing is tied: what would be left of it without one?
    let before = first.claim.as_ref().filter(|_| last.kind == Kind::LeanOn);
    let vanishes = history.elite().zip(before).is_some_and(|(elite, before)| {
        let (gain, former) = (elite.value() - claim.value(), elite.value() - before.value());
        gain - (former - gain) / 9.0 <= history.scales.tolerance(elite.value())
    });
    (!vanishes).then(|| Next::Exact(claim.clone()))
}

/// Whether a restart is the first leaning one from elsewhere since the sample: it starts at its best.
fn is_from_sample(history: &History, restart: u64) -> bool {
    let first = history.entries.iter().find(|e| e.kind == Kind::LeanAway);
    first.is_some_and(|e| e.restart == restart)
}

/// Restarts that agree, and wide ones among them, that end a run.
fn wanted(effort: Effort) -> Option<(usize, usize)> {
    match effort {
        Effort::Quick => Some((2, 0)),
        Effort::Normal => Some((3, 1)),
        Effort::Thorough => Some((5, 2)),
        Effort::Budget => None,
    }
}

/// Whether as many restarts agree with the elite as are wanted.
pub(super) fn is_agreed(history: &History, config: &PortfolioConfig) -> bool {
    let (Some((all, wide)), Some(elite)) = (wanted(config.effort), history.elite()) else { return false };
    let times = if history.scales.is_feasible(elite) { 1 } else { 2 };
    let (agreeing, wide_ones) = history.agreement();
    let by_ties = is_found_by_leaning(history) && leans_since(history) >= LEANS_AFTER_WIN;
    agreeing >= times * all && wide_ones >= times * wide || by_ties && config.effort == Effort::Normal
}

/// What is still looked at when restarts agree.
fn closing(history: &History, config: &PortfolioConfig) -> Next {
    if config.effort == Effort::Quick {
        return Next::End;
    }
    let (Some(at), Some(elite)) = (history.elite_at(), history.elite()) else { return Next::End };
    if config.descent > 0 && !history.entries.iter().any(|e| e.kind == Kind::NearEnds) {
        return Next::Restart(Kind::NearEnds);
    }
    let entry = &history.entries[at];
    let Some(verdict) = &entry.verdict else { return Next::End };
    let looked =
        |e: &Entry| e.verdict.as_ref().is_some_and(|v| v.depth == Depth::Wide && v.claim.distance(elite) <= 1e-3);
    if !history.entries.iter().any(looked) {
        return Next::Verify(at, Depth::Wide);
    }
    let tried = history.entries[at..].iter().filter(|e| e.kind == Kind::Border).count();
    let mut hopes = verdict.others.iter().filter(|c| history.promises(c) && history.scales.is_feasible(c));
    if let Some(hoped) = hopes.nth(tried).filter(|_| config.borders.is_on() && borders_may_pay(history)) {
        return Next::Border { hoped: hoped.clone(), given: verdict.claim.clone() };
    }
    if leans_since(history) < config.ties { lean(history) } else { Next::End }
}

/// Leaning descents since the elite was found.
fn leans_since(history: &History) -> usize {
    let since = history.elite_since();
    history.entries.iter().skip(since).filter(|e| matches!(e.kind, Kind::LeanHere | Kind::LeanAway)).count()
}

fn is_found_by_leaning(history: &History) -> bool {
    let elite = history.entries.get(history.elite_since());
    elite.is_some_and(|e| matches!(e.kind, Kind::Exact))
}

/// While restarts do not agree: after each of them, and again and again where one has found the elite.
fn lean_is_due(history: &History) -> bool {
    let leans = |e: &&Entry| matches!(e.kind, Kind::LeanHere | Kind::LeanAway);
    let made = history.entries.iter().filter(leans).count() as u64;
    let populations = restarts(history, Kind::Population).count() as u64;
    history.elite().is_some() && (is_found_by_leaning(history) || populations > made)
}

/// From the elite first, then from the best of a sample of the box, then from anywhere.
fn lean(history: &History) -> Next {
    if leans_since(history) == 0 && history.elite().is_some() {
        return Next::Lean { kind: Kind::LeanHere, from: history.elite().cloned(), weight: WEIGHTS.1 };
    }
    let is = |kind: Kind| move |e: &&Entry| e.kind == kind;
    match history.entries.iter().find(is(Kind::Sample)) {
        None => Next::Restart(Kind::Sample),
        Some(sample) if !history.entries.iter().any(|e| e.kind == Kind::LeanAway) => {
            Next::Lean { kind: Kind::LeanAway, from: sample.claim.clone(), weight: WEIGHTS.0 }
        }
        Some(_) => Next::Lean { kind: Kind::LeanAway, from: None, weight: WEIGHTS.1 },
    }
}

/// The first searches of the restarts of a kind.
fn restarts(history: &History, kind: Kind) -> impl DoubleEndedIterator<Item = &Entry> {
    let first = move |e: &&Entry| e.kind == kind;
    let all = &history.entries;
    let begins = |i: usize| i == 0 || all[i - 1].restart != all[i].restart;
    (0..all.len()).filter(move |&i| begins(i)).map(|i| &all[i]).filter(first)
}

/// The next restart. Where descents come to their end they are the cheaper kind, but end at the nearest
/// optimum: after the first two they alternate with populations. Where they do not, end at another value
/// or meet a follower with several answers, only populations follow.
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
