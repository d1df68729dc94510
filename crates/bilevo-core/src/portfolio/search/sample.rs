//! Points all over the box, evaluated at both levels: they show where the leader would like to be.
//!
//! A Latin hypercube over (x, y). Randomness: `Purpose::Position`.

use super::{End, Ground, Rows, Search, Wanted, latin_hypercube};
use crate::portfolio::claim::{Claim, Scales};
use crate::problem::Level;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Points.
const COUNT: usize = 20;

/// The sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Sample {
    points: Wanted,
    /// Values at both levels, as far as they are known.
    below: Rows,
    above: Rows,
    best: Option<Claim>,
}

impl Sample {
    pub(in crate::portfolio) fn new(dim: usize, mut stream: Stream) -> Self {
        let mut points = Wanted::new(dim);
        points.points = latin_hypercube(COUNT, dim, &mut stream).concat();
        Sample { points, below: Rows::new(), above: Rows::new(), best: None }
    }
}

/// Feasible claims come first. If there are none, as with an equation of the leader, F counts as well as the
/// violation: the point that violates an equation least could be any.
fn order(scales: &Scales, a: &Claim, b: &Claim) -> Ordering {
    let infeasible = |claim: &Claim| !scales.is_feasible(claim);
    let rough = |claim: &Claim| claim.value() / scales.leader() + scales.violation(claim);
    infeasible(a).cmp(&infeasible(b)).then(rough(a).total_cmp(&rough(b)))
}

impl Search for Sample {
    fn ask(&mut self, _ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clone_from(&self.points);
        if self.end().is_some() {
            wanted.points.clear();
        }
        wanted.level = if self.below.is_empty() { Level::Lower } else { Level::Upper };
    }

    fn tell(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        if wanted.level == Level::Lower {
            self.below.clone_from(rows);
            return;
        }
        self.above.clone_from(rows);
        let m = ground.spec.upper.dim();
        let all = self.points.iter().zip(self.below.iter().zip(&self.above));
        let claims = all.filter(|(_, (below, above))| !below.is_empty() && !above.is_empty());
        let claims = claims.map(|(point, (below, above))| Claim {
            x: point[..m].to_vec(),
            y: point[m..].to_vec(),
            upper: above.clone(),
            lower: below.clone(),
            settled: false,
        });
        self.best = claims.min_by(|a, b| order(ground.scales, a, b));
    }

    fn claim(&self) -> Option<Claim> {
        self.best.clone()
    }

    fn end(&self) -> Option<End> {
        (!self.above.is_empty()).then_some(End::Converged)
    }

    fn cut(&mut self) {
        self.points.points.clear();
        self.above.push(Vec::new());
    }
}
