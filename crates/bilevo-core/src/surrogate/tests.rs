use super::fit::JITTER;
use super::*;
use crate::rng::{Purpose, Streams};

/// Two functions, zero at the origin.
fn truth(z: &[f64]) -> [f64; 2] {
    [3.0 * z[0] - z[1] + z[0] * z[2] + 0.5 * z[1].powi(3), libm::sin(z[0] + 2.0 * z[2]) - z[1] * z[1]]
}

fn sample(len: usize) -> Sample {
    let mut stream = Streams::new(3).open(Purpose::Start, 0, 0);
    let points: Vec<f64> = (0..len * 3).map(|_| 0.4 * stream.normal()).collect();
    let rows: Vec<[f64; 2]> = points.chunks_exact(3).map(truth).collect();
    let values = (0..2).flat_map(|o| rows.iter().map(move |r| r[o])).collect();
    Sample { points: points.into(), values, len, noise: 0.0 }
}

const LENGTHS: [f64; 3] = [0.3, 0.5, 0.7];

/// The same model from its formulas alone: kernel matrix, Gaussian elimination.
struct Naive {
    points: Vec<Vec<f64>>,
    inverse: Vec<Vec<f64>>,
    /// Logarithm of the determinant of the kernel matrix.
    size: f64,
}

impl Naive {
    fn new(sample: &Sample) -> Self {
        let points: Vec<Vec<f64>> = sample.points.chunks_exact(3).map(<[f64]>::to_vec).collect();
        let n = points.len();
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                // With noise, the value at the centre is not known either.
                let offset = if sample.noise > 0.0 { 300.0 } else { 0.0 };
                let mut row: Vec<f64> = (0..n).map(|j| Naive::kernel(&points[i], &points[j])).collect();
                row[i] *= 1.0 + JITTER;
                row.iter_mut().for_each(|k| *k += offset);
                row[i] += sample.noise;
                row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
                row
            })
            .collect();
        let mut size = 0.0;
        for i in 0..n {
            let pivot = (i..n).max_by(|a, b| rows[*a][i].abs().total_cmp(&rows[*b][i].abs())).unwrap();
            rows.swap(i, pivot);
            let scale = rows[i][i];
            size += scale.abs().ln();
            rows[i].iter_mut().for_each(|v| *v /= scale);
            for k in 0..n {
                if k != i {
                    let (factor, row) = (rows[k][i], rows[i].clone());
                    rows[k].iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
                }
            }
        }
        Naive { points, inverse: rows.into_iter().map(|r| r[n..].to_vec()).collect(), size }
    }

    fn kernel(a: &[f64], b: &[f64]) -> f64 {
        let s: f64 = (0..3).map(|i| a[i] * b[i] / (LENGTHS[i] * LENGTHS[i])).sum();
        300.0 * s + 15.0 * s.powi(2) + s.powi(3) / 6.0 + s.powi(4) / 24.0
    }

    /// K⁻¹ v
    fn solve(&self, v: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|row| dot(row, v)).collect()
    }

    fn mean(&self, values: &[f64], z: &[f64]) -> f64 {
        let k: Vec<f64> = self.points.iter().map(|p| Naive::kernel(p, z)).collect();
        dot(&k, &self.solve(values))
    }
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn agrees_with_the_plain_formulas() {
    // More than 16 are looked at in two groups.
    for len in [2, 7, 14, 18] {
        let sample = sample(len);
        let (process, naive) = (Surrogate::with_lengths(&sample, 2, &LENGTHS), Naive::new(&sample));
        let z = [0.1, -0.2, 0.15];
        let mut values = [0.0; 2];
        process.values(&z, &mut values);
        for (o, value) in values.iter().enumerate() {
            let known = &sample.values[o * len..(o + 1) * len];
            near(*value, naive.mean(known, &z), 1e-6);
            near(process.variance(o), dot(known, &naive.solve(known)) / len as f64, 1e-6);
        }
        // Of both functions: half of len log(variance) and of the matrix's log(determinant).
        let expected = -0.5 * (0..2).map(|o| len as f64 * process.variance(o).ln() + naive.size).sum::<f64>();
        near(likelihood(&sample, &LENGTHS), expected, 1e-6);
        let covariance = process.gradient_covariance(1);
        for i in 1..3 {
            for j in 1..3 {
                let slope = |i: usize| -> Vec<f64> {
                    naive.points.iter().map(|p| 300.0 * p[i] / (LENGTHS[i] * LENGTHS[i])).collect()
                };
                let prior = if i == j { 300.0 / (LENGTHS[i] * LENGTHS[i]) } else { 0.0 };
                let expected = prior - dot(&slope(i), &naive.solve(&slope(j)));
                assert!((covariance[(i - 1) * 2 + j - 1] - expected).abs() < 1e-5 * 300.0 / 0.25);
            }
        }
    }
}

#[test]
fn with_noise_it_agrees_with_the_plain_formulas_too() {
    for (len, noise) in [(7, 0.5), (18, 30.0)] {
        let sample = Sample { noise, ..sample(len) };
        let (process, naive) = (Surrogate::with_lengths(&sample, 2, &LENGTHS), Naive::new(&sample));
        let (z, mut values) = ([0.1, -0.2, 0.15], [0.0; 2]);
        process.values(&z, &mut values);
        for (o, value) in values.iter().enumerate() {
            let known = &sample.values[o * len..(o + 1) * len];
            // The value at the centre is what all points say of it.
            near(process.offsets()[o], 300.0 * naive.solve(known).iter().sum::<f64>(), 1e-6);
            near(*value, naive.mean(known, &z), 1e-6);
            near(process.variance(o), dot(known, &naive.solve(known)) / len as f64, 1e-6);
        }
    }
}

#[test]
fn goes_through_its_points_and_the_centre() {
    let sample = sample(12);
    let process = Surrogate::with_lengths(&sample, 2, &LENGTHS);
    let mut values = [1.0; 2];
    process.values(&[0.0; 3], &mut values);
    assert_eq!(values, [0.0; 2]);
    for (p, point) in sample.points.chunks_exact(3).enumerate() {
        process.values(point, &mut values);
        near(values[0], sample.values[p], 1e-6);
        near(values[1], sample.values[12 + p], 1e-6);
    }
}

#[test]
fn derivatives_are_those_of_the_values() {
    let process = Surrogate::with_lengths(&sample(18), 2, &LENGTHS);
    let (z, h, from) = ([0.2, 0.1, -0.3], 1e-4, 1);
    let weights = [0.7, -1.3];
    let at = |steps: &[(usize, f64)]| {
        let mut point = z;
        steps.iter().for_each(|(i, by)| point[*i] += by);
        let mut values = [0.0; 2];
        process.values(&point, &mut values);
        values
    };
    let (mut gradients, mut hessian) = ([0.0; 4], [0.0; 4]);
    process.gradients(&z, from, &mut gradients);
    process.hessian(&z, from, &weights, &mut hessian);
    for i in 0..2 {
        let (up, down) = (at(&[(from + i, h)]), at(&[(from + i, -h)]));
        near(gradients[i], (up[0] - down[0]) / (2.0 * h), 1e-5);
        near(gradients[2 + i], (up[1] - down[1]) / (2.0 * h), 1e-5);
        for j in 0..2 {
            let total = |a: f64, b: f64| dot(&at(&[(from + i, a), (from + j, b)]), &weights);
            let expected = (total(h, h) - total(h, -h) - total(-h, h) + total(-h, -h)) / (4.0 * h * h);
            near(hessian[i * 2 + j], expected, 1e-3);
        }
    }
}

fn likelihood(sample: &Sample, lengths: &[f64]) -> f64 {
    let mut trial = Trial::default();
    trial.run(sample, 2, &Products::new(sample, lengths), lengths);
    trial.likelihood
}

#[test]
fn trials_with_changed_products_are_those_with_new_ones() {
    for len in [6, 13, 30] {
        let sample = sample(len);
        let products = Products::new(&sample, &LENGTHS);
        // One length, all of them by the same factor, and all by different ones.
        for factors in [[1.0, 1.5, 1.0], [1.5; 3], [0.9, 1.0, 1.2]] {
            let lengths: Vec<f64> = LENGTHS.iter().zip(factors).map(|(l, f)| l * f).collect();
            let (mut changed, mut fresh) = (Trial::default(), Trial::default());
            changed.run(&sample, 2, &products, &lengths);
            fresh.run(&sample, 2, &Products::new(&sample, &lengths), &lengths);
            near(changed.likelihood, fresh.likelihood, 1e-6);
            let differs = |trial: &Trial| (trial.likelihood - likelihood(&sample, &LENGTHS)).abs() > 1e-3;
            assert!(differs(&changed) && differs(&fresh));
        }
    }
}

#[test]
fn fits_choose_the_likelier_lengths_and_survive_nothing() {
    let sample = sample(14);
    let mut lengths = LENGTHS.to_vec();
    let before = likelihood(&sample, &LENGTHS);
    let mut last = before;
    for tick in 0..6 {
        let fitted = Surrogate::fit(&sample, 2, &mut lengths, tick, false);
        assert_eq!(fitted.lengths, lengths);
        assert!(likelihood(&sample, &lengths) >= last);
        last = likelihood(&sample, &lengths);
    }
    assert!(last > before);
    let empty = Surrogate::fit(&Sample::default(), 2, &mut lengths, 0, false);
    let mut values = [1.0; 2];
    empty.values(&[1.0; 3], &mut values);
    assert_eq!(values, [0.0; 2]);
    assert!(empty.gradient_covariance(0).iter().all(|c| c.is_finite()));
}

#[test]
fn noise_is_smoothed_and_the_value_at_the_centre_found() {
    // 3 + 2 u + u² with an error of a tenth, up and down.
    let mut sample = Sample { noise: 1e-4, ..Sample::default() };
    for i in 0..40 {
        let u = f64::from(i) / 20.0 - 0.975;
        sample.points.push(u);
        sample.values.push(3.0 + 2.0 * u + u * u + if i % 2 == 0 { 0.1 } else { -0.1 });
        sample.len += 1;
    }
    let model = Surrogate::with_lengths(&sample, 1, &[1.0]);
    assert!((model.offsets()[0] - 3.0).abs() < 0.05, "{:?}", model.offsets());
    let mut value = [0.0];
    for u in [-0.9, -0.3, 0.4, 0.8] {
        model.values(&[u], &mut value);
        assert!((value[0] - 2.0 * u - u * u).abs() < 0.08, "{u}: {value:?}");
    }
    sample.noise = 0.0;
    assert!(Surrogate::with_lengths(&sample, 1, &[1.0]).offsets().is_empty());
}

/// The likeliest of some lengths.
fn likeliest(sample: &Sample, candidates: &[Vec<f64>]) -> Vec<f64> {
    let all = candidates.iter().max_by(|a, b| likelihood(sample, a).total_cmp(&likelihood(sample, b)));
    all.unwrap().clone()
}

/// Lengths with the first, the second, ... or all of them changed by a factor.
fn changed(which: Option<usize>, factor: f64) -> Vec<f64> {
    let by = |i: usize| if which.is_none_or(|which| which == i) { factor } else { 1.0 };
    LENGTHS.iter().enumerate().map(|(i, l)| l * by(i)).collect()
}

#[test]
fn a_fit_tries_all_lengths_together_and_one_in_turn() {
    let sample = sample(14);
    for tick in 0..6 {
        let mut candidates = vec![LENGTHS.to_vec()];
        for which in [None, Some(tick % 3)] {
            candidates.extend([LENGTH_STEP, 1.0 / LENGTH_STEP].map(|factor| changed(which, factor)));
        }
        let mut lengths = LENGTHS.to_vec();
        Surrogate::fit(&sample, 2, &mut lengths, tick, false);
        assert_eq!(lengths, likeliest(&sample, &candidates), "{tick}");
    }
}

#[test]
fn seasoned_lengths_and_large_samples_try_one_change_at_a_time() {
    let (small, large) = (sample(14), sample(LARGE + 1));
    for tick in 0..12 {
        let factor = [LENGTH_STEP, 1.0 / LENGTH_STEP][tick % 2];
        let which = if tick % 4 < 2 { None } else { Some(tick / 4) };
        for (sample, seasoned) in [(&small, true), (&large, false)] {
            let mut lengths = LENGTHS.to_vec();
            Surrogate::fit(sample, 2, &mut lengths, tick, seasoned);
            assert_eq!(lengths, likeliest(sample, &[LENGTHS.to_vec(), changed(which, factor)]), "{tick}");
        }
    }
}

#[test]
fn too_few_points_say_nothing_about_lengths_which_stay_within_limits() {
    let mut lengths = LENGTHS.to_vec();
    Surrogate::fit(&sample(2), 2, &mut lengths, 0, false);
    assert_eq!(lengths, LENGTHS);
    for start in [LENGTH_RANGE.0, LENGTH_RANGE.1] {
        let mut lengths = vec![start; 3];
        (0..8).for_each(|tick| drop(Surrogate::fit(&sample(14), 2, &mut lengths, tick, false)));
        assert!(lengths.iter().all(|l| (LENGTH_RANGE.0..=LENGTH_RANGE.1).contains(l)), "{lengths:?}");
    }
}
