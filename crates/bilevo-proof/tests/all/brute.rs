//! The follower's answers and the leader's best decision of problems with one variable at each level, by
//! brute force and without intervals.

use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_problems::file::ExpressionProblem;

/// Decisions and answers looked at.
const XS: usize = 120;
const YS: usize = 240;
/// What counts as feasible: far below what a proof can tell apart from 0, yet reachable by search.
const FEASIBLE: f64 = 1e-15;
/// Answers whose f differs by less, relative to max(1, |f|), tie for the leader.
const TIE: f64 = 1e-14;

fn level(problem: &ExpressionProblem, level: Level, x: f64, y: f64, g: &mut Vec<f64>) -> f64 {
    g.clear();
    problem.evaluate(level, &[x], &[y], g).unwrap_or(f64::NAN)
}

/// The largest violation of a level's constraints.
fn violation(problem: &ExpressionProblem, at: Level, g: &[f64]) -> f64 {
    let inequalities = problem.spec().level(at).inequalities;
    let size = |(i, v): (usize, &f64)| if i < inequalities { *v } else { v.abs() };
    g.iter().enumerate().map(size).fold(0.0, |worst, v| if v > worst || v.is_nan() { v } else { worst })
}

/// The whole numbers of a level's box, if its variable is one of them.
fn whole_numbers(problem: &ExpressionProblem, at: Level) -> Option<Vec<f64>> {
    let space = &problem.spec().level(at).space;
    let (lo, hi) = space.bounds()[0];
    let whole = space.iter().all(|variable| variable.is_whole());
    whole.then(|| (lo.ceil() as i64..=hi.floor() as i64).map(|k| k as f64).collect())
}

/// All answers of the follower at x that were found, with their f: those within 1e-10 of the best.
pub(crate) fn answers(problem: &ExpressionProblem, x: f64) -> Vec<(f64, f64)> {
    if let Some(ys) = whole_numbers(problem, Level::Lower) {
        let mut g = Vec::new();
        let mut value = |y: f64| {
            let f = level(problem, Level::Lower, x, y, &mut g);
            (f, violation(problem, Level::Lower, &g))
        };
        let found = ys.into_iter().map(|y| (value(y), y)).filter(|((f, bad), _)| f.is_finite() && *bad <= 0.0);
        return best(found.map(|((f, _), y)| (f, y)).collect());
    }
    let (lo, hi) = problem.spec().lower.space.bounds()[0];
    let mut g = Vec::new();
    let mut bad = |y: f64| {
        let f = level(problem, Level::Lower, x, y, &mut g);
        if f.is_finite() { violation(problem, Level::Lower, &g) } else { f64::INFINITY }
    };
    let step = (hi - lo) / YS as f64;
    let mut ys: Vec<f64> = (0..=YS).map(|k| (lo + k as f64 * step).min(hi)).collect();
    ys.extend([0.0, 0.25, 0.5, -0.5, 1.0, -1.0, x, 0.2 * x, 0.3].into_iter().filter(|y| *y >= lo && *y <= hi));
    // The ends of the feasible set, and points where it may consist of one.
    for k in 0..YS {
        let (a, b) = (ys[k], ys[k + 1]);
        if (bad(a) > 0.0) != (bad(b) > 0.0) {
            let (mut inside, mut outside) = if bad(a) > 0.0 { (b, a) } else { (a, b) };
            for _ in 0..60 {
                let middle = 0.5 * (inside + outside);
                *(if bad(middle) > 0.0 { &mut outside } else { &mut inside }) = middle;
            }
            ys.push(inside);
        }
        if k > 0 && bad(a) > 0.0 && bad(a) <= bad(ys[k - 1]) && bad(a) <= bad(b) {
            let (mut left, mut right) = (ys[k - 1], b);
            for _ in 0..100 {
                let (u, v) = (left + (right - left) / 3.0, right - (right - left) / 3.0);
                if bad(u) < bad(v) { right = v } else { left = u }
            }
            ys.push(0.5 * (left + right));
        }
    }
    let mut g = Vec::new();
    let mut value = |y: f64| {
        let f = level(problem, Level::Lower, x, y, &mut g);
        if f.is_finite() && violation(problem, Level::Lower, &g) <= FEASIBLE { f } else { f64::INFINITY }
    };
    let mut found: Vec<(f64, f64)> = ys.into_iter().map(|y| (value(y), y)).filter(|p| p.0.is_finite()).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(12);
    for point in &mut found {
        let mut h = step;
        while h > 1e-12 {
            for y in [point.1 - h, point.1 + h] {
                let y = y.clamp(lo, hi);
                if value(y) < point.0 {
                    *point = (value(y), y);
                }
            }
            h *= 0.6;
        }
    }
    best(found)
}

/// Those whose f is about the least, which comes first.
fn best(mut found: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least = found.first().map_or(f64::INFINITY, |p| p.0);
    found.retain(|p| p.0 <= least + 1e-10);
    found
}

/// The best decision found: F, x, y.
pub(crate) fn leader(problem: &ExpressionProblem) -> Option<(f64, f64, f64)> {
    let (lo, hi) = problem.spec().upper.space.bounds()[0];
    let grid = || (0..=XS).map(|i| (lo + (hi - lo) * i as f64 / XS as f64).min(hi)).collect();
    let mut best: Option<(f64, f64, f64)> = None;
    let mut g = Vec::new();
    for x in whole_numbers(problem, Level::Upper).unwrap_or_else(grid) {
        let answers = answers(problem, x);
        let least = answers.first().map_or(f64::INFINITY, |p| p.0);
        for (_, y) in answers.into_iter().filter(|p| p.0 <= least + TIE * least.abs().max(1.0)) {
            let value = level(problem, Level::Upper, x, y, &mut g);
            let allowed = value.is_finite() && violation(problem, Level::Upper, &g) <= 0.0;
            if allowed && best.is_none_or(|b| value < b.0) {
                best = Some((value, x, y));
            }
        }
    }
    best
}
