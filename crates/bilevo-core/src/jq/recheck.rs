//! An independent second look at the answer of a solution, without the joint model.
//!
//! 1. Known answers from elsewhere (rivals, the elite's answer): one evaluation each; then other values
//!    of each variable in turn (`scan`), and the best of them together.
//! 2. Searches over the whole box from random starts, coarse.
//! 3. The best of these and the answer itself made exact (`Polish`). If that does not settle, a
//!    local search by samples follows, repeated under a tenfold and a hundredfold penalty if it ends
//!    infeasible.
//! 4. If a better answer was found, the solution was *exposed*: it takes that answer, and F is
//!    evaluated again.

use super::coordinates::Coordinates;
use super::descent::Polish;
use super::follower::{Answer, Effort, FEASIBLE, Follower};
use super::rivals::{DIFFERENT, FINER, differs, differs_by};
use super::scan::Scan;
use super::searches::{Knowledge, Searches, Wanted, answer};
use super::solution::Solution;
use crate::batch::Answers;
use crate::config::PositionKind;
use crate::problem::{Level, ProblemSpec};
use crate::rng::{Purpose, Streams};
use serde::{Deserialize, Serialize};

/// By how much, relative, a coarse answer must be better to be made exact ...
pub(super) const BETTER: f64 = 1e-6;
/// ... and to expose a solution.
const EXPOSED: f64 = 1e-10;
/// Answers that differ must be better by this: where the follower is indifferent, the leader chooses,
/// unless a position does.
const CLEAR: f64 = 1e-4;
/// Sizes of the box-wide and the local searches, as shares of the box.
const REGIONS: (f64, f64) = (0.3, 0.01);
/// Gains of a generation that are none.
const GAINS: (f64, f64) = (1e-3, 1e-6);
/// Generations of a search at most.
const GENERATIONS: (usize, usize) = (20, 30);
/// Penalties of the local searches, relative to that of the run.
const PENALTIES: [f64; 3] = [3.0, 30.0, 300.0];

/// Other minima made exact where it matters which of equally good answers is found.
const OTHERS: usize = 4;

/// Difference of f, relative to its range along the variables, within which a well may be the deeper one.
const CLOSE: f64 = 0.02;
/// Values near the answer that are tried as well then, as shares of the box.
const NEAR: [f64; 4] = [0.002, 0.006, 0.02, 0.06];

/// What is being evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Known,
    Wide,
    /// Answers are made exact, one after the other.
    Polish(Box<Polish>),
    /// A local search under the penalty at this index.
    Fine(usize),
    /// Upper: the better answer, if there is one, and the other minima.
    Judge(bool),
    Ended,
}

/// The second look at one solution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recheck {
    pub(crate) solution: Solution,
    /// Whether a clearly better answer was found.
    pub(crate) exposed: bool,
    /// Whether that answer is elsewhere.
    pub(crate) moved: bool,
    /// The solution before that.
    pub(crate) hoped: Option<Solution>,
    /// Whether answers were found that are equally good for the follower.
    pub(crate) tied: bool,
    best: Answer,
    known: Vec<Vec<f64>>,
    /// Whether it matters which of equally good answers is found.
    takes_sides: bool,
    /// Whether other minima are wanted too, those judged, and those found or to be found.
    collects: bool,
    pub(crate) wells: Vec<Solution>,
    minima: Vec<Answer>,
    /// Whether all values tried are judged, those values, and which one the leader would like best.
    tempts: bool,
    line: Vec<Answer>,
    pub(crate) favourite: Option<Solution>,
    others: Vec<Answer>,
    /// Range of f over the other values tried.
    range: f64,
    /// Whether other values of each variable were tried, and the trial while it goes on.
    scanned: bool,
    scan: Option<Scan>,
    /// Whether the first known answer is the solution's own, whose value is still unknown.
    unjudged: bool,
    wide: usize,
    /// Whether the answer is made exact even if nothing better was found before.
    thorough: bool,
    /// Answers that are to be made exact.
    rough: Vec<Answer>,
    stage: Stage,
    searches: Searches,
    units: Coordinates,
    penalty: f64,
    /// For the random streams.
    generation: u64,
}

impl Recheck {
    /// A look at `solution` with the help of `known` answers and `wide` searches; `thorough` if a
    /// local search is to follow in any case.
    pub(crate) fn new(solution: Solution, known: Vec<Vec<f64>>, wide: usize, thorough: bool, generation: u64) -> Self {
        Recheck {
            best: solution.answer.clone(),
            solution,
            exposed: false,
            moved: false,
            hoped: None,
            tied: false,
            known,
            takes_sides: false,
            collects: false,
            wells: Vec::new(),
            minima: Vec::new(),
            tempts: false,
            line: Vec::new(),
            favourite: None,
            others: Vec::new(),
            range: 0.0,
            scanned: false,
            scan: None,
            unjudged: false,
            wide,
            thorough,
            rough: Vec::new(),
            stage: Stage::Known,
            searches: Searches::default(),
            units: Coordinates::default(),
            penalty: 0.0,
            generation,
        }
    }

    /// The same where equally good answers count by a position.
    pub(crate) fn under(mut self, position: PositionKind) -> Self {
        self.takes_sides = position != PositionKind::Any;
        self
    }

    /// The same with what other minima of the follower would be worth, and all values tried if it
    /// `tempts`.
    pub(crate) fn with_wells(mut self, tempts: bool) -> Self {
        self.collects = true;
        self.tempts = tempts;
        self
    }

    /// The solution's own answer is evaluated too, since its value is not known.
    pub(crate) fn with_own_answer(mut self) -> Self {
        self.unjudged = true;
        self.known.insert(0, self.solution.answer.y.clone());
        self
    }

    /// The level of the points wanted.
    pub(crate) fn level(&self) -> Level {
        if matches!(self.stage, Stage::Judge(_)) { Level::Upper } else { Level::Lower }
    }

    /// The next points; none when it is over.
    pub(crate) fn ask(&mut self, spec: &ProblemSpec, streams: Streams, knowledge: &mut Knowledge, wanted: &mut Wanted) {
        loop {
            match &self.stage {
                Stage::Known if !self.known.is_empty() => {
                    wanted.extend(self.known.iter().map(|y| [&self.solution.x[..], &y[..]].concat()));
                }
                Stage::Known if self.wide > 0 && !self.scanned => self.open_scan(spec, streams),
                Stage::Known => self.open_wide(spec, streams, knowledge),
                Stage::Wide | Stage::Fine(_) => {
                    let mut ground = knowledge.ground(spec, None, &self.units);
                    ground.penalty = self.penalty;
                    self.searches.ask(&mut ground, wanted);
                    if wanted.is_empty() {
                        self.close_searches(spec, streams, knowledge);
                    }
                }
                Stage::Polish(polish) => {
                    wanted.extend(polish.wanted(spec).iter().map(|y| [&self.solution.x[..], &y[..]].concat()));
                    if wanted.is_empty() {
                        let found = polish.answer(spec);
                        self.polished(found, spec, streams, knowledge);
                    }
                }
                Stage::Judge(better) => {
                    let answers = self.minima.iter().chain(&self.line).chain(better.then_some(&self.best));
                    wanted.extend(answers.map(|answer| [&self.solution.x[..], &answer.y[..]].concat()));
                }
                Stage::Ended => return,
            }
            if !wanted.is_empty() {
                return;
            }
        }
    }

    /// Takes the values of the wanted points.
    pub(crate) fn tell(
        &mut self,
        spec: &ProblemSpec,
        knowledge: &mut Knowledge,
        wanted: &Wanted,
        answers: &Answers<'_>,
    ) {
        match &mut self.stage {
            Stage::Known => {
                if std::mem::take(&mut self.unjudged) {
                    self.solution.answer.outcome = answers.outcomes[0];
                    self.solution.answer.constraints = answers.constraints(0).to_vec();
                    self.best = self.solution.answer.clone();
                }
                let known = std::mem::take(&mut self.known);
                let told: Vec<Answer> = known.into_iter().enumerate().map(|(i, y)| answer(y, answers, i)).collect();
                let scanning = self.scan.is_some();
                if let Some(scan) = &mut self.scan {
                    scan.tell(&told);
                    self.known = scan.points().to_vec();
                    if self.known.is_empty() {
                        self.known.extend(scan.combined());
                        self.range = scan.range(knowledge.penalty);
                        self.others.extend(scan.valleys(knowledge.penalty));
                        let feasible = |a: &Answer| self.tempts && a.outcome.violation <= FEASIBLE;
                        self.line = scan.others().filter(|a| feasible(a)).cloned().collect();
                        self.scan = None;
                    }
                }
                if !scanning {
                    self.others.extend(told.iter().cloned());
                }
                told.into_iter().for_each(|answer| self.take_better(answer, BETTER));
            }
            Stage::Wide | Stage::Fine(_) => {
                let penalty = std::mem::replace(&mut knowledge.penalty, self.penalty);
                self.searches.tell(wanted, answers, knowledge, spec, (None, &self.units));
                knowledge.penalty = penalty;
            }
            Stage::Polish(polish) => {
                let m = spec.upper.dim();
                polish.tell(wanted.iter().enumerate().map(|(i, point)| answer(point[m..].to_vec(), answers, i)));
            }
            Stage::Judge(better) => {
                let better = *better;
                let judged = |answer: Answer, i: usize| {
                    Solution::new(spec, self.solution.x.clone(), answer, answers.outcomes[i], answers.constraints(i))
                };
                let (minima, line) = (std::mem::take(&mut self.minima), std::mem::take(&mut self.line));
                let (wells, last) = (minima.len(), minima.len() + line.len());
                self.wells = minima.into_iter().enumerate().map(|(i, answer)| judged(answer, i)).collect();
                let line = line.into_iter().enumerate().map(|(i, answer)| judged(answer, wells + i));
                self.favourite = line.min_by(|a, b| a.compare(b));
                if better && !answers.outcomes[last].is_failed() {
                    self.exposed = true;
                    self.moved = differs(&self.best.y, &self.solution.answer.y, spec.lower.space.bounds());
                    let true_one = judged(Answer { settled: true, ..self.best.clone() }, last);
                    let before = std::mem::replace(&mut self.solution, true_one);
                    self.hoped = self.moved.then_some(before);
                }
                self.stage = Stage::Ended;
            }
            Stage::Ended => {}
        }
    }

    /// Replaces the best answer by one that is better at no loss of feasibility, or feasible at last.
    fn take_better(&mut self, other: Answer, margin: f64) {
        if other.repairs(&self.best) || other.exposes(&self.best, 0.0, margin) {
            self.best = other;
        }
    }

    /// Whether another answer is as good as the best one.
    fn ties(&self, other: &Answer, spec: &ProblemSpec) -> bool {
        let margin = CLEAR * (1.0 + self.best.outcome.value.abs());
        other.outcome.violation <= self.best.outcome.violation.max(FEASIBLE)
            && (other.outcome.value - self.best.outcome.value).abs() <= margin
            && differs(&other.y, &self.best.y, spec.lower.space.bounds())
    }

    /// Other values of each variable in turn.
    fn open_scan(&mut self, spec: &ProblemSpec, streams: Streams) {
        let stream = streams.open(Purpose::Recheck, self.generation, 1000);
        let near = if self.takes_sides { &NEAR[..] } else { &[] };
        let scan = Scan::new(&self.best, spec.lower.space.bounds(), near, stream);
        self.known = scan.points().to_vec();
        (self.scanned, self.scan) = (true, Some(scan));
    }

    fn open_wide(&mut self, spec: &ProblemSpec, streams: Streams, knowledge: &Knowledge) {
        self.stage = Stage::Wide;
        self.penalty = PENALTIES[0] * knowledge.penalty;
        self.units = Coordinates::of_box(spec.upper.dim(), spec.lower.space.bounds(), REGIONS.0);
        let effort = Effort {
            evaluations: GENERATIONS.0 * knowledge.params.population,
            tolerance: 0.0,
            gain: GAINS.0,
            region: 1.0,
        };
        let search = |index: usize| {
            let mut stream = streams.open(Purpose::Recheck, self.generation, index as u64);
            let start = spec.lower.space.bounds().iter().map(|b| b.0 + (b.1 - b.0) * stream.uniform()).collect();
            Follower::from_start(self.solution.x.clone(), start, effort, stream)
        };
        self.searches = Searches::new((0..self.wide).map(search).collect());
    }

    /// Takes what the searches found and goes on.
    fn close_searches(&mut self, spec: &ProblemSpec, streams: Streams, knowledge: &Knowledge) {
        let found: Vec<Answer> = self.searches.all().iter().filter_map(Follower::answer).cloned().collect();
        if let Stage::Fine(index) = self.stage {
            let infeasible = found.iter().any(|a| a.outcome.violation > FEASIBLE);
            found.into_iter().for_each(|a| self.take_better(a, 0.0));
            let next = if infeasible { index + 1 } else { PENALTIES.len() };
            self.open_fine(next, spec, streams, knowledge);
            return;
        }
        self.tied = found.iter().any(|a| self.ties(a, spec));
        // A coarse search hardly ends feasible: what it found is judged by its merit.
        if self.thorough || self.best.y != self.solution.answer.y {
            self.rough.push(self.best.clone());
        }
        let merit = |a: &Answer| a.merit(self.penalty);
        let share = if self.takes_sides { FINER } else { DIFFERENT };
        if self.takes_sides || self.collects {
            self.others.extend(found);
            let others = std::mem::take(&mut self.others);
            self.rough.extend(apart(others, &self.best, self.penalty, spec.lower.space.bounds(), share));
        } else {
            let margin = BETTER * (1.0 + self.best.outcome.value.abs());
            let better = |a: &Answer| merit(a) < merit(&self.best) - margin;
            let best = found.iter().min_by(|a, b| merit(a).total_cmp(&merit(b))).filter(|a| better(a)).cloned();
            // A well that is hardly deeper shows only when it is exact.
            let others = self.others.drain(..).chain(found).collect();
            let nearly = apart(others, &self.best, self.penalty, spec.lower.space.bounds(), share).into_iter().next();
            let close = |a: &Answer| merit(a) < merit(&self.best) + CLOSE * self.range;
            self.rough.extend(best.or(nearly.filter(close).filter(|_| self.thorough)));
        }
        self.next_polish(true, spec, streams, knowledge);
    }

    /// Takes an answer that was made as exact as its search could.
    fn polished(&mut self, found: Answer, spec: &ProblemSpec, streams: Streams, knowledge: &Knowledge) {
        let settled = found.settled;
        if self.collects {
            self.minima.push(found.clone());
        }
        self.take_better(found, 0.0);
        self.next_polish(settled, spec, streams, knowledge);
    }

    fn next_polish(&mut self, settled: bool, spec: &ProblemSpec, streams: Streams, knowledge: &Knowledge) {
        match self.rough.pop() {
            Some(rough) if !rough.outcome.is_failed() => self.stage = Stage::Polish(Box::new(Polish::new(spec, rough))),
            _ => self.open_fine(if settled { PENALTIES.len() } else { 0 }, spec, streams, knowledge),
        }
    }

    /// The local search under the penalty at this index, or the end if there is none.
    fn open_fine(&mut self, next: usize, spec: &ProblemSpec, streams: Streams, knowledge: &Knowledge) {
        if let Some(factor) = PENALTIES.get(next) {
            self.stage = Stage::Fine(next);
            self.penalty = factor * knowledge.penalty;
            self.units = Coordinates::of_box(spec.upper.dim(), spec.lower.space.bounds(), REGIONS.1);
            let effort = Effort {
                evaluations: GENERATIONS.1 * knowledge.params.population,
                tolerance: 0.0,
                gain: GAINS.1,
                region: 1.0,
            };
            let stream = streams.open(Purpose::Recheck, self.generation, 100 + next as u64);
            let search = Follower::from_answer(self.solution.x.clone(), self.best.clone(), effort, stream);
            self.searches = Searches::new(vec![search]);
        } else {
            let before = &self.solution.answer;
            let elsewhere = differs(&self.best.y, &before.y, spec.lower.space.bounds());
            let margin = if elsewhere && !self.takes_sides { CLEAR } else { EXPOSED };
            let better = self.best.repairs(before) || self.best.exposes(before, 0.0, margin);
            self.stage = Stage::Judge(better);
            let minima = std::mem::take(&mut self.minima);
            let feasible = minima.into_iter().filter(|a| a.outcome.violation <= FEASIBLE).collect();
            self.minima = apart(feasible, &self.best, 0.0, spec.lower.space.bounds(), DIFFERENT);
            if !better && self.minima.is_empty() && self.line.is_empty() {
                self.stage = Stage::Ended;
            }
        }
    }
}

/// The best of the answers that differ from each other and from `best`.
fn apart(mut answers: Vec<Answer>, best: &Answer, penalty: f64, bounds: &[(f64, f64)], share: f64) -> Vec<Answer> {
    answers.sort_by(|a, b| a.merit(penalty).total_cmp(&b.merit(penalty)));
    let mut kept: Vec<Answer> = Vec::new();
    for answer in answers {
        let new = |other: &Answer| differs_by(share, &answer.y, &other.y, bounds);
        let new = new(best) && kept.iter().all(new);
        if new && kept.len() < OTHERS {
            kept.push(answer);
        }
    }
    kept
}
