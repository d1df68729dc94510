//! Where descents start and where they ended, and whether enough of them agree.

use super::{Descent, Descents, Stand};
use crate::leader::starts;
use crate::order;
use crate::record::StopReason;
use crate::rng::Stream;
use crate::space::Space;

/// The run ends after this many descents without a better value.
const FRUITLESS: usize = 10;

impl Descents {
    /// A descent from the best decision if none ended there, otherwise from elsewhere.
    pub(super) fn start(&mut self, places: usize, stream: &mut Stream) -> Option<Descent> {
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
                let rest: Vec<Vec<f64>> = self.untried().chain(self.doubtful()).take(places).collect();
                let over = if self.unanswered.is_empty() { StopReason::Exhausted } else { StopReason::Flat };
                self.over = rest.is_empty().then_some(over);
                (!rest.is_empty()).then(|| new(None, rest))
            }
            None => {
                self.over = Some(StopReason::Flat);
                None
            }
        }
    }

    /// Records where a descent ended, and whether that is enough.
    pub(super) fn finish(&mut self, descent: Descent) {
        let best = |ends: &[(Stand, usize)]| ends.iter().map(|end| end.0.outcome).min_by(order::compare);
        let before = best(&self.ends);
        self.fruitless += 1;
        if let Some(at) = descent.at {
            // Another decision with the same value is no evidence: it may be a plateau.
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
}
