//! Question A: does the follower have a better answer at this x?

use crate::graph::Grade;
use crate::interval::{Interval, add_up};
use crate::local;
use crate::problem::{Problem, Row};
use crate::prune::{Question, Wanted, prune};
use crate::tree::Tree;
use crate::work::{Region, Work};
use crate::{Limits, Stopped};

/// What was found out about the follower's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowerVerdict {
    /// No answer is better by more than the tolerance.
    Proven,
    /// There is a better one, or the answer is infeasible.
    Refuted,
    /// Neither could be shown within the limits.
    Open,
}

/// The finding about the follower's answer at x. Objective values are as the problem returns them.
#[derive(Clone, Debug)]
pub struct FollowerProof {
    /// The finding as one word.
    pub verdict: FollowerVerdict,
    /// f(x, y) is at most this far from the follower's optimum; infinite if nothing is known.
    pub gap: f64,
    /// The largest gap that counts as zero.
    pub tolerance: f64,
    /// Largest violation of a lower constraint or bound by y; `None` if undefined.
    pub violation: Option<f64>,
    /// A better answer and its f, certainly feasible.
    pub better: Option<(Vec<f64>, f64)>,
    /// Boxes examined.
    pub boxes: u64,
    /// Operations done: the same on every machine.
    pub work: u64,
    /// Wall time.
    pub seconds: f64,
    /// Why the question is open, if it is.
    pub stopped: Option<Stopped>,
}

/// Violations up to this are rounding errors of a run.
const VIOLATION: f64 = 1e-6;

/// Is `y` the follower's best answer at `x`, up to a gap of `tolerance` · max(1, |f|)?
pub fn follower(problem: &Problem, x: &[f64], y: &[f64], tolerance: f64, limits: &Limits) -> FollowerProof {
    let mut work = Work::new(problem);
    let point: Vec<f64> = x.iter().chain(y).copied().collect();
    let at: Region = point.iter().map(|&v| Interval::point(v)).collect();
    let (value, full) = (work.range(&problem.lower, &at).value, work.full_lower(&at));
    let tolerance = tolerance * full.magnitude().max(1.0);
    let violation = violation(&mut work, &at).filter(|_| value.is_finite() && full.is_finite());
    let feasible = violation.is_some_and(|violation| violation <= VIOLATION);
    // If the claim is infeasible, only feasible answers can be reported.
    let (least, most) = if feasible { (value.lo, value.hi) } else { (f64::INFINITY, f64::MAX) };
    let limit = if feasible { most - tolerance } else { f64::MAX };
    let root: Region =
        x.iter().map(|&v| Interval::point(v)).chain(problem.bounds[problem.nx..].iter().copied()).collect();
    let mut tree = Tree::new(root, limits);
    let mut search = Search { work, x, tolerance, least, better: None };
    let hints = if feasible { vec![point] } else { Vec::new() };
    let wanted = Wanted { question: Question::Follower, limit, known: None, hints: &hints };
    let (stopped, bound) = search.run(&mut tree, &wanted);
    let shift = |work: &mut Work<'_>, y: &[f64]| {
        let at: Region = x.iter().chain(y).map(|&v| Interval::point(v)).collect();
        problem.directions[1].flip(work.full_lower(&at).middle())
    };
    let refuted = search.better.is_some() || !feasible;
    FollowerProof {
        verdict: match (refuted, stopped) {
            (true, _) => FollowerVerdict::Refuted,
            (false, None) => FollowerVerdict::Proven,
            (false, Some(_)) => FollowerVerdict::Open,
        },
        gap: if feasible { add_up(most, -bound).max(0.0) } else { f64::INFINITY },
        tolerance,
        violation,
        better: search.better.take().map(|y| (y.clone(), shift(&mut search.work, &y))),
        boxes: tree.boxes,
        work: search.work.spent,
        seconds: tree.seconds(),
        stopped,
    }
}

struct Search<'s, 'p> {
    work: Work<'p>,
    x: &'s [f64],
    tolerance: f64,
    /// A lower bound of f at the claim.
    least: f64,
    better: Option<Vec<f64>>,
}

impl Search<'_, '_> {
    /// Goes through the tree; returns why it stopped early, and a lower bound of f.
    fn run(&mut self, tree: &mut Tree<'_>, wanted: &Wanted<'_>) -> (Option<Stopped>, f64) {
        let problem = self.work.problem;
        let rows: Vec<&Row> = std::iter::once(&problem.lower).chain(&problem.lower_inequalities).collect();
        while let Some(mut branch) = tree.next() {
            if let Some(why) = tree.stopped(self.work.spent) {
                return (Some(why), tree.least(Some(&branch)).min(wanted.limit));
            }
            if prune(&mut self.work, &mut branch.region, wanted) {
                continue;
            }
            self.try_answer(&branch.region);
            if self.better.is_some() {
                return (None, tree.least(Some(&branch)).min(wanted.limit));
            }
            branch.bound = branch.bound.max(self.work.range(&problem.lower, &branch.region).value.lo);
            tree.split(&mut self.work, branch, &rows);
        }
        let left = tree.least(None);
        let why = (left < f64::INFINITY).then_some(Stopped::Resolution);
        (why, left.min(wanted.limit))
    }

    /// Looks for a better answer near a region, and keeps it if it is certain.
    fn try_answer(&mut self, region: &Region) {
        let problem = self.work.problem;
        let nx = problem.nx;
        let middle: Vec<f64> = region[nx..].iter().map(|i| i.middle()).collect();
        let margins = vec![1e-9; problem.lower_inequalities.len()];
        let y = local::answer(&mut self.work, self.x, &middle, &margins, 40);
        for y in [middle, y] {
            let at: Region = self.x.iter().chain(&y).map(|&v| Interval::point(v)).collect();
            let value = self.work.range(&problem.lower, &at);
            let improves = value.grade >= Grade::Defined && value.value.hi < self.least - self.tolerance;
            if improves && is_feasible(&mut self.work, &at) {
                self.better = Some(y);
                return;
            }
        }
    }
}

/// Whether y is an answer at one point: inequalities met exactly, equations within the problem's tolerance.
pub(crate) fn is_feasible(work: &mut Work<'_>, at: &Region) -> bool {
    let problem = work.problem;
    let inside = at.iter().zip(&problem.bounds).skip(problem.nx).all(|(v, bounds)| bounds.contains(v.lo));
    let whole = at.iter().zip(&problem.whole).all(|(v, whole)| !whole || v.lo.fract() == 0.0);
    inside && whole && meets(work, &problem.lower_inequalities, &problem.lower_equalities, at)
}

/// Whether constraints are certainly met at one point.
pub(crate) fn meets(work: &mut Work<'_>, inequalities: &[Row], equalities: &[Row], at: &Region) -> bool {
    let tolerance = work.problem.equality_tolerance;
    let mut within = |row: &Row, two_sided: bool| {
        let range = work.range(row, at);
        let most = if two_sided { range.value.magnitude() - tolerance } else { range.value.hi };
        range.grade >= Grade::Defined && most <= 0.0
    };
    inequalities.iter().all(|row| within(row, false)) && equalities.iter().all(|row| within(row, true))
}

/// The largest violation of the follower's constraints and bounds at a point, or the distance from a whole number;
/// `None` if undefined.
fn violation(work: &mut Work<'_>, at: &Region) -> Option<f64> {
    let problem = work.problem;
    let mut worst = 0.0f64;
    for ((v, bounds), whole) in at.iter().zip(&problem.bounds).zip(&problem.whole) {
        worst = worst.max(bounds.lo - v.lo).max(v.lo - bounds.hi);
        worst = worst.max(if *whole { (v.lo - v.lo.round()).abs() } else { 0.0 });
    }
    for row in &problem.lower_inequalities {
        let range = work.range(row, at);
        worst = worst.max(range.value.hi);
        (range.grade >= Grade::Defined).then_some(())?;
    }
    for row in &problem.lower_equalities {
        let range = work.range(row, at);
        worst = worst.max(range.value.magnitude() - problem.equality_tolerance);
        (range.grade >= Grade::Defined).then_some(())?;
    }
    Some(worst)
}
