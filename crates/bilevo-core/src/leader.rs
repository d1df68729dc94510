//! The default method where the follower has its own solver: a search over the leader's decisions alone.
//!
//! y is what the solver answers, so that Φ(x) = F(x, y(x)) and G(x, y(x)) are functions of x, one call of
//! the solver for each point. A few decisions spread over the box come first. Then descents: each is a
//! trust-region search on a Gaussian process of Φ and G around its best point
//! (`jq::descent::follower`, without an x of its own), from the best decision known and
//! then from places that are far from all others or promise much. A descent that comes near the end of an
//! earlier one ends there and counts as agreeing. What a descent claims is looked at along every variable
//! before it counts: a model may be blind for a step of the function. The run ends when enough descents
//! agree on the best value.
//!
//! Nothing but the answers is asked of the solver: it may fail in part of the box, and jump.
//!
//! Randomness: `Purpose::Start` for the first decisions, `Purpose::Sample` for each new start.
//! Sources: trust regions on Gaussian processes (Eriksson et al., 2019; Wild and Shoemaker, 2013), where to
//! start by value and distance (Regis and Shoemaker, 2007).

mod descent;
mod starts;

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{Outlook, Readings, RunView, Scheme, SchemeFacts, SchemeSetup};
use crate::jq::config::Effort;
use crate::jq::descent::archive::{Archive, Data};
use crate::jq::descent::follower::Knowledge;
use crate::jq::descent::merit::Merit;
use crate::oracle::OracleAnswer;
use crate::order;
use crate::problem::{Level, Outcome};
use crate::record::{StopReason, Verification};
use crate::rng::Purpose;
use crate::space::Space;
use descent::Descent;
use serde::{Deserialize, Serialize};

/// First lengths of the kernel, in units of the box.
const LENGTH: f64 = 0.3;
/// Values closer than this part of the spread of all values are the same.
const SAME: f64 = 1e-6;
/// Descents without a better value after which a run ends though too few agree, times its patience.
const FRUITLESS: usize = 8;

/// The state of the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Leader {
    space: Space,
    /// Descents that must agree; none: until the budget is spent.
    agreement: Option<usize>,
    /// Everything that was evaluated, in unit coordinates, with Φ and G, and how it is judged.
    knowledge: Knowledge,
    /// Decisions that failed.
    failed: Vec<Vec<f64>>,
    /// Points that are asked about now or next, in unit coordinates.
    asked: Vec<Vec<f64>>,
    /// The same with the solver's answers.
    answered: Vec<Solved>,
    /// The descent under way; none while the first decisions are evaluated.
    descent: Option<Descent>,
    /// Where descents ended.
    ends: Vec<End>,
    /// Descents since the best value got better.
    fruitless: usize,
    stop: Option<StopReason>,
}

/// Where descents ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct End {
    point: Vec<f64>,
    /// Φ and G there.
    row: Vec<f64>,
    outcome: Outcome,
    /// How many came there.
    count: usize,
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
    pub(crate) const FACTS: SchemeFacts = SchemeFacts { steps };

    /// A search that has seen nothing yet.
    pub fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, .. } = setup;
        let data = Data::new(1 + spec.upper.constraints(), vec![LENGTH; spec.upper.dim()]);
        let merit = Merit::new(spec.upper.inequalities, spec.upper.equalities);
        Leader {
            space: spec.upper.space.clone(),
            agreement: match config.jq.effort {
                Effort::Quick => Some(1),
                Effort::Normal => Some(3),
                Effort::Thorough => Some(5),
                Effort::Budget => None,
            },
            knowledge: Knowledge { data, merit },
            failed: Vec::new(),
            asked: Vec::new(),
            answered: Vec::new(),
            descent: None,
            ends: Vec::new(),
            fruitless: 0,
            stop: None,
        }
    }

    fn archive(&self) -> &Archive {
        &self.knowledge.data.archive
    }

    /// Plans what to ask next: points of the descent under way, or of a new one.
    fn plan(&mut self, run: &RunView<'_>) {
        if self.archive().len() == 0 {
            let round = self.failed.len() as u64;
            self.asked = starts::spread(&self.space, &mut run.stream(Purpose::Start, round));
        }
        while self.asked.is_empty() && self.stop.is_none() {
            match self.descent.as_ref().map(Descent::over) {
                Some(None) => self.go_on(),
                Some(Some(end)) => self.finish(end, run),
                None => self.start(run),
            }
        }
    }

    /// Asks for the next points of the descent under way.
    fn go_on(&mut self) {
        let Some(mut descent) = self.descent.take() else { return };
        let mut wanted = descent.next(&mut self.knowledge, &self.ends);
        wanted.iter_mut().for_each(|point| self.space.snap(point));
        let some = !wanted.is_empty();
        wanted.retain(|point| !self.is_known(point));
        // Whole numbers and bounds may move a point onto a known one, which says nothing new.
        if some && wanted.is_empty() {
            descent.refuse();
        }
        self.asked = wanted;
        self.descent = Some(descent);
    }

    /// Starts a descent from the best decision known, or later from elsewhere.
    fn start(&mut self, run: &RunView<'_>) {
        let archive = self.archive();
        let of = |index: usize| self.outcome(run, archive.row(index));
        let best = (0..archive.len()).min_by(|&i, &j| order::compare(&of(i), &of(j)));
        let looks = self.agreement != Some(1);
        match best.filter(|_| self.ends.is_empty() && self.fruitless == 0) {
            Some(best) => {
                let (point, row) = (archive.point(best).to_vec(), archive.row(best).to_vec());
                self.descent = Some(Descent::new(point, row, looks));
            }
            None => {
                let sound = (0..archive.len()).map(|i| (archive.point(i), Some(archive.row(i)[0])));
                let known: Vec<_> = sound.chain(self.failed.iter().map(|point| (point.as_slice(), None))).collect();
                let turn = self.ends.iter().map(|end| end.count).sum();
                match starts::elsewhere(&self.space, &known, turn, &mut run.stream(Purpose::Sample, 0)) {
                    Some(start) => {
                        self.asked = vec![start.clone()];
                        self.descent = Some(Descent::new(start, Vec::new(), looks));
                    }
                    None => self.stop = Some(StopReason::Flat),
                }
            }
        }
    }

    fn is_known(&self, point: &[f64]) -> bool {
        (0..self.archive().len()).any(|i| self.archive().point(i) == point) || self.failed.iter().any(|f| f == point)
    }

    fn outcome(&self, run: &RunView<'_>, row: &[f64]) -> Outcome {
        Outcome { value: row[0], violation: run.spec.violation(Level::Upper, &row[1..]) }
    }

    /// Counts where a descent ended, an earlier end if one is given, and decides whether that is enough.
    fn finish(&mut self, at: Option<usize>, run: &RunView<'_>) {
        let Some(descent) = self.descent.take() else { return };
        let spread = self.spread();
        let best = |ends: &[End]| ends.iter().map(|end| end.outcome).min_by(order::compare);
        let before = best(&self.ends);
        let (point, row) = descent.best();
        if !row.is_empty() {
            let outcome = self.outcome(run, row);
            let same = |end: &End| {
                end.outcome.is_feasible() == outcome.is_feasible()
                    && (end.outcome.value - outcome.value).abs() <= SAME * spread
            };
            let end = End { point: point.to_vec(), row: row.to_vec(), outcome, count: 1 };
            match at.or_else(|| self.ends.iter().position(same)) {
                None => self.ends.push(end),
                Some(index) => {
                    // A descent that found nothing better than its start is no evidence: on a plateau all
                    // values agree.
                    let counts = at.is_some() || descent.gain(&self.knowledge) > SAME * spread;
                    let count = self.ends[index].count + usize::from(counts);
                    if order::better(&outcome, &self.ends[index].outcome) {
                        self.ends[index] = end;
                    }
                    self.ends[index].count = count;
                }
            }
        }
        let now = best(&self.ends);
        let better = now.is_some_and(|now| before.is_none_or(|before| order::better(&now, &before)));
        self.fruitless = if better { 0 } else { self.fruitless + 1 };
        let Some(agreement) = self.agreement else { return };
        let agree = |end: &End| Some(end.outcome) == now && end.count >= agreement && end.outcome.is_feasible();
        if self.ends.iter().any(agree) {
            self.stop = Some(StopReason::Agreed);
        } else if self.fruitless >= FRUITLESS * agreement {
            self.stop = Some(StopReason::Flat);
        }
    }

    /// The difference between the quartiles of all values.
    fn spread(&self) -> f64 {
        let archive = self.archive();
        let mut values: Vec<f64> = (0..archive.len()).map(|i| archive.row(i)[0]).collect();
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
            if !self.knowledge.data.archive.push(&point, &row) {
                self.failed.push(point.clone());
            }
            self.descent.iter_mut().for_each(|descent| descent.tell(&point, &row, &self.knowledge));
            let beats = |elite: &Solved| order::better(&solved.upper, &elite.upper);
            if !row.is_empty() && run.elite.as_ref().is_none_or(beats) {
                *run.elite = Some(solved);
            }
        }
    }
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
        self.descent = None;
        self.asked = vec![self.space.to_unit(&start[..self.space.dim()])];
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        let all_failed = self.archive().len() == 0;
        self.plan(run);
        Outlook { best: run.elite.clone(), all_failed, stop: self.stop }
    }

    fn restarts(&self) -> bool {
        true
    }

    fn verification(&self, solution: &Solved) -> Option<Verification> {
        let near = |end: &&End| end.outcome.value == solution.upper.value;
        let agreeing = self.ends.iter().find(near).map_or(0, |end| end.count as u64);
        let restarts = self.ends.iter().map(|end| end.count as u64).sum();
        let agreed = self.stop == Some(StopReason::Agreed);
        Some(Verification { settled: true, agreed, agreeing, restarts, ..Verification::default() })
    }

    fn readings(&self) -> Readings {
        let step_size = self.descent.as_ref().map_or(f64::NAN, Descent::radius);
        Readings { step_size, axis_ratio: 1.0, model: None }
    }
}
