//! The engine's own book-keeping: identity, targets, larger budgets, trainings, retries, words.

use crate::common::{answer, bytes, engine_of, finish, short, toy, toy_spec};
use bilevo_core::config::{Budgets, Config, ConfigError, Target};
use bilevo_core::methods;
use bilevo_core::problem::{BestKnown, Level, LevelSpec, ProblemSpec};
use bilevo_core::record::StopReason;
use bilevo_core::{Ask, Engine, Replies};

/// Both levels worth a constant everywhere, with the best F known to be `known`.
fn constant(target: Target, known: Option<f64>) -> Engine {
    let mut spec = toy_spec();
    spec.best_known = known.map(|upper| BestKnown { upper, lower: Some(1.0) }).into_iter().collect();
    let mut config = short(&methods::find("bl-cma-es").unwrap());
    config.stop.target = target;
    Engine::new(spec, config, 77).unwrap()
}

fn run_constant(engine: &mut Engine) -> usize {
    finish(engine, |level, _, _| Some((if level == Level::Upper { 3.0 } else { 1.0 }, vec![-1.0]))).len()
}

#[test]
fn a_known_optimum_ends_a_run_and_is_reported() {
    for target in [Target::Upper, Target::Both] {
        let mut hit = constant(target, Some(3.0));
        assert_eq!((hit.summary().solved, hit.summary().target_met), (Some(false), Some(false)), "nothing found yet");
        assert_eq!(run_constant(&mut hit), 1);
        let summary = hit.summary();
        assert_eq!((summary.stop, summary.generations), (Some(StopReason::Target), 1));
        assert_eq!((summary.solved, summary.target_met), (Some(true), Some(true)));

        let mut missed = constant(target, Some(5.0));
        run_constant(&mut missed);
        let summary = missed.summary();
        assert_ne!(summary.stop, Some(StopReason::Target));
        assert_eq!((summary.solved, summary.target_met), (Some(false), Some(false)));
        assert_eq!(summary.accuracy.unwrap().upper, 2.0);
    }
    let mut off = constant(Target::Off, Some(3.0));
    assert!(run_constant(&mut off) > 1);
    assert_eq!((off.summary().solved, off.summary().target_met), (Some(true), None));
    let mut unknown = constant(Target::Upper, None);
    assert!(run_constant(&mut unknown) > 1);
    assert_eq!((unknown.summary().solved, unknown.summary().target_met), (None, None));
}

#[test]
fn a_run_knows_what_it_is() {
    let method = methods::find("cr-boc").unwrap();
    let mut engine = engine_of(&method, 77);
    assert_eq!((engine.seed(), engine.config(), engine.spec()), (77, &short(&method), &toy_spec()));
    assert_eq!(*engine.sizes(), short(&method).check(&toy_spec()).unwrap());
    assert_eq!(engine.summary().generations, 0);
    assert!(matches!(engine.ask(), Ask::Evaluate(_)));
    assert_eq!(engine.summary().generations, 0, "the first one is not finished");
}

fn with_budget(upper: u64, lower: Option<u64>) -> Engine {
    let mut config = short(&methods::find("cr-bl-cma-es").unwrap());
    (config.stop.max_upper_evals, config.stop.max_lower_evals) = (Some(upper), lower);
    Engine::new(toy_spec(), config, 5).unwrap()
}

#[test]
fn a_raised_budget_goes_on_as_if_it_had_always_been_so_large() {
    let mut whole = with_budget(90, None);
    let expected = finish(&mut whole, toy);
    let mut engine = with_budget(33, None);
    let mut records = finish(&mut engine, toy);
    let stopped = bytes(&engine);
    let lower = engine.extend(Budgets { upper: Some(32), ..Budgets::default() }).unwrap_err();
    assert!(matches!(lower, ConfigError::Invalid { ref field, .. } if field == "stop.max_upper_evals"), "{lower:?}");
    engine.extend(Budgets { upper: Some(33), ..Budgets::default() }).unwrap();
    engine.extend(Budgets::default()).unwrap();
    assert_eq!(bytes(&engine), stopped, "no larger than before");
    assert!(matches!(engine.ask(), Ask::Finished(StopReason::UpperBudget)));

    engine.extend(Budgets { upper: Some(90), ..Budgets::default() }).unwrap();
    assert_eq!((engine.config().stop.max_upper_evals, engine.sizes().budget.upper_evals), (Some(90), 90));
    records.extend(finish(&mut engine, toy));
    assert_eq!(bytes(&records), bytes(&expected));

    let mut engine = with_budget(500, Some(900));
    finish(&mut engine, toy);
    assert_eq!(engine.summary().stop, Some(StopReason::LowerBudget));
    engine.extend(Budgets { upper: Some(600), ..Budgets::default() }).unwrap();
    assert_eq!(engine.summary().stop, Some(StopReason::LowerBudget), "the other budget is still used up");
    engine.extend(Budgets { lower: Some(2000), ..Budgets::default() }).unwrap();
    assert_eq!(engine.summary().stop, None);
    finish(&mut engine, toy);
    assert!(engine.summary().evaluations.lower >= 2000);
}

#[test]
fn a_total_can_be_raised_too() {
    let mut config = methods::find("auto").unwrap().config();
    config.stop.max_evals = Some(40);
    let mut engine = Engine::new(toy_spec(), config, 5).unwrap();
    finish(&mut engine, toy);
    assert_eq!(engine.summary().stop, Some(StopReason::Budget));
    let total = |total| Budgets { total: Some(total), ..Budgets::default() };
    assert!(engine.extend(total(39)).unwrap_err().to_string().contains("started with 40"));
    engine.extend(total(120)).unwrap();
    assert_eq!((engine.summary().stop, engine.config().stop.max_evals), (None, Some(120)));
    finish(&mut engine, toy);
    assert!(engine.summary().evaluations.total() > 80);
    let lower = Budgets { lower: Some(9), ..Budgets::default() };
    assert!(engine.extend(lower).unwrap_err().to_string().contains("started without this limit"));
}

#[test]
fn a_run_that_ended_for_another_reason_stays_ended() {
    let mut engine = constant(Target::Upper, Some(3.0));
    run_constant(&mut engine);
    engine.extend(Budgets { upper: Some(1000), ..Budgets::default() }).unwrap();
    assert_eq!(engine.summary().stop, Some(StopReason::Target));
    // Out of evaluations and standing still in the same generation: more evaluations change nothing.
    let mut config = short(&methods::find("bl-cma-es").unwrap());
    (config.stop.upper_window, config.stop.max_upper_evals) = (Some(10), Some(21));
    let mut engine = Engine::new(toy_spec(), config, 1).unwrap();
    run_constant(&mut engine);
    assert_eq!(engine.summary().stop, Some(StopReason::UpperBudget));
    engine.extend(Budgets { upper: Some(1000), ..Budgets::default() }).unwrap();
    assert_eq!(engine.summary().stop, Some(StopReason::Flat));
}

#[test]
fn a_training_is_done_once_by_whoever_asks_first() {
    let run = |by_hand: bool| {
        let mut engine = engine_of(&methods::find("cr-bl-cma-es").unwrap(), 5);
        let mut trained = 0;
        while let Ask::Evaluate(batch) = engine.ask() {
            let replies = answer(&toy_spec(), batch, &mut toy);
            assert!(!engine.training_due(), "a batch is open");
            engine.tell(&replies).unwrap();
            if engine.training_due() && by_hand {
                let before = engine.summary().model.trainings;
                engine.train();
                assert_eq!((engine.summary().model.trainings, engine.training_due()), (before + 1, false));
                trained += 1;
            }
        }
        assert!(!engine.training_due(), "the run is over");
        (bytes(&engine), engine.summary().model.trainings, trained)
    };
    let (by_hand, by_itself) = (run(true), run(false));
    assert_eq!((by_hand.0, by_hand.1), (by_itself.0, by_itself.1));
    assert!(by_hand.2 > 0 && by_hand.1 == by_hand.2);
}

#[test]
fn retries_are_counted_apart() {
    let spec = toy_spec();
    let mut engine = engine_of(&methods::find("bl-cma-es").unwrap(), 5);
    let Ask::Evaluate(batch) = engine.ask() else { panic!("nothing asked") };
    let asked = batch.len() as u64;
    let mut replies: Replies = answer(&spec, batch, &mut toy);
    let again = answer(&spec, &batch.subset(&[0, 2]), &mut toy);
    replies.amend(&[0, 2], &again);
    engine.tell(&replies).unwrap();
    let counts = engine.summary().evaluations;
    assert_eq!((counts.retried, counts.lower, counts.upper, counts.failed_lower), (2, asked, 0, 0));
}

#[test]
fn a_generation_in_words_says_what_the_settings_decide() {
    for (method, said) in [
        ("bl-cma-es", "Take all of them."),
        ("bl-cma-es", "Search the lower level for each of them with its own CMA-ES"),
        ("tlea-cma-es", "side by side with CMA-ES"),
        ("tlea-de", "side by side with differential evolution"),
        ("motea", "as one problem with two objectives"),
        ("boc", "with one solution for each of them"),
        ("bl-cma-es", "Refine the best candidate or the elite by another lower search."),
        ("bl-cma-es-random", "Take a random 50% of them."),
        ("bl-cma-es-recall", "The elite joins them every 4 generations."),
        ("boc-random-recall", "candidates that were solved. The elite joins them."),
        ("bl-cma-es-capped", "At most 4 generations each."),
        ("cr-bl-cma-es", "keep the best 62.5%, or fewer if it ranks well"),
        ("cr-bl-cma-es", "One place goes to a random candidate."),
        ("cr-bl-cma-es", "Train the ranking network on the latest 32 solutions."),
        ("cr-bl-cma-es-published", "keep the best 50%."),
        ("cr-bl-cma-es-published", "once it is full, train the network and empty it."),
        ("cr-bl-cma-es-no-resample", "Nothing is sampled again."),
    ] {
        let words = Config::named(method).unwrap().steps().join("\n");
        assert!(words.contains(said), "{method}: {words}");
    }
}

/// A descent looks at the follower's answers to one decision, a population at those to many.
#[test]
fn beyond_forty_variables_the_default_method_begins_with_a_population() {
    let descends = |upper: usize, lower: usize| {
        let level = |dim| LevelSpec::boxed(vec![(-1.0, 1.0); dim]);
        let spec = ProblemSpec::new("large", level(upper), level(lower));
        let mut engine = Engine::new(spec, Config::named(methods::AUTO).unwrap(), 1).unwrap();
        let Ask::Evaluate(batch) = engine.ask() else { panic!("nothing to do") };
        (1..batch.len()).all(|i| batch.x(i) == batch.x(0))
    };
    assert!(descends(2, 3) && descends(20, 20));
    assert!(!descends(20, 21) && !descends(21, 20));
}
