//! Which search comes next, from where, and when a run ends: a function of the history alone.
//!
//! 1. A claim gets a verdict.
//! 2. A restart is brought to its end: a population is finished by a descent, and goes on where that does
//!    not come to an end; where the verdict found another answer, a descent goes on from there, the border
//!    between the two is searched if the claim would have paid, and again with every further answer that a
//!    verdict finds there, and the next-best decisions that the restart saw are looked at.
//! 3. An elite that stands alone while restarts end elsewhere is verified again: it may owe its value to an
//!    answer that is not the follower's.
//! 4. The run ends when restarts agree: three that are feasible and uncorrected, one of them wide. Before
//!    that, a descent from near the ends of the box, a wide look at the elite's other answers, and
//!    leaning descents. An infeasible elite needs twice the agreement. It also ends, without agreement, when
//!    many restarts have found nothing better.
//! 5. Otherwise it restarts: descents as long as they end at the same value, then in turn populations and
//!    descents. After each restart that decided nothing a leaning descent.

use super::archive::distance;
use super::claim::Claim;
use super::config::{Effort, PortfolioConfig};
use super::history::{Entry, History, Kind};
use super::search::End;
use super::verify::{DIFFERENT, Depth, Verdict};

/// Descents before the first population, as long as they end at the same value.
const FIRST_DESCENTS: usize = 2;
/// Restarts with searches along borders that may fail, and twice as many more for each that does not.
const BORDERS: usize = 3;
/// Rounds of such a search, or of an exact end, each with the rivals that the verdicts found so far.
const ROUNDS: usize = 6;
/// What borders and exact ends that fail may cost, each: so many times the evaluations of a descent, and this
/// share of all others.
const ALLOWANCE: (u64, f64) = (3, 0.25);
/// Size of a population, relative to its first, at which a descent tries to finish it, and relative to the
/// last such size if that fails.
pub(super) const NARROW: f64 = 0.1;
/// Restarts that end elsewhere for each verdict on an elite that stands alone.
const DOUBT: u64 = 2;
/// Values of F are the very same within this share of its scale.
const EXACT: f64 = 1e-7;
/// Rivals at most, the latest.
const RIVALS: usize = 6;
/// Next-best decisions of a restart that are looked at.
const SECONDS: usize = 2;
/// Size of a descent that goes on with another answer.
const ANEW: f64 = 0.25;
/// Size of a descent that goes on from where another stopped, and how many do in one restart.
const GO_ON: f64 = 0.1;
const FINISHES: usize = 3;
/// A leaning descent has lost its way if F changes by this many times as much as under the weight before.
const LEAP: f64 = 4.0;
/// Restarts that find nothing better and do not agree after which a run ends: if a leaning descent found the
/// elite, and otherwise.
const FRUITLESS: (usize, usize) = (3, 15);
/// Leaning descents that must follow the elite if one of them found it.
const LEANS_AFTER_WIN: usize = 6;
/// Weights of leaning descents, one after the other: from where the leader would like to be to where the
/// follower hardly leans. Halved each time, so that the answer stays where the leader wants it.
const WEIGHTS: [f64; 11] = [102.4, 51.2, 25.6, 12.8, 6.4, 3.2, 1.6, 0.8, 0.4, 0.2, 0.1];

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
    /// The exact end of a leaning descent, with answers that the follower must not prefer.
    Exact(Claim, Vec<Vec<f64>>),
    /// The best decision to which the follower gives the hoped for answer rather than its rivals.
    Border(Claim, Vec<Vec<f64>>),
    /// The same where the last of the rivals goes with the decision.
    Tracked(Claim, Vec<Vec<f64>>),
    /// A descent from a claim that keeps to the follower's constraints, too.
    Feasible(Claim),
    /// Another look at a decision that a search came across.
    Second(Claim),
    /// A verdict on the claim of an entry.
    Verify(usize, Depth),
    /// Restarts agree.
    End,
}

/// The next step of a run.
pub(super) fn next(history: &History, config: &PortfolioConfig) -> Next {
    let Some(last) = history.last() else { return restart(history, config) };
    if let Some(next) = feasible(history, last) {
        return next;
    }
    if let Some(verdict) = verdict(history, last) {
        return verdict;
    }
    if let Some(step) = follow_up(history, config) {
        return step;
    }
    if let Some(at) = doubted(history) {
        return Next::Verify(at, Depth::Full);
    }
    if is_agreed(history, config) || is_exhausted(history, config) {
        return closing(history, config);
    }
    if config.ties > 0 && lean_is_due(history, config) {
        return lean(history);
    }
    restart(history, config)
}

/// A descent that ended where no answer is feasible goes on with the follower's constraints as the leader's.
fn feasible(history: &History, last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref().filter(|_| last.verdict.is_none())?;
    let descends = matches!(last.kind, Kind::Descent | Kind::Known | Kind::NearEnds | Kind::Finish);
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
    // What is worse close by is what the former owed to an answer that was not exact.
    let lost = |former: &Claim| former.distance(claim) > DIFFERENT && history.scales.promises(former, claim);
    let worse = last.kind == Kind::Finish && former.is_some_and(lost);
    let promises = history.promises(claim);
    let resumes = history.of_restart(last.restart).any(|e| e.kind == Kind::Population);
    let deserved = match last.kind {
        _ if hopeless || worse => false,
        Kind::Population | Kind::Sample | Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => false,
        Kind::Exact if last.end == End::Lost => false,
        Kind::Exact | Kind::Border | Kind::Second => promises,
        Kind::Descent | Kind::Known | Kind::NearEnds | Kind::Finish | Kind::Feasible => match last.end {
            End::Converged => true,
            End::Arrived => false,
            End::Spent => goes_on(history).is_none() && (promises || claim.settled && (at_elite || !resumes)),
            End::Lost => claim.settled && history.elite().is_some() && promises,
        },
    };
    let depth = match last.kind {
        _ if history.is_at_elite(claim) => Depth::Light,
        // Nothing more is looked for at the end.
        Kind::Known if history.is_known_widely => Depth::Wide,
        _ => Depth::Full,
    };
    deserved.then_some(Next::Verify(history.entries.len() - 1, depth))
}

/// A descent whose evaluations were used up goes on from where it stood, as long as that pays.
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
        Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => return after_leaning(history, config, &restart),
        Kind::Finish | Kind::Feasible if last.verdict.is_none() || !restart.iter().any(|e| e.is_corrected()) => {
            if let Some(next) = after_finish(history, &restart) {
                return Some(next);
            }
        }
        _ => {}
    }
    if let Some(next) = another_round(history, config, &restart).or_else(|| after_exact(history, last)) {
        return Some(next);
    }
    if let Some(claim) = tied(history, last).filter(|_| config.ties > 0 && last.kind != Kind::Exact) {
        return Some(lean_from(claim));
    }
    if last.kind == Kind::Second && !last.is_corrected() {
        // It stands.
        return last.verified().map(|claim| Next::Finish(claim.clone(), ANEW));
    }
    after_correction(history, config, &restart).or_else(|| second(history, &restart))
}

/// A descent goes on from the true answer, once in a restart; then the border to the one hoped for.
fn after_correction(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let plain = |e: &Entry| !matches!(e.kind, Kind::Exact | Kind::Border);
    let corrected = || (0..restart.len()).filter(|&i| plain(restart[i]) && restart[i].is_corrected());
    let at = corrected().next_back()?;
    let verdict = restart[at].verdict.as_ref()?;
    let moved_on = corrected().count() > 1 || restart[at + 1..].iter().any(|e| e.kind == Kind::Finish);
    if verdict.claim.settled && !moved_on && restart[at].kind != Kind::Second {
        return Some(Next::Finish(verdict.claim.clone(), ANEW));
    }
    let had = restart.iter().any(|e| e.kind == Kind::Border);
    let may_pay = || borders_may_pay(history) && may_cost(history, config, Kind::Border);
    let hoped = verdict.hoped.as_ref().filter(|_| config.borders.is_on() && !had && may_pay())?;
    let pays = history.promises(hoped) && history.scales.is_feasible(hoped);
    pays.then(|| Next::Border(hoped.clone(), with_rival(rivals(history), &verdict.claim.y)))
}

/// The decision of an entry, as good as the elite, if the follower is indifferent there and the leader is not.
fn tied<'a>(history: &History, entry: &'a Entry) -> Option<&'a Claim> {
    let (elite, verdict) = (history.elite()?, entry.verdict.as_ref()?);
    let Verdict { claim, others, .. } = verdict;
    let matters = |other: &Claim| (other.value() - claim.value()).abs() > history.scales.tolerance(claim.value());
    let counts = history.scales.agree(claim, elite) && verdict.hoped.is_none();
    (verdict.tied && counts && others.iter().any(matters)).then_some(claim)
}

/// A leaning descent from a decision that the leader may only hope to improve.
fn lean_from(claim: &Claim) -> Next {
    Next::Lean { kind: Kind::LeanHere, from: Some(claim.clone()), weight: WEIGHTS[WEIGHTS.len() - 1] }
}

/// An exact end or a border whose answer a verdict replaced, once more with that answer among the rivals.
fn another_round(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    let last = restart.last().filter(|e| matches!(e.kind, Kind::Exact | Kind::Border))?;
    let verdict = last.verdict.as_ref()?;
    let hoped = verdict.hoped.as_ref().filter(|h| history.promises(h))?;
    // Where a rival only moved a little, the rounds are about to converge.
    let converges = last.rivals.iter().any(|rival| distance(rival, &verdict.claim.y) <= DIFFERENT);
    let rounds = restart.iter().filter(|e| e.kind == last.kind).count();
    if rounds >= ROUNDS || !converges && !may_cost(history, config, last.kind) {
        return None;
    }
    let rivals = with_rival(last.rivals.clone(), &verdict.claim.y);
    Some(match last.kind {
        Kind::Exact => Next::Exact(hoped.clone(), rivals),
        _ if converges => Next::Tracked(hoped.clone(), rivals),
        _ => Next::Border(hoped.clone(), rivals),
    })
}

/// Rivals with another one, which takes the place of those close to it.
fn with_rival(mut rivals: Vec<Vec<f64>>, y: &[f64]) -> Vec<Vec<f64>> {
    rivals.retain(|rival| distance(rival, y) > DIFFERENT);
    rivals.push(y.to_vec());
    let old = rivals.len().saturating_sub(RIVALS);
    rivals.split_off(old)
}

/// Rivals of all such searches so far: whatever x is, the follower may answer with any of them.
fn rivals(history: &History) -> Vec<Vec<f64>> {
    let changed = history.entries.iter().filter(|e| matches!(e.kind, Kind::Exact | Kind::Border));
    let given = |e: &Entry| e.verdict.as_ref().filter(|v| v.hoped.is_some()).map(|v| v.claim.y.clone());
    let all = changed.flat_map(|e| e.rivals.iter().cloned().chain(given(e)));
    all.fold(Vec::new(), |rivals, y| with_rival(rivals, &y))
}

/// After a correction, the next-best decisions that the restart saw: under the answer that is now known
/// one of them may be better than what is left of the claim.
fn second(history: &History, restart: &[&Entry]) -> Option<Next> {
    let looked = restart.iter().filter(|e| e.kind == Kind::Second).count();
    let won = |e: &Entry| history.elite().is_some_and(|elite| history.is_border_of(e, elite));
    if restart.iter().any(|e| won(e)) || looked >= SECONDS || !restart.iter().any(|e| e.is_corrected()) {
        return None;
    }
    let seen = |x: &[f64]| {
        let verified = history.entries.iter().filter_map(Entry::verified);
        verified.map(|c| &c.x).any(|other| distance(other, x) <= DIFFERENT)
    };
    let seconds = restart.iter().flat_map(|e| &e.seconds).filter(|c| history.promises(c) && !seen(&c.x));
    seconds.min_by(|a, b| history.scales.compare(a, b)).map(|claim| Next::Second(claim.clone()))
}

/// Whether searches along borders have not failed too often: where the follower has many minima, a third
/// one is better than both.
fn borders_may_pay(history: &History) -> bool {
    let Some(elite) = history.elite() else { return true };
    let is = |e: &Entry| e.kind == Kind::Border;
    let mut tried: Vec<u64> = history.entries.iter().filter(|e| is(e)).map(|e| e.restart).collect();
    tried.dedup();
    let won = tried.iter().filter(|r| history.of_restart(**r).any(|e| history.is_border_of(e, elite))).count();
    tried.len() - won < BORDERS + 2 * won
}

/// Whether searches of a kind have not cost too much without leading to the elite.
fn may_cost(history: &History, config: &PortfolioConfig, kind: Kind) -> bool {
    let Some(elite) = history.elite() else { return true };
    let won = |restart: u64| history.of_restart(restart).any(|e| history.is_won_by(e, kind, elite));
    let spent = |failed: bool| -> u64 {
        let is_failed = |e: &Entry| e.kind == kind && !won(e.restart);
        history.entries.iter().filter(|e| is_failed(e) == failed).map(|e| e.spent).sum()
    };
    let descent = (config.descent * (elite.x.len() + elite.y.len())) as u64;
    spent(true) as f64 <= (ALLOWANCE.0 * descent) as f64 + ALLOWANCE.1 * spent(false) as f64
}

/// A population that ended is finished by a descent.
fn after_population(restart: &[&Entry], last: &Entry) -> Option<Next> {
    let claim = last.claim.as_ref().filter(|_| last.end != End::Arrived && last.verdict.is_none())?;
    let times = restart.iter().filter(|e| e.kind == Kind::Population).count();
    Some(Next::Finish(claim.clone(), libm::pow(NARROW, times as f64)))
}

/// Where a descent did not come to its end, the population that it was to finish goes on; at its own end
/// it is verified as it is.
fn after_finish(history: &History, restart: &[&Entry]) -> Option<Next> {
    let last = restart.last()?;
    let population = restart.iter().rposition(|e| e.kind == Kind::Population)?;
    let Entry { end, claim, verdict, .. } = restart[population];
    let known = last.verdict.is_some() && history.agreement().0 > 1;
    let promises = claim.as_ref().is_some_and(|claim| history.promises(claim));
    // What it found since it went on the last time is the same optimum still.
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

/// An exact end that led to a better elite is made exact by a plain descent: where nothing is tied, that has
/// the fewer variables.
fn after_exact(history: &History, last: &Entry) -> Option<Next> {
    let is_elite = last.kind == Kind::Exact && history.elite_at() == Some(history.entries.len() - 1);
    let claim = last.verified().filter(|_| is_elite && !last.is_corrected())?;
    Some(Next::Finish(claim.clone(), NARROW * NARROW))
}

/// A leaning descent that promises more than the elite goes on under a smaller weight, then to its exact
/// end. One that leaps, or promises nothing any more, has lost its way: the exact end goes from the one before.
fn after_leaning(history: &History, config: &PortfolioConfig, restart: &[&Entry]) -> Option<Next> {
    if !may_cost(history, config, Kind::Exact) {
        return None;
    }
    let ladder = ladder(history, restart.first()?);
    let promising = restart.iter().map_while(|e| e.claim.as_ref().filter(|c| history.promises(c)));
    let mut claims: Vec<&Claim> = promising.collect();
    if let [.., a, b, c] = claims[..]
        && (c.value() - b.value()).abs() > LEAP * (b.value() - a.value()).abs() + history.scales.tolerance(b.value())
    {
        claims.pop();
    }
    let claim = *claims.last()?;
    let weight = ladder.get(claims.len()).filter(|_| claims.len() == restart.len());
    if let Some(weight) = weight {
        return Some(Next::Lean { kind: Kind::LeanOn, from: Some(claim.clone()), weight: *weight });
    }
    // The gain grows with the weight where nothing is tied: what would be left of it without one?
    let Some((before, elite)) = claims.len().checked_sub(2).map(|i| claims[i]).zip(history.elite()) else {
        return (claims.len() == restart.len()).then(|| Next::Exact(claim.clone(), rivals(history)));
    };
    let share = 1.0 / (ladder[claims.len() - 2] / ladder[claims.len() - 1] - 1.0);
    let (gain, former) = (elite.value() - claim.value(), elite.value() - before.value());
    let vanishes = gain - (former - gain) * share <= history.scales.tolerance(elite.value());
    (!vanishes).then(|| Next::Exact(claim.clone(), rivals(history)))
}

/// The weights of a leaning restart. From the elite only the last one; from elsewhere the first time all,
/// then fewer, so that not all of them end where the leader alone would.
fn ladder(history: &History, first: &Entry) -> &'static [f64] {
    let before = history.entries.iter().filter(|e| e.kind == Kind::LeanAway && e.restart < first.restart).count();
    weights(if first.kind == Kind::LeanHere { WEIGHTS.len() } else { before })
}

/// The weights of a leaning restart from elsewhere after some others.
fn weights(before: usize) -> &'static [f64] {
    &WEIGHTS[(3 * before).min(WEIGHTS.len() - 1)..]
}

/// Position of the elite, if it is to be verified again: no other restart agrees, and twice as many as it had
/// verdicts have ended elsewhere since.
fn doubted(history: &History) -> Option<usize> {
    let (at, elite) = (history.elite_at()?, history.elite()?);
    let entry = &history.entries[at];
    let elsewhere = |e: &&Entry| e.verified().is_some_and(|claim| !history.scales.agree(claim, elite));
    let mut restarts: Vec<u64> = history.entries[at + 1..].iter().filter(elsewhere).map(|e| e.restart).collect();
    restarts.dedup();
    (history.agreement().0 <= 1 && restarts.len() as u64 >= DOUBT * entry.looks).then_some(at)
}

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
pub(super) fn is_agreed(history: &History, config: &PortfolioConfig) -> bool {
    let (Some((all, wide)), Some(elite)) = (wanted(config.effort), history.elite()) else { return false };
    let times = if history.scales.is_feasible(elite) { 1 } else { 2 };
    let (agreeing, wide_ones) = history.agreement();
    let all = all + usize::from(history.elsewhere() > 1);
    agreeing >= times * all && wide_ones >= times * wide
}

/// Whether so many restarts have found nothing better than the elite that more of them are not worth their
/// cost, though they do not agree. What a leaning descent found the others never will.
fn is_exhausted(history: &History, config: &PortfolioConfig) -> bool {
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
fn closing(history: &History, config: &PortfolioConfig) -> Next {
    if matches!(config.effort, Effort::Local | Effort::Quick) {
        return Next::End;
    }
    let (Some(at), Some(elite)) = (history.elite_at(), history.elite()) else { return Next::End };
    if !is_exact(history, at)
        && let Some(next) = make_exact(history, at, elite)
    {
        return next;
    }
    // What an earlier run looked at before its end is not all looked at again.
    let known = history.is_elite_known();
    if config.descent > 0 && !known && !history.entries.iter().any(|e| e.kind == Kind::NearEnds) {
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
fn lean_is_due(history: &History, config: &PortfolioConfig) -> bool {
    let leans = |e: &&Entry| matches!(e.kind, Kind::LeanHere | Kind::LeanAway);
    let made = history.entries.iter().filter(leans).count() as u64;
    let populations = restarts(history, Kind::Population).count() as u64;
    history.elite().is_some()
        && (is_found_by_leaning(history) && leans_since(history) < LEANS_AFTER_WIN
            || populations > made && may_cost(history, config, Kind::Exact))
}

/// From the elite first, then from the best of a sample of the box, then from anywhere.
fn lean(history: &History) -> Next {
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
