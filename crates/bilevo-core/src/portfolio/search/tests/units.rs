//! Units do not matter: with F, f and the constraints in other ones, every search asks for the same points.

use super::super::changed::{Change, Changed, Rivals};
use super::super::descent::{Descent, STILL, Start};
use super::super::edge::Edge;
use super::super::population::{self, Population};
use super::super::smooth::Smooth;
use super::*;
use crate::allocate::AllocatorKind;
use crate::config::Config;
use crate::portfolio::config::Switch;
use crate::portfolio::verify::{Chosen, Depth, Look, Verify};

/// Units of F and its constraint, of f and its constraint: powers of two, so that nothing is rounded.
const UPPER: [f64; 2] = [1_048_576.0, 1.0 / 64.0];
const LOWER: [f64; 2] = [1.0 / 1_073_741_824.0, 1.0 / 16.0];

fn times(mut row: Vec<f64>, units: [f64; 2]) -> Vec<f64> {
    row.iter_mut().zip(units).for_each(|(v, unit)| *v *= unit);
    row
}

/// The leader's bowl with x >= 0.4.
fn upper(p: &[f64]) -> Vec<f64> {
    vec![bowl(p)[0], 0.4 - p[0]]
}

/// The follower's answer is x, but at most 0.25 + x / 4.
fn lower(p: &[f64]) -> Vec<f64> {
    vec![follows(p)[0], p[1] - 0.25 - 0.25 * p[0]]
}

/// Two basins, at x and at 0.9, with a limit that cuts off what lies between: the second is deeper from x = 0.4 on.
fn basins(p: &[f64]) -> Vec<f64> {
    let (own, other) = (10.0 * follows(p)[0], 10.0 * (p[1] - 0.9).powi(2) + 0.2 - 0.5 * p[0]);
    vec![own.min(other), p[1] - 0.95]
}

/// A problem as it is and in other units.
fn limited() -> [Bench; 2] {
    [Bench::new(upper, lower), Bench::new(|p| times(upper(p), UPPER), |p| times(lower(p), LOWER))]
}

fn two_basins() -> [Bench; 2] {
    [Bench::new(upper, basins), Bench::new(|p| times(upper(p), UPPER), |p| times(basins(p), LOWER))]
}

/// A claim at a point of a problem.
fn claim(bench: &Bench, x: f64, y: f64) -> Claim {
    let (upper, lower) = ((bench.upper)(&[x, y]), (bench.lower)(&[x, y]));
    Claim { x: vec![x], y: vec![y], upper, lower, settled: true }
}

/// Runs the same search on both, to the same end. How many of its first points are the same, and how many there are:
/// where two lengths explain the values equally well, rounding decides, so that not all of them need be.
fn compare<S: Search>(benches: [Bench; 2], make: impl Fn(&Bench) -> S) -> (usize, usize) {
    let [(plain, end, claim), (other, other_end, other_claim)] = benches.map(|mut bench| {
        let mut search = make(&bench);
        let end = bench.run(&mut search);
        (bench.trace, end, search.claim())
    });
    let settled = |claim: &Option<Claim>| claim.as_ref().map(|claim| claim.settled);
    assert_eq!((end, settled(&claim)), (other_end, settled(&other_claim)));
    let apart = claim.zip(other_claim).map_or(0.0, |(a, b)| a.distance(&b));
    assert!(apart < 1e-4, "{apart}");
    assert!(plain.len().abs_diff(other.len()) <= plain.len() / 20, "{} {}", plain.len(), other.len());
    let pairs = plain.iter().zip(&other);
    let same = pairs.take_while(|(a, b)| a.0 == b.0 && distance(&a.1, &b.1) < 1e-6);
    (same.count(), plain.len())
}

/// All of them.
fn equal<S: Search>(benches: [Bench; 2], make: impl Fn(&Bench) -> S) -> usize {
    let (same, all) = compare(benches, make);
    assert_eq!(same, all);
    all
}

#[test]
fn of_a_descent() {
    for (x, y) in [(0.1, 0.1), (0.9, 0.2)] {
        let start = Start { point: vec![x, y], size: 1.0, budget: 400, still: STILL, goal: None };
        let descent = |bench: &Bench| Descent::new(bench.shape(), &bench.archive, start.clone());
        assert!(equal(limited(), descent) > 15);
        assert!(equal(two_basins(), descent) > 15);
    }
}

#[test]
fn of_a_population() {
    let mut config = Config::default();
    config.allocator.kind = AllocatorKind::All;
    for number in 0..2 {
        let population = |bench: &Bench| {
            let (shape, mean, rivals) = (bench.shape(), vec![0.5; 2], vec![(vec![0.5], vec![0.9])]);
            let config = &config;
            let start = population::Start { shape, mean, config, size: 6, number, generation: 0, goal: None, rivals };
            Population::new(&bench.ground(), start)
        };
        assert!(equal(limited(), population) > 100);
        assert!(equal(two_basins(), population) > 100);
    }
}

#[test]
fn of_a_smoothed_search() {
    let noisy = |share: f64| {
        let mut benches = limited();
        benches[0].archive.noise = [0.01 * share; 2];
        benches[1].archive.noise = [0.01 * share * UPPER[0], 0.01 * share * LOWER[0]];
        benches
    };
    let smooth = |bench: &Bench| Smooth::new(bench.shape(), vec![0.3, 0.2], 1.0, 5, &bench.ground().streams);
    assert_eq!((equal(noisy(0.0), smooth), equal(noisy(1.0), smooth)), (496, 496));
}

#[test]
fn of_the_way_to_an_edge() {
    // Beyond 0.6 the limits leave no answer.
    fn edged(p: &[f64]) -> Vec<f64> {
        vec![p[1], 1.5 * p[0] - 0.9 + (p[1] - 0.3).abs()]
    }
    let benches = [Bench::new(upper, edged), Bench::new(|p| times(upper(p), UPPER), |p| times(edged(p), LOWER))];
    let edge = |bench: &Bench| Edge::new(bench.shape(), &bench.archive, claim(bench, 0.3, 0.0), vec![0.9]);
    assert!(compare(benches, edge).0 > 60);
}

#[test]
fn of_descents_of_changed_problems() {
    let rivals = |bench: &Bench| {
        let scales = bench.scales.clone();
        Rivals { answers: vec![vec![0.9]], range: scales.follower(), scales }
    };
    let start = |point: &[f64]| Start { point: point.to_vec(), size: 0.5, budget: 300, still: 1e-4, goal: None };
    let changed = |change: &dyn Fn(&Bench) -> Change, point: &[f64]| {
        compare(two_basins(), |bench| Changed::new(bench.shape(), &bench.archive, change(bench), start(point), false)).0
    };
    assert!(changed(&|bench| Change::Lean(0.2, bench.scales.clone()), &[0.5, 0.5]) > 20);
    assert!(changed(&|bench| Change::Exact(rivals(bench)), &[0.5, 0.6, 0.5]) > 20);
    assert!(changed(&|bench| Change::Border(rivals(bench)), &[0.45, 0.45]) > 10);
    assert!(changed(&|bench| Change::Tracked(rivals(bench)), &[0.45, 0.45, 0.9]) > 20);
    let level = |bench: &Bench| claim(bench, 0.4, 0.6).value();
    assert!(changed(&|bench| Change::Regret(level(bench), bench.scales.follower()), &[0.6, 0.8, 0.9]) > 20);
}

#[test]
fn of_a_verdict() {
    let (range, decided, chosen, scan, room) = (None, false, Chosen::ByFollower, Switch::On, usize::MAX);
    let look = Look { depth: Depth::Full, number: 0, range, decided, chosen, scan, room };
    for depth in [Depth::Light, Depth::Full, Depth::Wide] {
        for (x, known) in [(0.3, vec![]), (0.6, vec![vec![0.85]])] {
            let verify = |bench: &Bench| {
                Verify::new(bench.shape(), claim(bench, x, x + 1e-3), known.clone(), Look { depth, ..look })
            };
            let spent = equal(two_basins(), verify);
            assert!(spent > if depth == Depth::Light { 2 } else { 50 }, "{depth:?} {spent}");
        }
    }
}
