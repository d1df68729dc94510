use super::*;
use crate::portfolio::search::tests::{Bench, bowl, follows};
use crate::rng::Streams;

#[test]
fn a_random_answer_is_anywhere_or_differs_in_one_variable() {
    let mut stream = Streams::new(1).open(Purpose::Elite, 0, 0);
    let from = [0.5, 0.2, 1.0];
    let (mut low, mut high) = (1.0_f64, 0.0_f64);
    for _ in 0..200 {
        let all = random_answer(&from, true, &mut stream);
        assert!(all.len() == 3 && all.iter().zip(&from).all(|(a, b)| a != b && (0.0..1.0).contains(a)), "{all:?}");
        (low, high) = (low.min(all[0]), high.max(all[0]));
        let one = random_answer(&from, false, &mut stream);
        let changed = one.iter().zip(&from).filter(|(a, b)| a != b).count();
        assert!(one.len() == 3 && changed <= 1 && one.iter().all(|v| (0.0..=1.0).contains(v)), "{one:?}");
    }
    assert!(low < 0.1 && high > 0.9);
}

#[test]
fn an_answer_beats_another_by_f_without_a_loss_of_feasibility() {
    let bench = Bench::new(bowl, |p| vec![follows(p)[0], p[1] - 0.5]);
    let ground = bench.ground();
    let beats = |a: &[f64], b: &[f64]| beats(&ground, a, b);
    assert!(beats(&[0.1, -1.0], &[0.2, -1.0]) && !beats(&[0.2, -1.0], &[0.1, -1.0]));
    assert!(!beats(&[0.1, 1.0], &[0.2, -1.0]) && beats(&[0.1, 1.0], &[0.2, 1.0]) && beats(&[0.1, -1.0], &[0.2, 1.0]));
    assert!(!beats(&[], &[0.2, 1.0]) && !beats(&[0.2 - 1e-9, -1.0], &[0.2, -1.0]), "rounding");
}

#[test]
fn one_variable_changes_by_steps_of_all_sizes() {
    let mut stream = Streams::new(1).open(Purpose::Elite, 0, 0);
    let mut change = || (random_answer(&[0.5], false, &mut stream)[0] - 0.5).abs();
    let changes: Vec<f64> = (0..300).map(|_| change()).collect();
    let share = |least: f64| changes.iter().filter(|c| **c > least).count() as f64 / 300.0;
    // From 0.003 to 0.3, all orders of magnitude as often, times a normal number: half of them beyond 0.02.
    assert!(share(1e-3) > 0.75 && (0.35..0.65).contains(&share(0.02)) && share(0.2) > 0.05, "{}", share(0.02));
}
