//! Statistics against SciPy's and NumPy's values, which `data/make_scipy.py` wrote down.

use bilevo_lab::stats::{RankSumMethod, StatsError, Summary, Verdict, ert, holm, median, quantile, rank_sum, verdict};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    rank_sum: Vec<Pair>,
    quantiles: Vec<Quantiles>,
    holm: Vec<Family>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    first: Vec<f64>,
    second: Vec<f64>,
    u: f64,
    p: f64,
}

#[derive(Deserialize)]
struct Quantiles {
    sample: Vec<f64>,
    p: Vec<f64>,
    value: Vec<f64>,
    mean: f64,
}

#[derive(Deserialize)]
struct Family {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("../data/scipy.json")).unwrap()
}

fn close(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{what}: got {got:e}, SciPy has {expected:e}");
}

#[test]
fn rank_sum_agrees_with_scipy() {
    let pairs = reference().rank_sum;
    assert!(pairs.len() > 15);
    for pair in &pairs {
        let test = rank_sum(&pair.first, &pair.second).unwrap();
        assert_eq!(test.u, pair.u, "{}", pair.name);
        close(test.p, pair.p, &pair.name);
    }
}

#[test]
fn small_samples_without_ties_are_exact() {
    let method = |a: &[f64], b: &[f64]| rank_sum(a, b).unwrap().method;
    let up = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<_>>();
    let odd = |n: usize| (0..n).map(|i| i as f64 + 0.5).collect::<Vec<_>>();
    assert_eq!(method(&up(8), &odd(30)), RankSumMethod::Exact);
    assert_eq!(method(&up(30), &odd(8)), RankSumMethod::Exact);
    assert_eq!(method(&up(9), &odd(9)), RankSumMethod::Asymptotic);
    assert_eq!(method(&up(3), &up(3)), RankSumMethod::Asymptotic, "ties");
    // 2 / C(10_008, 8), the smallest p the exact counts ever have to resolve
    let below: Vec<f64> = (1..=8).map(|i| -f64::from(i)).collect();
    let p = rank_sum(&below, &up(10_000)).unwrap().p;
    let arrangements = (1..=8).map(|i| (10_000 + i) as f64 / i as f64).product::<f64>();
    assert!((p * arrangements / 2.0 - 1.0).abs() < 1e-12, "{p:e}");
}

#[test]
fn quantiles_agree_with_numpy() {
    for case in reference().quantiles {
        for (&p, &value) in case.p.iter().zip(&case.value) {
            close(quantile(&case.sample, p).unwrap(), value, &format!("{:?} at {p}", case.sample));
        }
        let summary = Summary::of(&case.sample).unwrap();
        close(summary.mean, case.mean, "mean");
        assert_eq!(summary.median, median(&case.sample).unwrap());
        assert_eq!(summary.q1, quantile(&case.sample, 0.25).unwrap());
        assert_eq!(summary.count, case.sample.len());
    }
}

#[test]
fn holm_agrees_with_its_definition() {
    for family in reference().holm {
        let adjusted = holm(&family.p).unwrap();
        assert_eq!(adjusted.len(), family.adjusted.len());
        for (got, expected) in adjusted.iter().zip(&family.adjusted) {
            close(*got, *expected, &format!("{:?}", family.p));
        }
    }
    assert_eq!(holm(&[0.5, f64::NAN]), Err(StatsError::Probability));
}

#[test]
fn verdicts_see_the_direction() {
    let low: Vec<f64> = (0..21).map(f64::from).collect();
    let high: Vec<f64> = (0..21).map(|i| f64::from(i) + 15.0).collect();
    assert_eq!(verdict(&low, &high).unwrap(), Some(Verdict::Better));
    assert_eq!(verdict(&high, &low).unwrap(), Some(Verdict::Worse));
    assert_eq!(verdict(&low, &low).unwrap(), Some(Verdict::Similar));
    assert_eq!(verdict(&[1.0], &[2.0]).unwrap(), None, "one run each proves nothing");
    let test = rank_sum(&low, &high).unwrap();
    assert_eq!(Verdict::from_p(&test, 0.05), Verdict::Similar, "a corrected p at the level itself");
}

#[test]
fn the_smallest_p_is_that_of_samples_apart() {
    for (small, large) in [(1, 1), (1, 39), (3, 3), (4, 4), (3, 21), (8, 8)] {
        let low: Vec<f64> = (0..small).map(f64::from).collect();
        let high: Vec<f64> = (0..large).map(|i| f64::from(i) + 100.0).collect();
        let test = rank_sum(&low, &high).unwrap();
        assert_eq!(test.method, RankSumMethod::Exact);
        assert!((test.p - test.smallest_p()).abs() < 1e-12, "{small} {large}: {} {}", test.p, test.smallest_p());
        assert_eq!(verdict(&low, &high).unwrap().is_some(), test.p < 0.05);
    }
}

#[test]
fn effect_sizes_of_known_pairs() {
    let test = rank_sum(&[1.0, 2.0], &[3.0, 4.0]).unwrap();
    assert_eq!((test.a12(), test.cliffs_delta()), (0.0, -1.0));
    let test = rank_sum(&[1.0, 2.0, 3.0], &[2.0]).unwrap();
    assert_eq!((test.a12(), test.cliffs_delta()), (0.5, 0.0));
}

#[test]
fn what_is_not_a_number_is_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(rank_sum(&[1.0, bad], &[2.0]), Err(StatsError::NotFinite));
        assert_eq!(rank_sum(&[1.0], &[bad]), Err(StatsError::NotFinite));
        assert_eq!(median(&[bad]), Err(StatsError::NotFinite));
    }
    assert_eq!(rank_sum(&[], &[1.0]), Err(StatsError::Empty));
    assert_eq!(rank_sum(&[1.0], &[]), Err(StatsError::Empty));
    assert_eq!(Summary::of(&[]), Err(StatsError::Empty));
    assert_eq!(quantile(&[1.0], 1.5), Err(StatsError::Probability));
    assert_eq!(quantile(&[1.0], f64::NAN), Err(StatsError::Probability));
}

#[test]
fn expected_running_time_counts_failed_runs_too() {
    assert_eq!(ert([(100, true), (300, false), (200, true)]), Some(300.0));
    assert_eq!(ert([(100, false)]), None);
    assert_eq!(ert([]), None);
}

/// P(U >= u) by listing every arrangement.
fn tail_by_listing(small: usize, large: usize, u: usize) -> f64 {
    let n = small + large;
    let (mut all, mut tail) = (0_u32, 0_u32);
    for chosen in 0_u32..1 << n {
        if chosen.count_ones() as usize == small {
            let rank_sum: usize = (0..n).filter(|i| chosen >> i & 1 == 1).map(|i| i + 1).sum();
            all += 1;
            tail += u32::from(rank_sum - small * (small + 1) / 2 >= u);
        }
    }
    f64::from(tail) / f64::from(all)
}

proptest! {
    #[test]
    fn exact_p_equals_listing_all_arrangements(mask in 1_u32..(1 << 11) - 1) {
        let split = |own: bool| (0..11).filter(|i| (mask >> i & 1 == 1) == own).map(f64::from).collect::<Vec<_>>();
        let (first, second) = (split(true), split(false));
        prop_assume!(first.len().min(second.len()) <= 8);
        let test = rank_sum(&first, &second).unwrap();
        let pairs = (first.len() * second.len()) as f64;
        let larger = test.u.max(pairs - test.u).ceil() as usize;
        let expected = (2.0 * tail_by_listing(first.len(), second.len(), larger)).min(1.0);
        prop_assert!((test.p - expected).abs() < 1e-12);
    }

    #[test]
    fn swapping_the_samples_mirrors_the_test(
        first in prop::collection::vec(-5_i8..5, 1..30), second in prop::collection::vec(-5_i8..5, 1..30)
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) =
            (first.iter().map(|&v| v.into()).collect(), second.iter().map(|&v| v.into()).collect());
        let (there, back) = (rank_sum(&a, &b).unwrap(), rank_sum(&b, &a).unwrap());
        prop_assert_eq!(there.p, back.p);
        prop_assert!((0.0..=1.0).contains(&there.p));
        prop_assert!((there.cliffs_delta() + back.cliffs_delta()).abs() < 1e-12);
    }
}
