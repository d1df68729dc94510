//! For tests: one region on its own.

use crate::Problem;
use crate::interval::Interval;
use crate::known::Pool;
use crate::prune::{Question, Wanted, prune};
use crate::work::{Region, Work};

/// A region of x and y, narrowed as in question B for decisions with F up to `limit`; `None` if it is excluded.
pub fn narrow(problem: &Problem, region: &[(f64, f64)], limit: f64) -> Option<Vec<(f64, f64)>> {
    let mut work = Work::new(problem);
    let mut region: Region = region.iter().map(|&(lo, hi)| Interval::new(lo, hi)).collect();
    let known = Pool::default().answer(&mut work, &region, &[]);
    let known = known.as_ref().map(|(y, most)| (&y[..], *most));
    let wanted = Wanted { question: Question::Leader, limit, known, hints: &[] };
    let excluded = prune(&mut work, &mut region, &wanted);
    (!excluded).then(|| region.iter().map(|i| (i.lo, i.hi)).collect())
}
