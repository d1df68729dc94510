//! The closing of a generation: who is the incumbent, what is learnt, whether to go on.

use super::{Population, Stage};
use crate::candidate::Solved;
use crate::portfolio::claim::Claim;
use crate::portfolio::next::NARROW;
use crate::portfolio::search::{End, Goal, Ground, Rows};
use crate::problem::Outcome;

/// The distribution has collapsed if its longest axis is shorter than this.
const COLLAPSED: f64 = 1e-9;
/// A population ends after this many generations in a row whose F differ by less than this share of F's scale.
const FLAT: (f64, usize) = (1e-10, 2);
/// An incumbent that is better by less than this share of F's scale is no progress: a descent does the rest.
const GAIN: f64 = 1e-6;
/// How often a corrected incumbent restarts the record.
const BEGINNINGS: usize = 5;
/// The factor for the price of violation while the incumbent is infeasible, and otherwise.
const PRICE: (f64, f64) = (1.5, 0.7);
/// The number of answers, in populations, that are remembered to predict others.
const MEMORY: usize = 4;

impl Population {
    /// Takes the refined answers with their F, and closes the generation.
    pub(super) fn confirm(&mut self, ground: &Ground<'_>, rows: &Rows) {
        self.clock.0 += rows.len() as u64;
        let refined = self.answers();
        for (mut claim, row) in refined.into_iter().zip(rows).filter(|(_, row)| !row.is_empty()) {
            claim.upper.clone_from(row);
            if self.incumbent.as_ref().is_some_and(|incumbent| incumbent.x == claim.x) {
                // The incumbent, and perhaps the record too, owed its value to an answer that is not the follower's.
                // But if every correction restarted the record, a population that is corrected again and again would
                // never end.
                if self.corrected < BEGINNINGS {
                    self.corrected += 1;
                    self.record = None;
                }
                self.rivals.push((claim.x.clone(), claim.y.clone()));
                self.incumbent = Some(claim.clone());
            }
            let known = self.solutions.iter_mut().chain(&mut self.judged).filter(|s| s.x == claim.x);
            known.for_each(|s| s.clone_from(&claim));
        }
        self.close(ground);
    }

    /// Decides who is the incumbent, what is learnt, and whether to continue.
    pub(super) fn close(&mut self, ground: &Ground<'_>) {
        let best = self.best(ground).map(|i| self.solutions[i].clone());
        let former = self.judged.iter().filter(|c| c.settled && !c.upper.is_empty());
        let former = former.min_by(|a, b| self.merit(ground, a).total_cmp(&self.merit(ground, b))).cloned();
        for claim in best.into_iter().chain(former) {
            let merit = self.merit(ground, &claim);
            if self.incumbent.as_ref().is_none_or(|incumbent| merit < self.merit(ground, incumbent)) {
                self.incumbent = Some(claim);
            }
        }
        self.watch(ground);
        self.is_flat(ground);
        self.update(ground);
        let feasible = self.incumbent.as_ref().is_some_and(|c| ground.scales.is_feasible(c));
        self.price *= if feasible { PRICE.1 } else { PRICE.0 };
        self.judged.append(&mut self.solutions);
        let old = self.judged.len().saturating_sub(MEMORY * self.params.population);
        self.judged.drain(..old);
        self.stage = Stage::Open;
        let arrived =
            |goal: &Goal| self.incumbent.as_ref().is_some_and(|c| c.settled && goal.is_reached(&c.x, &c.y, c.value()));
        // If nothing feasible was found it narrows further, but not forever.
        let narrow = if feasible { self.narrow } else { NARROW * self.narrow };
        self.end = if self.goal.as_ref().is_some_and(arrived) {
            Some(End::Arrived)
        } else if self.narrowed() < narrow {
            Some(End::Converged)
        } else if self.clock.0 - self.clock.1 > self.patience || self.flat >= FLAT.1 || self.cma.reach() < COLLAPSED {
            Some(End::Spent)
        } else {
            None
        };
    }

    /// Records progress: an incumbent that is better than all before at the current price of violation.
    pub(super) fn watch(&mut self, ground: &Ground<'_>) {
        let Some(incumbent) = &self.incumbent else { return };
        let scales = ground.scales;
        let progress = self.record.as_ref().is_none_or(|record| {
            let gain = (record.value() - incumbent.value()) / scales.leader();
            let relief = scales.violation(record) - scales.violation(incumbent);
            scales.compare(incumbent, record).is_lt() && gain.max(relief) > GAIN
        });
        if progress {
            self.record = Some(incumbent.clone());
            self.clock.1 = self.clock.0;
        }
    }

    fn is_flat(&mut self, ground: &Ground<'_>) {
        let merits: Vec<f64> = self.solutions.iter().map(|s| self.merit(ground, s)).filter(|m| m.is_finite()).collect();
        let (low, high) = merits.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), m| (l.min(*m), h.max(*m)));
        let flat = merits.len() > 1 && high - low <= FLAT.0 * ground.scales.leader();
        self.flat = if flat { self.flat + 1 } else { 0 };
    }

    fn update(&mut self, ground: &Ground<'_>) {
        let mut parents: Vec<(f64, Vec<f64>)> =
            self.solutions.iter().map(|s| (self.merit(ground, s), s.point())).filter(|p| p.0.is_finite()).collect();
        if let Some(incumbent) =
            self.incumbent.as_ref().filter(|_| self.recall > 0 && self.generation.is_multiple_of(self.recall))
        {
            let merit = self.merit(ground, incumbent);
            if parents.iter().all(|p| merit < p.0) {
                parents.push((merit, incumbent.point()));
            }
        }
        parents.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.cma.update(&self.params, parents.iter().map(|p| p.1.as_slice()), &mut self.scratch);
        let solved = |s: &Claim| Solved {
            x: s.x.clone(),
            y: s.y.clone(),
            upper: match self.merit(ground, s) {
                merit if merit.is_finite() => Outcome { value: merit, violation: 0.0 },
                _ => Outcome::FAILED,
            },
            upper_constraints: Vec::new(),
            lower: Outcome { value: s.lower[0], violation: 0.0 },
            converged: s.settled,
        };
        let solved: Vec<Solved> = self.solutions.iter().map(solved).collect();
        self.allocator.learn(&solved);
    }
}
