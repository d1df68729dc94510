//! Descents over the leader's decisions where there are whole numbers, guided by a model.
//!
//! A descent stands at a decision and asks for its neighbours: one whole number moved, or two exchanged. A
//! Gaussian process of F and the leader's constraints says which come first, and which values of the reals
//! go with them; the reals of the decision itself are searched by steps on the same model
//! (`portfolio::follower`). A better decision is where it goes on. A descent ends when all moves and the most
//! promising exchanges were tried; then another starts elsewhere, until enough of them end at the same value.
//!
//! Few decisions are all tried, and then the run is over: nothing is left. Where the follower has whole numbers F
//! may jump between two values of a real: there reals are moved by parts of their width too, and the sampled
//! candidates of CMA-ES are as many as the neighbours.
//!
//! No decision is proposed twice. Randomness: the sampling round's own stream.

use super::joint_cma::JointCmaConfig;
use crate::candidate::{Candidate, Solved};
use crate::leader::starts;
use crate::order;
use crate::portfolio::archive::{Learner, Points};
use crate::portfolio::follower::{Effort, Follower, Knowledge};
use crate::portfolio::merit::Merit;
use crate::problem::{self, Outcome, ProblemSpec};
use crate::record::StopReason;
use crate::rng::Stream;
use crate::space::Space;
use crate::surrogate::Surrogate;
use crate::whole::{self, Mixed, key};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of a decision and an answer that are all tried if there are no more; decisions, where the follower has its
/// own solver, which takes its time.
const FEW: (u64, u64) = (4096, 64);
/// Descents that must end at the best value: where steps of reals show the way, and else.
const AGREEING: (usize, usize) = (3, 4);
/// Descents without a better value after which it is enough.
const FRUITLESS: usize = 10;
/// Exchanges that are tried around an end, for each variable.
const EXCHANGES: usize = 2;
/// How often the same whole numbers are tried with other reals.
const AGAIN: usize = 3;
/// Steps of the reals: first trust radius and accuracy.
const REALS: (f64, f64) = (whole::REACH, 1e-5);
/// Evaluations of one search of the reals, for each of them and in addition.
const EFFORT: (usize, usize) = (30, 20);
/// Predicted violations above this part of a constraint's spread are believed.
const BELIEVED: f64 = 0.1;
/// Combinations of whole numbers that are all looked at on the model.
const ENUMERATED: u64 = 2_000;
/// Descents over the model, and their steps at most.
const DREAMS: usize = 10;
const STEPS: usize = 20;
/// Values closer than this part of their spread are the same.
const SAME: f64 = 1e-4;

/// What was tried, and where descents go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Descents {
    mixed: Mixed,
    /// Whether the follower has whole numbers, so that F may jump.
    jumps: bool,
    /// Whether all decisions are to be tried.
    all: bool,
    share: f64,
    /// Descents that must end at the best value.
    agreeing: usize,
    points: Points,
    knowledge: Knowledge,
    asked: BTreeSet<Vec<u64>>,
    /// The best decision with the same whole numbers, and how many were tried.
    wholes: BTreeMap<Vec<u64>, (usize, Option<Stand>)>,
    elite: Option<Stand>,
    /// The descent under way.
    descent: Option<Descent>,
    /// Where descents ended, and how many came there.
    ends: Vec<(Stand, usize)>,
    fruitless: usize,
    /// Starts so far.
    turn: usize,
    over: Option<StopReason>,
}

/// A decision with its answer and what both are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stand {
    x: Vec<f64>,
    y: Vec<f64>,
    row: Vec<f64>,
    outcome: Outcome,
}

impl Stand {
    fn of(solved: &Solved) -> Option<Self> {
        let row = [&[solved.upper.value], &solved.upper_constraints[..]].concat();
        let stand = Stand { x: solved.x.clone(), y: solved.y.clone(), row, outcome: solved.upper };
        (!solved.upper.is_failed()).then_some(stand)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Descent {
    /// Where it stands; none before its start was evaluated.
    at: Option<Stand>,
    /// Search of the reals around there, and the point it waits for.
    reals: Option<Follower>,
    waiting: Option<Vec<f64>>,
    /// What it asked for in this generation.
    asked: Vec<Vec<f64>>,
    /// Neighbours that were tried since it stands there.
    tries: usize,
    /// Whether it started without regard to the best decision, so that coming back to it is evidence.
    far: bool,
}

impl Descents {
    pub(super) fn new(spec: &ProblemSpec, config: &JointCmaConfig) -> Self {
        let space = spec.upper.space.clone();
        let whole_answers = spec.lower.space.has_whole();
        let mixed = Mixed::new(space);
        let outputs = 1 + spec.upper.constraints();
        let learner = Learner::new(mixed.lengths(), 0);
        let merit = Merit::new(spec.upper.inequalities, spec.upper.equalities);
        Descents {
            points: Points::new(mixed.space.dim(), outputs),
            knowledge: Knowledge { learner, merit },
            share: if mixed.reals() > 0 && whole_answers { config.exchange } else { 1.0 },
            agreeing: config.agreeing.unwrap_or(if mixed.reals() > 0 && !whole_answers {
                AGREEING.0
            } else {
                AGREEING.1
            }),
            jumps: whole_answers,
            all: tries_all(spec),
            mixed,
            asked: BTreeSet::new(),
            wholes: BTreeMap::new(),
            elite: None,
            descent: None,
            ends: Vec::new(),
            fruitless: 0,
            turn: 0,
            over: None,
        }
    }

    /// Why nothing more needs to be asked for.
    pub(super) fn over(&self) -> Option<StopReason> {
        self.over
    }

    /// Descents that ended at a value, and all of them.
    pub(super) fn agreeing(&self, value: f64) -> (u64, u64) {
        let near = |end: &&(Stand, usize)| (end.0.outcome.value - value).abs() <= self.same();
        let count = self.ends.iter().find(near).map_or(0, |end| end.1 as u64);
        (count, self.ends.iter().map(|end| end.1 as u64).sum())
    }

    /// Rounds the candidates and puts decisions of its own in the places of the last ones; what was tried before
    /// is left out.
    pub(super) fn join(&mut self, candidates: &mut Vec<Candidate>, stream: &mut Stream) {
        let places = candidates.len();
        candidates.iter_mut().for_each(|candidate| self.mixed.space.round(&mut candidate.x));
        if self.elite.is_some() {
            let own = self.propose((self.share * places as f64).ceil() as usize, stream);
            candidates.retain(|candidate| !self.asked.contains(&key(&candidate.x)));
            candidates.truncate(places.saturating_sub(own.len()));
            candidates.extend(own);
        }
        if let Some(elite) = self.elite.as_ref().filter(|_| self.over.is_some() || candidates.is_empty()) {
            *candidates = vec![Candidate { x: elite.x.clone(), guess: elite.y.clone() }];
        }
        let mut seen = BTreeSet::new();
        candidates.retain(|candidate| seen.insert(key(&candidate.x)));
        for candidate in candidates.iter() {
            self.asked.insert(key(&candidate.x));
            self.wholes.entry(self.whole_key(&candidate.x)).or_default().0 += 1;
        }
    }

    fn untried(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.mixed.space.enumerate(&self.mixed.space.middle()).filter(|x| !self.asked.contains(&key(x)))
    }

    fn whole_key(&self, x: &[f64]) -> Vec<u64> {
        key(&self.mixed.unit(x)[..self.mixed.wholes])
    }

    /// Decisions that a descent wants, at most so many.
    fn propose(&mut self, places: usize, stream: &mut Stream) -> Vec<Candidate> {
        while self.over.is_none() {
            let Some(mut descent) = self.descent.take().or_else(|| self.start(places, stream)) else { break };
            let wanted = match descent.at.clone() {
                None => std::mem::take(&mut descent.asked),
                Some(at) => self.around(&mut descent, at, places),
            };
            if !wanted.is_empty() {
                let guess = descent.at.as_ref().or(self.elite.as_ref()).map_or_else(Vec::new, |at| at.y.clone());
                descent.asked.clone_from(&wanted);
                self.descent = Some(descent);
                return wanted.into_iter().map(|x| Candidate { x, guess: guess.clone() }).collect();
            }
            self.finish(descent);
        }
        Vec::new()
    }

    /// The next point of the search of the reals, and the most promising neighbours.
    fn around(&mut self, descent: &mut Descent, mut at: Stand, places: usize) -> Vec<Vec<f64>> {
        // Known decisions cost nothing.
        while let Some(better) = self.known_better(&at) {
            descent.move_to(better.clone(), &self.mixed);
            at = better;
        }
        let at = &at;
        if self.ends.iter().any(|end| self.arrived(&end.0, at)) {
            return Vec::new();
        }
        let mut wanted = Vec::new();
        if self.mixed.reals() > 0 {
            wanted.extend(self.step(descent, at));
        }
        // While the reals are far from settled, neighbours are judged by what goes with other reals.
        let (near, moves) = self.mixed.neighbours(&at.x);
        let most = moves + EXCHANGES * self.mixed.space.dim();
        let room = places.saturating_sub(wanted.len()).min(most.saturating_sub(descent.tries));
        if room > 0 && !near.is_empty() {
            let mut ranked = self.ranked(at, near);
            ranked.truncate(room);
            descent.tries += ranked.len();
            wanted.extend(ranked);
        }
        if wanted.is_empty() && self.jumps && self.mixed.reals() > 0 {
            let real = self.mixed.space.moves(&at.x).filter(|x| !self.asked.contains(&key(x)));
            wanted.extend(real.filter(|x| self.whole_key(x) == self.whole_key(&at.x)));
        }
        wanted
    }

    /// Whether a descent need not go on because an earlier one ended here: with the same whole numbers, and no
    /// better.
    fn arrived(&self, end: &Stand, at: &Stand) -> bool {
        self.whole_key(&end.x) == self.whole_key(&at.x) && !order::better(&at.outcome, &end.outcome)
    }

    /// The best neighbour that was tried already, if it is better.
    fn known_better(&self, at: &Stand) -> Option<Stand> {
        let near = self.mixed.neighbours(&at.x).0;
        let known = near.iter().filter_map(|x| self.wholes.get(&self.whole_key(x))?.1.as_ref());
        let best = known.min_by(|a, b| order::compare(&a.outcome, &b.outcome))?;
        order::better(&best.outcome, &at.outcome).then(|| best.clone())
    }

    /// The next point of the search of the reals.
    fn step(&mut self, descent: &mut Descent, at: &Stand) -> Option<Vec<f64>> {
        let (whole, real) = self.mixed.split(&at.x);
        let evaluations = EFFORT.0 * self.mixed.reals() + EFFORT.1;
        let effort = Effort { radius: REALS.0, tolerance: REALS.1, evaluations };
        let search = descent.reals.get_or_insert_with(|| Follower::new(whole, real, at.row.clone(), effort));
        for _ in 0..AGAIN {
            let unit = search.next(&self.points, &mut self.knowledge)?;
            let x = self.mixed.with_reals(&at.x, &unit);
            if !self.asked.contains(&key(&x)) {
                descent.waiting = Some(x.clone());
                return Some(x);
            }
            // Known already: a step that failed.
            search.tell(&unit, &[], &self.knowledge.merit);
        }
        None
    }

    /// Untried neighbours, best first by the model; reals as the model wants them. Those that break a constraint
    /// clearly are left out where the present decision does not.
    fn ranked(&mut self, at: &Stand, near: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let centre = self.mixed.unit(&at.x);
        let model = self.knowledge.learner.model(&self.points, &centre, &at.row, f64::INFINITY);
        let mut ranked: Vec<(Outcome, Vec<f64>)> = Vec::new();
        for x in near {
            let tried = self.wholes.get(&self.whole_key(&x)).map_or(0, |known| known.0);
            if tried > 0 && (self.mixed.reals() == 0 || self.jumps || tried >= AGAIN) {
                continue;
            }
            let (x, outcome) = self.predicted(at, &centre, &model, x);
            let better = order::better(&outcome, &at.outcome) && at.outcome.value - outcome.value > self.same();
            let hopeless = at.outcome.is_feasible() && !outcome.is_feasible() && self.points.len() > 2 * centre.len();
            if !self.asked.contains(&key(&x)) && !hopeless && (tried == 0 || better) {
                ranked.push((outcome, x));
            }
        }
        ranked.sort_by(|a, b| order::compare(&a.0, &b.0));
        ranked.into_iter().map(|(_, x)| x).collect()
    }

    /// A neighbour with the reals that the model wants there, and what it predicts.
    fn predicted(&self, at: &Stand, centre: &[f64], model: &Surrogate, x: Vec<f64>) -> (Vec<f64>, Outcome) {
        let wholes = self.mixed.wholes;
        let unit = self.mixed.unit(&x);
        let change: Vec<f64> = unit.iter().zip(centre).take(wholes).map(|(a, b)| a - b).collect();
        let mut values = vec![0.0; at.row.len()];
        let x = if self.mixed.reals() > 0 && !self.jumps && self.points.len() > centre.len() {
            let step = whole::step(model, &self.knowledge.merit, &at.row, &centre[wholes..], &change);
            values.clone_from(&step.values);
            let reals: Vec<f64> = centre[wholes..].iter().zip(&step.z).map(|(c, z)| c + z).collect();
            self.mixed.with_reals(&x, &reals)
        } else {
            let full: Vec<f64> = unit.iter().zip(centre).map(|(a, b)| a - b).collect();
            model.values(&full, &mut values);
            x
        };
        let merit = self.knowledge.merit.constraints(&at.row);
        let excess = |i: usize| {
            let excess = merit.excess(i, at.row[i + 1] + values[i + 1]);
            if excess > BELIEVED * self.points.scale(i + 1) { excess } else { 0.0 }
        };
        let violation = (0..at.row.len() - 1).map(excess).sum();
        (x, Outcome { value: at.row[0] + values[0], violation })
    }

    /// A descent from the best decision if none ended there, else from elsewhere.
    fn start(&mut self, places: usize, stream: &mut Stream) -> Option<Descent> {
        let new = |at: Option<Stand>, asked| Descent { at, reals: None, waiting: None, asked, tries: 0, far: true };
        let elite = self.elite.clone()?;
        if self.ends.iter().all(|end| end.0.x != elite.x && order::better(&elite.outcome, &end.0.outcome)) {
            return Some(new(Some(elite), Vec::new()));
        }
        self.turn += 1;
        if self.turn % 2 == 1 {
            let promising = self.promising(&elite, places, stream);
            if !promising.is_empty() {
                return Some(Descent { far: false, ..new(None, promising) });
            }
        }
        let known: Vec<(Vec<f64>, Option<f64>)> = (0..self.points.len())
            .map(|i| (self.points.point(i).to_vec(), self.points.row(i).map(|row| row[0])))
            .collect();
        let known: Vec<(&[f64], Option<f64>)> = known.iter().map(|(point, value)| (point.as_slice(), *value)).collect();
        let space: Space = self.mixed.reordered();
        let turn = self.ends.iter().map(|end| end.1).sum();
        match starts::elsewhere(&space, &known, turn, stream) {
            Some(unit) => Some(new(None, vec![self.mixed.point(&unit)])),
            None if self.mixed.reals() == 0 => {
                let rest: Vec<Vec<f64>> = self.untried().take(places).collect();
                self.over = rest.is_empty().then_some(StopReason::Exhausted);
                (!rest.is_empty()).then(|| new(None, rest))
            }
            None => {
                self.over = Some(StopReason::Flat);
                None
            }
        }
    }

    /// Untried decisions that the model around the best one finds best: among all if they are few, else on descents
    /// over the model from changed ones.
    fn promising(&mut self, elite: &Stand, places: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
        let centre = self.mixed.unit(&elite.x);
        let model = self.knowledge.learner.model(&self.points, &centre, &elite.row, f64::INFINITY);
        let space = &self.mixed.space;
        let predict = |x: Vec<f64>| {
            let (x, outcome) = self.predicted(elite, &centre, &model, x);
            (outcome, x)
        };
        let mut seen: Vec<(Outcome, Vec<f64>)> = match space.combinations() <= ENUMERATED {
            true => space.enumerate(&elite.x).map(predict).collect(),
            false => Vec::new(),
        };
        for _ in 0..if seen.is_empty() { DREAMS } else { 0 } {
            let mut x = elite.x.clone();
            let changed = 2 + stream.below(self.mixed.wholes.div_ceil(2).max(1));
            for index in stream.choose(x.len(), changed) {
                x[index] = if space.variable(index).is_whole() { space.variable(index).draw(stream) } else { x[index] };
            }
            let mut at = predict(x);
            for _ in 0..STEPS {
                let near = self.mixed.neighbours(&at.1).0.into_iter().map(predict);
                let best = near.min_by(|a, b| order::compare(&a.0, &b.0));
                seen.push(at.clone());
                match best.filter(|best| order::better(&best.0, &at.0)) {
                    Some(best) => at = best,
                    None => break,
                }
            }
        }
        seen.sort_by(|a, b| order::compare(&a.0, &b.0));
        let new = |x: &Vec<f64>| !self.wholes.contains_key(&self.whole_key(x));
        let mut best: Vec<Vec<f64>> = Vec::new();
        for (_, x) in seen {
            if best.len() < places && new(&x) && !best.contains(&x) {
                best.push(x);
            }
        }
        best
    }

    /// Notes where a descent ended, and whether that is enough.
    fn finish(&mut self, descent: Descent) {
        let best = |ends: &[(Stand, usize)]| ends.iter().map(|end| end.0.outcome).min_by(order::compare);
        let before = best(&self.ends);
        self.fruitless += 1;
        if let Some(at) = descent.at {
            // Another decision of the same value is no evidence: it may be a plateau.
            let close = |end: &Stand| {
                (end.outcome.value - at.outcome.value).abs() <= self.same()
                    && end.outcome.is_feasible() == at.outcome.is_feasible()
                    && self.whole_key(&end.x) == self.whole_key(&at.x)
            };
            let equal = |end: &Stand| self.arrived(end, &at) || close(end);
            let known = self.ends.iter().position(|end| equal(&end.0));
            if before.is_none_or(|before| order::better(&at.outcome, &before)) {
                self.fruitless = 0;
            }
            match known {
                Some(index) => {
                    let end = &mut self.ends[index];
                    end.1 += usize::from(descent.far);
                    if order::better(&at.outcome, &end.0.outcome) {
                        end.0 = at;
                    }
                }
                None => self.ends.push((at, 1)),
            }
        }
        let now = best(&self.ends);
        if self.all {
            return;
        }
        if self.ends.iter().any(|end| Some(end.0.outcome) == now && end.1 >= self.agreeing) {
            self.over = Some(StopReason::Agreed);
        } else if self.fruitless >= FRUITLESS.max(2 * self.agreeing) {
            self.over = Some(StopReason::Flat);
        }
    }

    fn same(&self) -> f64 {
        SAME * self.points.scale(0)
    }

    /// Learns what decisions are worth, and which is the best.
    pub(super) fn learn(&mut self, solved: &[Solved], elite: Option<&Solved>) {
        for solved in solved {
            let stand = Stand::of(solved);
            let unit = self.mixed.unit(&solved.x);
            self.points.push(&unit, stand.as_ref().map_or(&[], |stand| &stand.row[..]));
            if let Some(stand) = &stand {
                let known = &mut self.wholes.entry(self.whole_key(&solved.x)).or_default().1;
                if known
                    .as_ref()
                    .is_none_or(|known| known.x == stand.x || order::better(&stand.outcome, &known.outcome))
                {
                    *known = Some(stand.clone());
                }
            }
            let Some(descent) = &mut self.descent else { continue };
            if descent.waiting.as_ref() == Some(&solved.x) {
                descent.waiting = None;
                let row = stand.as_ref().map_or(&[][..], |stand| &stand.row[..]);
                let merit = &self.knowledge.merit;
                descent.reals.iter_mut().for_each(|reals| reals.tell(&unit[self.mixed.wholes..], row, merit));
            }
            if descent.asked.contains(&solved.x)
                && let Some(stand) = stand
            {
                descent.move_to(stand, &self.mixed);
            }
        }
        self.elite = elite.and_then(Stand::of).or(self.elite.take());
        // A second look at the follower may have changed what the best decision is worth.
        if let Some(elite) = &self.elite {
            let known = self.wholes.entry(key(&self.mixed.unit(&elite.x)[..self.mixed.wholes])).or_default();
            let same = known.1.as_ref().is_none_or(|known| known.x == elite.x);
            known.1 = if same { Some(elite.clone()) } else { known.1.take() };
            let at = self.descent.iter_mut().filter_map(|descent| descent.at.as_mut());
            at.filter(|at| at.x == elite.x).for_each(|at| at.clone_from(elite));
        }
        if self.all && self.untried().next().is_none() {
            self.over = Some(StopReason::Exhausted);
        }
    }
}

/// Whether there are so few decisions that all are tried.
fn tries_all(spec: &ProblemSpec) -> bool {
    let (upper, lower) = (&spec.upper.space, &spec.lower.space);
    upper.is_finite()
        && match spec.follower {
            problem::Follower::Oracle => upper.combinations() <= FEW.1,
            problem::Follower::Search => {
                lower.is_finite() && upper.combinations().saturating_mul(lower.combinations()) <= FEW.0
            }
        }
}

impl Descent {
    /// Goes on from a decision if it is better; the search of the reals stays if the whole numbers do.
    fn move_to(&mut self, stand: Stand, mixed: &Mixed) {
        match &self.at {
            Some(at) if !order::better(&stand.outcome, &at.outcome) => {}
            at => {
                let whole = |x: &[f64]| mixed.split(x).0;
                if at.as_ref().is_none_or(|at| whole(&at.x) != whole(&stand.x)) {
                    self.tries = 0;
                    self.reals = None;
                    self.waiting = None;
                }
                self.at = Some(stand);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::LevelSpec;
    use crate::rng::{Purpose, Streams};

    fn problem(upper: Space, lower: Space) -> ProblemSpec {
        ProblemSpec::new("p", LevelSpec::new(upper), LevelSpec::new(lower))
    }

    fn binaries(count: usize) -> Space {
        (0..count).fold(Space::new(), |space, i| space.binary(format!("x{i}")))
    }

    /// Generations of six candidates until it is over: the best value, the reason, and all decisions.
    fn run(spec: &ProblemSpec, f: impl Fn(&[f64]) -> f64) -> (f64, StopReason, Vec<Vec<f64>>) {
        let mut descents = Descents::new(spec, &JointCmaConfig::default());
        let (mut asked, mut elite): (Vec<Vec<f64>>, Option<Solved>) = (Vec::new(), None);
        for round in 0..400 {
            let mut stream = Streams::new(1).open(Purpose::Sample, round, 0);
            let drawn = |_| Candidate { x: spec.upper.space.draw(&mut stream), guess: vec![0.0] };
            let mut candidates: Vec<Candidate> = (0..6).map(drawn).collect();
            descents.join(&mut candidates, &mut stream);
            let solved = |c: &Candidate| {
                let upper = Outcome { value: f(&c.x), violation: 0.0 };
                Solved { x: c.x.clone(), y: vec![0.0], upper, upper_constraints: vec![], lower: upper, converged: true }
            };
            let solved: Vec<Solved> = candidates.iter().map(solved).collect();
            asked.extend(candidates.into_iter().map(|c| c.x));
            let best = solved.iter().chain(elite.as_ref()).min_by(|a, b| order::compare(&a.upper, &b.upper)).cloned();
            elite = best;
            descents.learn(&solved, elite.as_ref());
            if let Some(reason) = descents.over() {
                return (elite.unwrap().upper.value, reason, asked);
            }
        }
        panic!("it does not end");
    }

    /// How many are different.
    fn distinct(asked: &[Vec<f64>]) -> usize {
        asked.iter().map(|x| key(x)).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn few_decisions_are_all_tried_once() {
        let spec = problem(Space::new().whole("a", 0.0, 6.0).binary("b"), binaries(1));
        let (value, reason, asked) = run(&spec, |x| if x == [4.0, 1.0] { -1.0 } else { x[0] });
        assert_eq!((value, reason, asked.len()), (-1.0, StopReason::Exhausted, 14), "a needle is found");
    }

    #[test]
    fn descents_agree_on_many_binaries_without_asking_twice() {
        // A sum with pairs that count only together.
        let value = |x: &[f64]| {
            (0..24).map(|i| (x[i] - 0.4) * if i % 3 == 0 { -2.0 } else { 1.0 }).sum::<f64>() + 3.0 * x[1] * x[7]
                - 4.0 * x[2] * x[8]
        };
        let (best, reason, asked) = run(&problem(binaries(24), binaries(12)), value);
        // Pairs apart, the best choice is seen from each weight; the pair of 2 and 8 pays (4 for 2).
        let wanted: f64 = (0..24).map(|i| if i % 3 == 0 { -1.2 } else { -0.4 }).sum::<f64>() - 2.0;
        assert!((best - wanted).abs() < 1e-9, "{best} {wanted}");
        assert_eq!(reason, StopReason::Agreed);
        // The last generation only repeats the best decision.
        assert!(asked.len() < 600 && asked.len() <= distinct(&asked) + 1, "{}", asked.len());
    }

    #[test]
    fn reals_are_searched_by_steps_beside_whole_numbers() {
        let spec = problem(Space::new().whole("n", 0.0, 5.0).real("p", 0.0, 10.0), Space::new().real("y", 0.0, 1.0));
        let (best, _, asked) = run(&spec, |x| (x[0] - 2.4).powi(2) + (x[1] - 3.0 - 0.7 * x[0]).powi(2));
        assert!((best - 0.16).abs() < 1e-6, "{best}");
        assert!(asked.len() < 200, "{}", asked.len());
    }
}
