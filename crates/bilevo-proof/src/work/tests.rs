use super::*;
use bilevo_problems::file::{self, ProblemFile};

const FORMULAS: [&str; 36] = [
    "cos(3*y + x)",
    "log(y + 3)*x",
    "sin(2*y)*exp(0.3*x)",
    "tan(0.5*y)",
    "asin(0.5*y)",
    "acos(0.4*y)*x",
    "atan(y*x)",
    "sinh(y)",
    "cosh(x*y)",
    "tanh(2*y)",
    "expm1(y)*log1p(x + 2)",
    "log10(y + 2) + log2(x + 2)",
    "sqrt(y + 2)",
    "cbrt(y + 3)",
    "abs(y - 0.2*x)",
    "sign(y)*x",
    "floor(3*y)",
    "ceil(2*y) + round(3*x)",
    "min(y, 0.3*x, 0.1)",
    "max(x, y)*y",
    "pow(y + 2, 1.5)",
    "pow(y + 2, x)",
    "atan2(y, x)",
    "hypot(x, y)",
    "mod(y, 0.7)",
    "if(y > x and x > -0.5, y^2, x^3 - y)",
    "x/(y + 2) + y^-2",
    "(x - y)^4 - y^3",
    "if(x <= 0 or not (y >= 0.1), x*y, -x*y)",
    "x^7*y^2 - 2^y",
    "mod(y, -0.7) + mod(-x, 0.4)",
    "1/(x - 2*y) + (x + y)^-3",
    "abs(sin(3*y)) + max(min(x, y), -x*y)",
    "sqrt(abs(x)) + log(y)",
    "if(log(y) < x, y, 1/x)",
    "pow(y, 3) + pow(y, x) + pow(x, 2.5)",
];

fn random(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Ranges contain values, and where grades promise it ranges of derivatives contain slopes of chords.
#[test]
fn ranges_contain_what_they_enclose() {
    let mut state = 11;
    for formula in FORMULAS {
        let file = file(formula);
        let problem = Problem::new(&file).unwrap();
        let mut work = Work::new(&problem);
        let row = &problem.upper;
        let mut tame = 0;
        for _ in 0..3000 {
            let width = 10f64.powf(-4.0 * random(&mut state));
            let mut some = || {
                let lo = random(&mut state) * 3.0 - 1.5;
                Interval::new(lo, (lo + width * random(&mut state)).min(1.5))
            };
            let region = vec![some(), some()];
            let mut inside = |i: &Interval| (i.lo + random(&mut state) * i.width()).clamp(i.lo, i.hi);
            let p = [inside(&region[0]), inside(&region[1])];
            let (range, gradient) = work.gradient(row, &region);
            let value = evaluate(&file, &p);
            assert!(value.is_nan() || close(range.value, value), "{formula} at {p:?} in {region:?}: {value} {range:?}");
            assert!(!value.is_nan() || range.grade == Grade::Partial, "{formula} at {p:?} in {region:?}: {range:?}");
            if !range.is_lipschitz() {
                continue;
            }
            tame += 1;
            for j in 0..2 {
                let mut q = p;
                q[j] = inside(&region[j]);
                let step = q[j] - p[j];
                if step.abs() > 1e-6 {
                    let slope = (evaluate(&file, &q) - value) / step;
                    // Differences of large values lose digits.
                    let lost = 1e-7 + 1e-15 * value.abs() / step.abs();
                    let allowed = gradient[j] + Interval::new(-lost, lost);
                    assert!(
                        allowed.contains(slope),
                        "{formula} by {j} at {p:?}, {q:?} in {region:?}: {slope} {gradient:?}"
                    );
                }
            }
            if let Some(second) = work.hessian(row, &region) {
                chords(&file, row, &region, p, &second, formula, &problem, &mut inside);
            }
        }
        assert!(tame > 500, "{formula}: {tame}");
    }
}

/// What is known of a formula's value never narrows a point away that has such a value, with the value at one end
/// of what is known and the point at an edge of the region too.
#[test]
fn contraction_keeps_points_whose_values_are_wanted() {
    let (mut state, mut inverted) = (17, 0);
    for formula in FORMULAS {
        let file = file(formula);
        let problem = Problem::new(&file).unwrap();
        let mut work = Work::new(&problem);
        let (mut kept, mut narrowed) = (0, 0);
        for trial in 0..2000 {
            let width = 3.0 * 10f64.powf(-3.0 * random(&mut state));
            let p = [random(&mut state) * 3.0 - 1.5, random(&mut state) * 3.0 - 1.5];
            // Simple numbers are where branches meet.
            let p = if trial % 4 == 0 { p.map(|v| (v * 2.0).round() / 2.0) } else { p };
            let mut around = |v: f64, edge: bool| {
                let below = if edge { 0.0 } else { width * random(&mut state) };
                Interval::new((v - below).max(-1.5), (v + width * random(&mut state)).min(1.5))
            };
            let mut region = vec![around(p[0], trial % 3 == 0), around(p[1], trial % 5 == 0)];
            let value = evaluate(&file, &p);
            if !value.is_finite() {
                continue;
            }
            let slack = 1e-12 * (1.0 + value.abs());
            let wanted = match trial % 3 {
                0 => Interval::new(value - slack, value + slack),
                1 => Interval::at_most(value + slack),
                _ => Interval::new(value - slack, f64::INFINITY),
            };
            let before = region.clone();
            let left = work.contract(false, &[(problem.upper.root, wanted)], &mut region);
            assert!(
                left && region.iter().zip(p).all(|(i, v)| i.contains(v)),
                "{formula}: {p:?} with {wanted:?} was lost from {before:?}, left {region:?}"
            );
            kept += 1;
            narrowed += usize::from(region != before);
        }
        assert!(kept > 300, "{formula}: {kept}");
        inverted += usize::from(narrowed > 100);
    }
    // Sines and cosines are not, nor are tests.
    assert!(inverted > 24, "{inverted}");
}

/// No value lies above a supremum, and there is none where a value is undefined.
#[test]
fn suprema_lie_above_all_values() {
    let mut state = 23;
    for formula in FORMULAS {
        let file = file(formula);
        let problem = Problem::new(&file).unwrap();
        let mut work = Work::new(&problem);
        for _ in 0..300 {
            let mut some = || {
                let lo = random(&mut state) * 3.0 - 1.5;
                Interval::new(lo, (lo + random(&mut state)).min(1.5))
            };
            let region = vec![some(), some()];
            let supremum = work.supremum(&problem.upper, &region);
            for _ in 0..20 {
                let mut inside = |i: &Interval| (i.lo + random(&mut state) * i.width()).clamp(i.lo, i.hi);
                let p = [inside(&region[0]), inside(&region[1])];
                let value = evaluate(&file, &p);
                let holds = supremum.is_none_or(|most| value <= most + 1e-12 * (1.0 + value.abs()));
                assert!(holds, "{formula} at {p:?} in {region:?}: {value} {supremum:?}");
            }
        }
    }
}

/// Grades speak of a neighbourhood: what turns at the edge of a box is not tame on it.
#[test]
fn grades_are_those_of_a_neighbourhood() {
    use Grade::{Defined, Lipschitz, Partial, Smooth};
    let cases = [
        ("floor(y)", (0.1, 0.9), Smooth),
        ("floor(y)", (0.0, 0.5), Defined),
        ("ceil(y)", (0.5, 1.0), Defined),
        ("mod(y, 1)", (0.0, 0.5), Defined),
        ("round(y)", (0.5, 0.9), Defined),
        ("sign(y)", (0.0, 1.0), Defined),
        ("cbrt(y)", (0.0, 1.0), Defined),
        ("if(y > 0.5, 1, 0)", (0.2, 0.5), Defined),
        ("if(y >= 0.5, 1, 0)", (0.5, 0.7), Defined),
        ("if(y < 0.5, 1, 0)", (0.5, 0.7), Defined),
        ("if(y > 0.5, 1, 0)", (0.6, 0.7), Smooth),
        ("if(y == 0.5, 1, 0)", (0.2, 0.5), Defined),
        ("if(y == 0.5, sqrt(y), log(0*x))", (0.5, 0.5), Defined),
        ("if(y != 0.5, log(0*x), 1)", (0.5, 0.5), Defined),
        ("if(floor(y) > 0.5, 1, 0)", (0.0, 0.2), Defined),
        ("if(log(y) < 0, 1, 2)", (-1.0, 0.5), Defined),
        ("abs(y)", (0.0, 1.0), Lipschitz),
        ("min(y, 0)", (0.0, 1.0), Lipschitz),
        ("max(y, x)", (1.6, 2.0), Smooth),
        ("sqrt(y)", (0.1, 1.0), Smooth),
        ("sqrt(y)", (0.0, 1.0), Defined),
        ("sqrt(y)", (-0.1, 1.0), Partial),
        ("log(y)", (0.0, 1.0), Partial),
        ("asin(y)", (0.0, 1.0), Defined),
        ("acos(y)", (0.0, 1.1), Partial),
        ("1/y", (0.0, 1.0), Partial),
        ("(0*x)/y", (-1.0, 1.0), Partial),
        ("y^-2", (-1.0, 1.0), Partial),
        ("tan(y)", (1.5, 1.6), Partial),
        ("pow(y, 1.5)", (0.0, 1.0), Defined),
        ("pow(y, 1.5)", (-0.1, 1.0), Partial),
        ("exp(800*y)", (0.0, 1.0), Partial),
    ];
    let range = |formula: &str, lo: f64, hi: f64| {
        let problem = Problem::new(&file(formula)).unwrap();
        let region = vec![Interval::new(-1.5, 1.5), Interval::new(lo, hi)];
        Work::new(&problem).range(&problem.upper, &region)
    };
    for (formula, (lo, hi), expected) in cases {
        let range = range(formula, lo, hi);
        assert_eq!(range.grade, expected, "{formula} on [{lo}, {hi}]: {range:?}");
    }
    // One end that is equal does not make all equal.
    for (lo, hi) in [(0.2, 0.5), (0.5, 0.7)] {
        assert_eq!(range("if(y == 0.5, 1, 0)", lo, hi).value, Interval::new(0.0, 1.0));
    }
}

/// A formula as F.
fn file(formula: &str) -> file::ExpressionProblem {
    let text = format!(
        "[upper]\nminimize = \"{formula}\"\nvariables = {{ x = [-1.5, 1.5] }}\n\
         [lower]\nminimize = \"y\"\nvariables = {{ y = [-1.5, 1.5] }}\n"
    );
    match file::parse("t.toml", &text, &mut file::no_tables) {
        Ok(ProblemFile::Expressions(file)) => file,
        _ => panic!("{formula}"),
    }
}

/// φ(q) − φ(p) − φ'(p)(q − p) = ½ φ''(ξ)(q − p)² along an axis.
#[allow(clippy::too_many_arguments)]
fn chords(
    file: &file::ExpressionProblem,
    row: &Row,
    region: &[Interval],
    p: [f64; 2],
    second: &[(usize, usize, Interval)],
    formula: &str,
    problem: &Problem,
    inside: &mut dyn FnMut(&Interval) -> f64,
) {
    let mut work = Work::new(problem);
    for j in 0..2 {
        let mut q = p;
        q[j] = inside(&region[j]);
        let step = q[j] - p[j];
        if step.abs() > 1e-3 {
            work.float_gradient(row, &p);
            let rest = evaluate(file, &q) - evaluate(file, &p) - work.float_slope(row, j) * step;
            let bend = 2.0 * rest / (step * step);
            let entry = second.iter().find(|e| (e.0, e.1) == (j, j)).map_or(Interval::ZERO, |e| e.2);
            // Differences of large values lose digits.
            let lost = 1e-6 * (1.0 + bend.abs()) + 1e-14 * evaluate(file, &p).abs() / (step * step);
            let allowed = entry + Interval::new(-lost, lost);
            assert!(allowed.contains(bend), "{formula} twice by {j} at {p:?}, {q:?} in {region:?}: {bend} {entry:?}");
        }
    }
}

fn close(range: Interval, value: f64) -> bool {
    let slack = 1e-13 * (1.0 + value.abs());
    range.lo <= value + slack && value <= range.hi + slack
}

fn evaluate(file: &file::ExpressionProblem, p: &[f64; 2]) -> f64 {
    use bilevo_core::problem::{BilevelProblem, Level};
    file.evaluate(Level::Upper, &p[..1], &p[1..], &mut Vec::new()).unwrap_or(f64::NAN)
}
