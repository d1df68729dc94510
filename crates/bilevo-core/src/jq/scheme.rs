//! The method as a citizen of the engine.

use super::descent::Descent;
use super::follower::FEASIBLE;
use super::population::Origin;
use super::searches::answer;
use super::solution::Solution;
use super::{JointQuadratic, Phase, world};
use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::engine::{Outlook, Readings, RunView, Scheme, SchemeSetup};
use crate::problem::Level;
use crate::record::{StopReason, Verification};

/// Restarts and populations that must agree where a run goes on to the end of its budget.
const ENOUGH: (usize, usize) = (3, 1);

impl Scheme for JointQuadratic {
    fn open(&mut self, run: &mut RunView<'_>) {
        self.advance(true, run);
    }

    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        let wanted = std::mem::take(&mut self.wanted);
        match &mut self.phase {
            Phase::Descend(descent) => {
                descent.tell(answers);
                self.judged = batch.level() == Level::Upper;
                if batch.level() == Level::Lower {
                    for i in 0..batch.len() {
                        let told = answer(batch.y(i).to_vec(), &answers, i);
                        self.knowledge.note(self.population.model(), batch.x(i), &told);
                    }
                }
            }
            Phase::Search => {
                let mut world = world(&self.config, &mut self.knowledge, run);
                self.population.tell(&mut world, &wanted, &answers);
            }
            Phase::Recheck(check) | Phase::CrossCheck(check) | Phase::LastLook(check) => {
                check.tell(run.spec, &mut self.knowledge, &wanted, &answers);
            }
            Phase::Border(border) => border.tell(run.spec, &wanted, &answers),
            Phase::Finished => {}
        }
        self.advance(false, run);
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        if let Phase::Descend(descent) = &self.phase {
            let reached = self.descended(descent, run.spec).filter(|s| !s.upper.is_failed());
            let incumbent = self.population.incumbent.as_ref().filter(|s| self.finished && s.answer.settled);
            let unchecked = reached.iter().chain(incumbent).filter(|_| !self.is_wary() || self.elite.is_none());
            let best = self.elite.iter().chain(unchecked).min_by(|a, b| a.compare(b));
            *run.elite = best.map(Solution::as_solved);
            return Outlook { best: None, all_failed: best.is_none(), stop: None };
        }
        *run.elite = self.best();
        let checked = !self.ties.is_leaning() && (!self.is_wary() || self.elite.is_none());
        let latest = self.population.latest.as_ref().filter(|_| checked);
        Outlook {
            best: latest.map(Solution::as_solved),
            all_failed: matches!(self.phase, Phase::Search) && self.population.fruitless,
            stop: matches!(self.phase, Phase::Finished).then_some(StopReason::Agreed),
        }
    }

    /// A descent from there, or where there are none a population.
    fn restart(&mut self, setup: SchemeSetup<'_>, start: &[f64]) {
        self.wanted.clear();
        self.judged = false;
        self.population.incumbent = None;
        if self.descent_budget > 0 {
            self.begin_descent();
            self.phase = Phase::Descend(Box::new(Descent::new(setup.spec, start, self.descent_budget)));
        } else {
            self.populate(setup.spec, setup.streams, Origin::Near(start, 1.0), 0.0);
        }
    }

    fn is_refining(&self) -> bool {
        matches!(self.phase, Phase::Recheck(_) | Phase::CrossCheck(_) | Phase::LastLook(_))
            || self.population.is_verifying()
    }

    fn rechecked(&self) -> Option<Solved> {
        let feasible = |s: &&Solution| s.upper.violation <= FEASIBLE && s.answer.outcome.violation <= FEASIBLE;
        self.elite.as_ref().filter(feasible).map(Solution::as_solved)
    }

    fn restarts(&self) -> bool {
        true
    }

    fn training_due(&self) -> bool {
        self.population.allocator.training_due()
    }

    fn train(&mut self, generation: u64) {
        self.population.allocator.train(generation);
    }

    fn model_summary(&self) -> crate::record::ModelSummary {
        self.population.allocator.model_summary()
    }

    fn verification(&self, solution: &Solved) -> Option<Verification> {
        let rechecked = self.is_elite(solution);
        let (all, populations) = self.config.jq.effort.agreement().unwrap_or(ENOUGH);
        Some(Verification {
            settled: solution.converged,
            rechecked,
            agreed: rechecked && self.agreeing.0 >= all && self.agreeing.1 >= populations,
            agreeing: if rechecked { self.agreeing.0 as u64 } else { 0 },
            restarts: self.restarts + self.descents,
            rechecks: self.rechecks.0,
            corrected: self.rechecks.1,
        })
    }

    fn readings(&self) -> Readings {
        self.population.readings()
    }
}
