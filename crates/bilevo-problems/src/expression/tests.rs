#![allow(clippy::unwrap_used)]

use super::Expression;

fn value(text: &str) -> f64 {
    at(text, 3.0, -2.0)
}

/// With x and y.
fn at(text: &str, x: f64, y: f64) -> f64 {
    Expression::compile(text, &["x", "y"]).unwrap_or_else(|e| panic!("{text}: {e}")).evaluate(&[x, y]).unwrap()
}

fn refusal(text: &str) -> String {
    match Expression::compile(text, &["x", "y", "speed"]) {
        Ok(_) => panic!("`{text}` was accepted"),
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{text}: {:?}", error.span);
            format!("{}..{} {}", error.span.start, error.span.end, error.to_string().replace('\n', " "))
        }
    }
}

#[test]
fn precedence_is_the_usual_one() {
    for (text, expected) in [
        ("-x^2", -9.0),
        ("(-x)^2", 9.0),
        ("2^3^2", 512.0),
        ("2**3", 8.0),
        ("2^-1", 0.5),
        ("2^-x", 0.125),
        ("-2^-2", -0.25),
        ("1 - 2 - 3", -4.0),
        ("1 - (2 - 3)", 2.0),
        ("24 / 2 / 3", 4.0),
        ("24 / (2 * 3)", 4.0),
        ("24 / 2 * 3", 36.0),
        ("1 + 2 * 3^2", 19.0),
        ("- - x", 3.0),
        ("+x - -y", 1.0),
        ("x*-y", 6.0),
        ("1e-3", 0.001),
        ("1.5E+2", 150.0),
        (".5 + 2.", 2.5),
        ("x^y", 1.0 / 9.0),
        ("x^0.5", 3f64.sqrt()),
        ("y^3", -8.0),
        ("y^-3", -0.125),
        ("(1 - x)/(1 - x)", 1.0),
        ("1/x/y", 1.0 / 3.0 / -2.0),
        ("10 - x*y", 16.0),
        ("x - x*y", 9.0),
        ("1/0 - x", f64::INFINITY),
        ("1*x*1/1", 3.0),
        ("1/x", 1.0 / 3.0),
        ("1*2/4*x", 1.5),
        ("x - sin(y)*2", 3.0 - libm::sin(-2.0) * 2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_and_constants() {
    for (text, expected) in [
        ("sin(x)", libm::sin(3.0)),
        ("exp(log(x))", libm::exp(libm::log(3.0))),
        ("ln(x) - log(x)", 0.0),
        ("atan2(x, y)", libm::atan2(3.0, -2.0)),
        ("hypot(x, 4)", 5.0),
        ("min(x, y, 1)", -2.0),
        ("max(1, x, y)", 3.0),
        ("min(x)", 3.0),
        ("sign(y) + sign(0) + sign(x)", 0.0),
        ("floor(2.5) + ceil(2.5) + round(2.5)", 8.0),
        ("mod(-1, 3)", 2.0),
        ("pow(x, 2)", 9.0),
        ("pow(x, y)", libm::pow(3.0, -2.0)),
        ("pi + e", std::f64::consts::PI + std::f64::consts::E),
        ("abs(y)^3", 8.0),
        ("sqrt(x*x)", 3.0),
        ("cbrt(-8)", -2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    assert!(value("min(x, log(y))").is_nan() && value("max(log(y), x)").is_nan(), "a failure is not hidden");
}

#[test]
fn conditions_choose() {
    for (text, expected) in [
        ("if(x > y, 1, 2)", 1.0),
        ("if(x < y, 1, 2) + 10", 12.0),
        ("10 - if(x < y, 1, 2*x) * 2", -2.0),
        ("if(0 <= x <= 3, 1, 0)", 1.0),
        ("if(0 <= x < 3, 1, 0)", 0.0),
        ("if(x > 0 and y > 0, 1, 0)", 0.0),
        ("if(x > 0 or y > 0, 1, 0)", 1.0),
        ("if(not x > 0 or y < 0, 1, 0)", 1.0),
        ("if(x == 3 and (y != -2 or x >= 3) and not y == 0, 5, 6)", 5.0),
        ("if(x > 0, if(y > 0, 1, 2), 3)", 2.0),
        // the branch not taken is not computed
        ("if(y > 0, log(y), 0)", 0.0),
        ("1 + x * if(y > 0, log(y), x + 1)^2", 49.0),
        // known before the run
        ("if(1 > 2, x, y)", -2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn loops_are_written_out() {
    for (text, expected) in [
        ("sum(i in 1..4, i*x)", 30.0),
        ("sum(i in 1..3, j in 1..i, x)", 18.0),
        ("sum(i in 1..3, j in 1..3 if i != j, 1)", 6.0),
        ("prod(i in 1..3, x + i)", 120.0),
        ("min(i in 1..3, (x - i)^2)", 0.0),
        ("max(i in -1..1, i*y)", 2.0),
        ("sum(i in 1..0, x)", 0.0),
        ("prod(i in 1..0, x)", 1.0),
        ("sum(i in 1..2, if(i == 1, x, y))", 1.0),
        ("2*sum(i in 1..2, x) - sum(k in 2..2, y)", 14.0),
        ("sum(i in 1..3, sum(j in i..3, i*j))", 25.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn values_follow_the_text_from_left_to_right() {
    // Rounding would show any other order.
    let (x, y) = (0.1, 0.7);
    assert_eq!(at("x + y + x", x, y), x + y + x);
    assert_eq!(at("x + (y + x)", x, y), x + (y + x));
    assert_eq!(at("x*y*x/y", x, y), x * y * x / y);
    assert_eq!(at("x - (y - x)", x, y), x - (y - x));
    assert_eq!(at("0.3 + x*3*y", x, y), 0.3 + x * 3.0 * y);
    assert_eq!(at("0.3*y - 3*x", x, y), 0.3 * y - 3.0 * x);
    assert_eq!(at("0.3*x^2 - x^2 + y^2", x, y), 0.3 * (x * x) - x * x + y * y);
    assert_eq!(at("x^5", x, y), { x * ((x * x) * (x * x)) });
    assert_eq!(at("3/(x+y)/7", x, y), 3.0 / (x + y) / 7.0);
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (text, expected) in [
        ("", "0..0 a number, a name or `(` is missing before the end of the expression"),
        ("2 * sped", "4..8 unknown name `sped`; did you mean `speed`?"),
        ("2 * q", "4..5 unknown name `q` (at byte 4) hint: known names: `speed`, `x`, `y`, `pi`, `e`"),
        ("x + ", "4..4 a number, a name or `(` is missing before the end"),
        ("2x", "1..2 `x` is not expected here (at byte 1) hint: an operator is missing"),
        ("(x + 1", "0..1 this bracket is never closed"),
        ("(x 1)", "3..4 `1` is found where an operator or `)` is expected"),
        ("x + 1)", "5..6 `)` is not expected here"),
        ("x(y)", "0..1 `x` is not a function"),
        ("sine(x)", "0..4 unknown function `sine`; did you mean `sin`?"),
        ("sin(x, y)", "0..9 `sin` takes one argument, not 2"),
        ("atan2(x)", "0..8 `atan2` takes two arguments, not 1"),
        ("sin", "0..3 `sin` is a function"),
        ("x > 2", "0..5 a condition is used where a number is needed"),
        ("if(x, 1, 2)", "3..4 a number is used where a condition is needed"),
        ("if(x > 1, 2)", "0..12 `if` takes a condition and two values, not 2"),
        ("x % 2", "2..3 `%` has no meaning here"),
        ("x & y", "2..3 `&` has no meaning here (at byte 2) hint: write `and`"),
        (
            "x = 2",
            "2..3 `=` is not expected here (at byte 2) hint: an equation is written with `==`, the others are `<=` and `>=`",
        ),
        ("1e999", "0..5 `1e999` is not a number that fits"),
        ("x[1]", "0..4 `x` takes no index, not 1"),
        ("sum(x)", "0..6 `sum` needs a loop"),
        ("sum(i in 1..x, 1)", "12..13 the range of a loop cannot depend on a variable"),
        ("sum(i in 1..2.5, 1)", "12..15 a loop needs whole numbers, not 2.5"),
        ("sum(x in 1..2, 1)", "4..5 `x` is already in use"),
        ("sum(i in 1..2, sum(i in 1..2, 1))", "19..20 `i` is already in use"),
        ("sum(i in 1, 1)", "10..11 `..` is missing before `,`"),
        ("sum(i in 1..2)", "13..14 `,` and the terms of the sum are missing"),
        ("sum(i in 1..2 if x > i, i)", "17..22 the filter of a loop cannot depend on a variable"),
        ("min(i in 1..0, x)", "0..17 the minimum or maximum of nothing"),
        ("x and y", "0..7 a condition is used where a number is needed"),
        ("for", "0..3 a number, a name or `(` is missing before `for`"),
        ("y ¤ 3", "2..4 `¤` has no meaning here"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.starts_with(expected), "`{text}`: {refusal}");
    }
}

#[test]
fn endless_texts_are_refused() {
    assert!(refusal("sum(i in 1..1000000000, x)").contains("more than"));
    assert!(refusal("sum(i in 1..2000, sum(j in 1..2000, x))").contains("more than"));
    assert!(refusal("sum(i in 1..100000, j in 1..100000 if i == j, x)").contains("more than"));
    for open in ["(", "-", "sin(", "x^", "not ", "if(", "sum(i in 1.."] {
        let text = format!("{}x", open.repeat(100_000));
        assert!(refusal(&text).contains("levels of nesting"), "{open}");
    }
    assert!(refusal(&format!("{}x", "x[".repeat(100_000))).contains("levels of nesting"));
}

#[test]
fn long_chains_are_no_nesting() {
    let text = vec!["x"; 50_000].join(" + ");
    assert_eq!(value(&text), 150_000.0);
    assert_eq!(value(&vec!["1.0"; 1000].join("*")), 1.0);
    let and = vec!["x > 0"; 1000].join(" and ");
    assert_eq!(value(&format!("if({and}, 1, 0)")), 1.0);
    assert_eq!(value(&format!("min({})", vec!["x + y"; 1000].join(","))), 1.0);
}
