//! Best-first branching: the region with the smallest lower bound is next; among equals, the oldest.

use crate::interval::Interval;
use crate::problem::Row;
use crate::work::{Region, Work};
use crate::{Limits, Stopped};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

/// A region that is left.
pub(crate) struct Branch {
    pub(crate) region: Region,
    /// No point of it has a smaller objective.
    pub(crate) bound: f64,
    /// An answer that was useful for the parent.
    pub(crate) known: Vec<f64>,
    number: u64,
}

impl PartialEq for Branch {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Branch {}

impl PartialOrd for Branch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Branch {
    /// The heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then(other.number.cmp(&self.number))
    }
}

/// Maximum number of regions that are too small to split.
const MAX_TINY: u64 = 2000;

/// The remaining regions.
pub(crate) struct Tree<'l> {
    heap: BinaryHeap<Branch>,
    /// The smallest bound of a region that is too small to split, and the number of such regions.
    tiny: f64,
    tiny_count: u64,
    pub(crate) boxes: u64,
    numbers: u64,
    limits: &'l Limits,
    start: Instant,
}

impl<'l> Tree<'l> {
    pub(crate) fn new(root: Region, limits: &'l Limits) -> Self {
        let mut tree = Tree {
            heap: BinaryHeap::new(),
            tiny: f64::INFINITY,
            tiny_count: 0,
            boxes: 0,
            numbers: 0,
            limits,
            start: Instant::now(),
        };
        tree.push(root, f64::NEG_INFINITY, Vec::new());
        tree
    }

    fn push(&mut self, region: Region, bound: f64, known: Vec<f64>) {
        self.numbers += 1;
        self.heap.push(Branch { region, bound, known, number: self.numbers });
    }

    /// The next region; `None` if all were excluded or are too small to split.
    pub(crate) fn next(&mut self) -> Option<Branch> {
        let branch = self.heap.pop()?;
        self.boxes += 1;
        Some(branch)
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Whether it is time to give up. The clock is read only if there is a time limit.
    pub(crate) fn stopped(&self, spent: u64) -> Option<Stopped> {
        let interrupted =
            || self.limits.stop.as_ref().is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed));
        match self.limits.time {
            _ if self.boxes >= self.limits.boxes || spent >= self.limits.work => Some(Stopped::Work),
            _ if self.tiny_count >= MAX_TINY => Some(Stopped::Resolution),
            Some(time) if self.start.elapsed() >= time => Some(Stopped::Time),
            _ if interrupted() => Some(Stopped::Interrupted),
            _ => None,
        }
    }

    /// No remaining point has an objective below this; +∞ if there are none.
    pub(crate) fn least(&self, current: Option<&Branch>) -> f64 {
        let open = self.heap.peek().map_or(f64::INFINITY, |branch| branch.bound);
        open.min(self.tiny).min(current.map_or(f64::INFINITY, |branch| branch.bound))
    }

    /// Adds the two halves of a region.
    pub(crate) fn split(&mut self, work: &mut Work<'_>, branch: Branch, rows: &[&Row]) {
        let Some(variable) = widest(work, &branch.region, rows) else {
            self.tiny = self.tiny.min(branch.bound);
            self.tiny_count += 1;
            return;
        };
        let interval = branch.region[variable];
        let cut = interval.lo + 0.49 * interval.width();
        let (left_end, right_start) =
            if work.problem.whole[variable] { (cut.floor(), cut.floor() + 1.0) } else { (cut, cut) };
        let mut left = branch.region.clone();
        left[variable] = Interval::new(interval.lo, left_end);
        let mut right = branch.region;
        right[variable] = Interval::new(right_start, interval.hi);
        for half in [left, right] {
            // Between two whole numbers there is no value.
            if !half[variable].is_empty() {
                self.push(half, branch.bound, branch.known.clone());
            }
        }
    }
}

/// The variable whose width matters most: the sum over formulas of |∂φ| · width, as shares, with a little
/// for the width alone. None if all widths are too small to split.
fn widest(work: &mut Work<'_>, region: &Region, rows: &[&Row]) -> Option<usize> {
    let n = region.len();
    let mut scores = vec![0.02; n];
    for row in rows {
        let (_, gradient) = work.gradient(row, region);
        let share = |j: usize| {
            let size = if gradient[j].is_empty() { 1e30 } else { gradient[j].magnitude().min(1e30) };
            size * region[j].width()
        };
        let total: f64 = (0..n).map(share).sum();
        if total > 0.0 {
            (0..n).for_each(|j| scores[j] += share(j) / total);
        }
    }
    let splittable = |j: &usize| region[*j].width() >= 1e-9 * (1.0 + region[*j].magnitude());
    let score = |j: usize| {
        let full = work.problem.bounds[j].width();
        scores[j] * (region[j].width() / full).sqrt().max(1e-12)
    };
    (0..n).filter(splittable).reduce(|best, j| if score(j) > score(best) { j } else { best })
}
