//! One region: narrowed by everything that is known, or excluded.

use crate::descent::{Slopes, Without};
use crate::graph::{Grade, Id};
use crate::interval::Interval;
use crate::relax::{Cut, relax};
use crate::work::{Region, Work, shrank};

/// The question about the points of a region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Is there an answer of the follower with f at most the limit? x is fixed.
    Follower,
    /// Is there a decision with an answer and F at most the limit?
    Leader,
}

/// Which points are of interest, beyond what the problem says.
pub(crate) struct Wanted<'a> {
    pub(crate) question: Question,
    /// The limit on f or F.
    pub(crate) limit: f64,
    /// An answer that is feasible for every x of the region, and an upper bound of f with it.
    pub(crate) known: Option<(&'a [f64], f64)>,
    /// Where tangents are taken, besides the middle.
    pub(crate) hints: &'a [Vec<f64>],
}

/// Maximum number of rounds over one region.
const ROUNDS: usize = 3;
/// Up to this many candidates, every constraint and bound is tested for whether it must be active.
const MUST_BE_ACTIVE: usize = 14;

/// The formulas and ranges to narrow by, in two shapes.
struct Conditions<'a> {
    targets: Vec<(Id, Interval)>,
    cuts: Vec<Cut<'a>>,
}

/// Narrows the region to where points of interest can be; true if nowhere.
pub(crate) fn prune(work: &mut Work<'_>, region: &mut Region, wanted: &Wanted<'_>) -> bool {
    let mut must = Vec::new();
    for _ in 0..ROUNDS {
        let before: Vec<f64> = region.iter().map(|i| i.width()).collect();
        let mut conditions = conditions(work, wanted);
        // What must be active on a region must be active on its parts.
        conditions.targets.extend(&must);
        if !work.contract(false, &conditions.targets, region) {
            return true;
        }
        if let Some(slopes) = Slopes::new(work, region)
            && first_order(work, region, &slopes, &mut conditions, &mut must)
        {
            return true;
        }
        if relax(work, region, &conditions.cuts, wanted.hints) {
            return true;
        }
        if !shrank(&before, region, 0.7) {
            break;
        }
    }
    false
}

/// What every point of interest satisfies.
fn conditions<'c, 'p: 'c>(work: &Work<'p>, wanted: &Wanted<'c>) -> Conditions<'c> {
    let problem = work.problem;
    let objective = if wanted.question == Question::Leader { &problem.upper } else { &problem.lower };
    let mut targets = vec![(objective.root, Interval::at_most(wanted.limit))];
    let mut cuts = vec![Cut::at_most(objective, wanted.limit)];
    let upper = if wanted.question == Question::Leader { usize::MAX } else { 0 };
    let inequalities = problem.lower_inequalities.iter().chain(problem.upper_inequalities.iter().take(upper));
    for row in inequalities {
        targets.push((row.root, Interval::at_most(0.0)));
        cuts.push(Cut::at_most(row, 0.0));
    }
    let equalities = problem.lower_equalities.iter().chain(problem.upper_equalities.iter().take(upper));
    for row in equalities {
        targets.push((row.root, Interval::ZERO));
        cuts.extend([Cut::at_most(row, 0.0), Cut::at_least(row, 0.0)]);
    }
    if let Some((answer, most)) = wanted.known {
        targets.push((problem.lower.root, Interval::at_most(most)));
        cuts.push(Cut { row: &problem.lower, sign: 1.0, bound: 0.0, known: Some(answer) });
    }
    Conditions { targets, cuts }
}

/// First-order conditions of the follower; true if they exclude the region.
fn first_order<'c, 'p: 'c>(
    work: &mut Work<'p>,
    region: &mut Region,
    slopes: &Slopes,
    conditions: &mut Conditions<'c>,
    must: &mut Vec<(Id, Interval)>,
) -> bool {
    if slopes.descend(Without::Nothing, work) {
        return true;
    }
    must_be_active(work, region, slopes, conditions, must);
    stationary(work, region, slopes, conditions)
}

/// If a single condition keeps the follower from moving, that condition holds with equality.
fn must_be_active<'c, 'p: 'c>(
    work: &mut Work<'p>,
    region: &mut Region,
    slopes: &Slopes,
    conditions: &mut Conditions<'c>,
    must: &mut Vec<(Id, Interval)>,
) {
    let problem = work.problem;
    let (nx, ny) = (problem.nx, problem.ny());
    if slopes.active.len() + ny > MUST_BE_ACTIVE {
        return;
    }
    for (place, (index, ..)) in slopes.active.iter().enumerate() {
        if slopes.descend(Without::Constraint(place), work) {
            let row = &problem.lower_inequalities[*index];
            conditions.cuts.push(Cut::at_least(row, 0.0));
            conditions.targets.push((row.root, Interval::ZERO));
            must.push((row.root, Interval::ZERO));
        }
    }
    for j in 0..ny {
        for side in [0, 1] {
            let open = slopes.at_bound[j][side] && !region[nx + j].is_point();
            if open && slopes.descend(Without::Bound(j, side), work) {
                let bounds = problem.bounds[nx + j];
                region[nx + j] = Interval::point(if side == 0 { bounds.lo } else { bounds.hi });
            }
        }
    }
}

/// ∂f/∂yⱼ = 0 where no constraint that may be active contains yⱼ: at least 0 at the lower bound, at most 0 at
/// the upper one. True if that leaves nothing.
fn stationary<'c, 'p: 'c>(
    work: &mut Work<'p>,
    region: &mut Region,
    slopes: &Slopes,
    conditions: &mut Conditions<'c>,
) -> bool {
    let problem = work.problem;
    let nx = problem.nx;
    if work.range(&problem.lower, region).grade < Grade::Smooth {
        return false;
    }
    let binds = |j: usize| {
        let active = slopes.active.iter().map(|(index, ..)| &problem.lower_inequalities[*index]);
        active.chain(&problem.lower_equalities).any(|row| row.uses[nx + j])
    };
    let mut any = false;
    for j in 0..problem.ny() {
        let [at_low, at_high] = slopes.at_bound[j];
        let row = &problem.slopes[j];
        let constant = problem.graph.constant(row.root).is_some();
        if problem.whole[nx + j] || region[nx + j].is_point() || (at_low && at_high) || constant || binds(j) {
            continue;
        }
        let lo = if at_high { f64::NEG_INFINITY } else { 0.0 };
        let hi = if at_low { f64::INFINITY } else { 0.0 };
        conditions.targets.push((row.root, Interval::new(lo, hi)));
        if hi == 0.0 {
            conditions.cuts.push(Cut::at_most(row, 0.0));
        }
        if lo == 0.0 {
            conditions.cuts.push(Cut::at_least(row, 0.0));
        }
        any = true;
    }
    any && !work.contract(true, &conditions.targets, region)
}
