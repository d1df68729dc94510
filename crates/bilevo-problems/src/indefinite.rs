//! Random problems with an indefinite follower: `indefinite`, instance K under `indefinite:K`.
//!
//! All variables lie in [−2, 2]. With coefficients aᵢ, bᵢⱼ, … drawn from U(−1, 1), d from U(−2, 2):
//!
//! F = Σₖ (Σᵢ aₖᵢ zᵢ)² + Σᵢ dᵢ zᵢ with z = (x, y), so the leader is convex in both together, and
//! f = Σ_{i≤j} bᵢⱼ yᵢ yⱼ + Σᵢⱼ cᵢⱼ xᵢ yⱼ + Σⱼ eⱼ sin(2 yⱼ) exp(0.3 xⱼ).
//!
//! The follower's answers are at vertices and edges of the box, or in a dip of a sine, and they jump; the leader's
//! optimum is often where two of them tie. It is not known by construction: the best known values come from a search
//! that solves the follower's problem globally at every decision (`cargo run --release -p bilevo-bench --bin
//! reference`).
//!
//! Each is written as the text of a problem file, so that everything that works with expressions works with it.

use crate::file::ExpressionProblem;
use crate::{Point, ProblemError};
use bilevo_core::rng::{Purpose, Stream, Streams};
use std::fmt::Write;

/// Lines `instance,m,n,F,f,x,y`, variables with spaces between.
const BEST_KNOWN: &str = include_str!("../indefinite.csv");

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
    let names = |letter: char, count: usize| (1..=count).map(|i| format!("{letter}{i}")).collect::<Vec<_>>();
    let (x, y) = (names('x', m), names('y', n));
    let all: Vec<String> = x.iter().chain(&y).cloned().collect();
    let boxes = |names: &[String]| names.iter().map(|name| format!("{name} = [-2, 2]")).collect::<Vec<_>>().join(", ");
    let squares: Vec<String> = all.iter().map(|_| format!("({})^2", linear(&all, 1.0, &mut stream))).collect();
    let upper = format!("{} + {}", squares.join(" + "), linear(&all, 2.0, &mut stream));
    let mut lower = Vec::new();
    for (i, a) in y.iter().enumerate() {
        lower.extend(y[i..].iter().map(|b| format!("{}*{a}*{b}", coefficient(1.0, &mut stream))));
    }
    for a in &x {
        lower.extend(y.iter().map(|b| format!("{}*{a}*{b}", coefficient(1.0, &mut stream))));
    }
    lower.extend(x.iter().zip(&y).map(|(a, b)| format!("{}*sin(2*{b})*exp(0.3*{a})", coefficient(1.0, &mut stream))));
    let mut text = format!(
        "name = \"{name}\"\n[upper]\nminimize = \"{upper}\"\nvariables = {{ {} }}\n[lower]\nminimize = \"{}\"\nvariables = {{ {} }}\n",
        boxes(&x),
        lower.join(" + "),
        boxes(&y),
    );
    if let Some((values, (x, y))) = best_known(instance, m, n) {
        // Writing to a string cannot fail.
        let _ =
            write!(text, "[[best_known]]\nupper = {:?}\nlower = {:?}\nx = {x:?}\ny = {y:?}\n", values[0], values[1]);
    }
    text
}

fn linear(names: &[String], largest: f64, stream: &mut Stream) -> String {
    let terms: Vec<String> = names.iter().map(|name| format!("{}*{name}", coefficient(largest, stream))).collect();
    terms.join(" + ")
}

/// A coefficient with three decimals.
fn coefficient(largest: f64, stream: &mut Stream) -> String {
    format!("({:.3})", largest * (2.0 * stream.uniform() - 1.0))
}

/// [F, f] and the point, if they are in the table.
fn best_known(instance: u32, m: usize, n: usize) -> Option<([f64; 2], Point)> {
    let key = [u64::from(instance), m as u64, n as u64].map(|number| number.to_string());
    let line = BEST_KNOWN.lines().find(|line| line.split(',').take(3).eq(key.iter()))?;
    let numbers = |cell: &str| cell.split(' ').map(|text| text.parse().ok()).collect::<Option<Vec<f64>>>();
    let mut cells = line.split(',').skip(3).map(numbers);
    let mut next = || cells.next().flatten();
    let (upper, lower) = (next()?, next()?);
    Some(([*upper.first()?, *lower.first()?], (next()?, next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_core::problem::{BilevelProblem, Level};

    #[test]
    fn an_instance_is_the_same_text_and_others_are_others() {
        let made = |instance, m, n| text("indefinite", instance, m, n);
        assert_eq!(made(3, 2, 2), made(3, 2, 2));
        assert!(made(3, 2, 2) != made(4, 2, 2) && made(3, 2, 2) != made(3, 2, 3));
    }

    #[test]
    fn stated_values_are_those_of_the_stated_points() {
        for line in BEST_KNOWN.lines().skip(1) {
            let number = |cell: usize| line.split(',').nth(cell).unwrap().parse::<usize>().unwrap();
            let (instance, m, n) = (number(0) as u32, number(1), number(2));
            let problem = problem("indefinite", instance, m, n).unwrap();
            let (values, (x, y)) = best_known(instance, m, n).unwrap();
            let at = |level| problem.evaluate(level, &x, &y, &mut Vec::new()).unwrap();
            assert!((at(Level::Upper) - values[0]).abs() < 1e-6, "{line}");
            assert!((at(Level::Lower) - values[1]).abs() < 1e-6, "{line}");
            // A grid of the follower's box has nothing better.
            let per_side = if n == 2 { 81 } else { 21 };
            for index in 0..usize::pow(per_side, n as u32) {
                let y: Vec<f64> = (0..n as u32)
                    .map(|d| -2.0 + 4.0 * (index / per_side.pow(d) % per_side) as f64 / (per_side - 1) as f64)
                    .collect();
                let f = problem.evaluate(Level::Lower, &x, &y, &mut Vec::new()).unwrap();
                assert!(f >= values[1] - 1e-6, "{line}: {f} at {y:?}");
            }
        }
    }
}
