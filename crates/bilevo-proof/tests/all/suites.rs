//! TP and SMD at 2+3 as files: the same problems as the built-in ones, and proven.

use crate::families::Random;
use crate::files::folder;
use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_proof::{FollowerVerdict, LeaderVerdict, Limits, Problem, follower, leader};

#[test]
fn files_compute_what_the_built_in_problems_compute() {
    let mut random = Random(9);
    for file in folder("crates/bilevo-proof/tests/data") {
        let spec = file.spec();
        let built_in = bilevo_problems::problem(&spec.name, None).unwrap();
        let bounds =
            |level: Level| (spec.level(level).space.bounds().to_vec(), built_in.spec().level(level).space.bounds());
        for level in [Level::Upper, Level::Lower] {
            for (ours, theirs) in bounds(level).0.iter().zip(bounds(level).1) {
                assert!((ours.0 - theirs.0).abs() < 1e-15 && (ours.1 - theirs.1).abs() < 1e-15, "{}", spec.name);
            }
        }
        for _ in 0..50 {
            let mut draw = |level: Level| {
                let bounds = spec.level(level).space.bounds().to_vec();
                bounds.iter().map(|b| random.within(b.0, b.1)).collect::<Vec<f64>>()
            };
            let (x, y) = (draw(Level::Upper), draw(Level::Lower));
            for level in [Level::Upper, Level::Lower] {
                let (mut g, mut h) = (Vec::new(), Vec::new());
                let ours = file.evaluate(level, &x, &y, &mut g).unwrap();
                let theirs = built_in.evaluate(level, &x, &y, &mut h).unwrap();
                g.push(ours);
                h.push(theirs);
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-11 * b.abs().max(1.0);
                assert!(g.len() == h.len() && g.iter().zip(&h).all(close), "{} {level}: {g:?} {h:?}", spec.name);
            }
        }
    }
}

#[test]
fn suites_are_proven_and_false_claims_are_not() {
    for file in folder("crates/bilevo-proof/tests/data") {
        let spec = file.spec();
        let (name, best) = (&spec.name[..], spec.best_known[0].upper);
        let problem = Problem::new(&file).unwrap();
        let limits = Limits::work(60_000_000);
        let (x, y) = &file.optima()[0];
        let proof = follower(&problem, x, y, 1e-4, &limits);
        assert_eq!(proof.verdict, FollowerVerdict::Proven, "{name}: {proof:?}");
        let proof = leader(&problem, best, 1e-2, &limits);
        assert_eq!(proof.verdict, LeaderVerdict::Proven, "{name}: {proof:?}");
        for shift in [0.002, 0.02, 0.2] {
            let proof = leader(&problem, best + shift * best.abs().max(1.0), 1e-3, &Limits::work(1_000_000));
            assert_ne!(proof.verdict, LeaderVerdict::Proven, "{name} with {shift}: {proof:?}");
        }
    }
}
