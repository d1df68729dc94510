//! A training must not allocate once its working memory has grown to the size needed.

use allocation_counter::measure;
use bilevo_core::allocate::contrastive::network::{Network, Shape};
use bilevo_core::allocate::contrastive::train::{Adam, Pool, Schedule, Trainer};
use bilevo_core::rng::{Purpose, Streams};

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
