//! What all lower searches have in common, fed with scripted outcomes.

use super::*;
use crate::config::Config;
use crate::methods::BASES;
use crate::problem::{Level, LevelSpec, ProblemSpec};
use crate::upper::Upper;

const TASKS: usize = 6;

struct Bench {
    search: LowerState,
    batch: Batch,
    tasks: Vec<Candidate>,
    lower_generations: usize,
    /// Evaluations of each task.
    spent: Vec<usize>,
}

impl Bench {
    fn new(kind: LowerKind) -> Self {
        let level = |dim| LevelSpec::boxed(vec![(-5.0, 10.0); dim]);
        let spec = ProblemSpec::new("scripted", level(2), level(3));
        let base = BASES.iter().find(|base| base.lower == kind).unwrap();
        let config = Config::named(base.name).unwrap();
        let settings = config.check(&spec).unwrap();
        let streams = Streams::new(4);
        let mut upper = Upper::new(&spec, 8, 0.3, &mut streams.open(Purpose::Start, 0, 0));
        let mut tasks = upper.sample(&mut streams.open(Purpose::Sample, 1, 0));
        tasks.truncate(TASKS);
        let mut search = LowerState::new(kind, LowerRules::new(&spec, &config.lower, &settings));
        search.open(&tasks, &upper.lower_prior(), SearchStreams { streams, purpose: Purpose::Lower, generation: 1 });
        let batch = Batch::new(&spec);
        Bench { search, batch, tasks, lower_generations: settings.lower_generations, spent: vec![0; TASKS] }
    }

    /// Runs to the end; returns the best outcome seen for each task.
    fn run(&mut self, mut f: impl FnMut(&[f64], &[f64]) -> Outcome) -> Vec<Outcome> {
        let mut best = vec![Outcome::FAILED; TASKS];
        for _ in 0..1000 {
            self.batch.start(Level::Lower, 0);
            self.search.ask(&mut self.batch);
            if self.batch.is_empty() {
                return best;
            }
            let outcomes: Vec<Outcome> = (0..self.batch.len()).map(|i| f(self.batch.x(i), self.batch.y(i))).collect();
            for (index, outcome) in outcomes.iter().enumerate() {
                let task = self.tasks.iter().position(|t| t.x == self.batch.x(index)).unwrap();
                self.spent[task] += 1;
                if crate::order::better(outcome, &best[task]) {
                    best[task] = *outcome;
                }
            }
            self.search.tell(&self.batch, &outcomes);
        }
        panic!("the search does not end");
    }
}

fn each(check: impl Fn(LowerKind)) {
    BASES.iter().for_each(|base| check(base.lower));
}

/// The follower's answer is (x0, x1, (x0 + x1) / 2).
fn bowl(x: &[f64], y: &[f64]) -> Outcome {
    let value = (y[0] - x[0]).powi(2) + (y[1] - x[1]).powi(2) + (y[2] - 0.5 * (x[0] + x[1])).powi(2);
    Outcome { value, violation: 0.0 }
}

#[test]
fn answers_are_the_best_of_what_was_evaluated() {
    each(|kind| {
        let mut bench = Bench::new(kind);
        let best = bench.run(bowl);
        let answers = bench.search.answers();
        assert_eq!(answers.len(), TASKS);
        let guesses: f64 = bench.tasks.iter().map(|t| bowl(&t.x, &t.guess).value).sum();
        let found: f64 = answers.iter().map(|a| a.outcome.value).sum();
        eprintln!("{kind:?} {found} {guesses}");
        for ((task, answer), best) in bench.tasks.iter().zip(&answers).zip(best) {
            assert_eq!(answer.outcome, best, "{kind:?}");
            assert_eq!(bowl(&task.x, &answer.y), answer.outcome, "{kind:?}: value and point belong together");
        }
    });
}

#[test]
fn feasible_answers_beat_better_ones_that_are_not() {
    each(|kind| {
        let mut bench = Bench::new(kind);
        bench.run(|x, y| Outcome { violation: (y[0] - 1.0).max(0.0), ..bowl(x, y) });
        for (task, answer) in bench.tasks.iter().zip(bench.search.answers()) {
            assert!(answer.outcome.violation == 0.0 && answer.y[0] <= 1.0, "{kind:?} {task:?}: {answer:?}");
        }
    });
}

#[test]
fn standing_still_is_convergence_and_moving_is_not() {
    each(|kind| {
        let mut still = Bench::new(kind);
        still.run(|_, _| Outcome { value: 3.0, violation: 0.0 });
        assert!(still.search.answers().iter().all(|a| a.converged), "{kind:?}");

        // Every evaluation is a clear improvement, so nothing settles before the generations end.
        let mut moving = Bench::new(kind);
        let mut value = 0.0;
        moving.run(|_, _| {
            value -= 1000.0;
            Outcome { value, violation: 0.0 }
        });
        let generations = moving.lower_generations;
        let settled = moving.search.answers().iter().filter(|a| a.converged).count();
        // CMA-ES tasks may also end because their step size has left its range.
        let by_step = matches!(kind, LowerKind::Independent | LowerKind::TransferCma);
        assert!(settled == 0 || by_step, "{kind:?}: {settled} settled");
        assert!(by_step || moving.spent.iter().all(|&n| n >= generations), "{kind:?}: {:?}", moving.spent);
        assert!(still.spent.iter().sum::<usize>() <= moving.spent.iter().sum(), "{kind:?}");
    });
}

#[test]
fn failed_evaluations_leave_the_guess_and_no_convergence() {
    each(|kind| {
        let mut bench = Bench::new(kind);
        bench.run(|_, _| Outcome::FAILED);
        for (task, answer) in bench.tasks.iter().zip(bench.search.answers()) {
            assert!(answer.outcome.is_failed() && !answer.converged, "{kind:?}");
            assert_eq!(answer.y.len(), task.guess.len());
            assert!(answer.y.iter().all(|v| v.is_finite()), "{kind:?}");
        }
    });
}

#[test]
fn a_collaborative_search_shares_every_success_with_two_neighbours() {
    let mut bench = Bench::new(LowerKind::Collaborative);
    bench.run(|_, _| Outcome { value: 1.0, violation: 0.0 });
    // Nothing improves: the guesses, then one offspring for each task in 18 generations.
    assert_eq!(bench.spent, [19; TASKS]);
    let mut bench = Bench::new(LowerKind::Collaborative);
    let mut value = 0.0;
    bench.run(|_, _| {
        value -= 1.0;
        Outcome { value, violation: 0.0 }
    });
    // Everything improves: every offspring is tried on two other tasks as well.
    assert_eq!(bench.spent.iter().sum::<usize>(), TASKS + 18 * 3 * TASKS);
}
