//! Whether an answer really is the follower's, and which others there are.
//!
//! At a single x, without the surrogate by which the claim was found:
//!
//! 1. *Probe*: answers known from elsewhere, other values of each variable in turn (`scan`), and a random sample of
//!    the box, all in one batch; then two closer rounds along the deepest dents.
//! 2. *Exact*: some of these are made exact by a follower that learns over y alone: the answer itself, the best of
//!    the probe, other minima that may be equally good, and what the follower would like best without constraints.
//! 3. *Judge*: if a better answer was found, the claim was wrong, and F is evaluated with the true answer. F is also
//!    evaluated at other minima: they may be what the leader would like the follower to answer elsewhere.
//!
//! An answer far from the claimed one must be clearly better: where the follower is indifferent, the leader chooses.
//! All margins are shares of the scale of f. Randomness: `Purpose::Recheck`, one stream for each verdict.

mod judge;
mod sample;
mod scan;
mod surprise;

use super::archive::{Learner, Points, distance};
use super::claim::{Claim, Scales};
use super::config::Switch;
use super::follower::{Effort, Follower, Knowledge};
use super::history::ALIKE;
use super::merit::Merit;
use super::search::{End, Ground, Rows, Search, Shape, Wanted};
use crate::problem::Level;
use crate::rng::Purpose;
use scan::Scan;
use serde::{Deserialize, Serialize};
use surprise::surprising;

/// If all minima are wanted, this many times as many random answers are tried.
const WIDE: usize = 4;
/// Answers that are closer than this along every variable are the same.
pub(super) const DIFFERENT: f64 = 0.05;
/// In a wide box that may be too coarse: if two local searches end farther apart than this, and one clearly lower
/// than the other, each has found a basin of its own.
const APART: f64 = 1e-3;
/// The share of f's scale by which an answer must be better to be the true one: in the same place; elsewhere; and
/// elsewhere if the problem says which of several answers counts, so that f decides.
const BETTER: (f64, f64, f64) = (1e-12, 1e-4, 1e-10);
/// The same for an answer in the same place as one that the leader chose among equals, times the square of their
/// distance: a follower that prefers it by less is indifferent.
const CARES: f64 = 1e-4;
/// Another minimum may be the deeper one if its f differs by at most this share of the range of f along the
/// variables.
const CLOSE: f64 = 0.02;
/// How many other minima are made exact: by a usual verdict, and if all are wanted.
const OTHERS: (usize, usize) = (2, 4);
/// The first radius of a follower that makes an answer exact: the claimed one, or another.
const RADIUS: (f64, f64) = (1e-3, 0.01);
/// The accuracy of an exact answer.
const EXACT: f64 = 1e-7;
/// In rough comparisons of answers, violations weigh this many times the scale of f.
const PRICE: f64 = 10.0;
/// One in this many of the remaining evaluations goes into the probe.
const PROBED: usize = 2;
/// First length of the kernel.
const LENGTH: f64 = 0.3;

/// How closely a claim is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Depth {
    /// The answer is made exact, which is enough if the same decision was verified before.
    Light,
    /// All of the above.
    Full,
    /// In addition, all other minima are judged.
    Wide,
}

/// An answer at the x of the claim, with its values; none if they failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    y: Vec<f64>,
    row: Vec<f64>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Verdict {
    /// The decision with the true answer.
    pub(super) claim: Claim,
    /// The claim, if its answer was not the follower's and the true one lies elsewhere.
    pub(super) hoped: Option<Claim>,
    /// The decision with other minima of the follower.
    pub(super) others: Vec<Claim>,
    /// Whether another answer is equally good for the follower.
    pub(super) tied: bool,
    /// The usual variation of f over the box at this x; `None` if nobody looked.
    pub(super) range: Option<f64>,
    pub(super) depth: Depth,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Probe,
    Scan(Scan),
    Exact(Follower),
    Judge,
    Ended(Verdict),
}

/// Who chose the claimed answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Chosen {
    /// The follower.
    ByFollower,
    /// A follower that leant to the leader.
    Leaning,
    /// The leader, among equals.
    ByLeader,
}

/// How a verdict is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Look {
    pub(super) depth: Depth,
    /// For the random stream.
    pub(super) number: u64,
    /// The usual variation of f along the variables, if it is known: where the follower is indifferent, f does not
    /// vary at all.
    pub(super) range: Option<f64>,
    /// Whether the problem says which of equally good answers counts.
    pub(super) decided: bool,
    pub(super) chosen: Chosen,
    /// Whether other values of each variable are tried in turn.
    pub(super) scan: Switch,
    /// The evaluations that are left for it.
    pub(super) room: usize,
}

/// The making of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Verify {
    claim: Claim,
    look: Look,
    known: Vec<Vec<f64>>,
    stage: Stage,
    wanted: Vec<Vec<f64>>,
    /// All answers tried at this x.
    points: Points,
    knowledge: Knowledge,
    /// Answers that are still to be made exact, the next one last; and those that are exact.
    rough: Vec<Answer>,
    exact: Vec<Answer>,
    best: Answer,
    settled: bool,
    scale: f64,
    range: Option<f64>,
}

impl Verify {
    /// Examines `claim` with the help of answers `known` from elsewhere.
    pub(super) fn new(shape: Shape, claim: Claim, known: Vec<Vec<f64>>, look: Look) -> Self {
        let n = shape.lower[0];
        let merit = Merit::new(shape.lower[1], shape.lower[2]);
        Verify {
            best: Answer { y: claim.y.clone(), row: claim.lower.clone() },
            claim,
            look,
            known,
            stage: Stage::Probe,
            wanted: Vec::new(),
            points: Points::new(n, shape.outputs(Level::Lower)),
            knowledge: Knowledge { learner: Learner::new(vec![LENGTH; n], 0), merit },
            rough: Vec::new(),
            exact: Vec::new(),
            settled: false,
            scale: f64::NAN,
            range: None,
        }
    }

    /// What became of the claim; `None` while that is open.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        match &self.stage {
            Stage::Ended(verdict) => Some(verdict),
            _ => None,
        }
    }

    /// f plus the priced violations.
    fn merit(&self, scales: &Scales, row: &[f64]) -> f64 {
        if row.is_empty() {
            return f64::INFINITY;
        }
        row[0] + PRICE * self.scale * scales.lower_violation(row)
    }

    /// Whether an answer is better than another by `margin` of f's scale without being less feasible, or is the first
    /// feasible one.
    fn beats(&self, scales: &Scales, row: &[f64], other: &[f64], margin: f64) -> bool {
        if row.is_empty() || other.is_empty() {
            return !row.is_empty();
        }
        let feasible = |row: &[f64]| scales.answer_is_feasible(row);
        match (feasible(row), feasible(other)) {
            (true, false) => true,
            (false, true) => false,
            (true, true) => row[0] < other[0] - (margin * self.scale).max(scales.follower_noise()),
            (false, false) => self.merit(scales, row) < self.merit(scales, other) - margin * self.scale,
        }
    }

    /// Whether an answer is clearly better than another, and not at the same place.
    fn is_below(&self, scales: &Scales, answer: &Answer, other: &Answer) -> bool {
        distance(&answer.y, &other.y) > APART && self.beats(scales, &answer.row, &other.row, BETTER.1)
    }

    fn open(&mut self, ground: &Ground<'_>) {
        self.scale = ground.scales.follower();
        self.measure();
        self.points.push(&self.claim.y, &self.claim.lower);
        if self.look.depth == Depth::Light {
            self.rough.push(self.best.clone());
            self.next_exact();
            return;
        }
        let scan = Scan::new(&self.claim.y, self.merit(ground.scales, &self.claim.lower));
        let mut stream = ground.streams.open(Purpose::Recheck, self.look.number, 0);
        let n = self.claim.y.len();
        let times = if self.look.depth == Depth::Wide { WIDE } else { 1 };
        let values = if self.look.scan.is_on() { scan.values() } else { 0 };
        let random = times * sample::size(n);
        let (whole, room) = (values * n + random, self.look.room / PROBED);
        // If no more is left, a part of each.
        let part = |count: usize| if whole <= room { count } else { (count * room / whole).max(1) };
        self.wanted = scan.first(part(values), &mut stream);
        self.wanted.extend(sample::sample(&self.claim.y, part(random), &mut stream));
        self.wanted.extend(self.known.iter().cloned());
        self.stage = Stage::Scan(scan);
    }

    /// The scale of f is its variation over the box, or along the variables if that is less.
    fn measure(&mut self) {
        let range = [self.range, self.look.range].into_iter().flatten().fold(0.0, f64::max);
        if range > 0.0 {
            self.scale = self.scale.min(range);
        }
    }

    /// From one round of the scan to the next, or to the choice of what is made exact.
    fn scanned(&mut self, ground: &Ground<'_>, mut scan: Scan, told: &[Answer]) {
        let merits: Vec<f64> = told.iter().map(|a| self.merit(ground.scales, &a.row)).collect();
        scan.tell(told.iter().zip(merits));
        self.rough.extend(told.iter().filter(|a| !a.row.is_empty()).cloned());
        self.wanted = scan.closer();
        if self.wanted.is_empty() {
            self.wanted.extend(scan.combined());
            if !self.wanted.is_empty() && self.points.find(&self.wanted[0]).is_some() {
                self.wanted.clear();
            }
        }
        if !self.wanted.is_empty() {
            self.stage = Stage::Scan(scan);
            return;
        }
        self.range = Some(sample::usual_change(&self.rough, ground.scales));
        self.measure();
        self.choose(ground, &scan);
        self.next_exact();
    }

    /// Chooses what is made exact: the best of the probe, if it lies elsewhere, and the claim.
    fn choose(&mut self, ground: &Ground<'_>, scan: &Scan) {
        let (count, margin) = match self.look.depth {
            Depth::Wide => (OTHERS.1, f64::INFINITY),
            _ => (OTHERS.0, CLOSE * self.range.unwrap_or(0.0)),
        };
        let limit = self.merit(ground.scales, &self.best.row) + margin;
        let surprise = surprising(&self.rough, self.range.unwrap_or(0.0)).cloned();
        let mut rough: Vec<(f64, Answer)> = self.rough.drain(..).map(|a| (f64::NAN, a)).collect();
        rough.iter_mut().for_each(|(merit, a)| *merit = self.merit(ground.scales, &a.row));
        rough.sort_by(|a, b| a.0.total_cmp(&b.0));
        let own = std::iter::once(self.claim.y.clone());
        let mut places: Vec<Vec<f64>> = own.collect();
        for (merit, answer) in rough {
            let better = || self.rough.is_empty() && self.is_below(ground.scales, &answer, &self.best);
            let new = places.iter().all(|y| distance(y, &answer.y) > ALIKE) || better();
            let alone = differs_in_one(&answer.y, &self.claim.y);
            let first = self.rough.is_empty() && places.len() == 1;
            if new && (first || merit <= limit) && (!alone || scan.is_valley(&answer.y)) {
                places.push(answer.y.clone());
                if self.rough.len() < count {
                    self.rough.push(answer);
                }
            }
        }
        if let Some(answer) = surprise.filter(|a| places.iter().all(|y| distance(y, &a.y) > ALIKE)) {
            places.push(answer.y.clone());
            self.rough.insert(0, answer);
        }
        self.rough.reverse();
        self.rough.extend(self.moved(ground.scales, &places));
        self.rough.push(self.best.clone());
    }

    /// What the follower would prefer here without constraints: it may get close to it. Of the known answers the one
    /// that violates them least, because constraints move with x; otherwise the one that the follower would like
    /// best.
    fn moved(&self, scales: &Scales, places: &[Vec<f64>]) -> Option<Answer> {
        let preferred = |y: &[f64], row: &[f64]| {
            places.iter().all(|place| distance(place, y) > ALIKE)
                && !scales.answer_is_feasible(row)
                && self.best.row.first().is_none_or(|best| row[0] < *best)
        };
        let probed = (0..self.points.len()).filter_map(|i| Some((self.points.point(i), self.points.row(i)?)));
        let all: Vec<(&[f64], &[f64])> = probed.filter(|(y, row)| preferred(y, row)).collect();
        let violation = |row: &[f64]| scales.lower_violation(row);
        let known = all.iter().filter(|(y, _)| self.known.iter().any(|k| k == y));
        let least = known.min_by(|a, b| violation(a.1).total_cmp(&violation(b.1)));
        let best = least.or_else(|| all.iter().min_by(|a, b| a.1[0].total_cmp(&b.1[0])));
        best.map(|(y, row)| Answer { y: y.to_vec(), row: row.to_vec() })
    }

    /// Makes the next answer exact, or continues with the judgement.
    fn next_exact(&mut self) {
        let Some(Answer { y, row }) = self.rough.pop() else {
            self.stage = Stage::Judge;
            return;
        };
        let n = y.len();
        let own = y == self.claim.y;
        let radius = if own { RADIUS.0 } else { RADIUS.1 };
        let neighbour = |i: usize| {
            let mut point = y.clone();
            point[i] += if point[i] > 0.5 { -radius } else { radius };
            point
        };
        self.wanted = (0..n).map(neighbour).collect();
        let effort = Effort { radius, tolerance: EXACT, evaluations: 30 + 10 * n };
        self.stage = Stage::Exact(Follower::new(Vec::new(), y, row, effort));
    }

    /// Continues to make an answer exact.
    fn exact(&mut self, mut follower: Follower, told: &[Answer]) {
        told.iter().for_each(|a| follower.tell(&a.y, &a.row, &self.knowledge.merit));
        self.wanted.extend(follower.next(&self.points, &mut self.knowledge));
        if !self.wanted.is_empty() {
            self.stage = Stage::Exact(follower);
            return;
        }
        if self.exact.is_empty() {
            self.settled = follower.settled;
        }
        self.exact.push(Answer { y: follower.y, row: follower.row });
        self.next_exact();
    }
}

fn differs_in_one(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).filter(|(a, b)| a != b).count() == 1
}

impl Search for Verify {
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        if self.stage == Stage::Probe {
            self.open(ground);
        }
        if self.stage == Stage::Judge {
            // If it is cut short, the best answer tried has to do.
            let merit = |a: &Answer| self.merit(ground.scales, &a.row);
            let best = self.rough.iter().min_by(|a, b| merit(a).total_cmp(&merit(b))).cloned();
            self.rough.clear();
            self.exact.extend(best);
            self.decide(ground.scales);
            self.wanted = self.others(ground.scales).into_iter().map(|a| a.y).collect();
            if self.best.y != self.claim.y {
                self.wanted.insert(0, self.best.y.clone());
            }
            wanted.clear(Level::Upper);
            if self.wanted.is_empty() {
                self.judged(ground.scales, &Rows::new());
            }
        }
        self.wanted.iter().for_each(|y| wanted.push(&self.claim.x, y));
    }

    fn tell(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        let tried = std::mem::take(&mut self.wanted);
        if wanted.level == Level::Upper {
            self.judged(ground.scales, rows);
            return;
        }
        let told: Vec<Answer> = tried.into_iter().zip(rows).map(|(y, row)| Answer { y, row: row.clone() }).collect();
        told.iter().for_each(|a| self.points.push(&a.y, &a.row));
        match std::mem::replace(&mut self.stage, Stage::Judge) {
            Stage::Scan(scan) => self.scanned(ground, scan, &told),
            Stage::Exact(follower) => self.exact(follower, &told),
            stage => self.stage = stage,
        }
    }

    fn claim(&self) -> Option<Claim> {
        self.verdict().map(|verdict| verdict.claim.clone())
    }

    fn end(&self) -> Option<End> {
        self.verdict().map(|_| End::Converged)
    }

    fn cut(&mut self) {
        self.wanted.clear();
        // If nothing was tried, there is nothing to judge.
        if self.points.len() > 1 {
            self.stage = Stage::Judge;
        }
    }
}

#[cfg(test)]
mod tests;
