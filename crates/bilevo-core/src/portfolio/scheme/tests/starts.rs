//! Where each search begins, and with steps of which size.

use super::*;
use crate::batch::Batch;
use crate::config::Target;
use crate::portfolio::config::Effort;
use crate::portfolio::search::descent::{STILL, Start};
use crate::portfolio::search::tests::{Bench, bowl, follows};
use crate::problem::BestKnown;
use crate::record::LowerSearches;

/// A call with a view of a run that has so many evaluations left, at all and at the lower level; and what was asked for.
pub(super) fn view<T>(left: (u64, u64), call: impl FnOnce(&mut RunView<'_>) -> T) -> (T, Batch) {
    let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
    let spec = ProblemSpec::new("scripted", level(), level());
    let (mut batch, mut searches, mut elite) = (Batch::new(&spec), LowerSearches::default(), None);
    let (batch_of, searches, elite) = (&mut batch, &mut searches, &mut elite);
    let (streams, generation, issued, lower_budget_is_spent) = (Streams::new(1), 1, 1, left.1 == 0);
    let (spec, batch, lean) = (&spec, batch_of, &mut 0.0);
    let mut run =
        RunView { spec, streams, generation, issued, lower_budget_is_spent, left, batch, elite, searches, lean };
    let called = call(&mut run);
    (called, run.batch.clone())
}

pub(super) const ENOUGH: (u64, u64) = (u64::MAX, u64::MAX);

/// What goes on after a decision.
fn begun(portfolio: &mut Portfolio, next: Next) -> &Present {
    view(ENOUGH, |run| portfolio.begin(next, run));
    &portfolio.present
}

fn start(portfolio: &mut Portfolio, next: Next) -> (Kind, Start) {
    let Present::Descent(search, kind) = begun(portfolio, next) else { panic!() };
    (*kind, search.start().clone())
}

/// The kind of a changed descent, its first point at either level, the size of its first steps, and its rivals.
fn changed(portfolio: &mut Portfolio, next: Next) -> (Kind, Vec<f64>, f64, Vec<Vec<f64>>) {
    begun(portfolio, next);
    let streams = Streams::new(1);
    let mut wanted = Wanted::new(2);
    let (spec, scales, archive) = (portfolio.spec.clone(), portfolio.history.scales.clone(), portfolio.shape.archive());
    let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams };
    let Present::Changed(search, kind, rivals) = &mut portfolio.present else { panic!() };
    search.ask(&ground, &mut wanted);
    // The first radius is 0.4 times the size.
    (*kind, wanted.points[..2].to_vec(), search.reach().0 / 0.4, rivals.clone())
}

#[test]
fn descents_near_the_ends_come_from_both_sides_and_closer_each_time() {
    let mut portfolio = portfolio(auto());
    for (before, (side, closer)) in [(0.0, 1.0), (1.0, 1.0), (0.0, 1e-2), (1.0, 1e-2)].into_iter().enumerate() {
        let entries = (0..before as u64).map(|restart| entry(1 + restart, Kind::NearEnds, 0.5, true));
        portfolio.history.entries = entries.collect();
        let (kind, start) = start(&mut portfolio, Next::Restart(Kind::NearEnds));
        let share = (start.point[0] - side).abs();
        assert!(kind == Kind::NearEnds && (1e-3..=3e-2).contains(&(share / closer)), "{before}: {share}");
        // The way to the end is a fifth of the first steps.
        assert!((start.size / share - 5.0).abs() < 1e-6, "{before}: {start:?}");
        assert_eq!((start.budget, start.still), (160, STILL));
        assert_eq!(start.goal.is_some(), before > 0, "near the elite it may end, once there is one");
    }
    // On a plateau every decision close by looks like the elite.
    portfolio.history.entries = vec![Entry { flat: true, ..entry(1, Kind::NearEnds, 0.5, true) }];
    assert_eq!(start(&mut portfolio, Next::Restart(Kind::NearEnds)).1.goal, None);
}

#[test]
fn a_descent_that_finishes_another_search_has_half_the_evaluations() {
    let mut portfolio = portfolio(auto());
    let (kind, finish) = start(&mut portfolio, Next::Finish(claim(0.25), 0.1));
    assert_eq!((kind, &finish.point[..], finish.size, finish.budget), (Kind::Finish, &[0.25, 0.25][..], 0.1, 80));
    let (kind, descent) = start(&mut portfolio, Next::Restart(Kind::Descent));
    assert_eq!((kind, descent.size, descent.budget, descent.still), (Kind::Descent, 1.0, 160, STILL));
}

#[test]
fn a_given_start_is_a_point_of_the_problem_and_one_with_its_answer_has_short_steps() {
    let level = |high: f64| LevelSpec::boxed(vec![(-1.0, high)]);
    let spec = ProblemSpec::new("scripted", level(3.0), level(1.0));
    let (config, streams) = (auto(), Streams::new(1));
    let sizes = config.check(&spec).unwrap();
    let setup = || SchemeSetup { spec: &spec, config: &config, sizes: &sizes, streams };
    let mut portfolio = Portfolio::new(setup());
    let mut given = |answered: bool| {
        assert_eq!(portfolio.begin_at(setup(), &[vec![1.0, -0.5], vec![0.0, 0.0]], answered), 1, "the first of them");
        let Present::Descent(search, Kind::Descent) = &portfolio.present else { panic!() };
        (search.start().point.clone(), search.start().size)
    };
    assert_eq!(given(true), (vec![0.5, 0.25], 0.1));
    assert_eq!(given(false), (vec![0.5, 0.25], 1.0));
    portfolio.restart(setup(), &[3.0, 1.0]);
    let Present::Descent(search, _) = &portfolio.present else { panic!() };
    assert_eq!((&search.start().point[..], search.start().size), (&[1.0, 1.0][..], 1.0));
}

#[test]
fn leaning_descents_take_shorter_steps_the_less_they_lean() {
    let mut portfolio = portfolio(auto());
    let from = || Some(claim(0.25));
    let mut lean = |kind: Kind, weight: f64| changed(&mut portfolio, Next::Lean { kind, from: from(), weight });
    assert_eq!(lean(Kind::LeanHere, 0.1), (Kind::LeanHere, vec![0.25, 0.25], 1.0, vec![]));
    assert!((lean(Kind::LeanOn, 0.1).2 - 0.2).abs() < 1e-12 && (lean(Kind::LeanOn, 5.0).2 - 1.0).abs() < 1e-12);
    let anywhere = changed(&mut portfolio, Next::Lean { kind: Kind::LeanAway, from: None, weight: 0.1 });
    assert_ne!(anywhere.1, [0.25, 0.25]);
}

#[test]
fn ends_borders_and_edges_begin_at_their_claim() {
    let mut portfolio = portfolio(auto());
    portfolio.history.entries = vec![entry(1, Kind::Descent, 0.5, true)];
    let at = || Claim { y: vec![0.75], ..claim(0.25) };
    let (point, rivals) = (vec![0.25, 0.75], vec![vec![0.1], vec![0.9]]);
    let mut begin = |next: Next| changed(&mut portfolio, next);
    assert_eq!(begin(Next::Exact(at(), rivals.clone())), (Kind::Exact, point.clone(), 0.5, rivals.clone()));
    assert_eq!(begin(Next::Regret(at(), 0.1)), (Kind::Regret, point.clone(), 0.25, vec![]));
    assert_eq!(begin(Next::Tracked(at(), rivals.clone())), (Kind::Border, point.clone(), 0.25, rivals.clone()));
    assert_eq!(begin(Next::Feasible(at())), (Kind::Feasible, point, 0.25, vec![]));
    // A border begins where the best hope lies, if that keeps it: it is looked at first.
    assert_eq!(begin(Next::Border(at(), rivals.clone())), (Kind::Border, vec![0.0, 0.0], 0.25, rivals));
    assert!(matches!(begun(&mut portfolio, Next::Edge(claim(0.25), vec![0.75])), Present::Edge(_)));
    assert!(matches!(begun(&mut portfolio, Next::End), Present::Ended));
    assert!(matches!(begun(&mut portfolio, Next::Resume), Present::Ended), "there is no population");
}

#[test]
fn smoothed_searches_begin_with_the_box_or_with_half_of_it_around_a_claim() {
    let mut portfolio = portfolio(auto());
    for (from, kind, size) in [(None, Kind::Smooth, 0.5), (Some(claim(0.25)), Kind::SmoothHere, 0.25)] {
        let Present::Smooth(search, begun) = begun(&mut portfolio, Next::Smooth(from)) else { panic!() };
        assert_eq!((*begun, search.reach().0), (kind, size));
    }
}

#[test]
fn populations_count_their_generations_one_after_the_other() {
    let mut portfolio = portfolio(auto());
    let generation = |portfolio: &mut Portfolio| {
        let Present::Population(search) = begun(portfolio, Next::Restart(Kind::Population)) else { panic!() };
        search.generation
    };
    assert_eq!(generation(&mut portfolio), 0);
    let Present::Population(mut search) = std::mem::replace(&mut portfolio.present, Present::Choice) else { panic!() };
    search.generation = 7;
    portfolio.population = Some(search);
    assert_eq!(generation(&mut portfolio), 7);
    assert!(matches!(begun(&mut portfolio, Next::Resume), Present::Population(search) if search.is_resumed()));
}

/// A descent that has a claim already.
pub(super) fn with_claim(portfolio: &Portfolio) -> (Present, Claim) {
    let mut bench = Bench::new(bowl, follows);
    let mut present = portfolio.descent(vec![0.1; 2], 1.0, Kind::Descent);
    let claim = loop {
        let search = present.search().unwrap();
        assert!(bench.step(search));
        if let Some(claim) = search.claim() {
            break claim;
        }
    };
    (present, claim)
}

#[test]
fn a_search_under_way_gives_way_to_a_verdict_on_its_claim_at_the_end_of_a_budget() {
    let mut config = auto();
    config.stop.max_evals = Some(1000);
    let mut portfolio = portfolio(config);
    let (present, claim) = with_claim(&portfolio);
    portfolio.present = present;
    assert!(portfolio.is_to_be_verified(90) && !portfolio.is_to_be_verified(91));
    // What a search under way has found is the run's answer, unless something better is verified.
    assert_eq!(portfolio.best(), Some(claim.clone()));
    portfolio.history.entries = vec![entry(1, Kind::Descent, claim.value() - 0.1, true)];
    assert!(!portfolio.is_to_be_verified(90), "the elite is better");
    assert_eq!(portfolio.best().map(|best| best.value()), Some(claim.value() - 0.1));
}

#[test]
fn a_restart_has_found_nothing_if_most_of_what_it_saw_apart_from_its_claim_is_the_same() {
    let mut portfolio = portfolio(auto());
    let mut seen = |others: &[(f64, f64)]| {
        portfolio.archive = portfolio.shape.archive();
        // What others saw does not count.
        (0..9).for_each(|i| portfolio.archive.push(Level::Upper, &[f64::from(i) / 8.0, 0.5], &[f64::from(i)]));
        portfolio.since = portfolio.archive.upper.len();
        others.iter().for_each(|(x, value)| portfolio.archive.push(Level::Upper, &[*x, 0.5], &[*value]));
        portfolio.has_seen_only(&claim(0.5))
    };
    assert!(seen(&[(0.1, 0.5), (0.9, 0.5 + 1e-12), (0.2, 0.7), (0.3, 0.9)]), "half of them");
    assert!(!seen(&[(0.1, 0.5), (0.9, 0.4), (0.2, 0.7)]));
    // Close by everything is the same.
    assert!(!seen(&[(0.51, 0.5), (0.49, 0.5), (0.52, 0.5), (0.1, 0.7)]) && !seen(&[(0.51, 0.5)]) && !seen(&[]));
}

#[test]
fn a_run_that_ends_at_a_target_or_by_its_budget_has_no_restarts_that_end_early() {
    let mut portfolio = portfolio(auto());
    portfolio.history.entries = vec![entry(1, Kind::Descent, 0.5, true)];
    assert!(portfolio.goal().is_some(), "a target alone, of which nothing is known, is none");
    portfolio.spec.best_known = vec![BestKnown { upper: 0.25, lower: Some(0.0) }];
    assert_eq!(portfolio.goal(), None);
    portfolio.config.stop.target = Target::Off;
    assert!(portfolio.goal().is_some());
    portfolio.config.portfolio.effort = Effort::Budget;
    assert_eq!(portfolio.goal(), None);
}
