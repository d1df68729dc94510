//! The box in which a run searches, if it is not the problem's own.
//!
//! *Open sides.* A variable without a bound is searched from the inside out: the first box lies around the start,
//! around zero, or next to the finite side. It grows as long as the best decision or answer lies at an edge that is
//! not a bound.
//!
//! *Boxes that are far too wide.* A method works to a share of the box. That is not accurate enough if both
//! objectives change by a multiple of their values within a small part of it. Points at several distances from the
//! best one then show, for each variable, how far away the values change by as much as they are, and the run
//! continues in a box ten times that size. It begins with a short search close to the best point; a whole search
//! follows if the smaller box shows what the wide one could not. If both values are simply zero, every box looks
//! too wide, so the short search ends as soon as they vanish.
//!
//! Boxes change only when a search has ended by itself.

use super::probe::Probe;
use super::{SchemeKind, SchemeState};
use crate::candidate::Solved;
use crate::config::Config;
use crate::portfolio::config::Effort;
use crate::problem::ProblemSpec;
use crate::record::{Step, StopReason, Verification};
use crate::space::{Space, Variable};
use serde::{Deserialize, Serialize};

/// A box grows by `GROWTH` if the best point lies within this share (`EDGE`) of an edge, but never beyond `LARGEST`.
const GROWTH: f64 = 10.0;
const EDGE: f64 = 0.01;
const LARGEST: f64 = 1e15;
/// If the objectives are below this share of their variation over the box, the box may be too large; below the second
/// share, they are just rounding errors.
const SMALL: f64 = 1e-3;
const ROUNDING: f64 = 1e-13;
/// If a value was below `ZERO` times its variation (the accuracy that a search reaches on a quadratic), and in a
/// smaller box falls below the first share of what it was or rises above the second, a search cannot tell it from
/// zero.
const KEPT: (f64, f64) = (0.1, 1.5);
const ZERO: f64 = 1e-8;
/// A short search after a whole one ends after 1 / `SHARE` of the run's earlier evaluations, unless one of the values
/// is still about the same.
const SHARE: u64 = 3;
/// A smaller box reaches this many times as far as the values take to change ...
const REACH: f64 = 10.0;
/// ... and is used if it is below this share of the current one.
pub(super) const SHRINK: f64 = 0.1;
/// A box shrinks at most this often.
const ZOOMS: u32 = 4;

/// How thoroughly the current box is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Look {
    /// As the settings say.
    #[default]
    Whole,
    /// One verified search, to see whether this is the right box.
    Close,
}

impl Look {
    /// What to do first in a new box: a short search, if the method has one.
    pub(super) fn first(config: &Config) -> Look {
        if config.scheme.kind == SchemeKind::Portfolio { Look::Close } else { Look::Whole }
    }
}

/// What was found in the previous box, if that was searched as the settings say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Former {
    pub(super) spaces: [Space; 2],
    pub(super) scheme: Box<SchemeState>,
    pub(super) solved: Solved,
    /// Both values there, as shares of their variation over that box.
    pub(super) shares: [f64; 2],
    pub(super) verification: Option<Verification>,
    pub(super) stop: StopReason,
}

impl Former {
    /// The ratio of both values now to what they were then.
    fn changes(&self, best: &Solved) -> [f64; 2] {
        let pairs = [(best.upper, self.solved.upper), (best.lower, self.solved.lower)];
        pairs.map(|(new, old)| if new.value == 0.0 { 0.0 } else { (new.value / old.value).abs() })
    }

    /// Whether both values may have been zero there.
    fn may_be_zero(&self) -> bool {
        self.shares.iter().all(|share| *share < ZERO)
    }

    /// Whether both values changed so much that a search cannot tell them from zero.
    fn both_are_gone(&self, best: &Solved) -> bool {
        self.may_be_zero() && self.changes(best).iter().all(|change| !(KEPT.0..=KEPT.1).contains(change))
    }

    /// Whether both values vanish.
    fn both_vanish(&self, best: &Solved) -> bool {
        self.may_be_zero() && self.changes(best).iter().all(|change| *change <= KEPT.0)
    }
}

/// The boxes of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Boxes {
    /// The problem's own box, upper and lower; `None` while the run searches that one.
    given: Option<[Space; 2]>,
    pub(super) look: Look,
    /// The searches in earlier boxes, and how many of them belong to the current scheme (the run may have returned to
    /// it).
    pub(super) steps: Vec<Step>,
    pub(super) told: usize,
    pub(super) former: Option<Former>,
    /// Points at several distances from the best one, while they are being evaluated.
    pub(super) probe: Option<Probe>,
    /// The smallest size that these points showed last, as a share of the box at that time.
    pub(super) least: Option<f64>,
    pub(super) zooms: u32,
    /// The box before it last shrank.
    before: Option<[Space; 2]>,
    /// Why the latest search ended.
    pub(super) stop: Option<StopReason>,
    /// When a short search after a whole one ends: the number of evaluations of the run.
    limit: Option<u64>,
}

impl Boxes {
    /// The first box of a problem with open sides, around a given point if there is one; `None` if all sides are
    /// closed.
    pub(super) fn open(spec: &ProblemSpec, config: &Config, at: Option<&[f64]>) -> Option<(ProblemSpec, Boxes)> {
        let given = [&spec.upper.space, &spec.lower.space];
        if !given.iter().any(|space| space.is_open()) {
            return None;
        }
        let upper = given[0].closed(at);
        let lower = given[1].closed(at.and_then(|at| at.get(given[0].dim()..)));
        let look = Look::first(config);
        let boxes = Boxes { given: Some(given.map(Space::clone)), look, ..Boxes::default() };
        Some((spec.within([upper, lower]), boxes))
    }

    /// Begins to look at a box, when the run has spent this many evaluations.
    pub(super) fn begin(&mut self, look: Look, spent: u64) {
        self.look = look;
        // A box that has grown is final, and so is one whose values did not vanish.
        let limited = look == Look::Close && self.former.is_some() && self.before.is_some();
        self.limit = limited.then_some(spent + spent / SHARE);
    }

    /// The earlier result to return to, if both values vanish in this box, or if after a while neither is what it
    /// was.
    pub(super) fn given_up(&self, spent: u64, best: Option<&Solved>) -> Option<&Former> {
        let limit = self.limit?;
        let vanish = |former: &Former| best.is_some_and(|best| former.both_vanish(best));
        let gone = |former: &Former| best.is_none_or(|best| former.both_are_gone(best));
        self.former.as_ref().filter(|former| vanish(former) || spent > limit && gone(former))
    }

    /// The earlier result to return to, if the short search shows that both values are practically zero.
    pub(super) fn in_vain(&self, best: &Solved) -> Option<&Former> {
        self.former.as_ref().filter(|former| self.limit.is_some() && former.both_are_gone(best))
    }

    /// The settings for the current box.
    pub(super) fn config(&self, config: &Config) -> Config {
        let mut config = config.clone();
        if self.look == Look::Close {
            config.portfolio.effort = Effort::Local;
        }
        config
    }

    /// The problem in its own box.
    pub(super) fn own(&self, spec: &ProblemSpec) -> ProblemSpec {
        self.given.as_ref().map_or_else(|| spec.clone(), |given| spec.within(given.clone()))
    }

    /// The problem's own box.
    pub(super) fn given<'a>(&'a self, spec: &'a ProblemSpec) -> [&'a Space; 2] {
        match &self.given {
            Some([upper, lower]) => [upper, lower],
            None => [&spec.upper.space, &spec.lower.space],
        }
    }

    /// The problem in the box before it shrank.
    pub(super) fn before(&self, spec: &ProblemSpec) -> ProblemSpec {
        self.before.as_ref().map_or_else(|| spec.clone(), |before| spec.within(before.clone()))
    }

    /// The box that is searched, including the variables that the scheme does not see; `None` if it is the problem's
    /// own.
    pub(super) fn searched(&self, spec: &ProblemSpec, outer: &ProblemSpec) -> Option<ProblemSpec> {
        self.given.as_ref().filter(|[upper, lower]| *upper != spec.upper.space || *lower != spec.lower.space)?;
        let fill = |outer: &Space, space: &Space| {
            let mut free = space.iter();
            outer.reboxed(|_, v| if v.is_fixed() { v } else { free.next().unwrap_or(v) })
        };
        let lower = match spec.lower.dim() {
            0 => outer.lower.space.clone(),
            _ => fill(&outer.lower.space, &spec.lower.space),
        };
        Some(outer.within([fill(&outer.upper.space, &spec.upper.space), lower]))
    }

    /// A larger box, if the best point lies at an edge that is not a bound.
    pub(super) fn grown(&self, spec: &ProblemSpec, best: &Solved) -> Option<ProblemSpec> {
        let given = self.given.as_ref()?;
        let mut grows = false;
        let mut grow = |given: &Space, space: &Space, point: &[f64]| {
            space.reboxed(|i, v| {
                let larger = point.get(i).map_or(v, |value| larger(given.variable(i), v, *value));
                grows |= larger != v;
                larger
            })
        };
        let upper = grow(&given[0], &spec.upper.space, &best.x);
        let lower = grow(&given[1], &spec.lower.space, &best.y);
        grows.then(|| spec.within([upper, lower]))
    }

    /// A larger box of the follower that contains the answer `y`, with as much room again beyond it; `None` if the
    /// current box contains it. This box does not shrink again.
    pub(super) fn reaching(&mut self, spec: &ProblemSpec, y: &[f64]) -> Option<ProblemSpec> {
        let given = self.given.as_ref().filter(|_| !spec.lower.space.contains(y))?;
        let reach = |i: usize, v: Variable| {
            let (of, at) = (given[1].variable(i), y[i]);
            let beyond = (v.low - at).max(at - v.high).max(0.0);
            if beyond == 0.0 {
                return v;
            }
            let room = v.width() + 2.0 * beyond;
            Variable { low: (at - room).min(v.low).max(of.low), high: (at + room).max(v.high).min(of.high), ..v }
        };
        let lower = spec.lower.space.reboxed(reach);
        self.zooms = ZOOMS;
        Some(spec.within([spec.upper.space.clone(), lower]))
    }

    /// Whether the values at the best point are so small, compared with their variation, that the box may be far too
    /// wide.
    pub(super) fn may_be_too_wide(&self, best: &Solved, spreads: [f64; 2]) -> bool {
        let shares = shares(best, spreads);
        self.zooms < ZOOMS && shares.iter().all(|share| *share < SMALL) && shares.iter().any(|share| *share > ROUNDING)
    }

    /// The smaller box around `best`, for variables of these sizes (as shares of their current widths); `None` if
    /// none of them is small.
    pub(super) fn smaller(&mut self, spec: &ProblemSpec, best: &Solved, sizes: &[f64]) -> Option<ProblemSpec> {
        let given = self.given(spec).map(Space::clone);
        let mut shrinks = false;
        let mut shrink = |given: &Space, space: &Space, point: &[f64], sizes: &[f64]| {
            space.reboxed(|i, v| {
                let reach = REACH * sizes[i] * v.width();
                if v.is_whole() || 2.0 * reach >= SHRINK * v.width() {
                    return v;
                }
                let (of, at) = (given.variable(i), point[i]);
                let smaller = Variable { low: (at - reach).max(of.low), high: (at + reach).min(of.high), ..v };
                if Space::too_narrow(smaller.low, smaller.high) {
                    return v;
                }
                shrinks = true;
                smaller
            })
        };
        let (above, below) = sizes.split_at(spec.upper.dim());
        let upper = shrink(&given[0], &spec.upper.space, &best.x, above);
        // Decisions far away may have answers far away, so the follower's box shrinks only if, as far as we know,
        // none of the leader's variables has too wide a range.
        let near = (0..spec.upper.dim()).all(|i| upper.variable(i) != given[0].variable(i) || sizes[i] < 1.0);
        let lower = if near { shrink(&given[1], &spec.lower.space, &best.y, below) } else { spec.lower.space.clone() };
        if !shrinks || self.zooms == ZOOMS {
            return None;
        }
        self.given = Some(given);
        self.before = Some([spec.upper.space.clone(), spec.lower.space.clone()]);
        self.zooms += 1;
        Some(spec.within([upper, lower]))
    }
}

/// Both values as shares of their variation.
pub(super) fn shares(best: &Solved, spreads: [f64; 2]) -> [f64; 2] {
    [best.upper.value.abs() / spreads[0], best.lower.value.abs() / spreads[1]]
}

/// Whether a value lies at an edge of a box that is not a bound.
pub(super) fn at_edge(given: Variable, v: Variable, value: f64) -> bool {
    let near = EDGE * v.width();
    v.low > given.low && value - v.low <= near || v.high < given.high && v.high - value <= near
}

/// The range of a variable, extended if `value` lies at an edge that is not a bound.
fn larger(given: Variable, v: Variable, value: f64) -> Variable {
    let (near, width) = (EDGE * v.width(), v.width());
    let mut larger = v;
    if v.low > given.low && value - v.low <= near {
        larger.low = given.low.max(v.high - GROWTH * width).max(-LARGEST).min(v.low);
    }
    if v.high < given.high && v.high - value <= near {
        larger.high = given.high.min(v.low + GROWTH * width).min(LARGEST).max(v.high);
    }
    larger.whole_ends()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SchemeSetup;
    use crate::problem::{LevelSpec, Outcome};
    use crate::rng::Streams;

    const INF: f64 = f64::INFINITY;

    fn spec(x: (f64, f64), y: (f64, f64)) -> ProblemSpec {
        ProblemSpec::new("boxes", LevelSpec::boxed(vec![x]), LevelSpec::boxed(vec![y]))
    }

    fn best(x: f64, y: f64, values: (f64, f64)) -> Solved {
        let outcome = |value| Outcome { value, violation: 0.0 };
        let (upper, lower) = (outcome(values.0), outcome(values.1));
        Solved { x: vec![x], y: vec![y], upper, upper_constraints: Vec::new(), lower, converged: true }
    }

    fn bounds(spec: &ProblemSpec) -> [(f64, f64); 2] {
        [spec.upper.space.bounds()[0], spec.lower.space.bounds()[0]]
    }

    #[test]
    fn open_sides_begin_around_the_start_zero_or_the_bound() {
        let first = |at: Option<&[f64]>| {
            let (spec, boxes) = Boxes::open(&spec((-INF, INF), (3.0, INF)), &Config::default(), at).unwrap();
            assert_eq!(boxes.own(&spec).lower.space.bounds(), [(3.0, INF)]);
            bounds(&spec)
        };
        assert_eq!(first(None), [(-10.0, 10.0), (3.0, 33.0)]);
        assert_eq!(first(Some(&[50.0])), [(-450.0, 550.0), (3.0, 33.0)]);
        assert_eq!(first(Some(&[0.5, 1e3])), [(-9.5, 10.5), (3.0, 11e3)]);
        assert!(Boxes::open(&spec((0.0, 1.0), (0.0, 1.0)), &Config::default(), None).is_none());
    }

    #[test]
    fn a_box_grows_while_the_best_lies_at_an_edge_that_is_no_bound() {
        let own = spec((-INF, INF), (3.0, INF));
        let (first, boxes) = Boxes::open(&own, &Config::default(), None).unwrap();
        assert!(boxes.grown(&first, &best(9.0, 3.0, (1.0, 1.0))).is_none(), "3 is a bound");
        let larger = boxes.grown(&first, &best(9.99, 3.0, (1.0, 1.0))).unwrap();
        assert_eq!(bounds(&larger), [(-10.0, 190.0), (3.0, 33.0)]);
        let larger = boxes.grown(&larger, &best(-10.0, 33.0, (1.0, 1.0))).unwrap();
        assert_eq!(bounds(&larger), [(-1810.0, 190.0), (3.0, 303.0)]);
        let huge = spec((-LARGEST, LARGEST), (3.0, 33.0));
        assert!(boxes.grown(&huge, &best(LARGEST, 5.0, (1.0, 1.0))).is_none(), "that is far enough");
        assert!(Boxes::default().grown(&spec((0.0, 1.0), (0.0, 1.0)), &best(1.0, 1.0, (1.0, 1.0))).is_none());
    }

    #[test]
    fn a_box_may_be_too_wide_where_both_values_are_small_beside_what_they_change_by() {
        let boxes = Boxes::default();
        assert!(boxes.may_be_too_wide(&best(0.0, 0.0, (1.0, -1.0)), [1e4, 1e4]));
        assert!(!boxes.may_be_too_wide(&best(0.0, 0.0, (1.0, -1.0)), [1e4, 1e2]));
        assert!(!boxes.may_be_too_wide(&best(0.0, 0.0, (100.0, 0.0)), [1e4, 1e4]));
        assert!(boxes.may_be_too_wide(&best(0.0, 0.0, (1.0, 0.0)), [1e4, 1e4]), "one value says enough");
        assert!(!boxes.may_be_too_wide(&best(0.0, 0.0, (1e-10, 0.0)), [1e4, 1e4]), "both are zero");
    }

    #[test]
    fn a_look_after_a_whole_search_ends_at_a_third_of_what_was_spent_or_where_values_vanish() {
        let solved = best(0.0, 0.0, (1.0, -2.0));
        let (wide, config) = (spec((0.0, 1.0), (0.0, 1.0)), Config::default());
        let sizes = config.check(&wide).unwrap();
        let setup = SchemeSetup { spec: &wide, config: &config, sizes: &sizes, streams: Streams::new(1) };
        let scheme = Box::new(SchemeState::new(config.scheme.kind, setup));
        let spaces = [wide.upper.space.clone(), wide.lower.space.clone()];
        let shares = [1e-9, 1e-12];
        let former = Former { spaces, scheme, solved, shares, verification: None, stop: StopReason::Agreed };
        let mut boxes = Boxes::default();
        boxes.begin(Look::Close, 900);
        assert!(boxes.given_up(9000, None).is_none(), "the first look has no limit");
        boxes.former = Some(former.clone());
        boxes.begin(Look::Close, 900);
        assert!(boxes.given_up(9000, None).is_none(), "nor has one in a box that grew");
        boxes.before = Some(former.spaces.clone());
        boxes.begin(Look::Close, 900);
        assert!(boxes.given_up(1200, None).is_none() && boxes.given_up(1201, None).is_some());
        let later = |values| boxes.given_up(1201, Some(&best(0.0, 0.0, values))).is_some();
        assert!(later((0.05, 3.5)) && !later((0.05, -1.5)) && !later((1.4, 0.0)), "unless a value is what it was");
        let after = |values| boxes.given_up(1000, Some(&best(0.0, 0.0, values))).is_some();
        assert!(after((-0.09, 0.0)), "both are zero");
        assert!(!after((0.5, 0.0)) && !after((0.0, -1.0)), "one is not");
        let in_vain = |values| boxes.in_vain(&best(0.0, 0.0, values)).is_some();
        assert!(in_vain((25.0, 0.1)) && !in_vain((25.0, -1.9)) && !in_vain((0.9, 0.0)));
        boxes.former = Some(Former { shares: [1e-7, 1e-12], ..former });
        for (spent, values) in [(1000, (-0.09, 0.0)), (1201, (0.05, 3.5))] {
            let best = best(0.0, 0.0, values);
            assert!(boxes.given_up(spent, Some(&best)).is_none(), "more than the search's accuracy is not zero");
        }
        boxes.begin(Look::Whole, 900);
        assert!(boxes.given_up(90_000, Some(&best(0.0, 0.0, (0.0, 0.0)))).is_none(), "a whole search has no limit");
    }

    #[test]
    fn a_smaller_box_lies_around_the_best_within_the_bounds() {
        let (mut boxes, wide) = (Boxes::default(), spec((0.0, 1e4), (-1e4, 1e4)));
        let found = boxes.smaller(&wide, &best(2.0, 5.0, (1.0, 1.0)), &[1e-4, 1e-2]).unwrap();
        assert_eq!(bounds(&found), [(0.0, 12.0), (-1e4, 1e4)], "the second one is not too wide");
        assert_eq!(bounds(&boxes.own(&found)), bounds(&wide));
        assert!(boxes.smaller(&found, &best(2.0, 5.0, (1.0, 1.0)), &[0.1, 1.0]).is_none());
        assert_eq!(bounds(&boxes.searched(&found, &wide).unwrap())[0], (0.0, 12.0));
        assert!(boxes.searched(&boxes.own(&found), &wide).is_none(), "it is the problem's own again");
        let follower = |sizes: &[f64]| {
            let smaller = Boxes::default().smaller(&wide, &best(2.0, 5.0, (1.0, 1.0)), sizes);
            smaller.map(|smaller| bounds(&smaller))
        };
        assert!(follower(&[1.0, 1e-4]).is_none(), "nobody knows how wide the leader's is");
        assert_eq!(follower(&[0.1, 1e-4]).unwrap(), [(0.0, 1e4), (-15.0, 25.0)], "the leader's is not too wide");
        // The leader's box has shrunk before.
        let again = boxes.smaller(&found, &best(2.0, 5.0, (1.0, 1.0)), &[1.0, 1e-4]).unwrap();
        assert_eq!(bounds(&again), [(0.0, 12.0), (-15.0, 25.0)]);
    }

    #[test]
    fn a_box_grows_to_hold_an_answer_that_lies_outside() {
        let boxes = |high: f64| Boxes {
            given: Some([spec((0.0, 1.0), (0.0, 1.0)).upper.space, spec((0.0, 1.0), (-100.0, high)).lower.space]),
            ..Boxes::default()
        };
        let small = spec((0.0, 1.0), (0.0, 1.0));
        // 4 beyond the box of width 1: 1 + 2 * 4 to both sides.
        for (high, expected) in [(100.0, (-4.0, 14.0)), (6.0, (-4.0, 6.0))] {
            let mut boxes = boxes(high);
            let larger = boxes.reaching(&small, &[5.0]).unwrap();
            assert_eq!((larger.lower.space.bounds()[0], larger.upper.space.bounds()[0]), (expected, (0.0, 1.0)));
            assert!(boxes.smaller(&larger, &best(0.5, 5.0, (1.0, 1.0)), &[1e-9; 2]).is_none(), "not again");
        }
        assert!(boxes(100.0).reaching(&small, &[0.5]).is_none(), "it is inside");
        assert!(Boxes::default().reaching(&small, &[5.0]).is_none(), "the box is the problem's own");
    }
}
