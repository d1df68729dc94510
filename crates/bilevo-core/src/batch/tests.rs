use super::*;
use crate::problem::{LevelSpec, Outcome};

fn spec() -> ProblemSpec {
    let lower = LevelSpec::boxed(vec![(0.0, 1.0)]).with_inequalities(2);
    ProblemSpec::new("two", LevelSpec::boxed(vec![(0.0, 1.0); 2]), lower)
}

#[test]
fn a_subset_keeps_points_and_numbers() {
    let points: Vec<([f64; 2], [f64; 1])> = (0..4).map(|i| ([f64::from(i), 0.5], [-f64::from(i)])).collect();
    let points = points.iter().map(|(x, y)| (x.as_slice(), y.as_slice()));
    let mut batch = Batch::from_points(&spec(), Level::Lower, points).unwrap();
    batch.first_id = 100;
    let part = batch.subset(&[3, 1, 9]);
    assert_eq!((part.len(), part.level()), (2, Level::Lower));
    assert_eq!([part.id(0), part.id(1)], [103, 101]);
    assert_eq!((part.x(0), part.y(1)), (batch.x(3), batch.y(1)));
    assert_eq!(part.subset(&[1]).id(0), 101);
}

#[test]
fn points_of_other_sizes_are_refused() {
    let error = Batch::from_points(&spec(), Level::Upper, [(&[1.0, 2.0][..], &[1.0, 2.0][..])]).unwrap_err();
    assert_eq!(error.to_string(), "point 0 has 2+2 variables\nhint: the problem has 2+1");
}

#[test]
fn constraint_rows_stay_with_their_answers() {
    let mut replies = Replies::default();
    for level in [Level::Lower, Level::Upper, Level::Lower] {
        replies.start(&spec(), level);
        assert!(replies.constraints(0).is_empty());
    }
    replies.push(&spec(), 1.0, &[-1.0, 2.0]);
    replies.push(&spec(), f64::NAN, &[-1.0, 2.0]);
    replies.push_failure("no".into());
    replies.push(&spec(), 1.0, &[3.0, 4.0, 5.0]);
    replies.push(&spec(), 2.0, &[-5.0, -6.0]);
    assert_eq!((replies.constraints(0), replies.constraints(4)), (&[-1.0, 2.0][..], &[-5.0, -6.0][..]));
    for failed in 1..4 {
        assert!(replies.constraints(failed).iter().all(|g| g.is_nan()) && replies.constraints(failed).len() == 2);
    }
    assert_eq!(replies.outcomes()[0], Outcome { value: 1.0, violation: 2.0 });
    assert!(replies.constraints(5).is_empty());
}

#[test]
fn a_second_try_replaces_the_first() {
    let mut replies = Replies::default();
    replies.start(&spec(), Level::Lower);
    for _ in 0..3 {
        replies.push_failure("first".into());
    }
    let mut second = Replies::default();
    second.start(&spec(), Level::Lower);
    second.push_failure("second".into());
    second.push(&spec(), 7.0, &[0.0, 1.0]);
    replies.amend(&[0, 2], &second);
    assert_eq!(replies.outcomes()[2], Outcome { value: 7.0, violation: 1.0 });
    assert_eq!(replies.constraints(2), [0.0, 1.0]);
    let failures: Vec<(usize, &str)> = replies.failures().iter().map(|(i, f)| (*i, f.message.as_str())).collect();
    assert_eq!((failures, replies.retries()), (vec![(0, "second"), (1, "first")], 2));
}
