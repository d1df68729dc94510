//! Memory is allocated where a generation begins or ends, not while points are evaluated.

use allocation_counter::measure;
use bilevo_core::allocate::contrastive::network::{Network, Shape};
use bilevo_core::allocate::contrastive::train::{Adam, Pool, Schedule, Trainer};

use crate::common::{engine_of, toy};
use bilevo_core::cma::{Cma, CmaParams, Scratch};
use bilevo_core::config::{LowerKind, SchemeKind};
use bilevo_core::methods::{self, Method};
use bilevo_core::problem::Level;
use bilevo_core::rng::{Purpose, Streams};
use bilevo_core::{Ask, Replies};

#[test]
fn a_second_training_allocates_nothing() {
    let mut stream = Streams::new(1).open(Purpose::Train, 0, 0);
    let points: Vec<f64> = (0..60).map(|_| stream.normal()).collect();
    let ranks: Vec<usize> = (0..30).map(|i| i * 7 % 30).collect();
    let mut net = Network::new(Shape { inputs: 2, response: 3, hidden: 20 }, &mut stream);
    let (mut adam, mut trainer) = (Adam::default(), Trainer::default());
    let mut train = || {
        let pool = Pool { inputs: &points, ranks: &ranks };
        trainer.train(&mut net, &mut adam, pool, Schedule { epochs: 20, learning_rate: 0.1 });
    };
    assert!(measure(&mut train).count_total > 0);
    assert_eq!(measure(&mut train).count_total, 0);
}

#[test]
fn the_kernels_of_cma_es_allocate_nothing_after_their_first_call() {
    const N: usize = 5;
    let params = CmaParams::new(N, 8);
    let mut stream = Streams::new(1).open(Purpose::Sample, 0, 0);
    let mut cma = Cma::round(vec![0.0; N], 0.3);
    let mut scratch = Scratch::default();
    let mut points = vec![0.0; params.weights.len() * N];
    let space = bilevo_core::space::Space::from(vec![(-5.0, 10.0); N]);
    let mut generation = || {
        points.chunks_exact_mut(N).for_each(|point| cma.sample(&mut stream, &space, point));
        cma.update(&params, points.chunks_exact(N), &mut scratch);
    };
    assert!(measure(&mut generation).count_total > 0);
    assert_eq!(measure(|| (0..100).for_each(|_| generation())).count_total, 0);
}

/// A batch of a run: what the engine allocated while it took the answers and prepared what follows.
struct Step {
    generation: usize,
    /// The how manieth generation of the lower searches; 0 if another phase follows it.
    search: usize,
    allocations: u64,
}

/// Drives a run of the toy with eight candidates in a generation.
fn steps(method: &Method) -> Vec<Step> {
    let mut engine = engine_of(method, 1);
    let spec = engine.spec().clone();
    let mut replies = Replies::default();
    let (mut steps, mut generation, mut search) = (Vec::new(), 1, 0);
    loop {
        let Ask::Evaluate(batch) = engine.ask() else { return steps };
        let level = batch.level();
        replies.start(&spec, level);
        for index in 0..batch.len() {
            let (value, constraints) = toy(level, batch.x(index), batch.y(index)).unwrap();
            replies.push(&spec, value, &constraints);
        }
        let mut ended = false;
        let counted = measure(|| {
            ended = engine.tell(&replies).unwrap().is_some();
            engine.ask();
        });
        let lower = level == Level::Lower;
        let goes_on = lower && !ended && matches!(engine.ask(), Ask::Evaluate(next) if next.level() == Level::Lower);
        search = if goes_on { search + 1 } else { 0 };
        steps.push(Step { generation, search, allocations: counted.count_total });
        generation += usize::from(ended);
    }
}

/// From its second generation on a lower search by CMA-ES needs no memory that it has not got.
#[test]
fn generations_of_the_plain_lower_search_allocate_nothing() {
    for method in methods::all().filter(|m| m.base.name == "bl-cma-es") {
        let steps = steps(&method);
        let mut steady = steps.iter().filter(|step| step.generation > 1 && step.search > 1);
        assert!(steady.clone().count() > 20, "{}", method.name());
        assert!(steady.all(|step| step.allocations == 0), "{}", method.name());
    }
}

/// Elsewhere allocations follow from the size of a generation, not from the length of the run. The
/// bounds are those of the toy: eight candidates, two variables at each level. A step of a descent
/// solves many small quadratic problems, each with vectors of its own.
#[test]
fn a_batch_takes_a_bounded_number_of_allocations() {
    for method in methods::all() {
        let bound = match method.config() {
            config if config.scheme.kind != SchemeKind::Nested => 20_000,
            config if config.lower.kind == LowerKind::Exchange => 20_000,
            _ => 250,
        };
        let steps = steps(&method);
        let most = steps.iter().map(|step| step.allocations).max().unwrap();
        assert!(most <= bound, "{}: {most}", method.name());
    }
}
