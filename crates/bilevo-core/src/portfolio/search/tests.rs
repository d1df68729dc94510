//! Searches on hand-made problems, run by hand.

use super::*;
use crate::problem::LevelSpec;

/// Functions of both levels in the unit box: (x, y) to a row; an empty row is a failure.
pub(in crate::portfolio) type Function = fn(&[f64]) -> Vec<f64>;

/// A problem with one variable at each level.
pub(in crate::portfolio) struct Bench {
    pub(in crate::portfolio) spec: ProblemSpec,
    pub(in crate::portfolio) archive: Archive,
    pub(in crate::portfolio) scales: Scales,
    upper: Function,
    lower: Function,
    /// Everything evaluated, in order.
    pub(in crate::portfolio) trace: Vec<(Level, Vec<f64>)>,
}

impl Bench {
    pub(in crate::portfolio) fn new(upper: Function, lower: Function) -> Self {
        let count = |f: Function| f(&[0.5, 0.5]).len() - 1;
        let level = |f: Function| LevelSpec::boxed(vec![(0.0, 1.0)]).with_inequalities(count(f));
        let spec = ProblemSpec::new("by hand", level(upper), level(lower));
        let archive = Shape::of(&spec).archive();
        // As if the box had been looked at before: scales are what the functions change by.
        let mut seen = archive.clone();
        for i in 0..8 {
            for j in 0..8 {
                let point = [f64::from(i) / 7.0, f64::from(j) / 7.0];
                seen.push(Level::Upper, &point, &upper(&point));
                seen.push(Level::Lower, &point, &lower(&point));
            }
        }
        let scales = Scales::new(&spec, &seen);
        Bench { spec, archive, scales, upper, lower, trace: Vec::new() }
    }

    pub(in crate::portfolio) fn shape(&self) -> Shape {
        Shape::of(&self.spec)
    }

    pub(in crate::portfolio) fn ground(&self) -> Ground<'_> {
        Ground { spec: &self.spec, archive: &self.archive, scales: &self.scales, streams: Streams::new(7) }
    }

    /// One batch; whether there was one.
    pub(in crate::portfolio) fn step(&mut self, search: &mut dyn Search) -> bool {
        let mut wanted = Wanted::new(2);
        search.ask(&self.ground(), &mut wanted);
        let function = if wanted.level == Level::Upper { self.upper } else { self.lower };
        let rows: Rows = wanted.iter().map(function).collect();
        for (point, row) in wanted.iter().zip(&rows) {
            self.archive.push(wanted.level, point, row);
            self.trace.push((wanted.level, point.to_vec()));
        }
        if !rows.is_empty() {
            search.tell(&self.ground(), &wanted, &rows);
        }
        !rows.is_empty()
    }

    /// To the end.
    pub(in crate::portfolio) fn run(&mut self, search: &mut dyn Search) -> Option<End> {
        while self.trace.len() < 20_000 && self.step(search) {}
        search.end()
    }

    /// Decisions at which F was evaluated.
    pub(in crate::portfolio) fn judged(&self) -> Vec<&[f64]> {
        self.trace.iter().filter(|(level, _)| *level == Level::Upper).map(|(_, point)| &point[..]).collect()
    }
}

/// F = (x - 0.3)² + (y - 0.6)²; with the answer y = x its minimum is at 0.45, where it is 0.045.
pub(in crate::portfolio) fn bowl(p: &[f64]) -> Vec<f64> {
    vec![(p[0] - 0.3).powi(2) + (p[1] - 0.6).powi(2)]
}

/// f = (y - x)².
pub(in crate::portfolio) fn follows(p: &[f64]) -> Vec<f64> {
    vec![(p[1] - p[0]).powi(2)]
}

mod sample {
    use super::super::sample::Sample;
    use super::*;
    use crate::rng::Purpose;

    fn sample(bench: &Bench) -> Sample {
        Sample::new(2, bench.ground().streams.open(Purpose::Position, 0, 0))
    }

    #[test]
    fn twenty_points_one_in_every_stripe_of_every_variable_at_both_levels() {
        let mut bench = Bench::new(bowl, follows);
        let mut search = sample(&bench);
        assert_eq!(bench.run(&mut search), Some(End::Converged));
        assert_eq!(bench.trace.len(), 40);
        assert_eq!(bench.trace[..20].iter().map(|(_, p)| p).collect::<Vec<_>>(), bench.judged());
        for variable in 0..2 {
            let mut stripes: Vec<usize> = bench.judged().iter().map(|p| (20.0 * p[variable]) as usize).collect();
            stripes.sort_unstable();
            assert_eq!(stripes, (0..20).collect::<Vec<_>>());
        }
        let best = bench.judged().iter().map(|p| bowl(p)[0]).fold(f64::INFINITY, f64::min);
        assert_eq!(search.claim().map(|claim| (claim.value(), claim.settled)), Some((best, false)));
        assert_eq!(search.reach(), (1.0, 1.0), "the whole box, one way as far as another");
    }

    #[test]
    fn failures_and_infeasible_points_are_not_claimed() {
        let limited: Function = |p| if p[1] > 0.8 { vec![] } else { vec![p[0], 0.5 - p[0]] };
        let mut bench = Bench::new(limited, follows);
        let mut search = sample(&bench);
        bench.run(&mut search);
        let feasible = bench.judged().into_iter().filter(|p| p[0] >= 0.5 && p[1] <= 0.8).map(|p| p[0]);
        assert_eq!(search.claim().map(|c| c.value()), feasible.min_by(f64::total_cmp));
    }

    #[test]
    fn where_no_point_keeps_an_equation_f_counts_too() {
        // All of them break it by one at least, and the best F is where it is broken by little more.
        let equation: Function = |p| vec![-p[0], 1.0 + 0.01 * p[0]];
        let mut bench = Bench::new(equation, follows);
        let mut search = sample(&bench);
        bench.run(&mut search);
        let best = bench.judged().into_iter().map(|p| -p[0]).min_by(f64::total_cmp);
        assert_eq!(search.claim().map(|c| c.value()), best);
    }

    #[test]
    fn without_lower_evaluations_it_claims_nothing() {
        let mut bench = Bench::new(bowl, follows);
        let mut search = sample(&bench);
        search.cut();
        assert_eq!((bench.run(&mut search), search.claim()), (Some(End::Converged), None));
    }
}

mod descent {
    use super::super::descent::{Descent, STILL, Start};
    use super::*;

    fn start(budget: u64) -> Start {
        Start { point: vec![0.1, 0.1], size: 1.0, budget, still: STILL, goal: None }
    }

    fn descend(bench: &mut Bench, start: Start) -> (Option<End>, Claim) {
        let mut search = Descent::new(bench.shape(), &bench.archive, start);
        (bench.run(&mut search), search.claim().unwrap())
    }

    #[test]
    fn a_quadratic_problem_is_solved_in_a_few_steps() {
        let mut bench = Bench::new(bowl, follows);
        let (end, claim) = descend(&mut bench, start(400));
        assert_eq!(end, Some(End::Converged));
        // The start and one answer beside it; then a decision a fifth of the box away.
        assert_eq!(bench.trace[0], (Level::Lower, vec![0.1, 0.1]));
        assert_eq!(bench.trace[1], (Level::Lower, vec![0.1, 0.2]));
        let judged = bench.judged();
        assert!((judged[0][0] - 0.1).abs() < 1e-12 && (judged[0][1] - 0.1).abs() < 0.04, "{judged:?}");
        assert!((judged[1][0] - 0.3).abs() < 1e-12, "{judged:?}");
        assert!((claim.x[0] - 0.45).abs() < 1e-4 && (claim.y[0] - claim.x[0]).abs() < 1e-7, "{claim:?}");
        assert!((claim.value() - 0.045).abs() < 1e-8 && claim.settled);
        assert!(bench.trace.len() < 150, "{}", bench.trace.len());
    }

    #[test]
    fn it_may_end_near_a_known_claim_and_only_there() {
        let mut bench = Bench::new(bowl, follows);
        let (_, optimum) = descend(&mut bench, start(400));
        let full = bench.trace.len();
        let with = |claim: Claim| {
            let mut bench = Bench::new(bowl, follows);
            let end = descend(
                &mut bench,
                Start { goal: Some(Goal { claim, near: 0.01, above: 1e-3, below: 1e-5 }), ..start(400) },
            )
            .0;
            (end, bench.trace.len())
        };
        let (end, spent) = with(optimum.clone());
        assert!(end == Some(End::Arrived) && spent < full, "{end:?} {spent} {full}");
        let elsewhere = Claim { x: vec![0.5], ..optimum.clone() };
        assert_eq!(with(elsewhere), (Some(End::Converged), full));
        let better = Claim { upper: vec![0.04], ..optimum };
        assert_eq!(with(better), (Some(End::Converged), full));
    }

    #[test]
    fn a_goal_that_is_bettered_is_not_reached() {
        let optimum = descend(&mut Bench::new(bowl, follows), start(400)).1;
        let goal = Goal { near: 0.01, above: 1e-3, below: 1e-5, claim: optimum.clone() };
        let reached = |more: f64| goal.is_reached(&optimum.x, &optimum.y, optimum.value() + more);
        assert_eq!([9e-4, 2e-3, -9e-6, -2e-5].map(reached), [true, false, true, false]);
        let aside = [optimum.x[0] + 0.02];
        assert!(!goal.is_reached(&aside, &optimum.y, optimum.value()));
        assert!(!goal.is_reached(&optimum.x, &aside, optimum.value()));
    }

    #[test]
    fn a_coarse_one_ends_sooner_and_is_not_made_exact() {
        let mut bench = Bench::new(bowl, follows);
        let (end, claim) = descend(&mut bench, Start { still: 0.02, ..start(400) });
        assert_eq!(end, Some(End::Converged));
        assert!((claim.x[0] - 0.45).abs() < 0.02);
        let mut exact = Bench::new(bowl, follows);
        descend(&mut exact, start(400));
        assert!(bench.trace.len() < exact.trace.len());
    }

    #[test]
    fn evaluations_that_are_used_up_end_it_with_what_it_has() {
        let mut bench = Bench::new(bowl, follows);
        let (end, claim) = descend(&mut bench, start(12));
        assert_eq!((end, bench.trace.len()), (Some(End::Spent), 12));
        assert!(claim.value() < bowl(&[0.1, 0.1])[0]);
    }

    #[test]
    fn cut_short_it_still_judges_the_answer_it_has() {
        let mut bench = Bench::new(bowl, follows);
        let mut search = Descent::new(bench.shape(), &bench.archive, start(400));
        bench.step(&mut search);
        search.cut();
        bench.step(&mut search);
        assert_eq!(bench.judged().len(), 1);
        // The next decision has no answer yet.
        search.cut();
        assert_eq!((bench.run(&mut search), bench.judged().len()), (Some(End::Spent), 1));
        assert!(search.claim().is_some());
    }

    #[test]
    fn it_goes_around_a_region_that_fails() {
        // The first point along x, at 0.3, fails; so does every answer there.
        let fails = |p: &[f64]| (0.2..0.4).contains(&p[0]);
        let mut bench = Bench::new(bowl, |p| if (0.2..0.4).contains(&p[0]) { vec![] } else { follows(p) });
        let (end, claim) = descend(&mut bench, start(400));
        assert_eq!(end, Some(End::Converged));
        // Then closer, on the other side.
        let tried: Vec<f64> = bench.trace.iter().map(|(_, p)| p[0]).filter(|x| *x != 0.1).collect();
        assert!(tried[0] == 0.1 + 0.2 && tried[1] == 0.0, "{tried:?}");
        assert!(claim.value() < bowl(&[0.15, 0.15])[0] && !fails(&claim.x), "{claim:?}");
    }

    #[test]
    fn a_failed_start_ends_it() {
        let mut bench = Bench::new(bowl, |p| if p[0] < 0.2 { vec![] } else { vec![p[1]] });
        let mut search = Descent::new(bench.shape(), &bench.archive, start(400));
        assert_eq!((bench.run(&mut search), search.claim()), (Some(End::Spent), None));
    }
}

mod units;
