//! Where each search starts, and what it may spend.

use super::{Portfolio, Present};
use crate::config::Target;
use crate::engine::RunView;
use crate::portfolio::archive::{Archive, distance};
use crate::portfolio::claim::Claim;
use crate::portfolio::config::{Effort, PortfolioConfig};
use crate::portfolio::history::{ARRIVED, Kind};
use crate::portfolio::next::Next;
use crate::portfolio::search::changed::{Change, Changed, Rivals};
use crate::portfolio::search::descent::{self, Descent};
use crate::portfolio::search::edge::Edge;
use crate::portfolio::search::population::{self, Population};
use crate::portfolio::search::sample::Sample;
use crate::portfolio::search::smooth::Smooth;
use crate::portfolio::search::survey::Survey;
use crate::portfolio::search::{Goal, Ground};
use crate::portfolio::verify::{Chosen, DIFFERENT, Depth, Look, Verify};
use crate::position::PositionKind;
use crate::problem::{Level, ProblemSpec};
use crate::rng::{Purpose, Stream, Streams};

/// The number of variables of both levels up to which a descent gets the same evaluations for each, and up to which
/// there are descents: the cost of their models grows with the cube of that number.
pub(super) const DESCENT_DIM: (usize, usize) = (5, 40);
/// The distance of a start from the ends of the leader's box, as a share of it, and the size of the first steps
/// relative to that distance.
const NEAR_END: (f64, f64, f64) = (1e-3, 3e-2, 5.0);
/// Each further pair of such starts is this many times closer.
const CLOSER: f64 = 1e-2;
/// A leaning descent ends at steps below this share of the weight; larger weights count as this one.
const COARSE: f64 = 0.03;
const MODERATE: f64 = 0.3;
/// An exact end, or a descent into the follower's constraints, ends at steps below this: if the follower is
/// indifferent (or has an answer) only up to some decision, every distance from it matters.
const SHARP: f64 = 1e-8;
/// The number of decisions that are considered before a search along a border starts at one of them.
const HOPES: usize = 8;
/// The size of the first steps of an exact end, and along a border.
const EXACT: f64 = 0.5;
const BORDER: f64 = 0.25;
/// The size of the first steps of a descent from a decision of the survey.
const DENT: f64 = 0.5;
/// A restart begins at the one of this many points that is farthest from all decisions seen.
const DRAWS: usize = 10;
/// The size of the first region of a smoothed search that begins at a claim.
const SMOOTH: f64 = 0.5;

impl Portfolio {
    /// Begins what comes next.
    pub(super) fn begin(&mut self, next: Next, run: &RunView<'_>) {
        let (spec, streams) = (run.spec, run.streams);
        let number = self.history.entries.len() as u64;
        self.since = self.archive.upper.len();
        self.present = match next {
            Next::Restart(kind @ (Kind::Descent | Kind::NearEnds)) => self.descend(kind, number, &streams),
            Next::Finish(claim, size) => self.descent_from(&claim, size, self.budget() / 2, Kind::Finish),
            Next::Restart(Kind::Population) => {
                let mean = self.elsewhere(&mut streams.open(Purpose::Start, 0, 1 + number));
                let ground = Ground { spec, archive: &self.archive, scales: &self.history.scales, streams };
                let start = population::Start {
                    shape: self.shape,
                    mean,
                    config: &self.config,
                    size: self.size,
                    number: self.history.entries.iter().filter(|e| e.kind == Kind::Population).count() as u64,
                    generation: self.population.as_ref().map_or(0, |p| p.generation),
                    goal: self.goal(),
                    rivals: self.history.rivals(),
                };
                Present::Population(Box::new(Population::new(&ground, start)))
            }
            Next::Resume => match self.population.take() {
                Some(mut population) => {
                    let restart = self.history.restart();
                    let own = self.history.elite_at().is_some_and(|at| self.history.entries[at].restart == restart);
                    let goal = self.goal().filter(|_| !own);
                    population.resume(self.history.last().and_then(|e| e.verified().or(e.claim.as_ref())), goal);
                    Present::Population(population)
                }
                None => Present::Ended,
            },
            Next::Verify(at, depth) => self.verify(at, depth, run.left.0, None),
            Next::Restart(Kind::Survey) => {
                let ends = self.history.ends();
                let stream = streams.open(Purpose::Position, 0, number);
                Present::Survey(Box::new(Survey::new(self.shape, &self.archive, ends, stream)))
            }
            Next::Dent(claim) => self.descent_from(&claim, DENT, self.budget(), Kind::Dent),
            Next::Restart(Kind::Sample) => {
                Present::Sample(Box::new(Sample::new(self.shape.dim(), streams.open(Purpose::Position, 0, number))))
            }
            Next::Lean { kind, from, weight } => {
                let mut stream = streams.open(Purpose::Start, 0, 1 + number);
                let anywhere = || (0..self.shape.dim()).map(|_| stream.uniform()).collect();
                let point = from.as_ref().map_or_else(anywhere, Claim::point);
                let size = if kind == Kind::LeanOn { (2.0 * weight).min(1.0) } else { 1.0 };
                let change = Change::Lean(weight, self.history.scales.clone());
                self.changed(change, kind, point, (size, COARSE * weight.min(MODERATE)))
            }
            Next::Regret(claim, level) => {
                let point = [claim.point(), claim.y].concat();
                let range = self.history.follower_range().unwrap_or(0.0).max(self.history.scales.follower());
                self.changed(Change::Regret(level, range), Kind::Regret, point, (BORDER, SHARP))
            }
            Next::Exact(claim, answers) => {
                let point = [claim.point(), claim.y].concat();
                let change = Change::Exact(self.rivals(answers));
                self.changed(change, Kind::Exact, point, (EXACT, SHARP))
            }
            Next::Border(claim, answers) => self.border(&claim, answers),
            Next::Tracked(claim, answers) => {
                let rival = answers.last().cloned().unwrap_or_default();
                let change = Change::Tracked(self.rivals(answers));
                self.changed(change, Kind::Border, [claim.point(), rival].concat(), (BORDER, descent::STILL))
            }
            Next::Feasible(claim) => self.changed(Change::Feasible, Kind::Feasible, claim.point(), (BORDER, SHARP)),
            Next::Edge(claim, without) => Present::Edge(Box::new(Edge::new(self.shape, &self.archive, claim, without))),
            Next::Smooth(from) => self.smooth(from, number, &streams),
            Next::Restart(_) | Next::End => Present::Ended,
        };
    }

    /// A descent from a claim that may end near the elite.
    fn descent_from(&self, claim: &Claim, size: f64, budget: u64, kind: Kind) -> Present {
        let start = descent::Start { point: claim.point(), size, budget, still: descent::STILL, goal: self.goal() };
        Present::Descent(Box::new(Descent::new(self.shape, &self.archive, start)), kind)
    }

    /// A descent from anywhere, or from near the ends of the leader's box.
    fn descend(&self, kind: Kind, number: u64, streams: &Streams) -> Present {
        let mut stream = streams.open(Purpose::Start, 0, 1 + number);
        let mut point = self.elsewhere(&mut stream);
        let (mut size, mut goal) = (1.0, self.goal());
        if kind == Kind::NearEnds {
            let before = self.history.entries.iter().filter(|e| e.kind == Kind::NearEnds).count();
            let closer = libm::pow(CLOSER, (before / 2) as f64);
            let share = closer * NEAR_END.0 * libm::pow(NEAR_END.1 / NEAR_END.0, stream.uniform());
            point[..self.shape.upper[0]].fill(if before % 2 == 0 { share } else { 1.0 - share });
            size = NEAR_END.2 * share;
            // On a plateau, every decision nearby looks like the elite.
            goal = goal.filter(|_| !self.history.is_on_plateau());
        }
        let start = descent::Start { point, size, budget: self.budget(), still: descent::STILL, goal };
        Present::Descent(Box::new(Descent::new(self.shape, &self.archive, start)), kind)
    }

    /// A random point whose decision lies far from all that were evaluated: restarts from the same place would all
    /// end in the same basin, and agree.
    pub(super) fn elsewhere(&self, stream: &mut Stream) -> Vec<f64> {
        let (m, seen) = (self.shape.upper[0], &self.archive.upper);
        let apart = |x: &[f64], i: usize| -> f64 { x.iter().zip(seen.point(i)).map(|(a, b)| (a - b) * (a - b)).sum() };
        let nearest = |x: &[f64]| (0..seen.len()).map(|i| apart(x, i)).fold(f64::INFINITY, f64::min);
        let mut drawn = || -> Vec<f64> { (0..self.shape.dim()).map(|_| stream.uniform()).collect() };
        let mut best = drawn();
        for _ in 1..if seen.len() == 0 { 1 } else { DRAWS } {
            let point = drawn();
            if nearest(&point[..m]) > nearest(&best[..m]) {
                best = point;
            }
        }
        best
    }

    /// A smoothed search from a claim or from anywhere.
    fn smooth(&self, from: Option<Claim>, number: u64, streams: &Streams) -> Present {
        let mut stream = streams.open(Purpose::Start, 0, 1 + number);
        let (kind, size) = if from.is_some() { (Kind::SmoothHere, SMOOTH) } else { (Kind::Smooth, 1.0) };
        let anywhere = || (0..self.shape.dim()).map(|_| stream.uniform()).collect();
        let point = from.as_ref().map_or_else(anywhere, Claim::point);
        Present::Smooth(Box::new(Smooth::new(self.shape, point, size, number, streams)), kind)
    }

    /// A verdict on the claim of an entry, with the remaining evaluations. It tries the answers that the run knows,
    /// and an objection from outside.
    pub(super) fn verify(&self, at: usize, depth: Depth, left: u64, objection: Option<Vec<f64>>) -> Present {
        let entry = &self.history.entries[at];
        let Some(claim) = entry.verified().or(entry.claim.as_ref()) else { return Present::Ended };
        let look = Look {
            depth,
            number: self.history.entries.len() as u64 + entry.looks,
            range: self.history.follower_range(),
            decided: self.config.position.kind != PositionKind::Any,
            chosen: match entry.kind {
                Kind::Exact | Kind::Regret => Chosen::ByLeader,
                Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => Chosen::Leaning,
                _ => Chosen::ByFollower,
            },
            scan: self.config.portfolio.scan,
            room: usize::try_from(left).unwrap_or(usize::MAX),
        };
        let known = objection.into_iter().chain(self.history.answers(&claim.x)).collect();
        Present::Verify(Box::new(Verify::new(self.shape, claim.clone(), known, look)), at)
    }

    /// A descent from a point of the problem.
    pub(super) fn descend_from(&mut self, spec: &ProblemSpec, start: &[f64], size: f64) {
        let (x, y) = start.split_at(self.shape.upper[0]);
        let point = [spec.upper.space.to_unit(x), spec.lower.space.to_unit(y)].concat();
        self.present = self.descent(point, size, Kind::Descent);
        self.wanted.clear(Level::Lower);
    }

    /// A descent about which nothing is known yet.
    pub(super) fn descent(&self, point: Vec<f64>, size: f64, kind: Kind) -> Present {
        let start = descent::Start { point, size, budget: self.budget(), still: descent::STILL, goal: None };
        Present::Descent(Box::new(Descent::new(self.shape, &self.archive, start)), kind)
    }

    /// A descent of a changed problem.
    fn changed(&self, change: Change, kind: Kind, point: Vec<f64>, (size, still): (f64, f64)) -> Present {
        let budget = self.budget_for(point.len()) / if kind == Kind::Border { 2 } else { 1 };
        let start = descent::Start { budget, point, size, still, goal: None };
        let informed = kind == Kind::LeanOn;
        let rivals = match &change {
            Change::Lean(..) | Change::Regret(..) | Change::Feasible => Vec::new(),
            Change::Exact(rivals) | Change::Border(rivals) | Change::Tracked(rivals) => rivals.answers.clone(),
        };
        Present::Changed(Box::new(Changed::new(self.shape, &self.archive, change, start, informed)), kind, rivals)
    }

    /// Along a border, from a claim or from a decision on the right side of it.
    fn border(&self, claim: &Claim, answers: Vec<Vec<f64>>) -> Present {
        let starts = self.hopes(claim).iter().map(Claim::point).collect();
        let change = Change::Border(self.rivals(answers));
        match self.changed(change, Kind::Border, claim.point(), (BORDER, descent::STILL)) {
            Present::Changed(search, kind, of) => Present::Changed(Box::new(search.or_from(starts)), kind, of),
            other => other,
        }
    }

    /// Answers that the claimed one must not be worse than.
    fn rivals(&self, answers: Vec<Vec<f64>>) -> Rivals {
        let scales = self.history.scales.clone();
        let range = self.history.follower_range().unwrap_or(0.0).max(scales.follower());
        Rivals { answers, scales, range }
    }

    /// Decisions that would be better than the elite with the answer by which they were judged, best first, away from
    /// a claim and from each other.
    pub(super) fn hopes(&self, claim: &Claim) -> Vec<Claim> {
        let Archive { upper, lower, .. } = &self.archive;
        let sound = (0..upper.len()).filter_map(|i| Some((i, upper.row(i)?)));
        let violation = |row: &[f64]| self.history.scales.upper_violation(row);
        let mut all: Vec<(usize, &[f64])> = sound.filter(|(_, row)| violation(row) <= 0.0).collect();
        all.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]));
        let mut hopes: Vec<Claim> = Vec::new();
        for (i, above) in all {
            let (x, y) = upper.point(i).split_at(self.shape.upper[0]);
            let new = hopes.iter().chain([claim]).all(|c| distance(&c.x, x) > DIFFERENT);
            if hopes.len() == HOPES || !new {
                continue;
            }
            if let Some(below) = lower.find(upper.point(i)).and_then(|i| lower.row(i)) {
                let (upper, lower) = (above.to_vec(), below.to_vec());
                hopes.push(Claim { x: x.to_vec(), y: y.to_vec(), upper, lower, settled: false });
            }
        }
        hopes.retain(|hope| self.history.promises(hope));
        hopes
    }

    /// The evaluations of a descent: with more variables, it needs more for each of them.
    pub(super) fn budget(&self) -> u64 {
        self.budget_for(self.shape.dim())
    }

    pub(super) fn budget_for(&self, dim: usize) -> u64 {
        let each = self.config.portfolio.descent * dim.max(DESCENT_DIM.0) / DESCENT_DIM.0;
        (each * dim) as u64
    }

    /// The elite, if a restart may end near it; not if the run is to end at a target or by its budget, because then
    /// nothing would become more exact.
    pub(super) fn goal(&self) -> Option<Goal> {
        let aims = self.config.stop.target != Target::Off && !self.spec.best_known.is_empty();
        let PortfolioConfig { effort, arrival, .. } = &self.config.portfolio;
        if aims || *effort == Effort::Budget || !arrival.is_on() {
            return None;
        }
        let elite = self.history.elite().filter(|elite| self.history.scales.is_feasible(elite))?;
        let sure = self.history.agreement().0 >= 1;
        let scales = &self.history.scales;
        sure.then(|| Goal {
            claim: elite.clone(),
            near: ARRIVED.0,
            above: ARRIVED.1 * scales.leader(),
            below: scales.tolerance(elite.value()),
        })
    }
}
