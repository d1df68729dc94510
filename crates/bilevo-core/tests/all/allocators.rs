//! The allocators fed with scripted solutions: odd pools, due trainings, resampling.

use bilevo_core::allocate::{Allocation, Allocator, AllocatorSetup, Contrastive, Random, Sampled};
use bilevo_core::candidate::{Candidate, Solved};
use bilevo_core::config::{Config, ContrastiveConfig, InputRule, LabelRule, OptimiserRule, WeightsRule};
use bilevo_core::problem::{LevelSpec, Outcome, ProblemSpec};
use bilevo_core::record::ModelSummary;
use bilevo_core::rng::{Purpose, Stream, Streams};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const POPULATION: usize = 8;

fn spec() -> ProblemSpec {
    let level = |dim| LevelSpec::boxed(vec![(-1e300, 1e300); dim]);
    ProblemSpec::new("scripted", level(2), level(3))
}

fn allocator(config: &ContrastiveConfig) -> Contrastive {
    let config = Config { contrastive: config.clone(), ..Config::default() };
    Contrastive::new(AllocatorSetup { config: &config, spec: &spec(), streams: Streams::new(1) })
}

fn stream(index: u64) -> Stream {
    Streams::new(2).open(Purpose::Allocate, 0, index)
}

fn candidate(x: [f64; 2]) -> Candidate {
    Candidate { x: x.to_vec(), guess: vec![0.0; 3] }
}

fn solved(x: &[f64], upper: Outcome) -> Solved {
    let (y, lower) = (vec![0.0; 3], Outcome { value: 0.0, violation: 0.0 });
    Solved { x: x.to_vec(), y, upper, upper_constraints: Vec::new(), lower, converged: true }
}

fn feasible(value: f64) -> Outcome {
    Outcome { value, violation: 0.0 }
}

/// Allocates as the engine does; returns the candidates chosen and the rounds of resampling.
fn allocate(
    allocator: &mut impl Allocator,
    stream: &mut Stream,
    mut sample: impl FnMut(&mut Stream) -> [f64; 2],
) -> (Vec<Candidate>, usize) {
    let mut candidates = Vec::new();
    for round in 0..10 {
        candidates.extend((0..POPULATION).map(|_| candidate(sample(stream))));
        let Allocation::Run(run) =
            allocator.allocate(&Sampled { candidates: &candidates, population: POPULATION, round }, stream)
        else {
            continue;
        };
        let mut distinct = run.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), run.len(), "chosen twice: {run:?}");
        assert!(run.len() >= 2 && run.len() <= POPULATION && run.iter().all(|&i| i < candidates.len()), "{run:?}");
        return (run.iter().map(|&i| candidates[i].clone()).collect(), round);
    }
    panic!("resamples for ever");
}

fn presets() -> [ContrastiveConfig; 4] {
    // The published pool rule trains rarely; a small network lets it train within a short test.
    let published = ContrastiveConfig { hidden: Some(2), pairs_per_weight: 2, ..ContrastiveConfig::published() };
    let exploring = ContrastiveConfig { explore: 1000, resample_rounds: 3, ..ContrastiveConfig::default() };
    [ContrastiveConfig::default(), ContrastiveConfig::plain_window(), published, exploring]
}

/// Twelve generations in which candidates come from `sample` and are worth `judge`.
fn live(
    config: &ContrastiveConfig,
    mut sample: impl FnMut(&mut Stream) -> [f64; 2],
    mut judge: impl FnMut(usize, &[f64]) -> Outcome,
) -> Contrastive {
    let mut allocator = allocator(config);
    let (mut stream, mut number) = (stream(0), 0);
    for generation in 1..=12 {
        if allocator.training_due() {
            allocator.train(generation);
            assert!(!allocator.training_due());
        }
        let (chosen, rounds) = allocate(&mut allocator, &mut stream, &mut sample);
        assert!(rounds <= config.resample_rounds);
        let results: Vec<Solved> = chosen
            .iter()
            .map(|c| {
                number += 1;
                solved(&c.x, judge(number, &c.x))
            })
            .collect();
        allocator.learn(&results);
        let record = allocator.model_record().unwrap();
        assert!(record.accuracy.is_none_or(|a| (0.0..=1.0).contains(&a)), "{record:?}");
        assert!(record.loss.is_none_or(|l| l.is_finite() && l >= 0.0), "{record:?}");
    }
    assert!(allocator.model_summary().accuracy.is_none_or(|a| (0.0..=1.0).contains(&a)));
    allocator
}

#[test]
fn odd_pools_are_no_trouble() {
    let normal = |s: &mut Stream| [s.normal(), s.normal()];
    let infeasible = |violation| Outcome { value: 1.0, violation };
    for config in presets() {
        let equal = live(&config, normal, |_, _| feasible(7.0));
        assert_eq!(equal.model_summary().accuracy, None, "equal solutions say nothing about a model");
        live(&config, |_| [0.5, -0.5], |number, _| feasible(number as f64));
        live(&config, |_| [0.5, -0.5], |_, _| feasible(1.0));
        live(&config, normal, |_, x| infeasible(1.0 + x[0].abs()));
        live(&config, normal, |_, _| infeasible(1.0));
        live(&config, normal, |_, x| infeasible(f64::MAX * x[0].abs().clamp(0.1, 1.0)));
        live(&config, normal, |number, x| if number % 3 == 0 { Outcome::FAILED } else { feasible(x[0]) });
        let failed = live(&config, normal, |_, _| Outcome::FAILED);
        assert_eq!(failed.model_summary(), ModelSummary::default(), "nothing to learn from");
        live(&config, normal, |number, x| if number > 40 { Outcome::FAILED } else { feasible(x[0]) });
    }
}

#[test]
fn scales_do_not_matter() {
    for config in presets() {
        for scale in [1e-300, 1e-150, 1.0, 1e150, 1e300] {
            let sample = |s: &mut Stream| [scale * (s.uniform() - 0.5), (s.uniform() - 0.5) / scale];
            live(&config, sample, |_, x| feasible(x[0]));
            live(&config, sample, |_, x| feasible(x[1]));
            live(&config, |s| [s.normal(), s.normal()], |_, x| feasible(scale * x[0].clamp(-1.0, 1.0)));
        }
    }
    // With standardised inputs the model is as good at any scale.
    for scale in [1e-300, 1.0, 1e300] {
        let sample = |s: &mut Stream| [scale * (s.uniform() - 0.5), scale * (s.uniform() - 0.5)];
        let accuracy = live(&ContrastiveConfig::default(), sample, |_, x| feasible(x[0] / scale))
            .model_summary()
            .accuracy
            .unwrap();
        assert!(accuracy > 0.85, "{accuracy} at {scale}");
    }
}

/// An allocator whose model has learned that a small x0 is good.
fn taught(config: &ContrastiveConfig) -> Contrastive {
    let mut allocator = allocator(config);
    let mut stream = stream(9);
    for generation in 1..=6 {
        let points = (0..POPULATION).map(|_| [stream.normal(), stream.normal()]);
        let results: Vec<Solved> = points.map(|x| solved(&x, feasible(x[0]))).collect();
        allocator.learn(&results);
        if allocator.training_due() {
            allocator.train(generation);
        }
    }
    allocator
}

#[test]
fn resamples_poor_candidates_as_often_as_allowed_and_good_ones_never() {
    for resample_rounds in 0..5 {
        let config = ContrastiveConfig { resample_rounds, ..ContrastiveConfig::plain_window() };
        let poor = allocate(&mut taught(&config), &mut stream(3), |s| [5.0 + s.uniform(), s.normal()]);
        assert_eq!(poor.1, resample_rounds);
        let good = allocate(&mut taught(&config), &mut stream(3), |s| [-5.0 - s.uniform(), s.normal()]);
        assert_eq!(good.1, 0);
    }
}

#[test]
fn the_model_chooses_what_it_finds_better() {
    let config = ContrastiveConfig { resample_rounds: 0, ..ContrastiveConfig::plain_window() };
    let mut number = -1.0;
    let (chosen, _) = allocate(&mut taught(&config), &mut stream(3), |_| {
        number += 1.0;
        [2.0 - 0.5 * number, 0.0]
    });
    let chosen: Vec<f64> = chosen.iter().map(|c| c.x[0]).collect();
    assert_eq!(chosen, [-1.5, -1.0, -0.5, 0.0]);
}

#[test]
fn exploration_takes_the_last_places_only() {
    let config = ContrastiveConfig { resample_rounds: 0, explore: 2, ..ContrastiveConfig::plain_window() };
    let mut strangers = 0;
    for round in 0..20 {
        let mut number = -1.0;
        let (chosen, _) = allocate(&mut taught(&config), &mut stream(round), |_| {
            number += 1.0;
            [2.0 - 0.5 * number, 0.0]
        });
        let chosen: Vec<f64> = chosen.iter().map(|c| c.x[0]).collect();
        assert_eq!(chosen[..2], [-1.5, -1.0]);
        assert!(chosen[3] > 0.0, "the last place goes to one the model would not have chosen: {chosen:?}");
        strangers += usize::from(chosen[2] > 0.0);
    }
    assert!(strangers > 0);
}

#[test]
fn published_trains_when_pairs_are_ten_times_the_weights_and_starts_anew() {
    let mut allocator = allocator(&ContrastiveConfig::published());
    let mut stream = stream(4);
    // 2+3 variables and as many hidden units make 45 weights: 22 * 21 is the first product >= 450.
    for training in 1..=3 {
        for seen in 1..=22 {
            let x = [stream.normal(), stream.normal()];
            allocator.learn(&[solved(&x, feasible(x[1]))]);
            assert_eq!(allocator.training_due(), seen == 22, "after {seen}");
        }
        allocator.train(training);
        assert_eq!(allocator.model_summary().trainings, training);
    }
}

#[test]
fn elites_evaluated_anew_fill_the_pool_only_where_asked_for() {
    // The same elite every time, or another one.
    for (learn_refined, step, due_after) in [(true, 0.0, 21), (true, 1.0, 11), (false, 1.0, 22)] {
        let mut allocator = allocator(&ContrastiveConfig { learn_refined, ..ContrastiveConfig::published() });
        let mut stream = stream(4);
        let due = (1..).find(|&number| {
            let x = [stream.normal(), stream.normal()];
            allocator.notice(&solved(&[step * f64::from(number), 0.0], feasible(-9.0)));
            allocator.learn(&[solved(&x, feasible(x[1]))]);
            allocator.training_due()
        });
        assert_eq!(due, Some(due_after));
    }
}

/// Indices of eight fixed candidates, best score first; the scores alone decide.
fn order_of(allocator: &mut Contrastive) -> Vec<usize> {
    let points = [[0.3, 0.9], [-1.2, 0.4], [0.8, -0.7], [-0.1, -1.5], [1.6, 0.2], [0.5, 1.1], [-0.6, 0.6], [2.0, -2.0]];
    let candidates: Vec<Candidate> = points.iter().map(|&x| candidate(x)).collect();
    let sampled = Sampled { candidates: &candidates, population: POPULATION, round: 9 };
    match allocator.allocate(&sampled, &mut stream(0)) {
        Allocation::Run(run) => run,
        Allocation::Resample => panic!("not after so many rounds"),
    }
}

/// The best candidates of [`order_of`], and the losses, after one and after two trainings on pools
/// of 22 in which x0, times `scale`, decides.
fn twice_trained(config: &ContrastiveConfig, scale: f64) -> [(Vec<usize>, f64); 2] {
    let mut allocator = allocator(config);
    let mut stream = stream(5);
    [1, 2].map(|training| {
        let points = (0..22).map(|_| [stream.normal(), stream.normal()]);
        let results: Vec<Solved> =
            points.map(|x| solved(&[scale * x[0], scale * x[1]], feasible(x[0] + 0.5 * x[1]))).collect();
        allocator.learn(&results);
        assert!(allocator.training_due());
        allocator.train(training);
        (order_of(&mut allocator), allocator.model_record().unwrap().loss.unwrap())
    })
}

#[test]
fn carried_weights_go_on_and_fresh_ones_start_anew() {
    // So small a rate that a training changes nothing: what differs is where it starts.
    let config = |weights| ContrastiveConfig {
        weights,
        inputs: InputRule::Raw,
        learning_rate: 1e-9,
        ..ContrastiveConfig::published()
    };
    let [first, second] = twice_trained(&config(WeightsRule::Carried), 1.0);
    assert_eq!(first.0, second.0, "the same network still");
    let [other, fresh] = twice_trained(&config(WeightsRule::Fresh), 1.0);
    assert_eq!(first, other);
    assert_ne!(fresh.0, other.0);
}

#[test]
fn a_carried_optimiser_remembers_and_a_fresh_one_does_not() {
    let config = |optimiser| ContrastiveConfig { optimiser, epochs: 20, ..ContrastiveConfig::published() };
    let carried = twice_trained(&config(OptimiserRule::Carried), 1.0);
    let fresh = twice_trained(&config(OptimiserRule::Fresh), 1.0);
    assert_eq!(carried[0], fresh[0], "nothing to remember in the first training");
    assert_ne!(carried[1].1, fresh[1].1);
}

#[test]
fn raw_inputs_feel_their_scale_and_standardised_ones_do_not() {
    let losses = |inputs| {
        let config = ContrastiveConfig { inputs, ..ContrastiveConfig::published() };
        [1.0, 1024.0].map(|scale| twice_trained(&config, scale)[0].1)
    };
    let [one, other] = losses(InputRule::Standardised);
    assert!((one - other).abs() < 1e-9, "{one} {other}");
    let [one, other] = losses(InputRule::Raw);
    assert!((one - other).abs() > 1e-3, "{one} {other}");
    let small = twice_trained(&ContrastiveConfig::published(), 1.0)[1].0.clone();
    assert_eq!(small[..2], [1, 3], "the smallest sums x0 + x1 / 2 first");
}

#[test]
fn labels_follow_selection_or_the_objective_alone() {
    // A small x0 has the better F, but only a large one is feasible.
    let outcome = |x: &[f64]| Outcome { value: x[0], violation: (-x[0]).max(0.0) };
    for (labels, best) in [(LabelRule::Order, [0.1, 0.2, 0.3]), (LabelRule::Objective, [-0.4, -0.3, -0.2])] {
        let config = ContrastiveConfig { labels, epochs: 400, ..ContrastiveConfig::plain_window() };
        let mut allocator = allocator(&config);
        let results: Vec<Solved> =
            (0..32).map(|k| f64::from(k) / 16.0 - 1.0).map(|x| solved(&[x, 0.0], outcome(&[x, 0.0]))).collect();
        allocator.learn(&results);
        allocator.train(1);
        let offered = [-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4].map(|x| candidate([x, 0.0]));
        let sampled = Sampled { candidates: &offered, population: POPULATION, round: 9 };
        let Allocation::Run(run) = allocator.allocate(&sampled, &mut stream(0)) else {
            panic!("not after so many rounds")
        };
        let mut chosen: Vec<f64> = run.iter().take(3).map(|&i| offered[i].x[0]).collect();
        chosen.sort_by(f64::total_cmp);
        assert_eq!(chosen, best, "{labels:?}");
    }
}

#[test]
fn candidates_must_beat_the_best_of_the_last_population() {
    let config = ContrastiveConfig::plain_window();
    let mut allocator = taught(&config);
    let last = [-1.0, -0.5, 0.5, 1.5].map(|x0| solved(&[x0, 0.0], feasible(x0)));
    allocator.learn(&last);
    let first_round = |from: f64| -> Allocation {
        let candidates: Vec<Candidate> = (0..POPULATION).map(|k| candidate([from + 0.1 * k as f64, 0.0])).collect();
        allocator
            .clone()
            .allocate(&Sampled { candidates: &candidates, population: POPULATION, round: 0 }, &mut stream(1))
    };
    assert_eq!(first_round(0.2), Allocation::Resample, "better than the worst of them is not enough");
    assert_eq!(first_round(-1.5), Allocation::Run(vec![0, 1, 2, 3]));
}

#[test]
fn the_paper_s_accuracy_is_over_the_pairs_of_a_whole_pool() {
    let mut allocator = allocator(&ContrastiveConfig::published());
    let mut stream = stream(6);
    let mut pool = |allocator: &mut Contrastive, sign: f64| {
        // Generation by generation: within each all are equal, so only pairs across them say anything.
        for generation in 0..11 {
            let x0 = stream.normal();
            let two: Vec<Solved> = (0..2).map(|_| solved(&[x0, stream.normal()], feasible(sign * x0))).collect();
            allocator.learn(&two);
            assert_eq!(allocator.training_due(), generation == 10);
        }
    };
    pool(&mut allocator, 1.0);
    assert_eq!(allocator.model_summary().accuracy_across, None, "no model was there to be judged");
    allocator.train(1);
    pool(&mut allocator, 1.0);
    let summary = allocator.model_summary();
    assert!(summary.accuracy.is_none() && summary.accuracy_across.unwrap() > 0.85, "{summary:?}");
    allocator.train(2);
    pool(&mut allocator, -1.0);
    let both = allocator.model_summary().accuracy_across.unwrap();
    assert!((both - 0.5).abs() < 0.2, "{both}: one model right, the next one wrong");
}

#[test]
fn a_window_trains_from_its_first_full_share_on_in_every_generation() {
    let mut allocator = allocator(&ContrastiveConfig::default());
    let mut stream = stream(4);
    for seen in 1..=60 {
        let x = [stream.normal(), stream.normal()];
        allocator.learn(&[solved(&x, feasible(x[1]))]);
        assert_eq!(allocator.training_due(), seen >= 16, "after {seen}");
        if allocator.training_due() {
            allocator.train(seen);
        }
    }
    assert_eq!(allocator.model_summary().trainings, 45);
}

#[test]
fn accuracy_is_judged_before_training() {
    let mut allocator = allocator(&ContrastiveConfig::plain_window());
    let mut stream = stream(6);
    let mut generation = |sign: f64| -> Vec<Solved> {
        let points = (0..32).map(|_| [stream.normal(), stream.normal()]);
        points.map(|x| solved(&x, feasible(sign * x[0]))).collect()
    };
    allocator.learn(&generation(1.0));
    assert_eq!(allocator.model_record().unwrap().accuracy, None, "there was no model yet");
    allocator.train(1);
    allocator.learn(&generation(1.0));
    let right = allocator.model_record().unwrap().accuracy.unwrap();
    allocator.train(2);
    // The world turns round: the old model is wrong about it, the next one right.
    allocator.learn(&generation(-1.0));
    let wrong = allocator.model_record().unwrap().accuracy.unwrap();
    allocator.train(3);
    allocator.learn(&generation(-1.0));
    let again = allocator.model_record().unwrap().accuracy.unwrap();
    assert!(right > 0.85 && wrong < 0.15 && again > 0.85, "{right} {wrong} {again}");
    // Equal numbers of pairs each time.
    let mean = allocator.model_summary().accuracy.unwrap();
    assert!((mean - (right + wrong + again) / 3.0).abs() < 1e-12);
}

#[test]
fn a_new_model_is_tested_before_it_chooses() {
    let config = ContrastiveConfig::default();
    let mut allocator = allocator(&config);
    let (mut stream, mut chosen) = (stream(8), Vec::new());
    for generation in 1..=8 {
        if allocator.training_due() {
            allocator.train(generation);
        }
        let (run, _) = allocate(&mut allocator, &mut stream, |s| [s.normal(), s.normal()]);
        chosen.push(run.len());
        let results: Vec<Solved> = run.iter().map(|c| solved(&c.x, feasible(c.x[0]))).collect();
        allocator.learn(&results);
    }
    // Two generations fill the pool, two more (56 pairs) test the model.
    assert_eq!(chosen[..4], [POPULATION; 4]);
    assert!(chosen[4..].iter().all(|&n| n < POPULATION), "{chosen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_share_is_distinct_and_at_least_two(share in 0.01_f64..1.0, population in 4_usize..40, seed in 0_u64..99) {
        let candidates = vec![candidate([0.0, 0.0]); population];
        let mut config = Config::default();
        config.allocator.keep = share;
        let mut random = Random::new(AllocatorSetup { config: &config, spec: &spec(), streams: Streams::new(1) });
        let sampled = Sampled { candidates: &candidates, population, round: 0 };
        let Allocation::Run(run) = random.allocate(&sampled, &mut stream(seed)) else {
            return Err(TestCaseError::fail("a random allocator needs no second sampling"));
        };
        prop_assert!(run.windows(2).all(|w| w[0] < w[1]), "sorted, so distinct: {run:?}");
        prop_assert!(run.iter().all(|&i| i < population));
        let exact = share * population as f64;
        prop_assert!(run.len() == 2 || (run.len() as f64 - exact).abs() <= 0.5);
        prop_assert!(run.len() >= 2);
    }
}
