//! Times trainings of the ranking network: `train_bench m n q N epochs repeats`.
//! Prints the milliseconds of one training (the fastest and the mean) and the final loss.
#![allow(clippy::print_stdout)]

use bilevo_core::allocate::contrastive::network::{Network, Shape};
use bilevo_core::allocate::contrastive::train::{Adam, Pool, Schedule, Trainer};
use bilevo_core::rng::{Purpose, Streams};
use std::time::Instant;

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let &[inputs, response, hidden, samples, epochs, repeats] = given.as_slice() else {
        println!("usage: train_bench m n q N epochs repeats, for example: train_bench 2 3 32 49 100 20");
        return;
    };
    let mut stream = Streams::new(1).open(Purpose::Train, 0, 0);
    let points: Vec<f64> = (0..samples * inputs).map(|_| stream.normal()).collect();
    let values: Vec<f64> = points.chunks_exact(inputs.max(1)).map(|x| x.iter().map(|v| v * v).sum()).collect();
    let ranks: Vec<usize> = values.iter().map(|a| values.iter().filter(|b| *b < a).count()).collect();
    let pool = Pool { inputs: &points, ranks: &ranks };
    let start = Network::new(Shape { inputs, response, hidden }, &mut stream);

    let mut trainer = Trainer::default();
    let mut times = Vec::new();
    let mut loss = 0.0;
    for _ in 0..repeats.max(1) {
        let (mut net, mut adam) = (start.clone(), Adam::default());
        let clock = Instant::now();
        loss = trainer.train(&mut net, &mut adam, pool, Schedule { epochs, learning_rate: 0.1 }).loss;
        times.push(clock.elapsed().as_secs_f64() * 1e3);
    }
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    println!("fastest {fastest:.3} ms, mean {mean:.3} ms, loss {loss:.6}");
}
