//! The kernels of CMA-ES, our eigen-decomposition next to a library's, and the ranking network.

use crate::Said;
use anyhow::{Result, bail};
use bilevo_core::allocate::contrastive::network::{Network, Shape};
use bilevo_core::allocate::contrastive::train::{Adam, Pool, Schedule, Trainer};
use bilevo_core::cma::{Cma, CmaParams, Scratch};
use bilevo_core::config::PopulationRule;
use bilevo_core::linalg::symmetric_eigen;
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_core::space::Space;
use std::hint::black_box;
use std::time::Instant;

fn stream() -> Stream {
    Streams::new(1).open(Purpose::Sample, 0, 0)
}

fn normals(count: usize) -> Vec<f64> {
    let mut stream = stream();
    (0..count).map(|_| stream.normal()).collect()
}

/// Calls one kernel at dimension `n`.
pub(crate) fn kernel(name: &str, n: usize, calls: usize) -> Result<Said> {
    match name {
        "sample" => sample(n, calls),
        "update" => update(n, calls),
        "eigen" => eigen(n, calls),
        #[cfg(feature = "compare")]
        "eigen-nalgebra" => eigen_nalgebra(n, calls),
        _ => bail!("there is no kernel `{name}`"),
    }
    Ok(vec![("calls", calls as f64)])
}

fn sample(n: usize, calls: usize) {
    let cma = Cma::round(vec![0.0; n], 0.3);
    let space = Space::from(vec![(-5.0, 10.0); n]);
    let (mut stream, mut point) = (stream(), vec![0.0; n]);
    for _ in 0..calls {
        cma.sample(&mut stream, &space, &mut point);
        black_box(&point);
    }
}

/// Updates from randomly drawn parents, so that the distribution stays as it is. The eigen-decomposition is part of
/// an update.
fn update(n: usize, calls: usize) {
    const SETS: usize = 64;
    let params = CmaParams::new(n, PopulationRule::Usual.size(n));
    let mut cma = Cma::round(vec![0.0; n], 0.3);
    let mut scratch = Scratch::default();
    let size = params.weights.len() * n;
    let steps = normals(SETS * size);
    let mut parents = vec![0.0; size];
    for call in 0..calls {
        let set = &steps[call % SETS * size..][..size];
        for (i, (parent, step)) in parents.iter_mut().zip(set).enumerate() {
            *parent = cma.mean[i % n] + cma.step_size * step;
        }
        cma.update(&params, parents.chunks_exact(n), &mut scratch);
    }
    black_box(&cma);
}

/// A full covariance matrix, as in CMA-ES.
fn covariance(n: usize) -> Vec<f64> {
    let rows = normals(2 * n * n);
    let mut matrix = vec![0.0; n * n];
    for row in rows.chunks_exact(n) {
        for i in 0..n {
            for j in 0..n {
                matrix[i * n + j] += row[i] * row[j] / (2 * n) as f64;
            }
        }
    }
    matrix
}

fn eigen(n: usize, calls: usize) {
    let matrix = covariance(n);
    let (mut work, mut vectors) = (vec![0.0; n * n], vec![0.0; n * n]);
    let (mut values, mut off) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..calls {
        work.copy_from_slice(black_box(&matrix));
        black_box(symmetric_eigen(n, &mut work, &mut vectors, &mut values, &mut off));
    }
}

#[cfg(feature = "compare")]
fn eigen_nalgebra(n: usize, calls: usize) {
    use nalgebra::{DMatrix, SymmetricEigen};
    const MAX_ITERATIONS: usize = 10_000;
    let matrix = DMatrix::from_column_slice(n, n, &covariance(n));
    for _ in 0..calls {
        black_box(SymmetricEigen::try_new(black_box(&matrix).clone(), f64::EPSILON, MAX_ITERATIONS));
    }
}

/// Trains a fresh ranking network of `dims` and `hidden` units on `pool` solutions, 100 epochs. The time is the
/// median of all trainings: what a run pays, not the best case.
pub(crate) fn train(dims: (usize, usize), hidden: usize, pool: usize, times: usize) -> Result<Said> {
    let shape = Shape { inputs: dims.0, response: dims.1, hidden };
    let inputs = normals(pool * dims.0);
    let ranks: Vec<usize> = (0..pool).collect();
    let schedule = Schedule { epochs: 100, learning_rate: 0.1 };
    let mut trainer = Trainer::default();
    let mut seconds = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        let (mut network, mut adam) = (Network::new(shape, &mut stream()), Adam::default());
        let pool = Pool { inputs: &inputs, ranks: &ranks };
        let training = trainer.train(&mut network, &mut adam, pool, schedule);
        if training.epochs != schedule.epochs {
            bail!("the training ended after {} epochs", training.epochs);
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(vec![("calls", times as f64), ("seconds", seconds.get(times / 2).copied().unwrap_or(f64::NAN))])
}
