use super::*;
use crate::problem::LevelSpec;
use crate::rng::{Purpose, Streams};
use crate::space::Space;

fn problem(upper: Space, lower: Space) -> ProblemSpec {
    ProblemSpec::new("p", LevelSpec::new(upper), LevelSpec::new(lower))
}

fn binaries(count: usize) -> Space {
    (0..count).fold(Space::new(), |space, i| space.binary(format!("x{i}")))
}

/// Generations of six candidates until it is over: the best value, the reason, and all decisions.
fn run(spec: &ProblemSpec, f: impl Fn(&[f64]) -> f64) -> (f64, StopReason, Vec<Vec<f64>>) {
    run_with(spec, f, |_, _| true)
}

/// The same where a decision that was asked for some times before may have an answer or not.
fn run_with(
    spec: &ProblemSpec,
    f: impl Fn(&[f64]) -> f64,
    answered: impl Fn(&[f64], usize) -> bool,
) -> (f64, StopReason, Vec<Vec<f64>>) {
    let mut descents = Descents::new(spec, &JointCmaConfig::default());
    let (mut asked, mut elite): (Vec<Vec<f64>>, Option<Solved>) = (Vec::new(), None);
    for round in 0..400 {
        let mut stream = Streams::new(1).open(Purpose::Sample, round, 0);
        let drawn = |_| Candidate { x: spec.upper.space.draw(&mut stream), guess: vec![0.0] };
        let mut candidates: Vec<Candidate> = (0..6).map(drawn).collect();
        descents.join(&mut candidates, &mut stream);
        let solved = |c: &Candidate| {
            let before = asked.iter().filter(|x| **x == c.x).count();
            let violation = if answered(&c.x, before) { 0.0 } else { 1.0 };
            let upper = Outcome { value: f(&c.x), violation };
            Solved { x: c.x.clone(), y: vec![0.0], upper, upper_constraints: vec![], lower: upper, converged: true }
        };
        let solved: Vec<Solved> = candidates.iter().map(solved).collect();
        asked.extend(candidates.into_iter().map(|c| c.x));
        let best = solved.iter().chain(elite.as_ref()).min_by(|a, b| order::compare(&a.upper, &b.upper)).cloned();
        elite = best;
        descents.learn(&solved, elite.as_ref());
        if let Some(reason) = descents.over() {
            return (elite.unwrap().upper.value, reason, asked);
        }
    }
    panic!("it does not end");
}

/// How many are different.
fn distinct(asked: &[Vec<f64>]) -> usize {
    asked.iter().map(|x| key(x)).collect::<BTreeSet<_>>().len()
}

#[test]
fn few_decisions_are_all_tried_once() {
    let spec = problem(Space::new().whole("a", 0.0, 6.0).binary("b"), binaries(1));
    let (value, reason, asked) = run(&spec, |x| if x == [4.0, 1.0] { -1.0 } else { x[0] });
    assert_eq!((value, reason, asked.len()), (-1.0, StopReason::Exhausted, 14), "a needle is found");
}

#[test]
fn descents_agree_on_many_binaries_without_asking_twice() {
    // A sum with pairs that count only together.
    let value = |x: &[f64]| {
        (0..24).map(|i| (x[i] - 0.4) * if i % 3 == 0 { -2.0 } else { 1.0 }).sum::<f64>() + 3.0 * x[1] * x[7]
            - 4.0 * x[2] * x[8]
    };
    let (best, reason, asked) = run(&problem(binaries(24), binaries(12)), value);
    // Pairs apart, the best choice is seen from each weight; the pair of 2 and 8 pays (4 for 2).
    let wanted: f64 = (0..24).map(|i| if i % 3 == 0 { -1.2 } else { -0.4 }).sum::<f64>() - 2.0;
    assert!((best - wanted).abs() < 1e-9, "{best} {wanted}");
    assert_eq!(reason, StopReason::Agreed);
    // The last generation only repeats the best decision.
    assert!(asked.len() < 600 && asked.len() <= distinct(&asked) + 1, "{}", asked.len());
}

#[test]
fn reals_are_searched_by_steps_beside_whole_numbers() {
    let spec = problem(Space::new().whole("n", 0.0, 5.0).real("p", 0.0, 10.0), Space::new().real("y", 0.0, 1.0));
    let (best, _, asked) = run(&spec, |x| (x[0] - 2.4).powi(2) + (x[1] - 3.0 - 0.7 * x[0]).powi(2));
    assert!((best - 0.16).abs() < 1e-6, "{best}");
    assert!(asked.len() < 200, "{}", asked.len());
}

#[test]
fn a_decision_without_an_answer_is_tried_again_and_leaves_a_doubt() {
    let spec = problem(binaries(3), Space::new().real("y", 0.0, 1.0));
    let value = |x: &[f64]| if x == [0.0, 1.0, 0.0] { -5.0 } else { x.iter().sum() };
    let hidden = |x: &[f64], found: usize| x != [0.0, 1.0, 0.0] || found > 0;
    // Its answer is found the second time ...
    let (best, reason, asked) = run_with(&spec, value, hidden);
    assert_eq!((best, reason, distinct(&asked)), (-5.0, StopReason::Exhausted, 8));
    // ... or never, and nobody knows whether there is one.
    let (best, reason, asked) = run_with(&spec, value, |x, _| x != [0.0, 1.0, 0.0]);
    assert_eq!((best, reason), (0.0, StopReason::Flat));
    assert_eq!(asked.iter().filter(|x| **x == [0.0, 1.0, 0.0]).count(), TRIES);
}
