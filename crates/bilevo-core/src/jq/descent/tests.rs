use super::*;
use crate::batch::Replies;
use crate::problem::{Failure, LevelSpec};

/// The leader pulls y1 away from where the follower wants it; both levels have a constraint that is
/// active at the optimum x = (1, 0.5), y = (1, 1.5).
struct Tug {
    spec: ProblemSpec,
    /// Every so many evaluations one fails, the first twenty aside unless all do; 0: none.
    failing: u64,
    count: u64,
}

impl Tug {
    fn new(failing: u64) -> Self {
        let upper = LevelSpec::boxed(vec![(-2.0, 3.0); 2]).with_inequalities(1);
        let lower = LevelSpec::boxed(vec![(-3.0, 3.0), (-1.0, 4.0)]).with_inequalities(1);
        Tug { spec: ProblemSpec::new("tug", upper, lower), failing, count: 0 }
    }

    fn evaluate(&mut self, level: Level, x: &[f64], y: &[f64], g: &mut Vec<f64>) -> Result<f64, Failure> {
        self.count += 1;
        let spared = self.count <= 20 && self.failing > 1;
        if self.failing > 0 && self.count.is_multiple_of(self.failing) && !spared {
            return if self.count.is_multiple_of(2) { Ok(f64::NAN) } else { Err("broken".into()) };
        }
        Ok(match level {
            Level::Upper => {
                g.push(x[0] - y[0]);
                (x[0] - 2.0).powi(2) + (x[1] - 0.5).powi(2) + (y[1] - 1.5).powi(2)
            }
            Level::Lower => {
                g.push(y[0] - 1.0);
                (y[0] - 1.0 - x[0] * x[0]).powi(2) + (y[1] - 1.0 - x[1]).powi(2)
            }
        })
    }

    fn answer(&mut self, batch: &Batch) -> Replies {
        let mut replies = Replies::default();
        replies.start(&self.spec, batch.level());
        for i in 0..batch.len() {
            let mut row = Vec::new();
            let result = self.evaluate(batch.level(), batch.x(i), batch.y(i), &mut row);
            replies.push_result(&self.spec.clone(), result, &row);
        }
        replies
    }
}

const START: [f64; 4] = [-1.0, 2.0, 0.0, 0.0];

/// Runs to the end, handing the descent through `between` after each batch; the points asked for.
fn run(tug: &mut Tug, budget: u64, between: impl Fn(Descent) -> Descent) -> (Descent, Vec<f64>) {
    let mut descent = Descent::new(&tug.spec, &START, budget);
    let (mut batch, mut asked) = (Batch::new(&tug.spec), Vec::new());
    while !descent.finished() {
        descent.ask(&mut batch, 0);
        assert!(!batch.is_empty());
        (0..batch.len()).for_each(|i| asked.extend(batch.x(i).iter().chain(batch.y(i))));
        let replies = tug.answer(&batch);
        descent.tell(replies.answers());
        descent = between(descent);
    }
    descent.ask(&mut batch, 0);
    assert!(batch.is_empty());
    (descent, asked)
}

#[test]
fn finds_an_optimum_with_active_constraints_at_both_levels() {
    let (descent, _) = run(&mut Tug::new(0), 400, |d| d);
    let best = descent.incumbent().unwrap();
    for (v, expected) in best.x.iter().chain(&best.y).zip([1.0, 0.5, 1.0, 1.5]) {
        assert!((v - expected).abs() < 1e-4, "{best:?}");
    }
    assert!((best.upper[0] - 1.0).abs() < 1e-5 && best.settled, "{best:?}");
    assert!(descent.spent() < 300, "{}", descent.spent());
}

#[test]
fn saved_and_resumed_between_any_two_batches_it_goes_on_bit_for_bit() {
    let (plain, asked) = run(&mut Tug::new(7), 200, |d| d);
    let (resumed, again) =
        run(&mut Tug::new(7), 200, |d| postcard::from_bytes(&postcard::to_allocvec(&d).unwrap()).unwrap());
    assert_eq!(asked, again);
    assert_eq!(plain, resumed);
}

#[test]
fn failed_evaluations_are_survived() {
    for failing in [1, 2, 3, 5] {
        let (descent, asked) = run(&mut Tug::new(failing), 150, |d| d);
        assert!(asked.iter().all(|v| v.is_finite()));
        assert!(descent.spent() <= 150 + 4);
        assert_eq!(descent.incumbent().is_none(), failing == 1);
    }
}

#[test]
fn points_stay_in_the_box() {
    let mut tug = Tug::new(0);
    let (_, asked) = run(&mut tug, 300, |d| d);
    for point in asked.chunks_exact(4) {
        let bounds = tug.spec.upper.space.bounds().iter().chain(tug.spec.lower.space.bounds());
        assert!(point.iter().zip(bounds).all(|(v, (l, h))| (l..=h).contains(&v)), "{point:?}");
    }
}
