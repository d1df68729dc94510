//! The default method where the follower has its own solver: a search over the leader's decisions alone.
//!
//! y is what the solver answers, so that Φ(x) = F(x, y(x)) and G(x, y(x)) are functions of x, one call of
//! the solver for each point. A few decisions spread over the box come first. Then descents: each is a
//! trust-region search on a Gaussian process of Φ and G around its best point
//! (`portfolio::follower`, without an x of its own), from the best decision known and then from the best of some
//! places that promise most by a model of the whole box (`overview.rs`). A descent that comes near the end of an
//! earlier one ends there and counts as agreeing. What a descent claims is looked at along every variable
//! before it counts: a model may be blind for a step of the function. The run ends when enough descents
//! agree on the best value.
//!
//! A restart that lacks much to the best end and hardly gains is given up.
//!
//! Where the function jumps, descents end at the nearest step and may agree on it. A jump shows: close to
//! where a descent ended the values differ by more than any slope explains, or are the same over some
//! distance. From then on populations over the whole box are the restarts, each ends at the edge of its
//! step by a pattern, looks from there at other steps (`population.rs`, `pattern.rs`, `exchange.rs`, `brink.rs`, `edge.rs`), and
//! only they count as agreeing.
//!
//! Nothing but the answers is asked of the solver: it may fail in part of the box, and jump.
//!
//! Randomness: `Purpose::Start` for the first decisions, `Purpose::Sample` for each new start.
//! Sources: trust regions on Gaussian processes (Eriksson et al., 2019; Wild and Shoemaker, 2013), where to
//! start by the improvement to be expected (Jones, Schonlau and Welch, 1998).

mod brink;
mod descent;
mod edge;
mod exchange;
mod overview;
mod pattern;
mod population;
mod search;
pub(crate) mod starts;

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{Known, Outlook, Readings, RunView, Scheme, SchemeFacts, SchemeSetup, best_pair};
use crate::oracle::OracleAnswer;
use crate::order;
use crate::portfolio::archive::{Learner, Points, distance};
use crate::portfolio::config::Effort;
use crate::portfolio::follower::Knowledge;
use crate::portfolio::merit::Merit;
use crate::problem::{Level, Outcome, ProblemSpec};
use crate::record::{StopReason, Verification};
use crate::rng::Purpose;
use crate::space::Space;
use overview::Overview;
use search::{Search, Surroundings};
use serde::{Deserialize, Serialize};

/// First lengths of the kernel, in units of the box.
const LENGTH: f64 = 0.3;
/// Decisions before the first descent, for each variable and in addition, and at least and most.
const FIRST: [usize; 4] = [2, 1, 4, 25];
/// Values closer than this part of the spread of all values are the same; at edges and kinks, which are found
/// less exactly, the second.
const SAME: (f64, f64) = (1e-6, 1e-4);
/// Ends this close (in units of the box) are one even if their values differ as much as at kinks: a solver's
/// tolerance makes them differ.
const NEAR: f64 = 0.05;
/// Descents without a better value after which a run ends though too few agree, times its patience.
const FRUITLESS: usize = 8;
/// More variables than this want one population more.
const MANY: usize = 3;
/// A function jumps if values this close (in units of the box) differ by more than this many times their
/// distance, and by this much, in units of their spread.
const JUMP: (f64, f64, f64) = (0.01, 20.0, 2e-3);
/// It has plateaus if this many points this far away have the very same values.
const PLATEAU: (usize, f64) = (2, 1e-3);

/// The state of the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Leader {
    space: Space,
    /// When a run ends; none: when its budget is spent.
    patience: Option<Patience>,
    /// Every decision that did not fail, in unit coordinates, with Φ and G.
    points: Points,
    /// What was learnt from them, and how they are judged.
    knowledge: Knowledge,
    /// What is known all over the box.
    overview: Overview,
    /// Decisions that failed.
    failed: Vec<Vec<f64>>,
    /// Decisions that are to be asked about first, before others spread over the box.
    starts: Vec<Vec<f64>>,
    /// Points that are asked about now or next, in unit coordinates.
    asked: Vec<Vec<f64>>,
    /// The same with the solver's answers.
    answered: Vec<Solved>,
    /// The search under way; none while the first decisions are evaluated.
    search: Option<Search>,
    /// Where searches ended.
    ends: Vec<End>,
    /// Searches since the best value got better.
    fruitless: usize,
    /// Whether the function was seen to jump.
    jumps: bool,
    stop: Option<StopReason>,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Patience {
    /// Descents that must agree; populations where the function jumps.
    descents: usize,
    populations: usize,
}

impl Patience {
    fn new(effort: Effort, dim: usize) -> Option<Self> {
        let (descents, populations) = match effort {
            Effort::Local | Effort::Quick => (1, 0),
            Effort::Normal => (3, 2),
            Effort::Thorough => (5, 4),
            Effort::Budget => return None,
        };
        // With more variables there are more steps for two populations to miss.
        let populations = populations + usize::from(populations > 0 && dim > MANY);
        Some(Patience { descents, populations })
    }

    /// Whether one search is all there is.
    fn is_short(self) -> bool {
        self.descents == 1
    }
}

/// A decision in unit coordinates, with Φ and G there (none if it failed) and what they are worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Point {
    at: Vec<f64>,
    row: Vec<f64>,
    outcome: Outcome,
}

/// Where searches ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct End {
    point: Point,
    /// How many came there, and how many of them were populations.
    count: usize,
    wide: usize,
}

/// A generation in words.
fn steps(_: &Config) -> Vec<String> {
    let steps = [
        "Ask the follower's own solver about a decision, or about several at the start of a search.",
        "Evaluate the leader's objective and constraints at the answers.",
        "Step to the minimiser of a Gaussian process of them within a trust radius, or to where it learns most.",
        "When a search has ended, start another elsewhere, until enough end at the same value.",
    ];
    steps.map(String::from).into()
}

impl Leader {
    pub(crate) const FACTS: SchemeFacts = SchemeFacts {
        steps,
        fits: ProblemSpec::is_oracle_alone,
        for_problems: "a follower with its own solver and nothing else",
        with_solver: None,
        budget: 1,
        position: 1e-2,
        own_time: None,
    };

    /// A search that has seen nothing yet.
    pub fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, .. } = setup;
        let learner = Learner::lasting(vec![LENGTH; spec.upper.dim()]);
        let merit = Merit::new(spec.upper.inequalities, spec.upper.equalities);
        Leader {
            space: spec.upper.space.clone(),
            patience: Patience::new(config.portfolio.effort, spec.upper.dim()),
            points: Points::new(spec.upper.dim(), 1 + spec.upper.constraints()),
            knowledge: Knowledge { learner, merit },
            overview: Overview::new(spec.upper.dim()),
            failed: Vec::new(),
            starts: Vec::new(),
            asked: Vec::new(),
            answered: Vec::new(),
            search: None,
            ends: Vec::new(),
            fruitless: 0,
            jumps: false,
            stop: None,
        }
    }

    /// Plans what to ask next: points of the search under way, or of a new one.
    fn plan(&mut self, run: &RunView<'_>) {
        if self.points.len() == 0 {
            let round = self.failed.len() as u64;
            self.asked = std::mem::take(&mut self.starts);
            for point in starts::spread(&self.space, self.first(), &mut run.stream(Purpose::Start, round)) {
                if !self.asked.contains(&point) {
                    self.asked.push(point);
                }
            }
        }
        while self.asked.is_empty() && self.stop.is_none() {
            match self.search.take() {
                Some(search) if search.over().is_some() => self.finish(&search),
                Some(search) => self.go_on(search, run),
                None => self.start(run),
            }
        }
    }

    /// Asks for the next points of the search under way.
    fn go_on(&mut self, mut search: Search, run: &RunView<'_>) {
        let point = |at: &[f64], row: &[f64]| judged(run, at, row);
        let spread = self.spread(0, usize::MAX);
        let same = (SAME.0 * spread, SAME.1 * spread);
        let Leader { points, knowledge, overview, failed, ends, space, .. } = self;
        let with = Surroundings { points, knowledge, overview, failed, ends, space, same, point: &point };
        let mut wanted = search.next(with, &mut run.stream(Purpose::Sample, 1));
        let some = !wanted.is_empty();
        wanted.retain(|point| !self.is_known(point));
        // Whole numbers and bounds may move a point onto a known one, which says nothing new.
        if some && wanted.is_empty() {
            search.refuse();
        }
        self.asked = wanted;
        self.search = Some(search);
    }

    /// Starts a descent from the best decision known, and later from elsewhere; where the function jumps,
    /// a population.
    fn start(&mut self, run: &RunView<'_>) {
        let points = &self.points;
        let of = |index: usize| self.outcome(run, points.values(index));
        let best = (0..points.len()).min_by(|&i, &j| order::compare(&of(i), &of(j)));
        let looks = self.patience.is_none_or(|patience| !patience.is_short());
        if let Some(best) = best.filter(|_| self.ends.is_empty() && self.fruitless == 0) {
            self.search = Some(Search::descent(points.point(best).to_vec(), points.values(best).to_vec(), looks));
        } else if self.jumps {
            self.search = Some(Search::population());
        } else {
            self.search = Some(Search::elsewhere());
        }
    }

    fn is_known(&self, point: &[f64]) -> bool {
        (0..self.points.len()).any(|i| self.points.point(i) == point) || self.failed.iter().any(|f| f == point)
    }

    fn outcome(&self, run: &RunView<'_>, row: &[f64]) -> Outcome {
        judged(run, &[], row).outcome
    }

    /// Counts where a search ended, and decides whether that is enough.
    fn finish(&mut self, search: &Search) {
        let best = |ends: &[End]| ends.iter().map(|end| end.point.outcome).min_by(order::compare);
        let before = best(&self.ends);
        if let Some((Some(point), at)) = search.over() {
            self.jumps |= self.patience.is_none_or(|patience| !patience.is_short()) && self.jumps_at(point);
            self.count(search, point, at);
        }
        let now = best(&self.ends);
        let better = now.is_some_and(|now| before.is_none_or(|before| order::better(&now, &before)));
        self.fruitless = if better { 0 } else { self.fruitless + 1 };
        let Some(Patience { descents, populations }) = self.patience else { return };
        let enough = |end: &End| if self.jumps { end.wide >= populations } else { end.count >= descents };
        let agree = |end: &End| Some(end.point.outcome) == now && enough(end) && end.point.outcome.is_feasible();
        if self.ends.iter().any(agree) {
            self.stop = Some(StopReason::Agreed);
        } else if self.fruitless >= FRUITLESS * if self.jumps { 1 } else { descents } {
            self.stop = Some(StopReason::Flat);
        }
    }

    /// Adds where a search ended to the ends, an earlier one if it is given.
    fn count(&mut self, search: &Search, point: &Point, at: Option<usize>) {
        let spread = self.spread(0, usize::MAX) * if self.jumps || search.compared() { SAME.1 } else { SAME.0 };
        let loose = self.spread(0, usize::MAX) * SAME.1;
        let same = |end: &End| {
            let differ = (end.point.outcome.value - point.outcome.value).abs();
            let near = differ <= loose && distance(&end.point.at, &point.at) <= NEAR;
            end.point.outcome.is_feasible() == point.outcome.is_feasible() && (differ <= spread || near)
        };
        let wide = usize::from(search.wide);
        match at.or_else(|| self.ends.iter().position(same)) {
            None => self.ends.push(End { point: point.clone(), count: 1, wide }),
            Some(index) => {
                // A descent that found nothing better than its start is no evidence: on a plateau all
                // values agree.
                let counts = at.is_some() || search.gain(point, &self.knowledge) > spread;
                let end = &mut self.ends[index];
                end.count += usize::from(counts);
                end.wide += wide;
                if order::better(&point.outcome, &end.point.outcome) {
                    end.point = point.clone();
                }
            }
        }
    }

    /// Whether the function jumps next to a point, or is constant around it.
    fn jumps_at(&self, point: &Point) -> bool {
        // Among decisions all over the box: later ones gather where it is flat.
        let spreads: Vec<f64> = (0..point.row.len()).map(|column| self.spread(column, self.first())).collect();
        let points = &self.points;
        let mut same = 0;
        (0..points.len()).any(|index| {
            let distance = points.point(index).iter().zip(&point.at).fold(0.0, |d: f64, (a, b)| d.max((a - b).abs()));
            let row = points.values(index);
            let leap = |(column, spread): (usize, &f64)| {
                (row[column] - point.row[column]).abs() > (JUMP.1 * distance).max(JUMP.2) * spread
            };
            same += usize::from(distance > PLATEAU.1 && row == point.row);
            same >= PLATEAU.0 || (distance > 0.0 && distance <= JUMP.0 && spreads.iter().enumerate().any(leap))
        })
    }

    /// How many decisions are spread over the box before the first descent.
    fn first(&self) -> usize {
        let [each, more, least, most] = FIRST;
        (each * self.space.dim() + more).clamp(least, most)
    }

    /// The difference between the quartiles of the first values of Φ or of a constraint.
    fn spread(&self, column: usize, first: usize) -> f64 {
        let points = &self.points;
        let mut values: Vec<f64> = (0..points.len().min(first)).map(|i| points.values(i)[column]).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: usize| values.get(values.len() * share / 4).copied().unwrap_or(0.0);
        (at(3) - at(1)).abs().max(f64::MIN_POSITIVE)
    }

    /// Asks the solver about decisions.
    fn ask(&mut self, run: &mut RunView<'_>) {
        if self.asked.is_empty() {
            self.plan(run);
        }
        run.ask(Level::Lower);
        if self.asked.is_empty() || run.lower_budget_is_spent {
            return;
        }
        run.searches.run += self.asked.len() as u64;
        run.batch.ask_follower();
        for point in &self.asked {
            run.batch.push(&self.space.from_unit(point));
        }
    }

    /// Takes the solver's answers; asks what they are worth.
    fn take_answers(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        let solved = |(index, (answer, outcome)): (usize, (&OracleAnswer, &Outcome))| Solved {
            x: batch.x(index).to_vec(),
            y: answer.y.clone(),
            upper: Outcome::FAILED,
            upper_constraints: Vec::new(),
            lower: *outcome,
            converged: !outcome.is_failed(),
        };
        self.answered = answers.given.iter().zip(answers.outcomes).enumerate().map(solved).collect();
        let usable: Vec<Solved> = self.answered.iter().filter(|s| s.converged).cloned().collect();
        if usable.is_empty() {
            self.learn(run);
        } else {
            run.ask_upper(&usable);
        }
    }

    /// Learns from the decisions asked about.
    fn learn(&mut self, run: &mut RunView<'_>) {
        for (point, solved) in std::mem::take(&mut self.asked).into_iter().zip(std::mem::take(&mut self.answered)) {
            let row = match solved.upper.is_failed() {
                true => Vec::new(),
                false => [&[solved.upper.value], &solved.upper_constraints[..]].concat(),
            };
            if row.is_empty() {
                self.failed.push(point.clone());
            } else {
                self.points.push(&point, &row);
            }
            let told = Point { at: point, row, outcome: solved.upper };
            self.overview.learn(if told.row.is_empty() { None } else { Some(self.knowledge.merit.of(&told.row)) });
            self.search.iter_mut().for_each(|search| search.tell(&told, &self.knowledge));
            let beats = |elite: &Solved| order::better(&solved.upper, &elite.upper);
            if !told.row.is_empty() && run.elite.as_ref().is_none_or(beats) {
                *run.elite = Some(solved);
            }
        }
    }
}

/// A point of the search with what its values are worth.
fn judged(run: &RunView<'_>, at: &[f64], row: &[f64]) -> Point {
    let violation = run.spec.violation(Level::Upper, &row[1..]);
    Point { at: at.to_vec(), row: row.to_vec(), outcome: Outcome { value: row[0], violation } }
}

impl Scheme for Leader {
    fn open(&mut self, run: &mut RunView<'_>) {
        self.ask(run);
    }

    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        if batch.asks_follower() {
            self.take_answers(batch, answers, run);
            return;
        }
        let usable = self.answered.iter_mut().filter(|s| s.converged);
        for (index, (solved, outcome)) in usable.zip(answers.outcomes).enumerate() {
            solved.judge(run.spec, outcome, answers.constraints(index));
        }
        self.learn(run);
    }

    fn restart(&mut self, _setup: SchemeSetup<'_>, start: &[f64]) {
        self.search = None;
        self.asked = vec![self.space.to_unit(&start[..self.space.dim()])];
    }

    fn begin_at(&mut self, _setup: SchemeSetup<'_>, starts: &[Vec<f64>], _answered: bool) -> usize {
        let units = starts.iter().map(|start| self.space.to_unit(&start[..self.space.dim()]));
        // What is known comes with decisions of its own, which wait already.
        let first = if self.asked.is_empty() { &mut self.starts } else { &mut self.asked };
        first.splice(0..0, units);
        starts.len()
    }

    /// The best decision is asked about first, which costs nothing; others all over the box only where few
    /// are known.
    fn recall(&mut self, setup: SchemeSetup<'_>, known: &[Known]) -> bool {
        let Some(best) = best_pair(setup.spec, known) else { return false };
        let unit = |index: usize| self.space.to_unit(&known[index].point[..self.space.dim()]);
        for index in (0..known.len()).filter(|index| *index != best) {
            let (point, row) = (unit(index), known[index].upper.as_deref().unwrap_or_default());
            self.points.push(&point, row);
        }
        let lacking = self.first().saturating_sub(self.points.len());
        let spread = starts::spread(&self.space, lacking, &mut setup.streams.open(Purpose::Start, 0, 0));
        self.asked = [vec![unit(best)], spread].concat();
        true
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        let all_failed = self.points.len() == 0;
        self.plan(run);
        Outlook { best: run.elite.clone(), all_failed, stop: self.stop }
    }

    fn restarts(&self) -> bool {
        true
    }

    fn verification(&self, solution: &Solved) -> Option<Verification> {
        let near = |end: &&End| end.point.outcome.value == solution.upper.value;
        let agreeing = self.ends.iter().find(near).map_or(0, |end| end.count as u64);
        let restarts = self.ends.iter().map(|end| end.count as u64).sum();
        let agreed = self.stop == Some(StopReason::Agreed);
        Some(Verification { settled: true, agreed, agreeing, restarts, ..Verification::default() })
    }

    fn readings(&self) -> Readings {
        let step_size = self.search.as_ref().map_or(f64::NAN, Search::radius);
        Readings { step_size, axis_ratio: 1.0, model: None }
    }
}
