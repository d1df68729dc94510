//! The audit exposes answers that are not the follower's best, and tells ties.

use bilevo::audit::{Audit, AuditOptions, Position, Verdict, audit};
use bilevo::problems::problem;
use bilevo::record::Solution;
use bilevo::{BilevelProblem, Direction, Failure, Level, LevelSpec, ProblemSpec, RunResult, Serial, Solver, Space};
use std::sync::atomic::Ordering;

/// A problem of closures.
struct Own<F> {
    spec: ProblemSpec,
    evaluate: F,
}

impl<F: Fn(Level, &[f64], &[f64], &mut Vec<f64>) -> Result<f64, Failure> + Sync> BilevelProblem for Own<F> {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        (self.evaluate)(level, x, y, constraints)
    }
}

fn own<F>(upper: usize, lower: LevelSpec, evaluate: F) -> Own<F>
where
    F: Fn(Level, &[f64], &[f64], &mut Vec<f64>) -> Result<f64, Failure> + Sync,
{
    let spec = ProblemSpec::new("own", LevelSpec::boxed(vec![(-10.0, 10.0); upper]), lower);
    Own { spec, evaluate }
}

fn audited(problem: &dyn BilevelProblem, x: &[f64], y: &[f64]) -> Audit {
    audit(&mut Serial::new(problem), &Solution::at(problem, x, y), &AuditOptions::default())
}

/// Every known optimum of every built-in problem is a best answer of the follower.
#[test]
fn true_optima_stand() {
    for name in bilevo::problems::names() {
        let problem = problem(name, None).unwrap();
        for (x, y) in bilevo::problems::optima(name, None) {
            let audit = audited(&*problem, &x, &y);
            assert!(audit.passed() && audit.gap.unwrap() <= audit.tolerance, "{name}: {audit:?}");
        }
    }
}

#[test]
fn an_answer_that_is_not_the_followers_best_is_exposed() {
    let smd = problem("smd1", None).unwrap();
    let audit = audited(&*smd, &[0.0, 0.0], &[0.5, 0.0, 0.0]);
    assert_eq!(audit.verdict, Verdict::BetterAnswer);
    assert!((audit.gap.unwrap() - 0.25).abs() < 1e-6, "{audit:?}");
    assert!(audit.words.contains("a gap of 2.500e-1") && audit.words.contains("F = "), "{}", audit.words);
    assert!(audit.evaluations.lower > 250, "more than one lower search may spend: {audit:?}");
}

#[test]
fn a_local_optimum_of_a_rugged_follower_is_exposed() {
    // f = 2 + sum (y^2 - cos 2 pi y): every integer is nearly a local optimum.
    let smd = problem("smd3", None).unwrap();
    let audit = audited(&*smd, &[0.0, 0.0], &[0.995, 0.0, 0.0]);
    assert_eq!(audit.verdict, Verdict::BetterAnswer, "{audit:?}");
    assert!(audit.best.unwrap().y.iter().all(|y| y.abs() < 1e-3));
}

/// min 2 y1^2 + y2^2 with y1 + y2 = x: y = (x / 3, 2 x / 3).
fn on_a_line() -> impl BilevelProblem {
    let mut lower = LevelSpec::boxed(vec![(-10.0, 10.0); 2]);
    lower.equalities = 1;
    own(1, lower, |level, x, y, constraints| {
        if level == Level::Upper {
            return Ok((x[0] - 3.0).powi(2) + y[0]);
        }
        constraints.push(y[0] + y[1] - x[0]);
        Ok(2.0 * y[0] * y[0] + y[1] * y[1])
    })
}

#[test]
fn a_follower_with_equalities() {
    let problem = on_a_line();
    assert!(audited(&problem, &[3.0], &[1.0, 2.0]).passed());
    let audit = audited(&problem, &[3.0], &[1.5, 1.5]);
    assert_eq!(audit.verdict, Verdict::BetterAnswer);
    let best = audit.best.unwrap();
    assert!((best.y[0] - 1.0).abs() < 1e-3 && (best.lower_value - 6.0).abs() < 1e-5, "{best:?}");
}

#[test]
fn infeasible_answers_are_told_apart() {
    let audit = audited(&on_a_line(), &[3.0], &[1.0, 1.0]);
    assert_eq!((audit.verdict, audit.gap), (Verdict::Infeasible, None));
    assert!(audit.words.contains("violation 1.000e0"), "{}", audit.words);
    let mut lower = LevelSpec::boxed(vec![(0.0, 1.0)]);
    lower.inequalities = 1;
    let impossible = own(1, lower, |level, _, y, constraints| {
        if level == Level::Lower {
            constraints.push(2.0 - y[0]);
        }
        Ok(y[0])
    });
    let audit = audited(&impossible, &[0.0], &[0.5]);
    assert_eq!(audit.verdict, Verdict::NoFeasibleAnswer);
    assert_eq!(audit.best.unwrap().y, [1.0]);
}

#[test]
fn directions_are_those_of_the_problem() {
    let mut lower = LevelSpec::boxed(vec![(-10.0, 10.0)]);
    lower.direction = Direction::Maximize;
    let problem = own(1, lower, |level, x, y, _| Ok(if level == Level::Upper { y[0] } else { -(y[0] - x[0]).powi(2) }));
    let audit = audited(&problem, &[2.0], &[4.0]);
    assert_eq!(audit.verdict, Verdict::BetterAnswer);
    assert!((audit.gap.unwrap() - 4.0).abs() < 1e-6, "{audit:?}");
    assert!(audit.best.unwrap().lower_value.abs() < 1e-6);
}

#[test]
fn an_indifferent_follower_leaves_the_choice_to_the_leader() {
    // The follower cares for y1 only, the leader for both.
    let problem = own(1, LevelSpec::boxed(vec![(-10.0, 10.0), (0.0, 3.0)]), |level, x, y, _| {
        Ok(if level == Level::Upper { y[0] + (y[1] - 1.0).powi(2) } else { (y[0] - x[0]).powi(2) })
    });
    let audit = audited(&problem, &[2.0], &[2.0, 2.0]);
    assert!(audit.passed(), "{audit:?}");
    let best = audit.answer(Position::Optimistic).unwrap();
    assert!((best.upper_value.unwrap() - 2.0).abs() < 1e-3 && (best.y[1] - 1.0).abs() < 0.05, "{best:?}");
    let worst = audit.answer(Position::Pessimistic).unwrap();
    assert!((worst.upper_value.unwrap() - 6.0).abs() < 1e-3 && (worst.y[1] - 3.0).abs() < 1e-9, "{worst:?}");
    assert!(audit.words.contains("equally good") && audit.words.contains("no position says"), "{}", audit.words);
    let options = AuditOptions { position: Some(Position::Pessimistic), ..AuditOptions::default() };
    let decided =
        bilevo::audit::audit(&mut Serial::new(&problem), &Solution::at(&problem, &[2.0], &[2.0, 2.0]), &options);
    assert!(decided.words.ends_with("the worst counts"), "{}", decided.words);
}

#[test]
fn answers_far_apart_can_tie_too() {
    let problem = own(1, LevelSpec::boxed(vec![(-2.0, 2.0)]), |level, _, y, _| {
        Ok(if level == Level::Upper { y[0] } else { (y[0] * y[0] - 1.0).powi(2) })
    });
    let audit = audited(&problem, &[0.0], &[1.0]);
    let ties = audit.ties.unwrap();
    assert!((ties.optimistic.y[0] + 1.0).abs() < 1e-4 && (ties.pessimistic.y[0] - 1.0).abs() < 1e-4, "{ties:?}");
}

#[test]
fn no_tie_is_seen_where_the_follower_has_one_best_answer() {
    for name in ["smd1", "smd2", "tp1"] {
        let (x, y) = bilevo::problems::optima(name, None).remove(0);
        let audit = audited(&*problem(name, None).unwrap(), &x, &y);
        assert_eq!(audit.ties, None, "{name}: {}", audit.words);
    }
    // smd6 is known for its many answers.
    let (x, y) = bilevo::problems::optima("smd6", None).remove(0);
    assert!(audited(&*problem("smd6", None).unwrap(), &x, &y).ties.is_some());
}

#[test]
fn a_failing_or_interrupted_audit_says_so() {
    let broken = own(1, LevelSpec::boxed(vec![(0.0, 1.0)]), |level, _, y, _| {
        if level == Level::Lower { Err("no licence".into()) } else { Ok(y[0]) }
    });
    let at = Solution {
        x: vec![0.0],
        y: vec![0.0],
        upper_value: 0.0,
        lower_value: 0.0,
        upper_violation: 0.0,
        lower_violation: 0.0,
    };
    let found = audit(&mut Serial::new(&broken), &at, &AuditOptions::default());
    assert_eq!(found.verdict, Verdict::Incomplete);
    assert!(found.evaluations.failed > 0 && !found.passed());
    let options = AuditOptions::default();
    options.stop.store(true, Ordering::Relaxed);
    let interrupted = audit(&mut Serial::new(&on_a_line()), &at, &options);
    assert!(interrupted.words.contains("interrupted"), "{}", interrupted.words);
    assert_eq!((interrupted.verdict, interrupted.evaluations.lower), (Verdict::Incomplete, 0));
}

#[test]
fn the_budget_is_kept_and_the_same_seed_gives_the_same_finding() {
    let smd = problem("smd3", None).unwrap();
    let at = Solution::at(&*smd, &[0.0, 0.0], &[0.995, 0.0, 0.0]);
    let options = AuditOptions { max_lower_evals: Some(300), seed: 7, ..AuditOptions::default() };
    let once = audit(&mut Serial::new(&*smd), &at, &options);
    // A batch is finished, and half of the budget may go to ties.
    assert!(once.evaluations.lower < 500, "{once:?}");
    assert_eq!(once, audit(&mut Serial::new(&*smd), &at, &options));
}

#[test]
fn a_run_can_be_audited() {
    let smd = problem("smd1", None).unwrap();
    let named = bilevo::source::Named::new(smd, "smd1", "");
    let audited = |config: &[(&str, &str)]| {
        let solver = Solver::new(&named).method("bl-cma-es").seed(1);
        let solver = config.iter().fold(solver, |solver, (path, value)| solver.set(*path, value));
        solver.audit(AuditOptions::default()).run().unwrap()
    };
    let good = audited(&[]);
    assert!(good.audit.as_ref().is_some_and(Audit::passed) && good.warnings.is_empty(), "{good:?}");
    // One generation each leaves the follower far from its best answer.
    let hasty = [("lower.max_generations", "1"), ("refine.max_generations", "1"), ("stop.max_upper_evals", "1")];
    let poor = audited(&hasty);
    assert!(poor.audit.as_ref().is_some_and(|audit| audit.verdict == Verdict::BetterAnswer), "{poor:?}");
    assert!(poor.warnings[0].message.starts_with("audit: the follower has a better answer"), "{:?}", poor.warnings);
    let counts = poor.audit.as_ref().unwrap().evaluations;
    assert!(counts.lower > poor.evaluations.lower, "counted apart: {counts:?}");
    let json = serde_json::to_string(&poor).unwrap();
    assert_eq!(serde_json::from_str::<RunResult>(&json).unwrap(), poor);
}

#[test]
fn few_whole_answers_are_all_tried_and_many_are_climbed() {
    let needle = |y: &[f64]| if y == [7.0, 1.0] { -1.0 } else { 0.1 * y[0] };
    let lower = LevelSpec::new(Space::new().whole("n", 0.0, 9.0).binary("b"));
    let problem = own(1, lower, |level, x, y, _| Ok(if level == Level::Upper { x[0] } else { needle(y) }));
    let stands = audited(&problem, &[1.0], &[7.0, 1.0]);
    assert!(stands.passed() && stands.proven && stands.evaluations.lower == 20, "{stands:?}");
    assert!(stands.words.contains("proven by enumeration of all 20 answers"), "{}", stands.words);
    let exposed = audited(&problem, &[1.0], &[0.0, 0.0]);
    assert_eq!((exposed.verdict, exposed.best.unwrap().y), (Verdict::BetterAnswer, vec![7.0, 1.0]));
    let many = LevelSpec::new(Space::new().whole("n", 0.0, 1e6).whole("m", 0.0, 1e6));
    let bowl = |y: &[f64]| (y[0] - 123_456.0).powi(2) + (y[1] - 7.0).powi(2);
    let problem = own(1, many, |level, x, y, _| Ok(if level == Level::Upper { x[0] } else { bowl(y) }));
    let exposed = audited(&problem, &[1.0], &[123_455.0, 9.0]);
    assert!(!exposed.proven && exposed.verdict == Verdict::BetterAnswer, "{exposed:?}");
    assert_eq!(exposed.best.unwrap().y, [123_456.0, 7.0]);
}

/// F = (x/1e6 - 3)^2 + (y/1e-3 - 2)^2 and f = (y - 1e-9 x)^2, in SI units.
fn in_si_units() -> impl BilevelProblem {
    let level = |high: f64| LevelSpec::boxed(vec![(0.0, high)]);
    let spec = ProblemSpec::new("si", level(1e7), level(1e-2));
    let evaluate = |level: Level, x: &[f64], y: &[f64], _: &mut Vec<f64>| {
        Ok(match level {
            Level::Upper => (x[0] / 1e6 - 3.0).powi(2) + (y[0] / 1e-3 - 2.0).powi(2),
            Level::Lower => (y[0] - x[0] * 1e-9).powi(2),
        })
    };
    Own { spec, evaluate }
}

#[test]
fn a_gap_is_measured_by_what_f_changes_by() {
    // The whole range of f is 1e-4.
    let audit = audited(&in_si_units(), &[3e6], &[2e-3]);
    assert_eq!(audit.verdict, Verdict::BetterAnswer, "{audit:?}");
    let audit = audited(&in_si_units(), &[2.5e6], &[2.5e-3]);
    assert!(audit.passed() && audit.tolerance < 1e-8, "{audit:?}");
}

#[test]
fn a_gap_that_is_much_of_both_objectives_counts_in_a_wide_box() {
    // Two wells, f = -2 at -2 and 2 at 2, and millions at the ends of the box.
    let wells = |offset: f64| {
        own(1, LevelSpec::boxed(vec![(-50.0, 50.0)]), move |level, _, y, _| {
            let y = y[0];
            Ok(if level == Level::Upper { y } else { offset + y + (y * y - 4.0).powi(2) })
        })
    };
    let found = audited(&wells(0.0), &[0.0], &[1.98]);
    assert!(found.verdict == Verdict::BetterAnswer && found.gap.unwrap() < found.tolerance, "{found:?}");
    // Beside an f of thousands the same gap is little.
    assert!(audited(&wells(1e4), &[0.0], &[1.98]).passed());
}

#[test]
fn a_tiny_gap_between_distant_answers_is_a_tie() {
    // All but indifferent: both ends of the box are as good up to a billionth of what f changes by elsewhere.
    let tied = own(1, LevelSpec::boxed(vec![(-1.0, 1.0)]), |level, x, y, _| {
        Ok(if level == Level::Upper { y[0] } else { x[0] * y[0] + (y[0] * y[0] - 1.0).powi(2) })
    });
    let found = audited(&tied, &[2e-8], &[1.0]);
    assert!(found.passed() && found.ties.is_some(), "{found:?}");
}

#[test]
fn units_of_power_plants_do_not_mislead_a_run() {
    let problem = in_si_units();
    for seed in 1..=20 {
        let result = Solver::new(&problem).seed(seed).audit(AuditOptions::default()).run().unwrap();
        let value = result.upper_value().unwrap();
        assert!((value - 0.5).abs() < 1e-4 && result.success, "seed {seed}: {value} {:?}", result.warnings);
    }
}

#[test]
fn what_the_run_saw_elsewhere_is_tried() {
    // A needle that no search over the box meets.
    let needle = |y: &[f64]| if (y[0] - 0.123).abs() < 1e-4 { -1.0 } else { y[0] * y[0] };
    let problem = own(1, LevelSpec::boxed(vec![(-10.0, 10.0)]), |_, _, y: &[f64], _: &mut Vec<f64>| Ok(needle(y)));
    let solution = Solution::at(&problem, &[0.0], &[0.0]);
    assert!(audited(&problem, &[0.0], &[0.0]).passed());
    let mut options = AuditOptions::default();
    options.seen.answers = vec![vec![0.123]];
    let audit = audit(&mut Serial::new(&problem), &solution, &options);
    assert_eq!(audit.verdict, Verdict::BetterAnswer, "{audit:?}");
}

#[test]
fn what_a_violation_buys_is_no_better_answer() {
    // One feasible answer, y = 0, between two constraints; f would gain a thousand times what they give way.
    let level = LevelSpec { inequalities: 2, ..LevelSpec::boxed(vec![(-10.0, 10.0)]) };
    let problem = own(1, level, |_, _, y: &[f64], g: &mut Vec<f64>| {
        g.extend([y[0], -y[0]]);
        Ok(1e3 * y[0])
    });
    let audit = audited(&problem, &[0.0], &[0.0]);
    assert!(audit.passed(), "{audit:?}");
}

#[test]
fn the_best_of_equally_good_answers_counts_unless_a_position_says_otherwise() {
    // The follower does not care about y; a nested method takes what its search happens to find.
    let level = LevelSpec::boxed(vec![(-10.0, 10.0)]);
    let problem = own(1, level, |level, x: &[f64], y: &[f64], _: &mut Vec<f64>| {
        Ok(if level == Level::Upper { x[0] * x[0] + (y[0] - 1.0).powi(2) } else { x[0] })
    });
    let solver = || Solver::new(&problem).method("bl-cma-es").seed(1).audit(AuditOptions::default());
    let (any, worst) = (solver().run().unwrap(), solver().position(Position::Pessimistic).run().unwrap());
    let (any_value, worst_value) = (any.upper_value().unwrap(), worst.upper_value().unwrap());
    assert!(any_value < 1e-2 && worst_value > 50.0, "{any_value} {worst_value}");
    assert!(any.audit.unwrap().words.contains("the best counts"));
}

/// The follower maximises y as far as y² <= x² allows, and F = 28 + 8 y.
fn one_point_at_zero() -> impl BilevelProblem {
    own(1, LevelSpec::boxed(vec![(-0.5, 0.5)]).with_inequalities(1), |level, x, y, constraints| {
        if level == Level::Upper {
            return Ok(28.0 + 8.0 * y[0]);
        }
        constraints.push(y[0] * y[0] - x[0] * x[0]);
        Ok((y[0] - 3.0).powi(2))
    })
}

#[test]
fn a_single_feasible_answer_is_not_beaten_by_rounding() {
    let problem = one_point_at_zero();
    // The run saw f change by little, so that the tolerance is small.
    let seen = bilevo::record::FollowerSeen { scale: Some(0.1), ..Default::default() };
    let strict = AuditOptions { seen, ..AuditOptions::default() };
    let audit = audit(&mut Serial::new(&problem), &Solution::at(&problem, &[0.0], &[0.0]), &strict);
    assert_eq!(audit.verdict, Verdict::Stands, "{audit:?}");
    assert!(audit.gap.unwrap() > audit.tolerance, "or nothing was shown: {audit:?}");
    // What is better by itself still is.
    assert_eq!(audited(&problem, &[0.4], &[0.3]).verdict, Verdict::BetterAnswer);
}

#[test]
fn noise_is_no_better_answer() {
    let seen = std::sync::atomic::AtomicU64::new(0);
    let problem = own(1, LevelSpec::boxed(vec![(-5.0, 5.0)]), move |level, x, y, _| {
        let turn = seen.fetch_add(1, Ordering::Relaxed);
        let noise = 0.05 * (turn as f64 * 12.9898).sin() * 3.0_f64.sqrt();
        Ok(if level == Level::Upper { y[0] } else { (y[0] - x[0]).powi(2) + noise })
    });
    let solution = Solution { lower_value: 0.0, ..Solution::at(&problem, &[1.0], &[1.0]) };
    let audit = |noise: f64| {
        let seen = bilevo::record::FollowerSeen { noise, ..Default::default() };
        audit(&mut Serial::new(&problem), &solution, &AuditOptions { seen, ..AuditOptions::default() })
    };
    assert_eq!(audit(0.0).verdict, Verdict::BetterAnswer);
    let told = audit(0.05);
    assert!(told.verdict == Verdict::Stands && told.ties.is_none(), "{told:?}");
}

/// A false basin of the follower, wider than the true one, in which the leader gains.
#[test]
fn a_better_answer_that_an_audit_finds_goes_back_into_the_run() {
    let planted = bilevo::source::open("planted:1000315", None).unwrap();
    let solver = || Solver::new(&*planted).seed(1_000_315).set("stop.target", "off");
    let best = planted.spec().best_known[0].upper;
    let alone = solver().run().unwrap();
    assert!(alone.upper_value().unwrap() < best - 1.0, "the run is not deceived any more: choose another problem");
    let result = solver().audit(AuditOptions::default()).run().unwrap();
    assert!((result.upper_value().unwrap() - best).abs() < 1e-2, "{result:?}");
    let audit = result.audit.unwrap();
    assert!(result.success && audit.passed(), "{audit:?}");
    assert!(result.verification.unwrap().corrected > 0);
    assert!(result.evaluations.total() > alone.evaluations.total());
    // A budget counts both audits.
    let total = alone.evaluations.total() + 2000;
    let short = solver().max_evals(total).audit(AuditOptions::default()).run().unwrap();
    let spent = short.evaluations.total() + short.audit.unwrap().evaluations.total();
    assert!(spent <= total + 100, "{spent} of {total}");
}

#[test]
fn a_deceptive_follower_is_seen_through_in_a_box_far_too_wide() {
    let planted = bilevo::source::open("planted:1000348", None).unwrap();
    let result = Solver::new(&*planted).seed(1_000_348).set("stop.target", "off").run().unwrap();
    let best = planted.spec().best_known[0].upper;
    assert!((result.upper_value().unwrap() - best).abs() < 1e-4, "{result:?}");
    assert!(result.searched.is_some(), "in its own box it was wrong");
}

#[test]
fn an_answer_from_a_box_made_too_small_is_exposed_in_the_problems_own() {
    // The run ends in a small box that has lost the follower's better basin.
    let planted = bilevo::source::open("planted:5000114", None).unwrap();
    let solver = Solver::new(&*planted).seed(5_000_114).set("stop.target", "off");
    let result = solver.audit(AuditOptions::default()).run().unwrap();
    let best = planted.spec().best_known[0].upper;
    let right = (result.upper_value().unwrap() - best).abs() < 1e-2;
    assert!(right || !result.success, "wrong and silent: {result:?}");
}
