//! Answers that are better than their surroundings suggest.
//!
//! Next to a wide basin, the values of a second one are high until close to its bottom, so an answer in it does not
//! stand out by its value alone. But it lies far below a quadratic fitted to all answers, and others do not.

use super::Answer;
use crate::linalg::{cholesky, dot};

/// It must be this many times farther below the quadratic than the usual distance from it ...
const OUTLIER: f64 = 10.0;
/// ... and at least this far, as a share of the usual variation of f.
const LEAST: f64 = 0.02;
/// The number of answers for each coefficient that is enough for a fit.
const ENOUGH: usize = 2;
/// The number of fits, and the share of answers that the later ones keep.
const FITS: usize = 3;
const KEPT: (usize, usize) = (3, 4);
/// Relative to the largest entry of the normal equations.
const RIDGE: f64 = 1e-10;

/// The answer that lies farthest below a quadratic through all of them, if that is far; `range` is the usual
/// variation of f. High values count less: a quadratic cannot follow poles and walls.
pub(super) fn surprising(answers: &[Answer], range: f64) -> Option<&Answer> {
    let n = answers.first()?.y.len();
    let best = answers.iter().map(|a| a.row[0]).fold(f64::INFINITY, f64::min);
    let weight = |a: &Answer| range / (range + a.row[0] - best);
    if range.is_nan() || range <= 0.0 || answers.iter().any(|a| !a.row[0].is_finite()) {
        return None;
    }
    let all = 1 + n + n * (n + 1) / 2;
    let pairs = answers.len() >= ENOUGH * all;
    let rows: Vec<Vec<f64>> = answers.iter().map(|a| terms(&a.y, weight(a), pairs)).collect();
    let values: Vec<f64> = answers.iter().map(|a| weight(a) * (a.row[0] - best) / range).collect();
    let (mut off, mut sizes): (Vec<f64>, Vec<f64>) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
    for _ in 0..FITS {
        // What fits worst is left out next time: it may be the other basin.
        let most = sizes[KEPT.0 * (rows.len() - 1) / KEPT.1];
        let kept = (0..rows.len()).filter(|&i| off[i].abs() <= most);
        let fitted = fit(kept.map(|i| (&rows[i][..], values[i])))?;
        off = rows.iter().zip(&values).map(|(row, value)| value - dot(row, &fitted)).collect();
        sizes = off.iter().map(|o| o.abs()).collect();
        sizes.sort_by(f64::total_cmp);
    }
    let limit = (OUTLIER * sizes[sizes.len() / 2]).max(LEAST);
    let lowest = (0..off.len()).min_by(|&a, &b| off[a].total_cmp(&off[b]))?;
    (-off[lowest] > limit).then(|| &answers[lowest])
}

/// The terms of a quadratic, times a weight; without products of different variables unless there are `pairs`.
fn terms(y: &[f64], weight: f64, pairs: bool) -> Vec<f64> {
    let mut terms = vec![weight];
    for (i, a) in y.iter().enumerate() {
        let a = a - 0.5;
        terms.push(weight * a);
        let first = if pairs { 0 } else { i };
        terms.extend(y[first..=i].iter().map(|b| weight * a * (b - 0.5)));
    }
    terms
}

/// Least squares.
fn fit<'a>(rows: impl Iterator<Item = (&'a [f64], f64)>) -> Option<Vec<f64>> {
    let (mut normal, mut right) = (Vec::new(), Vec::new());
    for (row, value) in rows {
        let p = row.len();
        normal.resize(p * p, 0.0);
        right.resize(p, 0.0);
        for (i, a) in row.iter().enumerate() {
            right[i] += a * value;
            normal[i * p..(i + 1) * p].iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
        }
    }
    let p = right.len();
    let mut factor = Vec::new();
    if !cholesky::factor_with_ridge(p, &normal, RIDGE, &mut factor) {
        return None;
    }
    cholesky::solve(p, &factor, &mut right);
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    fn answers(n: usize, count: usize, f: impl Fn(&[f64]) -> f64) -> Vec<Answer> {
        let mut stream = Streams::new(1).open(Purpose::Recheck, 0, 0);
        let mut answer = || {
            let y: Vec<f64> = (0..n).map(|_| stream.uniform()).collect();
            Answer { row: vec![f(&y)], y }
        };
        (0..count).map(|_| answer()).collect()
    }

    fn bowl(y: &[f64], at: f64) -> f64 {
        y.iter().map(|v| (v - at) * (v - at)).sum()
    }

    #[test]
    fn an_answer_in_another_basin_stands_out() {
        for scale in [1e-9, 1.0, 1e9] {
            let two = |y: &[f64]| scale * bowl(y, 0.7).min(12.0 * bowl(y, 0.25) - 0.05);
            let all = answers(3, 130, two);
            let found = surprising(&all, 0.4 * scale).unwrap();
            assert!(found.y.iter().all(|v| (v - 0.25).abs() < 0.25), "{found:?}");
            // It is far from being the best one by its value.
            assert!(all.iter().filter(|a| a.row[0] < found.row[0]).count() > 3);
        }
    }

    #[test]
    fn a_bowl_has_no_surprises_nor_do_waves() {
        let tilted = |y: &[f64]| bowl(y, 0.4) + y[0] * y[1] - 3.0;
        assert!(surprising(&answers(3, 130, tilted), 0.4).is_none());
        let waves = |y: &[f64]| bowl(y, 0.4) + y.iter().map(|v| 0.1 * libm::cos(40.0 * v)).sum::<f64>();
        assert!(surprising(&answers(3, 130, waves), 0.4).is_none());
        assert!(surprising(&answers(3, 5, |_| 1.0), 0.0).is_none());
    }

    #[test]
    fn terms_are_those_of_a_quadratic_around_the_middle() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12);
            assert!(found.len() == expected.len() && near, "{found:?}");
        };
        // 1, a, a², b, a b, b² with a = 0.2, b = -0.1, all times 2.
        close(terms(&[0.7, 0.4], 2.0, true), &[2.0, 0.4, 0.08, -0.2, -0.04, 0.02]);
        close(terms(&[0.7, 0.4], 2.0, false), &[2.0, 0.4, 0.08, -0.2, 0.02]);
    }

    #[test]
    fn least_squares() {
        let rows = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]];
        // On a line, and beside it: 1, 3, 8 leaves 0.5 + 3.5 u.
        for (values, expected) in [([1.0, 3.0, 5.0], [1.0, 2.0]), ([1.0, 3.0, 8.0], [0.5, 3.5])] {
            let found = fit(rows.iter().map(|row| &row[..]).zip(values)).unwrap();
            assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6), "{found:?}");
        }
    }

    #[test]
    fn with_few_answers_it_does_without_products() {
        // Two variables have six coefficients, five without the product: from twelve answers on there are enough.
        let product = |y: &[f64]| (y[0] - 0.5) * (y[1] - 0.5);
        let beside = |count: usize| surprising(&answers(2, count, product), 0.01).is_some();
        assert!(!beside(12) && !beside(40), "a product is a quadratic");
    }

    /// Answers on a parabola, up and down by `waves`, the one at 0.9 lower by `less`; in units of `unit`.
    fn line(waves: f64, less: f64, unit: f64) -> Vec<Answer> {
        let value = |i: i32| {
            let y = f64::from(i) / 20.0;
            let off = if i == 18 { -less } else { waves * f64::from(i % 2 * 2 - 1) };
            Answer { y: vec![y], row: vec![7.0 + unit * ((y - 0.5) * (y - 0.5) + off)] }
        };
        (0..=20).map(value).collect()
    }

    #[test]
    fn a_surprise_lies_a_fiftieth_of_the_range_below_what_its_place_lets_expect() {
        for unit in [1.0, 1e6] {
            let found = |less: f64| surprising(&line(0.0, less, unit), unit).map(|a| a.y[0]);
            // At 0.16 above the best it counts for 1 / 1.14 of itself: 0.0175, and 0.0264.
            assert_eq!((found(0.02), found(0.03)), (None, Some(0.9)));
            assert_eq!(found(-0.5), None, "what is worse is none");
        }
        // Where f changes by a tenth: 0.04 · 0.1 / 0.256 = 0.016, and 0.08 · 0.1 / 0.252 = 0.032.
        let found = |less: f64| surprising(&line(0.0, less, 1.0), 0.1).is_some();
        assert!(!found(0.004) && found(0.008));
    }

    #[test]
    fn a_surprise_lies_ten_times_as_far_off_as_others_do() {
        let found = |less: f64| surprising(&line(0.01, less, 1.0), 1.0).map(|a| a.y[0]);
        assert_eq!((found(0.06), found(0.2)), (None, Some(0.9)));
    }

    #[test]
    fn one_answer_or_two_are_no_surprise() {
        let all = line(0.0, 0.0, 1.0);
        assert!((0..4).all(|count| surprising(&all[..count], 1.0).is_none()));
    }
}
