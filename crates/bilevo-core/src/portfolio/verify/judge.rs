//! The judgement: which of the exact answers is the follower's, and what that means for the claim.

use super::{Answer, BETTER, CARES, Chosen, DIFFERENT, Stage, Verdict, Verify};
use crate::portfolio::archive::distance;
use crate::portfolio::claim::{Claim, Scales};
use crate::portfolio::search::Rows;

impl Verify {
    /// The best of the exact answers, and whether it differs from the claim's.
    pub(super) fn decide(&mut self, scales: &Scales) -> bool {
        let mut better = false;
        for i in 0..self.exact.len() {
            let found = &self.exact[i];
            let away = distance(&found.y, &self.claim.y);
            let margin = match (away > DIFFERENT, self.look.decided, self.look.chosen) {
                (_, false, Chosen::Leaning) | (true, false, _) => BETTER.1,
                (true, true, _) => BETTER.2,
                (false, false, Chosen::ByLeader) => (CARES * away * away).max(BETTER.0),
                (false, ..) => BETTER.0,
            };
            if self.beats(scales, &found.row, &self.best.row, margin) {
                self.best = found.clone();
                better = true;
            }
        }
        better
    }

    /// Minima other than the best.
    pub(super) fn others(&self, scales: &Scales) -> Vec<Answer> {
        let mut others: Vec<Answer> = Vec::new();
        for found in &self.exact {
            let new = |a: &Answer| distance(&a.y, &found.y) > DIFFERENT;
            if scales.answer_is_feasible(&found.row) && new(&self.best) && others.iter().all(new) {
                others.push(found.clone());
            }
        }
        others
    }

    /// The verdict, with the rows of F at the best answer and at the others.
    pub(super) fn judged(&mut self, scales: &Scales, rows: &Rows) {
        let others = self.others(scales);
        let tied = others.iter().any(|a| (a.row[0] - self.best.row[0]).abs() <= BETTER.1 * self.scale);
        let own = self.exact.first().is_some_and(|own| self.is_below(scales, &self.best, own));
        let moved = distance(&self.best.y, &self.claim.y) > DIFFERENT || own;
        let of = |answer: &Answer, upper: &[f64], settled: bool| Claim {
            x: self.claim.x.clone(),
            y: answer.y.clone(),
            upper: upper.to_vec(),
            lower: answer.row.clone(),
            settled,
        };
        let kept = self.best.y == self.claim.y;
        let mut rows = rows.iter();
        let claim = if kept {
            Claim { settled: self.settled, lower: self.best.row.clone(), ..self.claim.clone() }
        } else {
            match rows.next().filter(|row| !row.is_empty()) {
                Some(row) => of(&self.best, row, self.settled || moved),
                None => Claim { settled: false, ..self.claim.clone() },
            }
        };
        let others = others.iter().zip(rows).filter(|(_, row)| !row.is_empty());
        let others = others.map(|(answer, row)| of(answer, row, true)).collect();
        let hoped = (moved && claim.y != self.claim.y).then(|| self.claim.clone());
        self.stage = Stage::Ended(Verdict { claim, hoped, others, tied, range: self.range, depth: self.look.depth });
    }
}
