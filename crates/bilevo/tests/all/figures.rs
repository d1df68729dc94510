//! A cheap part of the published tables, checked on fixed seeds: what the methods cost, and what
//! contrastive ranking saves.
//!
//! Margins: 81 seeds were run in nine blocks of nine. Medians of a block deviated from the
//! published ones (medians of 21 runs) by -10 % to +7 % on SMD1 and SMD5 and up to +15 % on SMD6,
//! where margins are 15 % and 20 %; by up to 12 % for tlea-de and -17 % to +14 % in lower
//! evaluations per upper one for boc and motea, which are reconstructions (25 %). Savings of a block
//! on SMD1 were 41 % to 56 %, for cr-bl-cma-es 48 % to 53 %.

use bilevo::{Config, Engine, Run, RunOptions, RunResult, Serial, Status, StopReason};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=9;
const PUBLISHED: &str = include_str!("../../../bilevo-lab/published/comparison.csv");

fn runs(method: &str, problem: &str) -> Vec<RunResult> {
    runs_at(method, problem, None)
}

fn runs_at(method: &str, problem: &str, size: Option<(usize, usize)>) -> Vec<RunResult> {
    let problem = bilevo::problems::problem(problem, size).unwrap();
    let run = |seed| {
        let engine = Engine::new(problem.spec().clone(), Config::named(method).unwrap(), seed).unwrap();
        Run::new(engine, method).go(&mut Serial::new(&*problem), &RunOptions::default(), &mut []).unwrap()
    };
    SEEDS.map(run).collect()
}

fn median(runs: &[RunResult], of: impl Fn(&RunResult) -> u64) -> f64 {
    let mut sorted: Vec<u64> = runs.iter().map(of).collect();
    sorted.sort_unstable();
    sorted[sorted.len() / 2] as f64
}

fn upper(runs: &[RunResult]) -> f64 {
    median(runs, |s| s.evaluations.upper)
}

fn lower(runs: &[RunResult]) -> f64 {
    median(runs, |s| s.evaluations.lower)
}

fn total(runs: &[RunResult]) -> f64 {
    median(runs, |s| s.evaluations.total())
}

fn solved(runs: &[RunResult]) -> usize {
    runs.iter().filter(|s| s.stop == Status::Finished(StopReason::Target)).count()
}

/// Published upper and lower evaluations.
fn published(method: &str, problem: &str) -> (f64, f64) {
    let key = format!("{method},{problem},").to_uppercase();
    let row: Vec<&str> = PUBLISHED.lines().find(|line| line.starts_with(&key)).unwrap().split(',').collect();
    (row[4].parse().unwrap(), row[5].parse().unwrap())
}

fn assert_near(got: f64, expected: f64, margin: f64, what: &str) {
    let off = got / expected - 1.0;
    assert!(off.abs() <= margin, "{what}: {got} against {expected}, off by {:.0} %", 100.0 * off);
}

/// All runs solve the problem at about the published cost at both levels.
fn costs_as_published(method: &str, problem: &str, margin: f64) {
    let (runs, (upper_evals, lower_evals)) = (runs(method, problem), published(method, problem));
    assert_eq!(solved(&runs), runs.len(), "{method} {problem}");
    assert!(runs.iter().all(|s| s.accuracy.unwrap().upper < 1e-6));
    assert_near(upper(&runs), upper_evals, margin, &format!("{method} {problem} upper"));
    assert_near(lower(&runs), lower_evals, margin, &format!("{method} {problem} lower"));
}

#[test]
fn bl_cma_es_costs_what_was_published() {
    costs_as_published("bl-cma-es", "smd1", 0.15);
    costs_as_published("bl-cma-es", "smd5", 0.15);
    costs_as_published("bl-cma-es", "smd6", 0.2);
}

#[test]
fn tlea_cma_es_costs_what_was_published() {
    costs_as_published("tlea-cma-es", "smd1", 0.15);
    costs_as_published("tlea-cma-es", "smd5", 0.15);
    costs_as_published("tlea-cma-es", "smd6", 0.2);
}

#[test]
fn tlea_de_costs_what_was_published() {
    costs_as_published("tlea-de", "smd1", 0.25);
}

#[test]
fn the_reconstructed_methods_search_below_as_much_as_published() {
    for method in ["boc", "motea"] {
        for problem in ["smd1", "smd3"] {
            let (runs, (upper_evals, lower_evals)) = (runs(method, problem), published(method, problem));
            assert_eq!(solved(&runs), runs.len(), "{method} {problem}");
            let got = lower(&runs) / upper(&runs);
            assert_near(got, lower_evals / upper_evals, 0.25, &format!("{method} {problem} lower for each upper"));
        }
    }
}

#[test]
fn both_levels_are_exact_where_the_leader_stops() {
    for runs in [runs("bl-cma-es", "smd1"), runs("cr-bl-cma-es", "smd1")] {
        let worst = runs.iter().map(|s| s.accuracy.unwrap().lower.unwrap()).fold(0.0, f64::max);
        assert!(worst < 1e-4, "{worst}");
    }
}

/// Share of all evaluations that contrastive ranking saves, and the runs it solves.
fn saving(base: &str, problem: &str) -> (f64, usize) {
    let (plain, ranked) = (runs(base, problem), runs(&format!("cr-{base}"), problem));
    (1.0 - total(&ranked) / total(&plain), solved(&ranked))
}

#[test]
fn contrastive_ranking_saves_evaluations_and_solves_every_time() {
    for (base, least) in [("bl-cma-es", 0.4), ("tlea-cma-es", 0.4), ("tlea-de", 0.35), ("boc", 0.35), ("motea", 0.35)] {
        let (saved, solved) = saving(base, "smd1");
        assert!(saved >= least, "{base}: {saved}");
        assert_eq!(solved, SEEDS.count(), "cr-{base}");
    }
}

/// At 5+5 SMD3, whose follower has many basins, takes a median of 2,183 over seeds 1 to 9 (`ert --runs 9 --budget
/// 60000 smd3@5+5`).
#[test]
fn the_default_method_keeps_its_cost_with_more_variables() {
    let runs = runs_at("portfolio", "smd3", Some((5, 5)));
    assert_eq!(solved(&runs), runs.len());
    assert!(total(&runs) < 3500.0, "{}", total(&runs));
}

/// SMD6 is where the model ranks badly, SMD9 where a plain window loses sight of the elite.
#[test]
fn trust_keeps_the_ranking_from_costing_more_than_it_saves() {
    for problem in ["smd6", "smd9"] {
        let (saved, _) = saving("bl-cma-es", problem);
        assert!(saved >= 0.0, "{problem}: {saved}");
    }
}
