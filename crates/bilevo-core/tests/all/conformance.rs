//! What every method promises, checked on every legal combination of lower search and allocator.

use crate::common::{answer, bytes, drive, engine_of, finish, short, toy, toy_spec};
use bilevo_core::config::AllocatorKind;
use bilevo_core::engine::TellError;
use bilevo_core::methods::{self, Method};
use bilevo_core::order::{better, not_worse};
use bilevo_core::portfolio::config::Effort;
use bilevo_core::problem::{Level, LevelSpec, Outcome, ProblemSpec};
use bilevo_core::record::{Evaluations, Solution, StopReason};
use bilevo_core::space::Space;
use bilevo_core::{Ask, Engine, Replies};

fn each(check: impl Fn(&Method, &str)) {
    let all: Vec<Method> = methods::all().collect();
    assert_eq!(all.len(), methods::BASES.len() * methods::VARIANTS.len() + 2);
    all.iter().for_each(|method| check(method, &method.name()));
}

fn is_contrastive(method: &Method) -> bool {
    method.config().allocator.kind == AllocatorKind::Contrastive
}

#[test]
fn a_run_can_move_between_threads() {
    fn movable<T: Send + Sync>() {}
    movable::<Engine>();
    movable::<Replies>();
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_does_not() {
    each(|method, name| {
        let [mut one, mut two, mut other] = [7, 7, 8].map(|seed| engine_of(method, seed));
        let records = finish(&mut one, toy);
        assert_eq!(bytes(&records), bytes(&finish(&mut two, toy)), "{name}");
        assert_eq!(bytes(&one), bytes(&two), "{name}");
        assert_ne!(bytes(&records), bytes(&finish(&mut other, toy)), "{name}");
        // The runs are long enough to show the ranking model at work.
        let chose = records.iter().any(|r| r.model.is_some_and(|m| m.chose));
        assert_eq!(chose, is_contrastive(method), "{name}");
    });
}

#[test]
fn saved_and_loaded_after_every_batch_is_the_same_run() {
    each(|method, name| {
        let mut whole = engine_of(method, 3);
        let expected = bytes(&finish(&mut whole, toy));
        let mut parts = engine_of(method, 3);
        let reload = |engine: &mut Engine| *engine = postcard::from_bytes(&bytes(engine)).unwrap();
        let records = drive(&mut parts, toy, |engine, _| {
            reload(engine);
            // Once more with a batch open.
            engine.ask();
            reload(engine);
        });
        assert_eq!(bytes(&records), expected, "{name}");
        assert_eq!(bytes(&parts), bytes(&whole), "{name}");
    });
}

#[test]
fn ties_everywhere_end_flat_and_the_same_way_twice() {
    for constant in [3.0, 0.0] {
        each(|method, name| {
            let run = || {
                let mut config = short(method);
                config.stop.upper_window = Some(40);
                config.stop.max_upper_evals = None;
                config.portfolio.effort = Effort::Normal;
                config.joint_cma.agreeing = None;
                let mut engine = Engine::new(toy_spec(), config, 11).unwrap();
                let records = finish(&mut engine, |_, _, _| Some((constant, vec![-1.0])));
                (bytes(&records), engine.summary().stop)
            };
            assert_eq!(run(), run(), "{name}");
            // Restarts of `portfolio` that see but one value agree on nothing.
            let expected = if name == "exchange-cma-es" { StopReason::Agreed } else { StopReason::Flat };
            assert_eq!(run().1, Some(expected), "{name} at {constant}");
        });
    }
}

#[test]
fn failures_are_counted_and_survived() {
    each(|method, name| {
        for every in [2, 3, 7] {
            let (mut calls, mut failed) = (0_u64, [0_u64; 2]);
            let mut engine = engine_of(method, 5);
            let records = finish(&mut engine, |level, x, y| {
                calls += 1;
                if calls % every != 0 {
                    return toy(level, x, y);
                }
                failed[usize::from(level == Level::Lower)] += 1;
                // In turn: not a number, too large, the wrong shape, and no answer at all.
                match calls / every % 4 {
                    0 => Some((f64::NAN, vec![0.0])),
                    1 => Some((1.0, vec![f64::INFINITY])),
                    2 => Some((1.0, Vec::new())),
                    _ => None,
                }
            });
            let summary = engine.summary();
            assert_eq!([summary.evaluations.failed_upper, summary.evaluations.failed_lower], failed, "{name}");
            assert_eq!(summary.stop, Some(StopReason::UpperBudget), "{name}");
            let solution = summary.solution.unwrap();
            assert!(solution.upper_value.is_finite() && solution.lower_value.is_finite(), "{name}: {solution:?}");
            let first = records.iter().position(|r| r.upper_value.is_finite()).unwrap();
            assert!(records[first..].iter().all(|r| r.upper_value.is_finite()), "{name} lost its elite");
        }
    });
}

#[test]
fn a_problem_that_always_fails_ends_the_run() {
    each(|method, name| {
        for broken in [vec![Level::Upper], vec![Level::Lower], vec![Level::Upper, Level::Lower]] {
            let mut engine = engine_of(method, 5);
            let records =
                finish(&mut engine, |level, x, y| if broken.contains(&level) { None } else { toy(level, x, y) });
            let summary = engine.summary();
            assert_eq!(summary.stop, Some(StopReason::AllFailed), "{name} {broken:?}");
            assert_eq!((records.len(), summary.solution), (0, None), "{name} {broken:?}");
            // Points all over the box were tried, at the level that fails.
            let Evaluations { upper, failed_upper, lower, failed_lower, .. } = summary.evaluations;
            let tried = if broken.contains(&Level::Lower) { (lower, failed_lower) } else { (upper, failed_upper) };
            assert!(tried.0 >= 50 && tried.0 == tried.1, "{name} {broken:?}: {:?}", summary.evaluations);
        }
    });
}

#[test]
fn ask_repeats_itself_and_refused_answers_change_nothing() {
    each(|method, name| {
        let spec = toy_spec();
        let mut engine = engine_of(method, 2);
        assert_eq!(engine.tell(&Replies::default()).unwrap_err(), TellError::NothingAsked);
        let mut next_id = 0;
        while let Ask::Evaluate(batch) = engine.ask() {
            let batch = batch.clone();
            assert!((0..batch.len()).all(|i| batch.id(i) == next_id + i as u64), "{name}: points misnumbered");
            next_id += batch.len() as u64;
            let before = bytes(&engine);
            assert!(matches!(engine.ask(), Ask::Evaluate(again) if *again == batch));

            let good = answer(&spec, &batch, &mut toy);
            let other = if batch.level() == Level::Upper { Level::Lower } else { Level::Upper };
            let mut bad = Replies::default();
            bad.start(&spec, other);
            (0..batch.len()).for_each(|i| bad.push(&spec, 0.0, good.constraints(i)));
            assert_eq!(engine.tell(&bad).unwrap_err(), TellError::Level { asked: batch.level(), told: other });
            for told in [0, batch.len() - 1, batch.len() + 1] {
                bad.start(&spec, batch.level());
                (0..told).for_each(|_| bad.push(&spec, 0.0, good.constraints(0)));
                assert_eq!(engine.tell(&bad).unwrap_err(), TellError::Length { asked: batch.len(), told });
            }
            let mut narrow = spec.clone();
            (narrow.upper.inequalities, narrow.lower.inequalities) = (0, 0);
            bad.start(&narrow, batch.level());
            (0..batch.len()).for_each(|_| bad.push(&narrow, 0.0, &[]));
            let refusal = TellError::Constraints { level: batch.level(), asked: 1, told: 0 };
            assert_eq!(engine.tell(&bad).unwrap_err(), refusal);
            assert_eq!(bytes(&engine), before, "{name}");
            engine.tell(&good).unwrap();
        }
        let end = bytes(&engine);
        let late = answer(&spec, &bilevo_core::Batch::new(&spec), &mut toy);
        assert_eq!(engine.tell(&late).unwrap_err(), TellError::NothingAsked);
        assert!(matches!(engine.ask(), Ask::Finished(StopReason::UpperBudget)));
        assert_eq!(bytes(&engine), end, "{name}");
    });
}

#[test]
fn points_stay_in_the_boxes_and_counters_tell_the_truth() {
    each(|method, name| {
        let spec = toy_spec();
        let mut engine = engine_of(method, 13);
        let (mut upper, mut lower) = (0, 0);
        let records = finish(&mut engine, |level, x, y| {
            assert!(spec.upper.space.contains(x) && spec.lower.space.contains(y), "{name}: {x:?} {y:?}");
            *(if level == Level::Upper { &mut upper } else { &mut lower }) += 1;
            toy(level, x, y)
        });
        let summary = engine.summary();
        let counts = summary.evaluations;
        assert_eq!((counts.upper, counts.lower, counts.total()), (upper, lower, upper + lower), "{name}");
        assert_eq!((counts.failed_upper, counts.failed_lower, counts.retried), (0, 0, 0));
        assert!(counts.refine_lower > 0 && counts.refine_lower < counts.lower);
        assert_eq!(records.last().unwrap().evaluations, counts);
        assert_eq!(records.len() as u64, summary.generations);
        assert!(records.iter().zip(1..).all(|(r, number)| r.generation == number));
        // Every search run costs one upper evaluation, a refinement at most one more; a generation
        // samples its population and what is resampled.
        let searches = summary.lower_searches;
        let population = engine.sizes().population as u64;
        let sampled = searches.run + searches.skipped;
        if name == "portfolio" {
            // Steps of a descent and rechecks are generations without a population; the best and
            // the incumbent are verified in each of the others.
            assert!(sampled.is_multiple_of(population) && sampled < population * summary.generations, "{searches:?}");
            assert!((searches.run..=searches.run + 2 * summary.generations).contains(&upper), "{searches:?} {upper}");
        } else {
            assert_eq!(sampled, population * summary.generations, "{name}");
            assert!(
                (searches.run..=searches.run + summary.generations).contains(&upper),
                "{name}: {searches:?} {upper}"
            );
        }
        assert!(
            searches.resampled <= population * summary.generations && searches.resampled.is_multiple_of(population)
        );
        let shrinks = method.config().allocator.kind != AllocatorKind::All;
        assert_eq!(searches.skipped > 0, shrinks, "{name}");
    });
}

/// The engine's own view of a solution.
fn outcomes(spec: &ProblemSpec, solution: &Solution) -> (Outcome, Outcome) {
    let upper = Outcome { value: spec.upper.direction.flip(solution.upper_value), violation: solution.upper_violation };
    let lower = Outcome { value: spec.lower.direction.flip(solution.lower_value), violation: solution.lower_violation };
    (upper, lower)
}

#[test]
fn the_elite_is_real_and_only_refinement_may_correct_it() {
    each(|method, name| {
        let spec = toy_spec();
        let mut last: Option<Solution> = None;
        let mut engine = engine_of(method, 21);
        drive(&mut engine, toy, |engine, record| {
            let Some(record) = record else { return };
            let solution = engine.summary().solution.unwrap();
            assert_eq!((record.upper_value, record.lower_value), (solution.upper_value, solution.lower_value));
            let (value, upper_g) = toy(Level::Upper, &solution.x, &solution.y).unwrap();
            let (response, lower_g) = toy(Level::Lower, &solution.x, &solution.y).unwrap();
            assert_eq!((value, response), (solution.upper_value, solution.lower_value), "{name} invents values");
            let below = spec.violation(Level::Lower, &lower_g);
            assert_eq!(solution.lower_violation, below);
            assert_eq!(solution.upper_violation, spec.violation(Level::Upper, &upper_g) + below);
            if let Some(last) = &last {
                let ((now, now_lower), (then, then_lower)) = (outcomes(&spec, &solution), outcomes(&spec, last));
                // An exposed incumbent of the default method gives way to a former one.
                let gives_way = name == "portfolio";
                let corrected = gives_way || last.x == solution.x && not_worse(&now_lower, &then_lower);
                assert!(!better(&then, &now) || corrected, "{name}: {last:?} then {solution:?}");
            }
            last = Some(solution);
        });
    });
}

#[test]
fn budgets_are_kept_to_a_batch_or_a_generation() {
    each(|method, name| {
        for limit in [1, 10, 33] {
            let mut config = short(method);
            config.stop.max_upper_evals = Some(limit);
            let mut engine = Engine::new(toy_spec(), config, 1).unwrap();
            finish(&mut engine, toy);
            let spent = engine.summary().evaluations.upper;
            // The last generation starts below the limit: a population and one refinement.
            assert!((limit..=limit + engine.sizes().population as u64).contains(&spent), "{name}: {spent} of {limit}");
            assert_eq!(engine.summary().stop, Some(StopReason::UpperBudget));
        }
        for limit in [1, 100, 2000] {
            let mut config = short(method);
            config.stop.max_upper_evals = None;
            config.stop.max_lower_evals = Some(limit);
            let mut engine = Engine::new(toy_spec(), config, 1).unwrap();
            let (mut before, mut largest) = (0, 0);
            drive(&mut engine, toy, |engine, _| {
                let now = engine.summary().evaluations.lower;
                largest = largest.max(now - before);
                before = now;
            });
            assert!((limit..limit + largest).contains(&before), "{name}: {before} of {limit}");
            assert_eq!(engine.summary().stop, Some(StopReason::LowerBudget), "{name}");
            assert!(engine.summary().evaluations.upper > 0);
        }
    });
}

#[test]
fn extreme_boxes_give_no_nan() {
    let widths = [1e-300, 1e-8, 1.0, 1e8, 1e300];
    each(|method, name| {
        for shift in 0..widths.len() {
            let of = |k: usize| (-0.3 * widths[k % widths.len()], 0.7 * widths[k % widths.len()]);
            let mut spec = toy_spec();
            spec.upper.space = vec![of(shift), of(shift + 1)].into();
            spec.lower.space = vec![of(shift + 2), of(shift)].into();
            let mut config = short(method);
            config.stop.max_upper_evals = Some(40);
            let bounds = (spec.upper.space.clone(), spec.lower.space.clone());
            let mut engine = Engine::new(spec, config, 4).unwrap();
            let records = finish(&mut engine, |_, x, y| {
                assert!(bounds.0.contains(x) && bounds.1.contains(y), "{name} {shift}: {x:?} {y:?}");
                let part =
                    |v: &[f64], s: &Space| (v[0] / s.variable(0).high).powi(2) + (v[1] / s.variable(1).high).powi(2);
                Some((part(x, &bounds.0) - 2.0 * part(y, &bounds.1), vec![-1.0]))
            });
            assert!(records.iter().all(|r| r.step_size.is_finite() && r.step_size > 0.0), "{name} {shift}");
            assert!(records.iter().all(|r| r.axis_ratio >= 1.0 && r.axis_ratio <= 1.001e7), "{name} {shift}");
        }
    });
}

#[test]
fn lopsided_sizes_run_to_their_end() {
    each(|method, name| {
        for (m, n) in [(1, 1), (1, 7), (7, 1)] {
            let level = |dim| LevelSpec::boxed(vec![(-1.0, 2.0); dim]);
            let mut config = short(method);
            config.stop.max_upper_evals = Some(60);
            let mut engine = Engine::new(ProblemSpec::new("bowl", level(m), level(n)), config, 6).unwrap();
            let bowl = |level, x: &[f64], y: &[f64]| {
                let gap: f64 = y.iter().map(|y| (y - x[0]).powi(2)).sum();
                let size: f64 = x.iter().map(|x| x * x).sum();
                Some((if level == Level::Upper { size + gap } else { gap }, Vec::new()))
            };
            let records = finish(&mut engine, bowl);
            assert_eq!(engine.summary().stop, Some(StopReason::UpperBudget), "{name} {m}+{n}");
            assert!(records.iter().all(|r| r.upper_value.is_finite() && r.axis_ratio.is_finite()), "{name} {m}+{n}");
        }
    });
}
