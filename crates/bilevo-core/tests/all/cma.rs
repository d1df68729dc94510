//! The CMA-ES kernel against a textbook twin, and what holds for it whatever it is fed.

use bilevo_core::cma::{Cma, CmaParams, Scratch};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_core::space::Space;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type Matrix = Vec<Vec<f64>>;

/// CMA-ES as the formulas are written: dense matrices, nothing shared with the kernel.
struct Twin {
    mean: Vec<f64>,
    sigma: f64,
    cov: Matrix,
    p_c: Vec<f64>,
    p_s: Vec<f64>,
}

fn identity(n: usize) -> Matrix {
    (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect()
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(v, other)| v * other[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| cell(row, j)).collect()).collect()
}

fn apply(a: &Matrix, v: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(v).map(|(a, v)| a * v).sum()).collect()
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// C^(-1/2) by Jacobi rotations.
fn inverse_root(cov: &Matrix) -> Matrix {
    let n = cov.len();
    let (mut a, mut vectors) = (cov.clone(), identity(n));
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let mut turn = identity(n);
                (turn[p][p], turn[q][q]) = (angle.cos(), angle.cos());
                (turn[p][q], turn[q][p]) = (angle.sin(), -angle.sin());
                a = times(&times(&transposed(&turn), &a), &turn);
                vectors = times(&vectors, &turn);
            }
        }
    }
    let mut roots = identity(n);
    (0..n).for_each(|i| roots[i][i] = 1.0 / a[i][i].sqrt());
    times(&times(&vectors, &roots), &transposed(&vectors))
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl Twin {
    /// One update from the `parents`, best first, of a population of `lambda`.
    fn update(&mut self, lambda: usize, parents: &[Vec<f64>]) {
        let (n, mu) = (self.mean.len(), lambda / 2);
        let d = n as f64;
        // Rates come from the full set of weights, the recombination from those of the parents.
        let full: Vec<f64> = (1..=mu).map(|i| (mu as f64 + 0.5).ln() - (i as f64).ln()).collect();
        let effective = |w: &[f64]| w.iter().sum::<f64>().powi(2) / w.iter().map(|w| w * w).sum::<f64>();
        let mu_eff = effective(&full);
        let c_c = (4.0 + mu_eff / d) / (d + 4.0 + 2.0 * mu_eff / d);
        let c_s = (mu_eff + 2.0) / (d + mu_eff + 5.0);
        let c_1 = 2.0 / ((d + 1.3).powi(2) + mu_eff);
        let c_mu = (1.0 - c_1).min(2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((d + 2.0).powi(2) + mu_eff));
        let damping = 1.0 + 2.0 * (((mu_eff - 1.0) / (d + 1.0)).sqrt() - 1.0).max(0.0) + c_s;
        let chi = d.sqrt() * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d));

        let used = &full[..parents.len().min(mu)];
        let (sum, used_eff) = (used.iter().sum::<f64>(), effective(used));
        let whiten = inverse_root(&self.cov);
        let longest = d.sqrt() + 2.0 * d / (d + 2.0);
        let steps: Matrix = parents[..used.len()]
            .iter()
            .map(|parent| {
                let step: Vec<f64> = parent.iter().zip(&self.mean).map(|(p, m)| (p - m) / self.sigma).collect();
                let length = norm(&apply(&whiten, &step));
                step.iter().map(|s| s * (longest / length).min(1.0)).collect()
            })
            .collect();
        let weights: Vec<f64> = used.iter().map(|w| w / sum).collect();
        let mean_step: Vec<f64> =
            (0..n).map(|k| weights.iter().zip(&steps).map(|(w, step)| w * step[k]).sum()).collect();
        let white = apply(&whiten, &mean_step);
        for k in 0..n {
            self.mean[k] += self.sigma * mean_step[k];
            self.p_s[k] = (1.0 - c_s) * self.p_s[k] + (c_s * (2.0 - c_s) * used_eff).sqrt() * white[k];
            self.p_c[k] = (1.0 - c_c) * self.p_c[k] + (c_c * (2.0 - c_c) * used_eff).sqrt() * mean_step[k];
        }
        for i in 0..n {
            for j in 0..n {
                let rank_mu: f64 = weights.iter().zip(&steps).map(|(w, step)| w * step[i] * step[j]).sum();
                self.cov[i][j] = (1.0 - c_1 - c_mu) * self.cov[i][j] + c_1 * self.p_c[i] * self.p_c[j] + c_mu * rank_mu;
            }
        }
        self.sigma *= (c_s / damping * (norm(&self.p_s) / chi - 1.0)).min(1.0).exp();
    }
}

fn stream(seed: u64) -> Stream {
    Streams::new(seed).open(Purpose::Start, 0, 0)
}

/// A population sampled from `cma`, best first on a tilted bowl, some points far out as injected
/// ones are.
fn population(cma: &Cma, lambda: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let wide = Space::from(vec![(-1e9, 1e9); cma.mean.len()]);
    let value = |p: &[f64]| p.iter().enumerate().map(|(k, v)| 4_f64.powi(k as i32) * (v - 1.0).powi(2)).sum::<f64>();
    let mut points: Vec<Vec<f64>> = Vec::new();
    for index in 0..lambda {
        let mut point = vec![0.0; cma.mean.len()];
        cma.sample(stream, &wide, &mut point);
        if index == 0 {
            point.iter_mut().for_each(|v| *v = 1.0 + 30.0 * (*v - 1.0));
        }
        points.push(point);
    }
    points.sort_by(|a, b| value(a).total_cmp(&value(b)));
    points
}

fn assert_close(a: &[f64], b: &[f64], what: &str) {
    let scale = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * scale), "{what}: {a:?} {b:?}");
}

#[test]
fn agrees_with_the_textbook() {
    for (n, lambda) in [(1, 4), (2, 6), (5, 8), (10, 10)] {
        let start: Vec<f64> = (0..n).map(|k| 3.0 - k as f64).collect();
        let mut cma = Cma::round(start.clone(), 0.7);
        let mut twin = Twin { mean: start, sigma: 0.7, cov: identity(n), p_c: vec![0.0; n], p_s: vec![0.0; n] };
        let (params, mut scratch, mut stream) = (CmaParams::new(n, lambda), Scratch::default(), stream(n as u64));
        for generation in 0..20 {
            let mut parents = population(&cma, lambda, &mut stream);
            match generation % 4 {
                1 => parents.reverse(), // the far point leads
                2 => parents.truncate(lambda / 4 + 1),
                _ => {}
            }
            cma.update(&params, parents.iter().map(Vec::as_slice), &mut scratch);
            twin.update(lambda, &parents);
            let label = |what| format!("{what} of {n}, generation {generation}");
            assert_close(&cma.mean, &twin.mean, &label("mean"));
            assert_close(&[cma.step_size], &[twin.sigma], &label("step size"));
            assert_close(&cma.cov, &twin.cov.concat(), &label("covariance"));
            assert_close(&cma.path_cov, &twin.p_c, &label("covariance path"));
            assert_close(&cma.path_step, &twin.p_s, &label("step path"));
        }
    }
}

#[test]
fn no_parents_no_change() {
    let mut cma = Cma::round(vec![1.0, 2.0], 0.5);
    let before = cma.clone();
    cma.update(&CmaParams::new(2, 6), std::iter::empty(), &mut Scratch::default());
    assert_eq!(cma, before);
}

/// Whether a symmetric matrix has a Cholesky factor.
fn is_positive_definite(n: usize, matrix: &[f64]) -> bool {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            let left = matrix[i * n + j] - rest;
            if i == j && left <= 0.0 {
                return false;
            }
            factor[i * n + j] = if i == j { left.sqrt() } else { left / factor[j * n + j] };
        }
    }
    true
}

fn check_shape(cma: &Cma) -> Result<(), TestCaseError> {
    let n = cma.mean.len();
    prop_assert!(cma.cov.iter().chain(&cma.mean).all(|v| v.is_finite()));
    prop_assert!(cma.step_size.is_finite() && cma.step_size > 0.0);
    for i in 0..n {
        for j in 0..i {
            let (a, b) = (cma.cov[i * n + j], cma.cov[j * n + i]);
            let scale = (cma.cov[i * n + i] * cma.cov[j * n + j]).sqrt();
            prop_assert!((a - b).abs() <= 1e-12 * scale, "{a} and {b}");
        }
    }
    // Condition <= 1e14 is an axis ratio <= 1e7. A factorisation in f64 can confirm that a matrix is
    // positive definite only while its condition is well below 1 / epsilon.
    prop_assert!((1.0..=1.000_001e7).contains(&cma.axis_ratio()), "{}", cma.axis_ratio());
    prop_assert!(cma.axis_ratio() > 1e6 || is_positive_definite(n, &cma.cov));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    /// Parents on a line, on a point, or anywhere: C stays a covariance and points stay in the box.
    #[test]
    fn stays_a_distribution(
        n in 1_usize..8,
        lambda in 4_usize..14,
        seed in 0_u64..1000,
        exponent in -12_i32..12,
        squeeze in prop::sample::select(vec![0.0, 1e-9, 0.5, 1.0]),
    ) {
        let width = 10_f64.powi(exponent);
        let mut stream = stream(seed);
        let space = Space::from((0..n).map(|k| (-width * (k as f64 + 1.0), width)).collect::<Vec<_>>());
        let mut cma = Cma::round(vec![0.0; n], 0.3 * width);
        let (params, mut scratch) = (CmaParams::new(n, lambda), Scratch::default());
        for _ in 0..120 {
            let mut points = vec![vec![0.0; n]; lambda];
            for point in &mut points {
                cma.sample(&mut stream, &space, point);
                prop_assert!(space.contains(point));
                // All coordinates but the first shrink towards the mean.
                point.iter_mut().zip(&cma.mean).skip(1).for_each(|(v, m)| *v = m + squeeze * (*v - m));
            }
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            cma.update(&params, points.iter().map(Vec::as_slice), &mut scratch);
            check_shape(&cma)?;
        }
    }
}

#[test]
fn samples_have_the_moments_of_the_distribution() {
    const DRAWS: usize = 40_000;
    let n = 4;
    let (mut cma, params, mut stream) = (Cma::round(vec![2.0; n], 0.7), CmaParams::new(n, 8), stream(5));
    for _ in 0..15 {
        let parents = population(&cma, 8, &mut stream);
        cma.update(&params, parents.iter().map(Vec::as_slice), &mut Scratch::default());
    }
    assert!(cma.axis_ratio() > 1.5, "the distribution must not be round: {}", cma.axis_ratio());
    let wide = Space::from(vec![(-1e9, 1e9); n]);
    let (mut sums, mut products, mut point) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n]);
    for _ in 0..DRAWS {
        cma.sample(&mut stream, &wide, &mut point);
        let z: Vec<f64> = point.iter().zip(&cma.mean).map(|(p, m)| (p - m) / cma.step_size).collect();
        for i in 0..n {
            sums[i] += z[i];
            (0..n).for_each(|j| products[i * n + j] += z[i] * z[j]);
        }
    }
    let count = DRAWS as f64;
    let c = |i: usize, j: usize| cma.cov[i * n + j];
    for i in 0..n {
        let z = sums[i] / (c(i, i) * count).sqrt();
        assert!(z.abs() < 5.0, "mean {i}: {z}");
        for j in 0..n {
            // The variance of a product of two normals with mean 0.
            let z = (products[i * n + j] / count - c(i, j)) / ((c(i, i) * c(j, j) + c(i, j).powi(2)) / count).sqrt();
            assert!(z.abs() < 5.0, "covariance {i} {j}: {z}");
        }
    }
}

#[test]
fn a_marginal_is_the_block_of_its_coordinates() {
    let n = 5;
    let (mut cma, params, mut stream) = (Cma::round(vec![2.0; n], 0.7), CmaParams::new(n, 8), stream(9));
    for _ in 0..10 {
        let parents = population(&cma, 8, &mut stream);
        cma.update(&params, parents.iter().map(Vec::as_slice), &mut Scratch::default());
    }
    let block = cma.marginal(2..5, &mut Scratch::default());
    assert_eq!((&block.mean[..], block.step_size), (&cma.mean[2..], cma.step_size));
    assert_eq!((&block.path_cov[..], &block.path_step[..]), (&cma.path_cov[2..], &[0.0; 3][..]));
    let expected: Vec<f64> = (2..5).flat_map(|i| cma.cov[i * n + 2..i * n + 5].to_vec()).collect();
    assert_eq!(block.cov, expected);
}

#[test]
fn extreme_sizes_give_no_nan() {
    for exponent in [-300, -150, -75, 0, 75, 150, 300] {
        let width = 10_f64.powi(exponent);
        // The second coordinate is as different from the first as can be.
        let space = Space::from(vec![(-0.5 * width, width), (-0.5 / width, 1.0 / width)]);
        for step in [width, 1.0 / width] {
            let (mut cma, params) = (Cma::round(vec![0.1 * width, 0.1 / width], step), CmaParams::new(2, 6));
            let (mut stream, mut scratch) = (stream(1), Scratch::default());
            for _ in 0..60 {
                let mut points = vec![vec![0.0; 2]; 6];
                for point in &mut points {
                    cma.sample(&mut stream, &space, point);
                    let inside = space.contains(point);
                    assert!(inside, "1e{exponent}, step {step}: {point:?}");
                }
                cma.update(&params, points.iter().map(Vec::as_slice), &mut scratch);
                assert!(cma.step_size > 0.0 && cma.step_size.is_finite() && cma.axis_ratio() <= 1.000_001e7);
                assert!(cma.mean.iter().all(|v| v.is_finite()), "1e{exponent}: {cma:?}");
                // Beyond that the squares of the widths leave f64, and the kernel starts round again.
                assert!(cma.cov.iter().all(|v| v.is_finite()), "1e{exponent}: {cma:?}");
            }
        }
    }
}
