//! Random problems whose leader has two basins, the better one smaller: `two-bowls`, instance K under `two-bowls:K`.
//!
//! The upper variables lie in [−2, 2], the lower ones in [−3, 3]. With a response r(x) = A x whose rows are short enough
//! to stay inside,
//!
//! f = Σⱼ lⱼ (yⱼ − rⱼ(x))² and
//! F = min(|x − c|²/w², |x − b|²/v² − d) + Σⱼ kⱼ (yⱼ − rⱼ(x)).
//!
//! The follower is easy: its answer is r(x). The last sum vanishes there, and off it the leader would gain. So F* = −d at
//! x = b, by construction. The bowl around b reaches as far as a ball that covers a fiftieth to a seventh of the leader's box,
//! so most local searches end in the other bowl, where F is 0.

use crate::ProblemError;
use crate::file::ExpressionProblem;
use bilevo_core::rng::{Purpose, Stream, Streams};

/// Half the width of the leader's box.
const HALF: f64 = 2.0;
/// How far from the middle the bowls may lie, and how far apart for each variable at least, if that can be had.
const MIDDLE: f64 = 1.5;
const APART: f64 = 1.2;
/// Draws of two bowls, of which the first that lie apart count, or else the last.
const DRAWS: usize = 20;
/// Share of the box that the better bowl covers, and how much better it is.
const SHARE: (f64, f64) = (0.02, 0.15);
const BETTER: (f64, f64) = (0.1, 0.5);
/// Width of the other bowl.
const WIDE: f64 = 2.0;

/// Instance `instance` with `m` upper and `n` lower variables.
///
/// # Errors
/// Never, unless the reader of problem files is broken.
pub(crate) fn problem(name: &str, instance: u32, m: usize, n: usize) -> Result<ExpressionProblem, ProblemError> {
    crate::embedded(name, &text(name, instance, m, n))
}

/// The problem file.
fn text(name: &str, instance: u32, m: usize, n: usize) -> String {
    let mut stream = Streams::new(instance.into()).open(Purpose::Instance, m as u64, n as u64);
    let (other, better) = bowls(m, &mut stream);
    let gain = rounded(between(BETTER, &mut stream));
    let width = rounded(width(&other, &better, gain, between(SHARE, &mut stream)));
    let bowl = |centre: &[f64], width: f64| {
        let squares: Vec<String> = centre.iter().enumerate().map(|(i, c)| format!("(x{} - ({c}))^2", i + 1)).collect();
        format!("({})/{width}^2", squares.join(" + "))
    };
    let rows: Vec<Vec<f64>> =
        (0..n).map(|_| (0..m).map(|_| rounded(between((-1.0, 1.0), &mut stream) / m as f64)).collect()).collect();
    let off = |j: usize| {
        let terms: Vec<String> = rows[j].iter().enumerate().map(|(i, a)| format!("({a})*x{}", i + 1)).collect();
        format!("(y{} - ({}))", j + 1, terms.join(" + "))
    };
    let gains = (0..n).map(|j| format!("({})*{}", rounded(between((-1.0, 1.0), &mut stream)), off(j)));
    let upper = format!(
        "min({}, {} - {gain}) + {}",
        bowl(&other, WIDE),
        bowl(&better, width),
        gains.collect::<Vec<_>>().join(" + ")
    );
    let squares = (0..n).map(|j| format!("{}*{}^2", rounded(between((0.5, 2.0), &mut stream)), off(j)));
    let lower = squares.collect::<Vec<_>>().join(" + ");
    let boxes = |letter: char, count: usize, half: f64| {
        (1..=count).map(|i| format!("{letter}{i} = [-{half}, {half}]")).collect::<Vec<_>>().join(", ")
    };
    let answer: Vec<f64> = rows.iter().map(|row| row.iter().zip(&better).map(|(a, b)| a * b).sum()).collect();
    format!(
        "name = \"{name}\"\n[upper]\nminimize = \"{upper}\"\nvariables = {{ {} }}\n[lower]\nminimize = \"{lower}\"\n\
         variables = {{ {} }}\n[[best_known]]\nupper = -{gain:?}\nlower = 0.0\nx = {better:?}\ny = {answer:?}\n",
        boxes('x', m, HALF),
        boxes('y', n, HALF + 1.0),
    )
}

/// The bottoms of the other and of the better bowl.
fn bowls(m: usize, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
    let mut drawn = || -> Vec<f64> { (0..m).map(|_| rounded(between((-MIDDLE, MIDDLE), stream))).collect() };
    let mut two = (drawn(), drawn());
    for _ in 1..DRAWS {
        if apart(&two.0, &two.1) >= APART * (m as f64).sqrt() {
            break;
        }
        two = (drawn(), drawn());
    }
    two
}

/// The width of the better bowl at which both are equally good where a ball around it ends that covers a share of the
/// box, on the way to the other one.
fn width(other: &[f64], better: &[f64], gain: f64, share: f64) -> f64 {
    let m = other.len();
    let radius = libm::pow(share / ball(m), 1.0 / m as f64) * 2.0 * HALF;
    let rest = (apart(other, better) - radius) / WIDE;
    radius / (gain + rest * rest).sqrt()
}

/// The volume of a ball with radius 1.
fn ball(dim: usize) -> f64 {
    match dim {
        0 => 1.0,
        1 => 2.0,
        _ => ball(dim - 2) * std::f64::consts::TAU / dim as f64,
    }
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn between((low, high): (f64, f64), stream: &mut Stream) -> f64 {
    low + (high - low) * stream.uniform()
}

/// With three decimals.
fn rounded(value: f64) -> f64 {
    (1000.0 * value).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_core::problem::{BilevelProblem, Level};

    #[test]
    fn an_instance_is_the_same_text_and_others_are_others() {
        let made = |instance, m, n| text("two-bowls", instance, m, n);
        assert_eq!(made(3, 2, 2), made(3, 2, 2));
        assert!(made(3, 2, 2) != made(4, 2, 2) && made(3, 2, 2) != made(3, 2, 3));
    }

    #[test]
    fn the_volume_of_a_ball() {
        let close = |dim: usize, expected: f64| assert!((ball(dim) - expected).abs() < 1e-12, "{dim}");
        close(1, 2.0);
        close(2, std::f64::consts::PI);
        close(3, 4.0 * std::f64::consts::PI / 3.0);
    }

    #[test]
    fn both_bowls_are_equally_good_where_the_ball_ends() {
        // Half of the box of one variable: a ball of radius 1. The other bowl is 3 away, so 2 from there.
        let v = width(&[1.5], &[-1.5], 0.25, 0.5);
        assert!(((1.0 / v) * (1.0 / v) - 0.25 - (2.0 / WIDE) * (2.0 / WIDE)).abs() < 1e-12, "{v}");
    }

    #[test]
    fn nothing_is_better_than_the_stated_optimum_on_a_grid_of_decisions() {
        for (m, n) in [(1, 1), (2, 2), (2, 1)] {
            for instance in 1..=10 {
                let problem = problem("two-bowls", instance, m, n).unwrap();
                let (x, y) = problem.optima().remove(0);
                let at = |level, x: &[f64], y: &[f64]| problem.evaluate(level, x, y, &mut Vec::new()).unwrap();
                let best = problem.spec().best_known[0].upper;
                assert!((at(Level::Upper, &x, &y) - best).abs() < 1e-12 && at(Level::Lower, &x, &y) < 1e-24);
                assert!((-0.5..=-0.1).contains(&best), "{best}");
                let (grid, mut values) = (41_usize, Vec::new());
                for index in 0..grid.pow(m as u32) {
                    let x: Vec<f64> = (0..m as u32).map(|d| -2.0 + 0.1 * (index / grid.pow(d) % grid) as f64).collect();
                    values.push(at(Level::Upper, &x, &answer(&problem, &x, n)));
                }
                assert!(values.iter().all(|value| *value >= best - 1e-12), "{best}: {values:?}");
            }
        }
    }

    /// The follower's answer: f is a sum of squares, so one step of Newton's method along each variable finds it.
    fn answer(problem: &ExpressionProblem, x: &[f64], n: usize) -> Vec<f64> {
        let f = |y: &[f64]| problem.evaluate(Level::Lower, x, y, &mut Vec::new()).unwrap();
        let mut y = vec![0.0; n];
        for j in 0..n {
            let at = |v: f64, y: &[f64]| {
                let mut y = y.to_vec();
                y[j] = v;
                f(&y)
            };
            let (low, middle, high) = (at(-1.0, &y), at(0.0, &y), at(1.0, &y));
            y[j] = 0.5 * (low - high) / (low - 2.0 * middle + high);
        }
        y
    }
}
