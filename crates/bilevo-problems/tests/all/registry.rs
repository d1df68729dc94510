//! Names, sizes and boxes: everything listed works, everything else is refused with a hint.

use bilevo_core::problem::{Level, LevelSpec, LowerConstraints};
use bilevo_problems::{catalogue, names, optima, problem};

/// Centre, both extreme corners and the two alternating ones.
fn probes(spec: &LevelSpec) -> Vec<Vec<f64>> {
    let pick = |choose: fn(usize) -> f64| spec.space.iter().enumerate().map(|(i, v)| v.at(choose(i))).collect();
    vec![pick(|_| 0.5), pick(|_| 0.0), pick(|_| 1.0), pick(|i| (i % 2) as f64), pick(|i| ((i + 1) % 2) as f64)]
}

#[test]
fn every_problem_is_finite_at_the_centre_and_corners_of_its_box() {
    for info in catalogue() {
        let sizes =
            if info.scalable { vec![(2, 3), (3, 4), (8, 9), (20, 20), (41, 60)] } else { vec![info.default_dims] };
        for dims in sizes {
            let problem = problem(info.name, Some(dims)).unwrap();
            let spec = problem.spec();
            assert_eq!((spec.name.as_str(), spec.upper.dim(), spec.lower.dim()), (info.name, dims.0, dims.1));
            assert_eq!(spec.check(), Ok(()));
            for x in probes(&spec.upper) {
                for y in probes(&spec.lower) {
                    for level in [Level::Upper, Level::Lower] {
                        let mut g = Vec::new();
                        let value = problem.evaluate(level, &x, &y, &mut g).unwrap();
                        assert!(value.is_finite() && g.iter().all(|g| g.is_finite()), "{} {x:?} {y:?}", info.name);
                        assert_eq!(g.len(), spec.level(level).constraints(), "{} {level}", info.name);
                    }
                }
            }
        }
    }
}

#[test]
fn names_are_unique_and_in_order() {
    let names: Vec<_> = names().collect();
    assert_eq!(names.len(), 144);
    assert_eq!((names[0], names[11], names[12], names[21]), ("smd1", "smd12", "tp1", "tp10"));
    let unique: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
}

#[test]
fn the_default_size_is_the_listed_one() {
    for info in catalogue() {
        let problem = problem(info.name, None).unwrap();
        assert_eq!((problem.spec().upper.dim(), problem.spec().lower.dim()), info.default_dims);
    }
}

#[test]
fn shared_constraints_follow_the_upper_ones() {
    let shared: Vec<_> = names()
        .filter(|name| problem(name, None).unwrap().spec().lower_constraints == LowerConstraints::Shared)
        .collect();
    assert_eq!(shared, ["tp2", "tp3", "tp4", "tp5", "tp6", "tp7", "tp8"]);
    for name in shared {
        let problem = problem(name, None).unwrap();
        let (x, y) = (&probes(&problem.spec().upper)[0], &probes(&problem.spec().lower)[3]);
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        problem.evaluate(Level::Upper, x, y, &mut upper).unwrap();
        problem.evaluate(Level::Lower, x, y, &mut lower).unwrap();
        assert!(upper.ends_with(&lower) && !lower.is_empty(), "{name}");
    }
}

#[test]
fn budgets_are_the_published_ones() {
    for info in catalogue() {
        let budget = problem(info.name, None).unwrap().spec().budget;
        let got = budget.map(|b| (b.upper_evals, b.upper_window, b.lower_evals, b.lower_window));
        let want = match info.name {
            "gold-mining" => Some((1500, 70, 150, 15)),
            name if name.starts_with("tp") => Some((2500, 350, 250, 25)),
            _ => None,
        };
        assert_eq!(got, want, "{}", info.name);
    }
}

fn refusal(name: &str, dims: Option<(usize, usize)>) -> String {
    assert!(optima(name, dims).is_empty());
    match problem(name, dims) {
        Ok(_) => panic!("{name} {dims:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unknown_names_get_a_suggestion() {
    for (slip, meant) in [("smd13", "smd1"), ("SMD2", "smd2"), ("gold-minning", "gold-mining"), ("tp 3", "tp3")] {
        let message = refusal(slip, None);
        assert!(message.contains(&format!("did you mean `{meant}`")), "{message}");
    }
    for nonsense in ["", "rosenbrock", "smd1\0", "ß".repeat(1000).as_str()] {
        assert!(refusal(nonsense, None).contains("hint: `smd1` to `smd12`"));
    }
}

#[test]
fn illegal_sizes_are_refused_with_the_legal_ones() {
    let illegal = [(0, 0), (0, 3), (2, 0), (1, 3), (2, 1), (10, 5), (1_000_000_000, 1_000_000_000), (2, usize::MAX)];
    for name in names().filter(|name| name.starts_with("smd")) {
        for dims in illegal.into_iter().chain([(usize::MAX, usize::MAX), (1_001, 1_000), (2, 1_001)]) {
            let message = refusal(name, Some(dims));
            assert!(message.contains("hint: legal sizes m+n are 2 <= m <= 1000"), "{message}");
        }
    }
    for (name, dims) in [("tp1", (2, 3)), ("tp9", (10, 10)), ("gold-mining", (0, 0))] {
        assert!(refusal(name, Some(dims)).contains("does not scale"));
    }
}

#[test]
fn interacting_lower_groups_need_two_members() {
    let smallest = |name: &str| (1..9).find(|&n| problem(name, Some((5, n))).is_ok()).unwrap();
    for name in ["smd5", "smd6", "smd8", "smd10", "smd12"] {
        assert_eq!(smallest(name), 4, "{name}");
    }
    for name in ["smd1", "smd2", "smd3", "smd4", "smd7", "smd9", "smd11"] {
        assert_eq!(smallest(name), 3, "{name}");
    }
}

#[test]
fn vectors_of_another_size_are_an_error() {
    for info in catalogue() {
        let problem = problem(info.name, None).unwrap();
        let (m, n) = info.default_dims;
        for (m, n) in [(m + 1, n), (m, n + 1), (0, 0), (n, 0), (m + 1, n - 1)] {
            let message = problem.evaluate(Level::Lower, &vec![0.5; m], &vec![0.5; n], &mut Vec::new()).unwrap_err();
            assert!(message.message.contains("variables, got"), "{message}");
        }
    }
}

#[test]
fn no_input_makes_an_evaluation_panic() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0, f64::MIN_POSITIVE];
    for info in catalogue() {
        let problem = problem(info.name, None).unwrap();
        let (m, n) = info.default_dims;
        for value in odd {
            for level in [Level::Upper, Level::Lower] {
                let mut g = Vec::new();
                assert!(problem.evaluate(level, &vec![value; m], &vec![value; n], &mut g).is_ok());
                assert_eq!(g.len(), problem.spec().level(level).constraints());
            }
        }
    }
}
