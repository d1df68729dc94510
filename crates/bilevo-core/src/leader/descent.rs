//! One descent over the leader's decisions: a trust-region search, and samples around its end.

use super::ends::End;
use crate::order;
use crate::portfolio::archive::{Points, distance};
use crate::portfolio::follower::{Effort, Follower, Knowledge};
use crate::portfolio::merit::Merit;
use serde::{Deserialize, Serialize};

/// The first trust radius, and the longest step of a restart: a restart must converge from where it began, rather
/// than leap to an earlier end, whose surroundings the model knows best.
const RADIUS: f64 = 0.2;
/// A step shrinks the trust radius to this share at most. Early steps fail because the model knows too little, which
/// the failure itself remedies; with much shorter steps, a descent would crawl along a kink.
const SHRINK: f64 = 0.5;
/// The accuracy of the end: first, if looks around it follow (then values of a smooth function are exact to some
/// 1e-8, and a solver with its own tolerance cannot tell closer decisions apart); second, if none follow, because
/// nothing else would tell an end from a step that was too short.
const TOLERANCE: (f64, f64) = (1e-4, 1e-5);
/// The maximum number of evaluations: for each variable, and in addition.
const EFFORT: (usize, usize) = (40, 60);
/// The distances along each variable at which a claim is examined, one after the other, and the maximum number of
/// such looks: a better point starts them again.
const LOOKS: ([f64; 2], usize) = ([0.03, 0.003], 8);
/// The second look is not worth its calls if the model predicted the first one, to this share of the highest rise.
const FORESEEN: f64 = 0.1;
/// There is a kink if the rise in the second look exceeds this share of that in the first (smooth functions: 1/100,
/// kinks: 1/10), along variables whose rise is at least this share of the highest.
const KINK: (f64, f64) = (1.0 / 30.0, 0.01);
/// The model of a look sees points within this many times its distance.
const REACH: f64 = 2.0;
/// A search this close to an earlier end has arrived there if its value is the same, or if its steps are this small.
const ARRIVED: (f64, f64) = (0.05, 0.1);

/// A restart that is far worse than the best end is given up when this many evaluations for each variable gain less
/// than this share of the difference; and it is not examined when it ends. Far worse means this many times what
/// counts as the same.
const HOPELESS: (usize, f64) = (1, 0.1);
const LACKING: f64 = 1e4;

/// A descent; all points in unit coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Descent {
    search: Follower,
    /// The values of its first point that did not fail.
    first: Vec<f64>,
    looks: usize,
    /// Which look comes next.
    look: usize,
    /// The rise of Φ next to the end along each variable in each look, and from how many sides.
    rises: [Vec<(f64, usize)>; 2],
    /// What the model predicted for the first look, its largest error, and the highest rise.
    foreseen: Vec<(Vec<f64>, f64)>,
    surprise: (f64, f64),
    /// Its best worth some evaluations ago, and the number of evaluations since.
    before: (f64, usize),
    /// Whether it was given up.
    pub(super) hopeless: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// Steps on the model.
    Steps,
    /// A look along every variable is in progress.
    Looking,
    /// It ended, at an earlier end if one is given.
    Over(Option<usize>),
}

impl Descent {
    /// A descent from a point, whose values may be known; `looks` around its end if requested.
    pub(super) fn new(start: Vec<f64>, row: Vec<f64>, looks: bool) -> Self {
        let evaluations = EFFORT.0 * start.len() + EFFORT.1;
        let tolerance = if looks { TOLERANCE.0 } else { TOLERANCE.1 };
        let effort = Effort { radius: RADIUS, tolerance, evaluations };
        let search = Follower::new(Vec::new(), start, row.clone(), effort);
        Descent {
            search,
            first: row,
            looks: if looks { LOOKS.1 } else { 0 },
            look: 0,
            rises: Default::default(),
            foreseen: Vec::new(),
            surprise: (0.0, 0.0),
            before: (f64::INFINITY, 0),
            hopeless: false,
            state: State::Steps,
        }
    }

    /// The best point and its values; the latter are empty if nothing succeeded.
    pub(super) fn best(&self) -> (&[f64], &[f64]) {
        (&self.search.y, &self.search.row)
    }

    /// The values of its first point that did not fail.
    pub(super) fn first(&self) -> &[f64] {
        &self.first
    }

    /// Whether the model says that this is the end and the looks do not contradict it. Otherwise steps failed until
    /// they were too short, or there is a kink.
    pub(super) fn is_settled(&self) -> bool {
        self.search.settled && !self.has_kink()
    }

    /// Whether Φ rises to both sides in proportion to the distance: a smooth function rises with its square.
    fn has_kink(&self) -> bool {
        let [far, near] = &self.rises;
        let highest = far.iter().fold(0.0, |most: f64, rise| most.max(rise.0));
        let kink = |(far, near): (&(f64, usize), &(f64, usize))| {
            far.1 == 2 && near.1 == 2 && far.0 > KINK.1 * highest && near.0 > KINK.0 * far.0
        };
        far.iter().zip(near).any(kink)
    }

    /// Whether it has ended, and at which earlier end, if at one.
    pub(super) fn over(&self) -> Option<Option<usize>> {
        match self.state {
            State::Over(at) => Some(at),
            _ => None,
        }
    }

    pub(super) fn radius(&self) -> f64 {
        self.search.radius
    }

    /// The earlier end at which it has arrived, the best if several lie there. Values count as the same if they differ
    /// by less than `same`.
    fn arrived(&self, merit: &Merit, ends: &[End], same: f64) -> Option<usize> {
        let Follower { y, row, radius, .. } = &self.search;
        let near = |(_, end): &(usize, &End)| {
            let rise = merit.of(row) - merit.of(&end.point.row);
            distance(&end.point.at, y) <= ARRIVED.0 && (rise.abs() <= same || rise >= 0.0 && *radius <= ARRIVED.1)
        };
        if row.is_empty() {
            return None;
        }
        // A second descent may have located an end much better than the first: then only the better one can agree.
        let close = ends.iter().enumerate().filter(near);
        close.min_by(|(_, a), (_, b)| order::compare(&a.point.outcome, &b.point.outcome)).map(|(index, _)| index)
    }

    /// The next points; none when it is over. Values count as the same if they differ by less than `same`.
    pub(super) fn next(
        &mut self,
        points: &Points,
        knowledge: &mut Knowledge,
        ends: &[End],
        same: f64,
    ) -> Vec<Vec<f64>> {
        if self.over().is_some() {
            return Vec::new();
        }
        if !ends.is_empty() {
            self.search.radius = self.search.radius.min(RADIUS);
        }
        let arrived = self.arrived(&knowledge.merit, ends, same);
        if arrived.is_some() {
            self.state = State::Over(arrived);
            return Vec::new();
        }
        let lacks = self.lacks(&knowledge.merit, ends);
        let lacking = lacks > LACKING * same;
        self.hopeless = self.is_stuck(lacks, &knowledge.merit) && lacking;
        if let Some(point) = self.search.next(points, knowledge).filter(|_| !self.hopeless) {
            self.state = State::Steps;
            return vec![point];
        }
        if lacking {
            (self.state, self.hopeless) = (State::Over(None), true);
            return Vec::new();
        }
        let again = self.looks > 0 && !self.search.row.is_empty() && !self.was_foreseen();
        let Some(length) = LOOKS.0.get(self.look).filter(|_| again) else {
            self.state = State::Over(None);
            return Vec::new();
        };
        self.looks -= 1;
        self.rises[self.look] = vec![(0.0, 0); self.search.y.len()];
        self.look += 1;
        self.state = State::Looking;
        let wanted = self.look_around(*length);
        self.foresee(&wanted, *length, points, knowledge);
        wanted
    }

    /// Whether the first look showed what the model predicted.
    fn was_foreseen(&self) -> bool {
        self.look == 1 && self.surprise.0 <= FORESEEN * self.surprise.1
    }

    /// Records what the model predicts for points at a distance from the end.
    fn foresee(&mut self, wanted: &[Vec<f64>], length: f64, points: &Points, knowledge: &mut Knowledge) {
        let Follower { y, row, .. } = &self.search;
        let model = knowledge.learner.model(points, y, row, REACH * length);
        let mut change = vec![0.0; row.len()];
        let mut value = |at: &Vec<f64>| {
            model.values(&at.iter().zip(y).map(|(a, b)| a - b).collect::<Vec<f64>>(), &mut change);
            (at.clone(), knowledge.merit.of_sum(row, &change))
        };
        self.foreseen = wanted.iter().map(&mut value).collect();
        self.surprise = (0.0, 0.0);
    }

    /// Compares the values of a point with the prediction; a failure was not predicted.
    fn compare(&mut self, point: &[f64], row: &[f64], merit: &Merit) {
        let Some((_, foreseen)) = self.foreseen.iter().find(|(at, _)| at == point) else { return };
        let value = merit.of(row);
        let rise = (value - merit.of(&self.search.row)).abs();
        let (wrong, highest) = self.surprise;
        let highest = if rise.is_finite() { highest.max(rise) } else { highest };
        self.surprise = (wrong.max((value - foreseen).abs()), highest);
    }

    /// By how much it is worse than the best end.
    fn lacks(&self, merit: &Merit, ends: &[End]) -> f64 {
        let sound = ends.iter().filter(|end| end.point.outcome.is_feasible());
        let best = sound.map(|end| merit.of(&end.point.row)).min_by(f64::total_cmp);
        best.filter(|_| !self.search.row.is_empty()).map_or(0.0, |best| merit.of(&self.search.row) - best)
    }

    /// Whether its latest steps gained little of the difference to the best end.
    fn is_stuck(&mut self, lacks: f64, merit: &Merit) -> bool {
        if self.before.1 < HOPELESS.0 * self.search.y.len() || self.search.row.is_empty() {
            return false;
        }
        let now = merit.of(&self.search.row);
        let gain = std::mem::replace(&mut self.before, (now, 0)).0 - now;
        gain < HOPELESS.1 * lacks
    }

    /// A point on either side along every variable.
    fn look_around(&self, length: f64) -> Vec<Vec<f64>> {
        let centre = &self.search.y;
        let beside = |(i, step): (usize, f64)| {
            let mut point = centre.clone();
            point[i] = (point[i] + step).clamp(0.0, 1.0);
            point
        };
        (0..centre.len()).flat_map(|i| [(i, length), (i, -length)]).map(beside).collect()
    }

    /// Takes the values of a point; an empty row is a failure.
    pub(super) fn tell(&mut self, point: &[f64], row: &[f64], knowledge: &Knowledge) {
        let before = self.search.row.clone();
        let along = point.iter().zip(&self.search.y).position(|(a, b)| a != b);
        if let (State::Looking, Some(along), [rise, ..]) = (self.state, along, row) {
            let seen = &mut self.rises[self.look.saturating_sub(1)][along];
            *seen = (seen.0 + rise - before[0], seen.1 + 1);
        }
        if self.state == State::Looking {
            self.compare(point, row, &knowledge.merit);
        }
        let radius = self.search.radius;
        self.search.tell(point, row, &knowledge.merit);
        self.search.radius = self.search.radius.max(SHRINK * radius);
        self.before.1 += 1;
        if self.first.is_empty() {
            self.first.clone_from(&self.search.row);
        }
        if self.state == State::Looking && self.search.row != before {
            // The model did not see this: continue from here.
            self.search.widen(LOOKS.0[self.look.saturating_sub(1)]);
            self.look = 0;
            self.state = State::Steps;
        }
    }

    /// Learns that the point it asked for is already known.
    pub(super) fn refuse(&mut self) {
        self.search.refuse();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Point;
    use super::*;
    use crate::portfolio::archive::Learner;
    use crate::problem::Outcome;

    /// A descent into a bowl whose lowest value is 1, beside an earlier end: where it ends, its calls, and whether it
    /// was given up.
    fn descended(earlier: f64) -> (Vec<f64>, usize, bool) {
        let bowl = |at: &[f64]| 1.0 + (at[0] - 0.5) * (at[0] - 0.5) + 3.0 * (at[1] - 0.6) * (at[1] - 0.6);
        let outcome = Outcome { value: earlier, violation: 0.0 };
        let ends = [End::new(Point { at: vec![0.9, 0.1], row: vec![earlier], outcome }, 1, 0, false)];
        let mut points = Points::new(2, 1);
        let mut knowledge = Knowledge { learner: Learner::lasting(vec![0.3; 2]), merit: Merit::new(0, 0) };
        let start = vec![0.2, 0.3];
        points.push(&start, &[bowl(&start)]);
        let mut descent = Descent::new(start.clone(), vec![bowl(&start)], true);
        let mut calls = 0;
        loop {
            let asked = descent.next(&points, &mut knowledge, &ends, 1e-6);
            if asked.is_empty() {
                return (descent.best().1.to_vec(), calls, descent.hopeless);
            }
            for at in asked {
                points.push(&at, &[bowl(&at)]);
                descent.tell(&at, &[bowl(&at)], &knowledge);
                calls += 1;
            }
        }
    }

    #[test]
    fn of_two_ends_at_the_same_place_it_arrives_at_the_better() {
        let end = |at: [f64; 2], value: f64| {
            let outcome = Outcome { value, violation: 0.0 };
            End::new(Point { at: at.to_vec(), row: vec![value], outcome }, 1, 0, false)
        };
        let merit = Merit::new(0, 0);
        let mut descent = Descent::new(vec![0.5, 0.6], vec![1.2], true);
        descent.search.radius = 0.05;
        let arrived = |ends: &[End]| descent.arrived(&merit, ends, 1e-6);
        let (rough, exact, far) = (end([0.51, 0.6], 1.1), end([0.5, 0.59], 1.0), end([0.9, 0.1], 0.5));
        assert_eq!(arrived(&[rough.clone(), exact.clone(), far.clone()]), Some(1));
        assert_eq!(arrived(&[exact, rough, far.clone()]), Some(0));
        assert_eq!(arrived(&[far]), None);
    }

    /// Calls of a descent from the middle of a box, and whether it is sure that its end is smooth.
    fn looked(function: impl Fn(&[f64]) -> f64) -> (usize, bool) {
        let mut points = Points::new(2, 1);
        let mut knowledge = Knowledge { learner: Learner::lasting(vec![0.3; 2]), merit: Merit::new(0, 0) };
        let start = vec![0.5, 0.5];
        points.push(&start, &[function(&start)]);
        let mut descent = Descent::new(start.clone(), vec![function(&start)], true);
        let mut looks = 0;
        loop {
            let asked = descent.next(&points, &mut knowledge, &[], 1e-6);
            if asked.is_empty() {
                return (looks, descent.is_settled());
            }
            looks += usize::from(asked.len() > 1);
            for at in asked {
                points.push(&at, &[function(&at)]);
                descent.tell(&at, &[function(&at)], &knowledge);
            }
        }
    }

    #[test]
    fn a_second_look_is_for_ends_that_the_model_does_not_know() {
        let bowl = |at: &[f64]| (at[0] - 0.4) * (at[0] - 0.4) + 3.0 * (at[1] - 0.6) * (at[1] - 0.6);
        assert_eq!(looked(bowl), (1, true));
        let kink = |at: &[f64]| bowl(at) + 0.5 * (at[0] - 0.4).abs();
        let (looks, settled) = looked(kink);
        assert!(looks > 1 && !settled, "{looks}");
    }

    /// The trust radius after each step of a descent along a slope, of which only the first few succeed.
    fn radii(ends: &[End], good: usize) -> Vec<f64> {
        let slope = |at: &[f64]| -at[0] - at[1];
        let mut points = Points::new(2, 1);
        let mut knowledge = Knowledge { learner: Learner::lasting(vec![0.3; 2]), merit: Merit::new(0, 0) };
        for at in [[0.1, 0.1], [0.15, 0.1], [0.1, 0.15]] {
            points.push(&at, &[slope(&at)]);
        }
        let mut descent = Descent::new(vec![0.1, 0.1], vec![slope(&[0.1, 0.1])], false);
        let mut radii = Vec::new();
        for step in 0..3 {
            for at in descent.next(&points, &mut knowledge, ends, 1e-6) {
                let value = if step < good { slope(&at) } else { 9.0 };
                points.push(&at, &[value]);
                descent.tell(&at, &[value], &knowledge);
            }
            radii.push(descent.radius());
        }
        radii
    }

    #[test]
    fn restarts_do_not_leap() {
        let outcome = Outcome { value: 5.0, violation: 0.0 };
        let earlier = End::new(Point { at: vec![0.9, 0.1], row: vec![5.0], outcome }, 1, 0, false);
        assert!(radii(&[], 2)[1] > RADIUS);
        // The radius may grow after a step, but is cut before the next one.
        let restart = radii(&[earlier], 2);
        assert!(restart[1] <= 2.5 * RADIUS && restart[1] < radii(&[], 2)[1], "{restart:?}");
    }

    #[test]
    fn an_end_that_nobody_looks_at_is_found_more_exactly() {
        let exact = |looks: bool| Descent::new(vec![0.5], vec![1.0], looks).search.tolerance;
        assert_eq!((exact(true), exact(false)), TOLERANCE);
    }

    #[test]
    fn a_failed_step_halves_the_radius_at_most() {
        assert_eq!(radii(&[], 0)[0], SHRINK * RADIUS);
    }

    #[test]
    fn a_restart_that_will_not_reach_the_best_end_is_given_up() {
        let (end, whole, hopeless) = descended(2.0);
        assert!(end[0] < 1.0 + 1e-6 && !hopeless, "{end:?}");
        let (end, calls, hopeless) = descended(-1.0);
        assert!(hopeless && calls < whole - 4, "{end:?}: {calls} of {whole}");
        // A little worse than the best is no reason.
        let (_, calls, hopeless) = descended(1.0 - 5e-3);
        assert!(!hopeless && calls + 4 >= whole, "{calls} of {whole}");
    }
}
