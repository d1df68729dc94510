//! One descent: from its current decision to a better neighbour.

use super::{Descent, Descents, Stand};
use crate::order;
use crate::portfolio::follower::{Effort, Follower};
use crate::problem::Outcome;
use crate::whole::{self, Mixed, key};

/// Exchanges tried around an end, per variable.
const EXCHANGES: usize = 2;
/// After this many steps to a known decision, a search over the real variables ends.
const AGAIN: usize = 3;
/// Steps of the real variables: first trust radius, and accuracy.
const REALS: (f64, f64) = (whole::REACH, 1e-5);
/// Evaluations of one search over the real variables: per variable, and in addition.
const EFFORT: (usize, usize) = (30, 20);

impl Descents {
    /// The next point of the search over the real variables, and the most promising neighbours.
    pub(super) fn around(&mut self, descent: &mut Descent, mut at: Stand, places: usize) -> Vec<Vec<f64>> {
        // Known decisions cost nothing. But a descent that only followed the tracks of others would end where they
        // did, which would be no evidence. So untried neighbours that promise more come first.
        while let Some(better) = self.known_better(&at) {
            let (near, moves) = self.mixed.neighbours(&at.x);
            let evidence = descent.far && !self.ends.is_empty();
            let room = if evidence { self.room(descent, moves, places) } else { 0 };
            let mut hopeful = if room > 0 { self.ranked(&at, near, &better.outcome) } else { Vec::new() };
            hopeful.truncate(room);
            if !hopeful.is_empty() {
                descent.tries += hopeful.len();
                return hopeful;
            }
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
        // While the real variables are far from converged, neighbours are judged together with other real values.
        let (near, moves) = self.mixed.neighbours(&at.x);
        let room = self.room(descent, moves, places - wanted.len().min(places));
        if room > 0 && !near.is_empty() {
            let mut ranked = self.ranked(at, near, &Outcome::FAILED);
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

    /// How many more neighbours to try around the current decision.
    fn room(&self, descent: &Descent, moves: usize, places: usize) -> usize {
        let most = moves + EXCHANGES * self.mixed.space.dim();
        places.min(most.saturating_sub(descent.tries))
    }

    /// Whether a descent can stop because an earlier one ended here: with the same whole numbers, and a value at
    /// least as good.
    pub(super) fn arrived(&self, end: &Stand, at: &Stand) -> bool {
        self.whole_key(&end.x) == self.whole_key(&at.x) && !order::better(&at.outcome, &end.outcome)
    }

    /// The best neighbour that was already tried, if it is better.
    fn known_better(&self, at: &Stand) -> Option<Stand> {
        let near = self.mixed.neighbours(&at.x).0;
        let known = near.iter().filter_map(|x| self.wholes.get(&self.whole_key(x))?.1.as_ref());
        let best = known.min_by(|a, b| order::compare(&a.outcome, &b.outcome))?;
        order::better(&best.outcome, &at.outcome).then(|| best.clone())
    }

    /// The next point of the search over the real variables.
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
            // Already known: a step that failed.
            search.tell(&unit, &[], &self.knowledge.merit);
        }
        None
    }
}

impl Descent {
    /// Moves to a decision if it is better. The search over the real variables continues if the whole numbers stay
    /// the same.
    pub(super) fn move_to(&mut self, stand: Stand, mixed: &Mixed) {
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
