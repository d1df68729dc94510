//! Every formula against `data/golden.csv`: values from an independent implementation.

use bilevo_core::problem::Level;

const GOLDEN: &str = include_str!("../../../../data/golden.csv");

fn numbers(field: &str) -> Vec<f64> {
    field.split_whitespace().map(|v| v.parse().expect(v)).collect()
}

/// Differences above this, relative to the value, are errors of the formula and not of rounding.
const TOLERANCE: f64 = 1e-12;

fn check(got: &[f64], want: &[f64], what: &str, line: usize) {
    assert_eq!(got.len(), want.len(), "line {line}: number of {what}");
    for (got, want) in got.iter().zip(want) {
        let error = (got - want).abs() / want.abs();
        assert!(error <= TOLERANCE || got == want, "line {line}: {what} is {got}, golden {want} ({error:e})");
    }
}

#[test]
fn all_golden_rows_agree() {
    let mut rows = 0;
    for (number, row) in GOLDEN.lines().enumerate().skip(1) {
        let line = number + 1;
        let fields: Vec<&str> = row.split(',').collect();
        let [name, m, n, x, y, upper, lower, upper_g, lower_g] = fields[..] else { panic!("line {line}: {row}") };
        // The golden values were computed by the public code, whose second lower objective has a slip.
        let name = if name == "decision-making" { "decision-making-as-run" } else { name };
        let problem = bilevo_problems::problem(name, Some((m.parse().unwrap(), n.parse().unwrap()))).unwrap();
        let (x, y) = (numbers(x), numbers(y));
        for (level, value, g) in [(Level::Upper, upper, upper_g), (Level::Lower, lower, lower_g)] {
            let mut constraints = Vec::new();
            let objective = problem.evaluate(level, &x, &y, &mut constraints).unwrap();
            check(&[objective], &numbers(value), &format!("{name} {level} objective"), line);
            check(&constraints, &numbers(g), &format!("{name} {level} constraint"), line);
            assert_eq!(constraints.len(), problem.spec().level(level).constraints(), "{name} {level}");
        }
        rows += 1;
    }
    assert_eq!(rows, 576 + 180, "SMD, TP and applications, then BASBLib");
}

#[test]
fn the_corrected_decision_problem_differs_only_in_the_lower_objective() {
    let (x, y) = ([10.0, 20.0, 0.25], [1.0, 2.0, 3.0]);
    let values = |name: &str, level| {
        let mut constraints = Vec::new();
        let value = bilevo_problems::problem(name, None).unwrap().evaluate(level, &x, &y, &mut constraints).unwrap();
        (value, constraints)
    };
    assert_eq!(values("decision-making", Level::Upper), values("decision-making-as-run", Level::Upper));
    let (corrected, public) = (values("decision-making", Level::Lower), values("decision-making-as-run", Level::Lower));
    assert_eq!(corrected.1, public.1);
    assert_ne!(corrected.0, public.0);
    // f1 and f2 are the last two constraints in the corrected form, so f follows from them.
    let (u1, u2) = (corrected.1[3] + 3000.0, corrected.1[4] + 3000.0);
    let (w1, w2) = (0.25, 0.75);
    let d1 = (u1 * w1 + u2 * w2) / f64::hypot(w1, w2);
    let d2 = f64::hypot(u1 - d1 * w1, u2 - d1 * w2);
    assert!((corrected.0 - (d1 + 5.0 * d2)).abs() < 1e-9);
}
