//! What has been searched, what each search claimed, and what became of the claim. A run remembers nothing else.

use super::archive::distance;
use super::claim::{Claim, Scales};
use super::search::End;
use super::verify::{Depth, Verdict};
use serde::{Deserialize, Serialize};

/// Two claims that are closer than this are in the same place.
const SAME: f64 = 1e-3;

/// Largest violation, in units of the constraints' scales, of a claim that was found roughly.
const ROUGHLY: f64 = 0.03;

/// Answers are remembered separately if they differ by more than this: in a box that is far too wide, basins lie
/// close together.
const REMEMBERED: usize = 12;
pub(super) const ALIKE: f64 = 0.01;

/// The largest number of the leader's variables with which a survey may show that there is only one basin.
const SURVEYED: usize = 4;

/// A restart may end if it comes this close to an elite on which two restarts agree, and this close in F, as a share
/// of its scale.
pub(super) const ARRIVED: (f64, f64) = (0.01, 1e-4);

/// What a search was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// A descent from a random point.
    Descent,
    /// A descent from the best pair of earlier runs.
    Known,
    /// A descent from near the lower ends of the leader's box, or the upper ones.
    NearEnds,
    /// The follower's answers to decisions all over the box ...
    Survey,
    /// ... and a descent from one that is better than its neighbours.
    Dent,
    /// A population from a random point.
    Population,
    /// A descent that continues where another search of the same restart stopped.
    Finish,
    /// The same, with the follower's constraints as constraints of the leader's too.
    Feasible,
    /// Points all over the box at both levels.
    Sample,
    /// A descent whose follower leans towards the leader, from the elite ...
    LeanHere,
    /// ... or from elsewhere, or from the end of one under a larger weight.
    LeanAway,
    LeanOn,
    /// From there to a decision where the follower loses nothing by it.
    Regret,
    /// The exact end of a leaning descent, by the value function.
    Exact,
    /// Along the border between two answers.
    Border,
    /// To the last decision that has an answer.
    Edge,
    /// A smoothed search for noisy values, from anywhere ...
    Smooth,
    /// ... or from what another search of the same restart has found.
    SmoothHere,
}

impl Kind {
    /// Whether it searches the problem as it is, so that its claim can be the run's answer even before a verdict.
    pub(super) fn is_plain(self) -> bool {
        use Kind::{Dent, Descent, Finish, Known, NearEnds, Population};
        matches!(self, Descent | Known | NearEnds | Dent | Finish | Population)
    }

    /// Whether it looks for decisions at which the follower is indifferent.
    pub(super) fn is_about_ties(self) -> bool {
        use Kind::{Exact, LeanAway, LeanHere, LeanOn, Regret};
        matches!(self, LeanHere | LeanAway | LeanOn | Regret | Exact)
    }
}

/// One search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// The number of the restart to which it belongs, from 1.
    pub(super) restart: u64,
    pub(super) end: End,
    pub(super) claim: Option<Claim>,
    /// For exact ends and borders: the answers that the follower was not allowed to prefer.
    pub(super) rivals: Vec<Vec<f64>>,
    /// The latest verdict on the claim.
    pub(super) verdict: Option<Verdict>,
    /// The number of verdicts, and of those that found another answer.
    pub(super) looks: u64,
    pub(super) corrections: u64,
    /// Whether F and the leader's constraints were constant at most of the decisions that it saw.
    pub(super) flat: bool,
    /// Evaluations of the search and of the verdicts.
    pub(super) spent: u64,
}

impl Entry {
    /// The claim as far as it is known now: the verified one.
    pub(super) fn verified(&self) -> Option<&Claim> {
        self.verdict.as_ref().map(|verdict| &verdict.claim)
    }

    /// Whether the latest verdict replaced the answer by one that lies elsewhere.
    pub(super) fn is_corrected(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.hoped.is_some())
    }
}

/// The whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    pub(super) entries: Vec<Entry>,
    /// The units in which values are judged, as of the latest end of a search.
    pub(super) scales: Scales,
    /// Whether earlier runs left as many evaluations as a finished run does.
    pub(super) is_known_widely: bool,
    /// Decisions of the survey that are better than their neighbours, best first.
    pub(super) dents: Vec<Claim>,
}

impl History {
    pub(super) fn last(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// Number of the latest restart.
    pub(super) fn restart(&self) -> u64 {
        self.last().map_or(0, |entry| entry.restart)
    }

    /// The searches of a restart.
    pub(super) fn of_restart(&self, restart: u64) -> impl DoubleEndedIterator<Item = &Entry> + Clone {
        self.entries.iter().filter(move |entry| entry.restart == restart)
    }

    /// Position of the best verified claim.
    pub(super) fn elite_at(&self) -> Option<usize> {
        // If values are noisy, single ones are too good by luck, and only smoothed searches have means.
        let smooth = |e: &Entry| matches!(e.kind, Kind::Smooth | Kind::SmoothHere) && !e.is_corrected();
        let counts = |(_, e): &(usize, &Entry)| !self.scales.is_noisy() || smooth(e);
        let entries = self.entries.iter().enumerate().filter(counts);
        let verified = entries.filter_map(|(i, e)| Some((i, e.verified()?)));
        verified.min_by(|a, b| self.scales.compare(a.1, b.1)).map(|(i, _)| i)
    }

    /// The best verified claim.
    pub(super) fn elite(&self) -> Option<&Claim> {
        self.entries[self.elite_at()?].verified()
    }

    /// The first verified claim of the elite's optimum: what came later did not change it.
    pub(super) fn elite_since(&self) -> usize {
        let Some(elite) = self.elite() else { return 0 };
        let same = |e: &Entry| e.verified().is_some_and(|c| self.scales.agree(c, elite));
        self.entries.iter().position(same).unwrap_or(0)
    }

    /// Whether a claim is better than the elite.
    pub(super) fn promises(&self, claim: &Claim) -> bool {
        self.elite().is_none_or(|elite| self.scales.promises(claim, elite))
    }

    /// The same for a claim that was found only roughly: a leaning descent may still violate a constraint by the
    /// length of its last step.
    pub(super) fn nearly_promises(&self, claim: &Claim) -> bool {
        let gain = |elite: &Claim| elite.value() - claim.value() > self.scales.tolerance(elite.value());
        let is_nearly_feasible = self.scales.violation(claim) <= ROUGHLY;
        self.promises(claim) || is_nearly_feasible && self.elite().is_none_or(gain)
    }

    /// Whether a claim is the elite, as far as one can tell without a full verdict.
    pub(super) fn is_at_elite(&self, claim: &Claim) -> bool {
        let verified = self.elite_at().map(|at| &self.entries[at]).and_then(|e| e.verdict.as_ref());
        verified.is_some_and(|v| {
            v.depth != Depth::Light && v.claim.distance(claim) <= SAME && self.scales.agree(claim, &v.claim)
        })
    }

    /// Whether a search of a kind led to the elite's value.
    pub(super) fn is_won_by(&self, entry: &Entry, kind: Kind, elite: &Claim) -> bool {
        let claim = entry.verified().or(entry.claim.as_ref()).filter(|_| entry.kind == kind && !entry.is_corrected());
        claim.is_some_and(|claim| self.scales.agree(claim, elite))
    }

    /// Whether a search along a border led to the elite's value.
    pub(super) fn is_border_of(&self, entry: &Entry, elite: &Claim) -> bool {
        self.is_won_by(entry, Kind::Border, elite)
    }

    /// Whether the latest search of a restart ended at the elite's value without a correction, or its correction led
    /// to a border there.
    fn agrees(&self, restart: u64, elite: &Claim) -> bool {
        if self.is_flat(restart) {
            return false;
        }
        if self.of_restart(restart).any(|entry| self.is_border_of(entry, elite)) {
            return true;
        }
        let entry = self.of_restart(restart).rev().find(|e| e.verdict.is_some() || e.end == End::Arrived);
        let Some(entry) = entry else { return false };
        if entry.end == End::Arrived {
            return entry.claim.as_ref().is_some_and(|claim| claim.distance(elite) <= 2.0 * ARRIVED.0);
        }
        let claim = entry.verified().or(entry.claim.as_ref());
        !entry.is_corrected() && claim.is_some_and(|claim| self.scales.agree(claim, elite))
    }

    /// The number of restarts that agree with the elite, and how many of them were wide: populations, or leaning
    /// descents from elsewhere.
    pub(super) fn agreement(&self) -> (usize, usize) {
        let Some(elite) = self.elite() else { return (0, 0) };
        let mut agreement = (0, 0);
        for restart in 1..=self.restart() {
            let first = self.of_restart(restart).next().map(|e| e.kind);
            let holds_elite = || self.elite_at().is_some_and(|at| self.entries[at].restart == restart);
            let agrees = match first {
                // They count together, as their survey.
                Some(Kind::Dent) => holds_elite() && self.agrees(restart, elite),
                Some(Kind::LeanHere | Kind::LeanAway) => !self.is_on_plateau() && self.confirms(restart, elite),
                Some(Kind::Survey) => !self.is_on_plateau() && self.is_all_one_basin(restart, elite),
                _ => self.agrees(restart, elite),
            };
            let wide = matches!(first, Some(Kind::Population | Kind::LeanAway | Kind::Smooth | Kind::Survey));
            // The evaluations of a whole earlier run count as two restarts, one of them wide.
            let by_run = self.is_known_widely && first == Some(Kind::Known);
            agreement.0 += usize::from(agrees) + usize::from(agrees && by_run);
            agreement.1 += usize::from(agrees && (wide || by_run));
        }
        agreement
    }

    /// Whether the whole box seems to be the elite's basin: a survey was made, and a descent from every dent ended at
    /// the elite. With more variables, a survey sees too little of the box.
    fn is_all_one_basin(&self, survey: u64, elite: &Claim) -> bool {
        let first = |restart: &u64| self.of_restart(*restart).next().is_some_and(|e| e.kind == Kind::Dent);
        let descents: Vec<u64> = (survey..=self.restart()).filter(first).collect();
        elite.x.len() <= SURVEYED
            && descents.len() == self.dents.len()
            && descents.iter().all(|restart| self.agrees(*restart, elite))
    }

    /// Whether the elite is the answer of a whole earlier run.
    pub(super) fn is_elite_known(&self) -> bool {
        let first = |restart: u64| self.of_restart(restart).next().is_some_and(|e| e.kind == Kind::Known);
        let known = |elite: &Claim| (1..=self.restart()).any(|restart| first(restart) && self.agrees(restart, elite));
        self.is_known_widely && self.elite().is_some_and(known)
    }

    /// Whether the elite is where a restart began: F may be constant in most of the box.
    pub(super) fn is_on_plateau(&self) -> bool {
        self.elite_at().is_some_and(|at| self.is_flat(self.entries[at].restart))
    }

    /// Whether F was constant at most of the decisions that a restart saw. Such a restart has found nothing, and
    /// agrees with no other.
    fn is_flat(&self, restart: u64) -> bool {
        self.of_restart(restart).next().is_some_and(|e| e.flat)
    }

    /// Restarts that ended without a correction at a value other than the elite's.
    pub(super) fn elsewhere(&self) -> usize {
        let Some(elite) = self.elite() else { return 0 };
        let other = |restart: u64| {
            let mut all = self.of_restart(restart);
            let plain =
                all.clone().next().is_some_and(|e| matches!(e.kind, Kind::Descent | Kind::Known | Kind::Population));
            let stands = |e: &Entry| e.verdict.is_some() && !e.is_corrected();
            let last = all.rfind(|e| e.end == End::Converged && stands(e));
            plain
                && last
                    .and_then(Entry::verified)
                    .is_some_and(|c| self.scales.is_feasible(c) && !self.scales.agree(c, elite))
        };
        (1..=self.restart()).filter(|restart| other(*restart)).count()
    }

    /// Whether a leaning descent from elsewhere ended at the elite's value.
    fn confirms(&self, restart: u64, elite: &Claim) -> bool {
        let last = self.of_restart(restart).next_back();
        let claim = last.and_then(|e| e.verified().or(e.claim.as_ref()));
        let found_it = self.elite_at().is_some_and(|at| self.entries[at].restart == restart);
        let away = last.is_some_and(|e| e.kind != Kind::LeanHere);
        found_it || away && claim.is_some_and(|claim| self.scales.agree(claim, elite))
    }

    /// Where searches of the unchanged problem ended.
    pub(super) fn ends(&self) -> Vec<Claim> {
        self.entries.iter().filter_map(Entry::verified).cloned().collect()
    }

    /// The usual variation of f along the variables of an answer, at the decision where it is largest; `None` before
    /// the first verdict. The follower may be indifferent at all decisions but one.
    pub(super) fn follower_range(&self) -> Option<f64> {
        self.entries.iter().filter_map(|e| e.verdict.as_ref()?.range).reduce(f64::max)
    }

    /// Answers to which the follower was seen to move, and other minima: a verdict at `x` tries them.
    /// Those to the nearest decisions, because answers move with x.
    pub(super) fn answers(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let verdicts = self.entries.iter().rev().filter_map(|e| e.verdict.as_ref());
        let mut claims: Vec<&Claim> =
            verdicts.flat_map(|v| std::iter::once(&v.claim).chain(&v.others).chain(&v.hoped)).collect();
        claims.sort_by(|a, b| distance(&a.x, x).total_cmp(&distance(&b.x, x)));
        let mut answers: Vec<Vec<f64>> = Vec::new();
        for claim in claims {
            if answers.len() < REMEMBERED && answers.iter().all(|y| distance(y, &claim.y) > ALIKE) {
                answers.push(claim.y.clone());
            }
        }
        answers
    }

    /// Decisions at which a verdict found several answers: a population tries these.
    pub(super) fn rivals(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        self.remembered(|v| v.hoped.iter().map(|_| &v.claim).chain(&v.others).chain(&v.hoped))
    }

    /// The latest answers of verdicts that differ from each other.
    fn remembered<'a, I: Iterator<Item = &'a Claim>>(
        &'a self,
        of: impl Fn(&'a Verdict) -> I,
    ) -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut points: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for claim in self.entries.iter().rev().filter_map(|e| e.verdict.as_ref()).flat_map(of) {
            if points.len() < REMEMBERED && points.iter().all(|p| p.1 != claim.y) {
                points.push((claim.x.clone(), claim.y.clone()));
            }
        }
        points
    }
}
