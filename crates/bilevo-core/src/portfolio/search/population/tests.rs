use super::*;
use crate::portfolio::search::tests::{Bench, Function, bowl, follows};

mod generation;

fn config() -> Config {
    let mut config = Config::default();
    // All candidates are searched, so that generations can be counted.
    config.allocator.kind = crate::allocate::AllocatorKind::All;
    config
}

fn population(bench: &Bench, config: &Config, rivals: Vec<Rival>) -> Population {
    let shape = bench.shape();
    let start = Start { shape, mean: vec![0.5; 2], config, size: 6, number: 1, generation: 0, goal: None, rivals };
    Population::new(&bench.ground(), start)
}

/// Generations: F of all answers, without what is judged again.
fn until_judged(bench: &mut Bench, search: &mut Population) {
    while search.stage != Stage::Scout {
        assert!(bench.step(search));
    }
}

#[test]
fn it_narrows_to_the_basin_of_the_optimum() {
    let mut bench = Bench::new(bowl, follows);
    let config = config();
    let mut search = population(&bench, &config, Vec::new());
    assert_eq!(bench.run(&mut search), Some(End::Converged));
    assert!(search.narrowed() < NARROW && !search.is_resumed());
    let claim = search.claim().unwrap();
    assert!((claim.x[0] - 0.45).abs() < 0.05 && (claim.y[0] - claim.x[0]).abs() < 1e-3, "{claim:?}");
    assert_eq!(search.searches.run, 6 * search.generation);
    // Every decision has one F, or two if its answer was refined.
    let judged = bench.judged().len() as u64;
    assert!((search.searches.run..=2 * search.searches.run).contains(&judged));
}

#[test]
fn it_goes_on_from_the_better_of_its_claim_and_a_descents() {
    let mut bench = Bench::new(bowl, follows);
    let config = config();
    let mut search = population(&bench, &config, Vec::new());
    bench.run(&mut search);
    let own = search.claim().unwrap();
    let worse = Claim { upper: vec![own.value() + 1.0], ..own.clone() };
    search.resume(Some(&worse), None);
    assert_eq!((search.claim(), search.end(), search.is_resumed()), (Some(own.clone()), None, true));
    bench.run(&mut search);
    assert!(search.narrowed() < NARROW * NARROW);
    let better = Claim { upper: vec![own.value() - 1.0], ..own.clone() };
    search.resume(Some(&Claim { settled: false, ..better.clone() }), None);
    assert_ne!(search.claim().map(|c| c.value()), Some(better.value()), "what is not settled may be too good");
    search.resume(Some(&better), None);
    assert_eq!(search.claim(), Some(better));
}

/// Two wells of the follower at 0.2 and 0.8, the second one deeper.
fn wells(p: &[f64]) -> Vec<f64> {
    vec![(10.0 * (p[1] - 0.2).powi(2)).min(10.0 * (p[1] - 0.8).powi(2) - 0.1)]
}

#[test]
fn answers_give_way_to_a_rival_that_is_better() {
    let config = config();
    let answers = |rivals: Vec<Rival>| {
        let mut bench = Bench::new(bowl, wells);
        let mut search = population(&bench, &config, rivals);
        until_judged(&mut bench, &mut search);
        bench.judged().iter().map(|p| p[1] > 0.5).collect::<Vec<_>>()
    };
    assert!(answers(Vec::new()).contains(&false), "the samples alone fall into both wells");
    assert_eq!(answers(vec![(vec![0.5], vec![0.8])]), [true; 6]);
    // One in the same well, or in a shallower one, changes nothing.
    assert_eq!(answers(vec![(vec![0.5], vec![0.2])]), answers(Vec::new()));
}

#[test]
fn the_rival_nearest_in_x_is_tried() {
    let mut bench = Bench::new(bowl, wells);
    let config = config();
    let rivals = vec![(vec![0.0], vec![0.31]), (vec![1.0], vec![0.69])];
    let mut search = population(&bench, &config, rivals);
    while search.stage != Stage::Chase {
        assert!(bench.step(&mut search));
    }
    for (_, point) in &bench.trace[bench.trace.len() - 6..] {
        assert_eq!(point[1], if point[0] < 0.5 { 0.31 } else { 0.69 });
    }
}

#[test]
fn without_progress_it_loses_patience() {
    let tilted: Function = |p| vec![1e-12 * p[0] + libm::floor(4.0 * p[0]).max(1.0)];
    let mut bench = Bench::new(tilted, follows);
    let mut config = config();
    config.portfolio.patience = 30;
    let mut search = population(&bench, &config, Vec::new());
    search.narrow = 0.0;
    bench.run(&mut search);
    assert_eq!(search.end(), Some(End::Spent));
    assert!(search.clock.0 - search.clock.1 > 30 || search.flat >= 2);
    assert!(search.clock.0 < 200, "{:?}", search.clock);
}

#[test]
fn violation_grows_dearer_while_the_incumbent_is_infeasible() {
    let never: Function = |p| vec![p[0], 1.0 + p[0]];
    let (mut bench, config) = (Bench::new(never, follows), config());
    let mut search = population(&bench, &config, Vec::new());
    while search.generation < 3 {
        bench.step(&mut search);
    }
    assert_eq!(search.price, 1.5 * 1.5);
    let always: Function = |p| vec![p[0], -1.0];
    let mut bench = Bench::new(always, follows);
    let mut search = population(&bench, &config, Vec::new());
    while search.generation < 3 {
        bench.step(&mut search);
    }
    assert_eq!(search.price, 0.7 * 0.7);
}

#[test]
fn where_nothing_is_feasible_it_is_narrowed_ten_times_further() {
    let never: Function = |p| vec![(p[0] - 0.4) * (p[0] - 0.4), 1.0];
    let (mut bench, config) = (Bench::new(never, follows), config());
    let mut search = population(&bench, &config, Vec::new());
    search.patience = u64::MAX;
    assert_eq!(bench.run(&mut search), Some(End::Converged));
    assert!(search.narrowed() < NARROW * NARROW);
}

#[test]
fn it_may_end_near_a_known_claim() {
    let mut bench = Bench::new(bowl, follows);
    let config = config();
    let mut search = population(&bench, &config, Vec::new());
    bench.run(&mut search);
    let known = search.claim().unwrap();
    let spent = bench.trace.len();
    let mut bench = Bench::new(bowl, follows);
    let start = Start {
        shape: bench.shape(),
        mean: vec![0.5; 2],
        config: &config,
        size: 6,
        number: 1,
        generation: 0,
        goal: Some(Goal { claim: known, near: 0.1, above: 0.1, below: 0.1 }),
        rivals: Vec::new(),
    };
    let mut search = Population::new(&bench.ground(), start);
    assert_eq!(bench.run(&mut search), Some(End::Arrived));
    assert!(bench.trace.len() < spent);
}

#[test]
fn a_cheaper_violation_is_no_progress() {
    let limited: Function = |p| vec![p[0], 0.5 - p[0]];
    let (mut bench, config) = (Bench::new(limited, follows), config());
    let mut search = population(&bench, &config, Vec::new());
    while search.generation < 3 {
        bench.step(&mut search);
    }
    let claim = |x: f64| Claim { x: vec![x], upper: vec![x, 0.5 - x], ..search.claim().unwrap() };
    let (feasible, infeasible, better) = (claim(0.6), claim(0.4), claim(0.55));
    search.record = Some(feasible.clone());
    let mut noted = |claim: Claim| {
        search.incumbent = Some(claim);
        search.clock.0 += 1;
        search.watch(&bench.ground());
        search.clock.0 == search.clock.1
    };
    assert!(!noted(infeasible.clone()) && !noted(feasible.clone()) && !noted(infeasible));
    assert!(noted(better.clone()) && !noted(better));
}
