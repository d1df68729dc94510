//! The end of a search if the function jumps: looks at other steps of the function, and at steps that two variables
//! can only reach together.
//!
//! A pattern ends at the edge of its step. Another step along a variable may be better even if no point sampled
//! over the variable's range is: the best point of a step is its edge, which lies between two samples. So every
//! step whose values come close enough is followed to its edge. If nothing changes along a variable, the steps at
//! both ends of that plateau are examined from where it ends, because they may be too narrow for the samples, or
//! rise right up to the edge. A step may also be hidden behind the edge at which another variable stands: two
//! offers below the same competitor, the second below the first. So each variable in turn is moved back from its
//! edge, the others are sampled from there, and whatever is better than the moved-back point is followed with all
//! variables.

use super::Point;
use super::brink::Brink;
use super::edge::Edge;
use super::pattern::Pattern;
use crate::order;
use crate::problem::Outcome;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// The number of points along every variable in a look over its whole range.
const SCAN: usize = 24;
/// How far a variable is moved back from its edge: farther than two points of a look are apart.
const BACK: f64 = 0.05;
/// How far a look reaches to either side, to tell the edge from the step.
const BESIDE: f64 = 1e-4;
/// How far the edge of a narrow step is searched for: nearly to the next point of a look.
const REACH: f64 = 0.9 / SCAN as f64;
/// The first and the last step of the pattern that follows a point of a look.
const FOLLOW: (f64, f64) = (0.02, 1e-4);
/// Once steps are this short, a followed point is given up if it is worse by more than twice what such steps along
/// every variable usually change.
const GIVEN_UP: f64 = 0.005;
/// The maximum number of points that are followed after one look.
const FOLLOWED: usize = 4;
/// Up to this many variables are moved back one by one; more are moved back in as many groups.
const GROUPS: usize = 4;

/// Looks around an end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exchange {
    best: Point,
    /// Values that differ by less count as the same.
    same: f64,
    /// Whether variables are moved back too.
    thorough: bool,
    improved: bool,
    stage: Stage,
    /// The lines in progress.
    lines: Vec<Line>,
    /// The ends of the plateau on which the end lies.
    brinks: Vec<Brink>,
    /// Points to follow, the most promising first.
    todo: Vec<Promise>,
    /// What is being followed, and how much a step of the whole range would usually change; before that, the edge of
    /// its step.
    following: Option<(Pattern, f64)>,
    edging: Option<(Edge, Promise)>,
}

/// A point to follow, along one variable or along all.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Promise {
    point: Point,
    along: Option<usize>,
    /// What its edge may be worth beyond the value to be beaten; lower is better.
    edge: f64,
    slope: f64,
    /// The edge of its step is located first, if the step may be too narrow to be followed.
    narrow: Option<Edge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Begin,
    /// Along every variable from the end.
    Along,
    /// Towards the ends of the plateau.
    Brinks,
    /// To either side of the end.
    Beside,
    /// Along the other variables, from where one was moved back.
    Back,
    Over,
}

/// Points along a variable; the value is infinite if it failed, is not feasible, or is not known.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// `None`: the base itself.
    variable: Option<usize>,
    points: Vec<(Point, f64)>,
}

impl Line {
    fn new(base: &[f64], variable: Option<usize>, places: impl Iterator<Item = f64>, space: &Space) -> Self {
        let mut points: Vec<(Point, f64)> = Vec::new();
        for place in places {
            let mut at = base.to_vec();
            variable.into_iter().for_each(|variable| at[variable] = place.clamp(0.0, 1.0));
            space.snap(&mut at);
            if points.iter().all(|(point, _)| point.at != at) {
                points.push((Point { at, row: Vec::new(), outcome: Outcome::FAILED }, f64::INFINITY));
            }
        }
        Line { variable, points }
    }

    /// Points all over the range of a variable.
    fn whole(base: &[f64], variable: usize, space: &Space) -> Self {
        let places = (0..SCAN).map(|part| (part as f64 + 0.5) / SCAN as f64);
        Line::new(base, Some(variable), places, space)
    }

    /// The usual difference between neighbours.
    fn change(&self) -> f64 {
        let difference = |pair: &[(Point, f64)]| (pair[0].1 - pair[1].1).abs();
        let mut all: Vec<f64> = self.points.windows(2).map(difference).filter(|d| d.is_finite() && *d > 0.0).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    }
}

impl Exchange {
    /// Looks around a point; `thorough` ones also move variables back.
    pub(super) fn new(best: Point, same: f64, thorough: bool) -> Self {
        let (lines, brinks, todo) = (Vec::new(), Vec::new(), Vec::new());
        let (improved, stage, following, edging) = (false, Stage::Begin, None, None);
        Exchange { best, same, thorough, improved, stage, lines, brinks, todo, following, edging }
    }

    /// Where it began, or the better point that it found.
    pub(super) fn best(&self) -> &Point {
        &self.best
    }

    /// The value at the best point, infinite if that is not feasible.
    fn worth(&self) -> f64 {
        if self.best.outcome.is_feasible() { self.best.outcome.value } else { f64::INFINITY }
    }

    /// Whether it found something better.
    pub(super) fn improved(&self) -> bool {
        self.improved
    }

    /// The next points; none when it is over.
    pub(super) fn next(&mut self, space: &Space) -> Vec<Vec<f64>> {
        loop {
            let towards: Vec<Vec<f64>> = match self.stage {
                Stage::Brinks => self.brinks.iter_mut().filter_map(|brink| brink.next(space)).collect(),
                _ => Vec::new(),
            };
            if !towards.is_empty() {
                return towards;
            }
            if let Some(points) = self.follow(space) {
                return points;
            }
            self.stage = match self.stage {
                _ if self.improved => Stage::Over,
                Stage::Begin => Stage::Along,
                Stage::Along => Stage::Brinks,
                Stage::Brinks if self.thorough && self.best.at.len() > 1 => Stage::Beside,
                Stage::Beside => Stage::Back,
                Stage::Brinks | Stage::Back | Stage::Over => Stage::Over,
            };
            let dim = self.best.at.len();
            let at = &self.best.at;
            self.lines = match self.stage {
                Stage::Begin | Stage::Over => return Vec::new(),
                Stage::Along => (0..dim).map(|variable| Line::whole(at, variable, space)).collect(),
                Stage::Beside => {
                    let beside = |i: usize| Line::new(at, Some(i), [at[i] - BESIDE, at[i] + BESIDE].into_iter(), space);
                    (0..dim).map(beside).collect()
                }
                Stage::Brinks => Vec::new(),
                Stage::Back => self.moved_back(space),
            };
            let wanted: Vec<Vec<f64>> =
                self.lines.iter().flat_map(|l| l.points.iter().map(|p| p.0.at.clone())).collect();
            if !wanted.is_empty() {
                return wanted;
            }
        }
    }

    /// Lines from where variables were moved back from their edges, in a few groups.
    fn moved_back(&self, space: &Space) -> Vec<Line> {
        let dim = self.best.at.len();
        let mut lines = Vec::new();
        for group in 0..dim.min(GROUPS) {
            let mut base = self.best.at.clone();
            for line in self.lines.iter().filter(|line| line.variable.is_some_and(|v| v % GROUPS == group)) {
                // Away from the worse side; not at all if nothing changes.
                let worth = |side: &(Point, f64)| side.1;
                let sides = line.points.iter().filter(|(point, _)| point.at != self.best.at);
                let Some((inner, value)) = sides.min_by(|a, b| worth(a).total_cmp(&worth(b))) else { continue };
                let flat = line.points.iter().all(|(_, value)| *value == self.best.outcome.value);
                if let Some(variable) = line.variable.filter(|_| !flat && value.is_finite()) {
                    let direction = (inner.at[variable] - base[variable]).signum();
                    base[variable] = (base[variable] + BACK * direction).clamp(0.0, 1.0);
                }
            }
            space.snap(&mut base);
            if base != self.best.at {
                lines.push(Line::new(&base, None, std::iter::once(0.0), space));
                let others = (0..dim).filter(|i| i % GROUPS != group);
                lines.extend(others.map(|i| Line::whole(&base, i, space)));
            }
        }
        lines
    }

    /// Continues with what is being followed, or with the next point to follow; none if there is none.
    fn follow(&mut self, space: &Space) -> Option<Vec<Vec<f64>>> {
        if self.following.is_none() && self.edging.is_none() && self.todo.is_empty() && !self.improved {
            self.todo = self.promising();
            self.brinks = if self.stage == Stage::Along { self.plateaus() } else { Vec::new() };
            self.lines.retain(|_| self.stage == Stage::Beside);
        }
        loop {
            if let Some((edge, promise)) = &mut self.edging {
                if let Some(at) = edge.next(space) {
                    return Some(vec![at]);
                }
                let (point, slope) = (edge.inside().clone(), promise.slope);
                match promise.along {
                    Some(_) => self.consider(point),
                    None => self.following = Some((Pattern::new(point, FOLLOW, true, space), slope)),
                }
                self.edging = None;
            }
            if let Some((pattern, slope)) = &mut self.following {
                let length = pattern.length();
                let reach = 2.0 * length * *slope * self.best.at.len() as f64;
                let lacks = pattern.best().outcome.value - self.best.outcome.value;
                let points = if length <= GIVEN_UP && lacks > reach { Vec::new() } else { pattern.next(space) };
                if !points.is_empty() {
                    return Some(points);
                }
                let end = pattern.best().clone();
                self.consider(end);
                self.following = None;
            }
            if self.todo.is_empty() {
                return None;
            }
            let mut promise = self.todo.remove(0);
            if let Some(edge) = promise.narrow.take() {
                self.edging = Some((edge, promise));
                continue;
            }
            let Promise { point, along, slope, .. } = promise;
            let pattern = Pattern::new(point, FOLLOW, along.is_none(), space);
            let pattern = match along {
                Some(variable) => pattern.along(variable),
                None => pattern,
            };
            self.following = Some((pattern, slope));
        }
    }

    /// Adopts the point that something led to, if it is better.
    fn consider(&mut self, end: Point) {
        let gain = self.worth() - end.outcome.value;
        if order::better(&end.outcome, &self.best.outcome) && gain > self.same {
            (self.best, self.improved) = (end, true);
            self.todo.clear();
        }
    }

    /// What the lines promise, the most promising first.
    fn promising(&self) -> Vec<Promise> {
        let mut found: Vec<Promise> = Vec::new();
        found.extend(self.brinks.iter().filter_map(|brink| self.beyond(brink)));
        let mut base = f64::INFINITY;
        for line in &self.lines {
            match (self.stage, line.variable) {
                (Stage::Along, Some(variable)) => found.extend(self.edges(line, variable)),
                (Stage::Back, None) => base = line.points.first().map_or(f64::INFINITY, |point| point.1),
                (Stage::Back, Some(variable)) if base.is_finite() => found.extend(self.behind(line, variable, base)),
                _ => {}
            }
        }
        found.sort_by(|a, b| a.edge.total_cmp(&b.edge));
        found.truncate(FOLLOWED);
        found
    }

    /// The lowest points of a line through the end from which an edge may be better than the end.
    fn edges(&self, line: &Line, variable: usize) -> Vec<Promise> {
        let (change, apart, best) = (line.change(), 1.5 / SCAN as f64, self.worth());
        let value = |k: Option<usize>| k.and_then(|k| line.points.get(k)).map_or(f64::INFINITY, |point| point.1);
        let mut found = Vec::new();
        for (k, (point, own)) in line.points.iter().enumerate().filter(|(_, (_, own))| own.is_finite()) {
            let rise = value(k.checked_sub(1)).min(value(Some(k + 1))) - own;
            // Towards the edge the function continues as before, from the side that rises less.
            let more = if rise.is_finite() { rise.max(change) } else { change };
            let near = (point.at[variable] - self.best.at[variable]).abs() <= apart && *own >= best;
            if rise >= 0.0 && !near && *own != best && own - more < best - self.same {
                found.push(Promise {
                    point: point.clone(),
                    along: Some(variable),
                    edge: own - more - best,
                    slope: more * SCAN as f64,
                    narrow: None,
                });
            }
        }
        found
    }

    /// The lowest point of a line on a step other than its base, if the edge of that step may be better than the
    /// base.
    fn behind(&self, line: &Line, variable: usize, base: f64) -> Option<Promise> {
        // Moving back from the edge shows how steep the function is.
        let change = line.change().max((base - self.worth()) / BACK / SCAN as f64);
        let others = line.points.iter().filter(|(_, own)| own.is_finite() && *own != base);
        let (point, own) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let edge = own - change - base;
        let (point, slope) = (point.clone(), change * SCAN as f64);
        let narrow = Some(Edge::new(point.clone(), variable, REACH, None));
        (edge < -self.same).then_some(Promise { point, along: None, edge, slope, narrow })
    }

    /// Where the plateau ends on which the end lies, along each variable and on both sides.
    fn plateaus(&self) -> Vec<Brink> {
        let mut found = Vec::new();
        for line in &self.lines {
            let Some(variable) = line.variable else { continue };
            let own = self.best.at[variable];
            let (below, above): (Vec<&Point>, Vec<&Point>) =
                line.points.iter().map(|(point, _)| point).partition(|point| point.at[variable] < own);
            for side in [below.into_iter().rev().collect::<Vec<_>>(), above] {
                let flat = side.iter().take_while(|point| point.row == self.best.row).count();
                if let (Some(last), Some(&beyond)) = (flat.checked_sub(1), side.get(flat)) {
                    found.push(Brink::new(variable, side[last].at[variable], beyond.clone()));
                }
            }
        }
        found
    }

    /// The step beyond the end of the plateau, if it may be better than the plateau.
    fn beyond(&self, brink: &Brink) -> Option<Promise> {
        let Brink { variable, outside, slope, .. } = brink;
        let (slope, lacks) = (slope.filter(|_| outside.outcome.is_feasible())?, outside.outcome.value - self.worth());
        // A wider step would have been seen.
        let edge = lacks + slope.min(0.0) / SCAN as f64;
        let away = slope * brink.side();
        let narrow = Some(Edge::new(outside.clone(), *variable, REACH, Some(away)));
        let (point, along, slope) = (outside.clone(), Some(*variable), slope.abs());
        (edge < -self.same).then_some(Promise { point, along, edge, slope, narrow })
    }

    /// Takes the values of a point.
    pub(super) fn tell(&mut self, told: &Point) {
        if let Some((edge, _)) = &mut self.edging {
            edge.tell(told);
            return;
        }
        if let Some((pattern, _)) = &mut self.following {
            pattern.tell(told);
            return;
        }
        self.brinks.iter_mut().for_each(|brink| brink.tell(told, &self.best.row));
        let asked = self.lines.iter_mut().flat_map(|line| &mut line.points).filter(|(point, _)| point.at == told.at);
        for (point, value) in asked {
            *point = told.clone();
            *value = if told.outcome.is_feasible() { told.outcome.value } else { f64::INFINITY };
        }
    }
}

#[cfg(test)]
mod tests;
