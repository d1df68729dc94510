//! The two halves of the proof that the optimum is kept, and the maps themselves.
#![allow(clippy::unwrap_used)]

use super::*;

const SIZES: [(usize, usize); 3] = [(2, 3), (5, 5), (11, 9)];

fn cases() -> impl Iterator<Item = Rotated> {
    let instances = SIZES.into_iter().flat_map(|dims| [1, 2, 77].map(|instance| (dims, instance)));
    instances.flat_map(|((m, n), k)| Smd::ALL.map(|smd| Rotated::new("rotated", smd, k, m, n)))
}

fn values(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut values = Vec::new();
    let objective = problem.evaluate(level, x, y, &mut values).unwrap();
    values.insert(0, objective);
    values
}

/// The largest change of any value in the neighbourhood of rounding errors; tangents near their poles
/// are steep.
fn wobble(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> f64 {
    let at = values(problem, level, x, y);
    let mut most: f64 = 1e-11 * at.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
    for i in 0..y.len() {
        for step in [-1e-13, 1e-13] {
            let mut moved = y.to_vec();
            moved[i] += step * (1.0 + y[i].abs());
            let other = values(problem, level, x, &moved);
            most = most.max(at.iter().zip(&other).fold(0.0, |a: f64, (b, c)| a.max((b - c).abs())));
        }
    }
    most
}

#[test]
fn every_point_of_the_plain_problem_has_a_place_with_the_same_values() {
    for (number, problem) in cases().enumerate() {
        let mut stream = Streams::new(3).open(Purpose::Sample, 0, number as u64);
        for _ in 0..50 {
            let (x, y) = (problem.upper.plain.draw(&mut stream), problem.lower.plain.draw(&mut stream));
            let (w, v) = problem.place((x.clone(), y.clone()));
            for (point, spec) in [(&w, &problem.spec.upper), (&v, &problem.spec.lower)] {
                assert!(spec.space.contains(point), "{number}");
            }
            for level in [Level::Upper, Level::Lower] {
                let (plain, rotated) = (values(&*problem.plain, level, &x, &y), values(&problem, level, &w, &v));
                let allowed = 10.0 * wobble(&*problem.plain, level, &x, &y);
                // ⌊S + 0.5⌋ jumps: SMD9's shells may round to the other side.
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= allowed || ((a - b).abs() - 1.0).abs() <= allowed;
                assert!(plain.iter().zip(&rotated).all(close), "{number}: {plain:?} {rotated:?}");
                assert!((plain[0] - rotated[0]).abs() <= allowed, "{number}: {plain:?} {rotated:?}");
            }
        }
    }
}

#[test]
fn outside_the_plain_box_both_levels_pay_the_squared_way_back() {
    let mut outside = 0;
    for (number, problem) in cases().enumerate() {
        let mut stream = Streams::new(4).open(Purpose::Sample, 0, number as u64);
        for _ in 0..50 {
            let w = problem.spec.upper.space.draw(&mut stream);
            let v = problem.spec.lower.space.draw(&mut stream);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            let ways = [problem.upper.stands_for(&w, &mut x), problem.lower.stands_for(&v, &mut y)];
            // Where the way is 0 the point itself is meant.
            for (way, (map, (point, nearest))) in
                ways.iter().zip([&problem.upper, &problem.lower].into_iter().zip([(&w, &x), (&v, &y)]))
            {
                let back = map.place(nearest);
                let same = back.iter().zip(point.iter()).all(|(a, b)| (a - b).abs() < 1e-12);
                assert_eq!(*way == 0.0, same, "{number}");
                outside += usize::from(*way > 0.0);
            }
            for (level, way) in [Level::Upper, Level::Lower].into_iter().zip(ways) {
                let (mut plain, rotated) = (values(&*problem.plain, level, &x, &y), values(&problem, level, &w, &v));
                plain[0] += way;
                assert_eq!(plain, rotated, "{number}");
            }
        }
    }
    assert!(outside > 1000, "{outside}");
}

#[test]
fn the_maps_mix_all_variables_and_their_condition_is_bounded() {
    for (number, problem) in cases().enumerate() {
        let mut stream = Streams::new(5).open(Purpose::Sample, 0, number as u64);
        for map in [&problem.upper, &problem.lower] {
            let dim = map.shift.len();
            let mut seen: (f64, f64) = (f64::INFINITY, 0.0);
            for _ in 0..100 {
                let direction: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
                let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
                let turned: Vec<f64> = map
                    .matrix
                    .chunks_exact(dim)
                    .map(|row| row.iter().zip(&direction).map(|(a, b)| a * b).sum())
                    .collect();
                let ratio = length(&turned) / length(&direction);
                seen = (seen.0.min(ratio), seen.1.max(ratio));
            }
            assert!(1.0 / STRETCH - 1e-12 <= seen.0 && seen.1 <= STRETCH + 1e-12, "{number}: {seen:?}");
            assert!(seen.1 > 1.001 * seen.0, "{number}: no stretch, {seen:?}");
            let unit = product(&transposed(&map.matrix, dim), &vec![1.0; dim], &map.inverse, dim);
            for (i, entry) in unit.iter().enumerate() {
                let want = if i / dim == i % dim { 1.0 } else { 0.0 };
                assert!((entry - want).abs() < 1e-13, "{number}: A times its inverse");
            }
            let mixed = map.matrix.iter().filter(|a| a.abs() > 1e-3).count();
            assert!(mixed * 10 > 9 * dim * dim, "{number}: {mixed} of {} entries", dim * dim);
        }
    }
}

fn transposed(matrix: &[f64], dim: usize) -> Vec<f64> {
    (0..dim * dim).map(|i| matrix[i % dim * dim + i / dim]).collect()
}
