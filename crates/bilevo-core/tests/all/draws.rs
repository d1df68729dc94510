//! Random draws, pinned: a seed means the same run in every version and on every machine.

use bilevo_core::rng::{Purpose, Streams};
use std::collections::BTreeSet;

const PURPOSES: [Purpose; 7] = [
    Purpose::Start,
    Purpose::Sample,
    Purpose::Lower,
    Purpose::Elite,
    Purpose::Refine,
    Purpose::Allocate,
    Purpose::Train,
];

/// The first uniform draw of each purpose for seed 42, generation 3, index 5. They change only with
/// a change of all results.
const FIRST: [f64; 7] = [
    0.291106413612097,
    0.15869718383435794,
    0.052929605771328325,
    0.5189930759457669,
    0.664329366364573,
    0.5177237248853681,
    0.1607303296442668,
];

#[test]
fn every_kind_of_stream_starts_where_it_always_did() {
    let first = PURPOSES.map(|purpose| Streams::new(42).open(purpose, 3, 5).uniform());
    assert_eq!(first, FIRST);
}

#[test]
fn every_kind_of_draw_gives_what_it_always_did() {
    let mut stream = Streams::new(0).open(Purpose::Start, 0, 0);
    let uniform: Vec<f64> = (0..3).map(|_| stream.uniform()).collect();
    let normal: Vec<f64> = (0..3).map(|_| stream.normal()).collect();
    let below: Vec<usize> = (0..8).map(|_| stream.below(10)).collect();
    let cauchy: Vec<f64> = (0..2).map(|_| stream.cauchy(0.5, 0.1)).collect();
    let chosen = stream.choose(10, 4);
    assert_eq!(uniform, [0.626882080683925, 0.8154814102176464, 0.0028721850608321997]);
    assert_eq!(normal, [-0.3388755510184132, -1.2942397533820438, 1.7580917847038884]);
    assert_eq!(below, [7, 2, 3, 7, 1, 4, 8, 1]);
    assert_eq!(cauchy, [0.22932206691992807, 0.3531420979802947]);
    assert_eq!(chosen, [9, 4, 6, 0]);
}

#[test]
fn streams_differ_by_seed_purpose_generation_and_index() {
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for seed in [0, 1, 2, u64::MAX] {
        for purpose in PURPOSES {
            for generation in [0, 1, 2, 1 << 40] {
                for index in [0, 1, 2, 9] {
                    seen.insert(Streams::new(seed).open(purpose, generation, index).uniform().to_bits());
                    count += 1;
                }
            }
        }
    }
    assert_eq!(seen.len(), count);
}

#[test]
fn a_saved_stream_goes_on() {
    let mut stream = Streams::new(8).open(Purpose::Lower, 1, 2);
    stream.normal();
    let mut copy = postcard::from_bytes(&postcard::to_stdvec(&stream).unwrap()).unwrap();
    assert_eq!(stream, copy);
    let mut next = || (stream.normal().to_bits(), copy.normal().to_bits());
    assert!((0..100).map(|_| next()).all(|(a, b)| a == b));
}

#[test]
fn draws_have_their_moments() {
    const DRAWS: usize = 40_000;
    let count = DRAWS as f64;
    let mut stream = Streams::new(17).open(Purpose::Sample, 0, 0);
    let mut within = |draw: &mut dyn FnMut(&mut bilevo_core::rng::Stream) -> f64, mean: f64, variance: f64| {
        let sum: f64 = (0..DRAWS).map(|_| draw(&mut stream)).sum();
        let z = (sum / count - mean) / (variance / count).sqrt();
        assert!(z.abs() < 5.0, "{z}");
    };
    within(&mut |s| s.uniform(), 0.5, 1.0 / 12.0);
    within(&mut |s| s.normal(), 0.0, 1.0);
    within(&mut |s| s.normal().powi(2), 1.0, 2.0);
    within(&mut |s| s.below(6) as f64, 2.5, 35.0 / 12.0);
    // Half of a Cauchy lies within one scale of its centre.
    within(&mut |s| f64::from((s.cauchy(2.0, 3.0) - 2.0).abs() < 3.0), 0.5, 0.25);
    // Every element is chosen equally often.
    within(&mut |s| f64::from(s.choose(7, 3).contains(&6)), 3.0 / 7.0, 12.0 / 49.0);
}

#[test]
fn choosing_is_a_permutation_of_what_there_is() {
    let mut stream = Streams::new(3).open(Purpose::Allocate, 0, 0);
    for n in 0..12 {
        for count in 0..15 {
            let chosen = stream.choose(n, count);
            assert_eq!(chosen.len(), count.min(n));
            assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), chosen.len());
            assert!(chosen.iter().all(|&i| i < n));
        }
    }
    assert_eq!((stream.below(1), stream.below(0)), (0, 0));
}
