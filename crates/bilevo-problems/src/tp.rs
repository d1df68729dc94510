//! TP1–TP10, small test problems that Sinha, Malo and Deb collected from the bilevel literature to
//! test BLEAQ ("Efficient evolutionary algorithm for single-objective bilevel optimization", 2013).
//!
//! Every problem carries the same budget. In TP2–TP8 the upper level repeats the follower's
//! constraints after its own, so they are declared as shared and pushed at both levels.
//!
//! The best known values are the published ones, which published accuracies refer to. They are
//! rounded for TP3 (exactly −18.678711, −1.015625) and TP6 (−98/81, 617/81). For TP7 no feasible
//! point reaches −1.96146: the follower can always answer (0, x2), so F >= −2·x1·x2/(1+x2²), which
//! under x1 <= x2 and x1²+x2² <= 100 is at least −100/51 = −1.960784, attained at x1 = x2 = √50.

use crate::Point;
use crate::fixed::Fixed;
use crate::smd::griewank;
use bilevo_core::problem::{Budget, Level};
use std::f64::consts::PI;

const BUDGET: Budget = Budget { upper_evals: 2500, upper_window: 350, lower_evals: 250, lower_window: 25 };

/// Picks the objective of a level.
fn pick(level: Level, upper: f64, lower: f64) -> f64 {
    match level {
        Level::Upper => upper,
        Level::Lower => lower,
    }
}

fn square(v: f64) -> f64 {
    v * v
}

/// TP1: F = (x1−30)² + (x2−20)² − 20y1 + 20y2, f = (x1−y1)² + (x2−y2)²;
/// upper constraints 30−x1−2x2 and x1+x2−25.
pub(crate) fn tp1() -> Fixed<2, 2> {
    Fixed::new("tp1", [(-30.0, 30.0), (-30.0, 15.0)], [(0.0, 10.0); 2], |level, &[x1, x2], &[y1, y2], g| {
        if level == Level::Upper {
            g.extend([30.0 - x1 - 2.0 * x2, x1 + x2 - 25.0]);
        }
        pick(level, square(x1 - 30.0) + square(x2 - 20.0) - 20.0 * y1 + 20.0 * y2, square(x1 - y1) + square(x2 - y2))
    })
    .separate(2, 0)
    .best(225.0, 100.0)
    .budget(BUDGET)
}

/// TP2: F = 2x1+2x2−3y1−3y2−60, f = (y1−x1+20)² + (y2−x2+20)²; upper constraint
/// x1+x2+y1−2y2−40, shared 10−x1+2y1 and 10−x2+2y2.
pub(crate) fn tp2() -> Fixed<2, 2> {
    Fixed::new("tp2", [(0.0, 50.0); 2], [(-10.0, 20.0); 2], tp2_formula).shared(1, 2).best(0.0, 100.0).budget(BUDGET)
}

fn tp2_formula(level: Level, &[x1, x2]: &[f64; 2], &[y1, y2]: &[f64; 2], g: &mut Vec<f64>) -> f64 {
    if level == Level::Upper {
        g.push(x1 + x2 + y1 - 2.0 * y2 - 40.0);
    }
    g.extend([10.0 - x1 + 2.0 * y1, 10.0 - x2 + 2.0 * y2]);
    pick(level, 2.0 * x1 + 2.0 * x2 - 3.0 * y1 - 3.0 * y2 - 60.0, square(y1 - x1 + 20.0) + square(y2 - x2 + 20.0))
}

/// TP3: F = −x1²−3x2²−4y1+y2², f = 2x1²+y1²−5y2; upper constraint x1²+2x2−4, shared
/// −3−x1²+2x1−x2²+2y1−y2 and 4−x2−3y1+4y2.
pub(crate) fn tp3() -> Fixed<2, 2> {
    Fixed::new("tp3", [(0.0, 10.0); 2], [(0.0, 10.0); 2], |level, &[x1, x2], &[y1, y2], g| {
        if level == Level::Upper {
            g.push(x1 * x1 + 2.0 * x2 - 4.0);
        }
        g.extend([-3.0 - x1 * x1 + 2.0 * x1 - x2 * x2 + 2.0 * y1 - y2, 4.0 - x2 - 3.0 * y1 + 4.0 * y2]);
        pick(level, -x1 * x1 - 3.0 * x2 * x2 - 4.0 * y1 + y2 * y2, 2.0 * x1 * x1 + y1 * y1 - 5.0 * y2)
    })
    .shared(1, 2)
    .best(-18.6787, -1.0156)
    .budget(BUDGET)
}

/// TP4, linear: F = −8x1−4x2+4y1−40y2−4y3, f = x1+2x2+y1+y2+2y3; shared y2+y3−y1−1,
/// 2x1−y1+2y2−0.5y3−1 and 2x2+2y1−y2−0.5y3−1.
pub(crate) fn tp4() -> Fixed<2, 3> {
    Fixed::new("tp4", [(0.0, 1.0); 2], [(0.0, 1.0); 3], |level, &[x1, x2], &[y1, y2, y3], g| {
        g.extend([
            y2 + y3 - y1 - 1.0,
            2.0 * x1 - y1 + 2.0 * y2 - 0.5 * y3 - 1.0,
            2.0 * x2 + 2.0 * y1 - y2 - 0.5 * y3 - 1.0,
        ]);
        pick(level, -8.0 * x1 - 4.0 * x2 + 4.0 * y1 - 40.0 * y2 - 4.0 * y3, x1 + 2.0 * x2 + y1 + y2 + 2.0 * y3)
    })
    .shared(0, 3)
    .best(-29.2, 3.2)
    .budget(BUDGET)
}

/// TP5: F = 0.1(x1²+x2²)−3y1−4y2+0.5(y1²+y2²),
/// f = 0.5(y1²+6y1y2+10y2²)+(−x1+2x2)y1+(3x1−3x2)y2; shared −0.333y1+y2−2 and y1−0.333y2−2.
pub(crate) fn tp5() -> Fixed<2, 2> {
    Fixed::new("tp5", [(0.0, 10.0); 2], [(0.0, 10.0); 2], |level, &[x1, x2], &[y1, y2], g| {
        g.extend([-0.333 * y1 + y2 - 2.0, y1 - 0.333 * y2 - 2.0]);
        pick(
            level,
            0.1 * (x1 * x1 + x2 * x2) - 3.0 * y1 - 4.0 * y2 + 0.5 * (y1 * y1 + y2 * y2),
            0.5 * (y1 * y1 + 6.0 * y1 * y2 + 10.0 * y2 * y2) + (-x1 + 2.0 * x2) * y1 + (3.0 * x1 - 3.0 * x2) * y2,
        )
    })
    .shared(0, 2)
    .best(-3.6, -2.0)
    .budget(BUDGET)
}

/// TP6: F = (x1−1)²+2y1−2x1, f = (2y1−4)²+(2y2−1)²+x1y1; shared 4x1+5y1+4y2−12,
/// 4y2−4x1−5y1+4, 4x1−4y1+5y2−4 and 4y1−4x1+5y2−4. The leader's second variable is unused.
pub(crate) fn tp6() -> Fixed<2, 2> {
    Fixed::new("tp6", [(0.0, 2.0); 2], [(0.0, 2.0); 2], |level, &[x1, _], &[y1, y2], g| {
        g.extend([
            4.0 * x1 + 5.0 * y1 + 4.0 * y2 - 12.0,
            4.0 * y2 - 4.0 * x1 - 5.0 * y1 + 4.0,
            4.0 * x1 - 4.0 * y1 + 5.0 * y2 - 4.0,
            4.0 * y1 - 4.0 * x1 + 5.0 * y2 - 4.0,
        ]);
        pick(level, square(x1 - 1.0) + 2.0 * y1 - 2.0 * x1, square(2.0 * y1 - 4.0) + square(2.0 * y2 - 1.0) + x1 * y1)
    })
    .shared(0, 4)
    .best(-1.20987, 7.61728)
    .budget(BUDGET)
}

/// TP7: f = (x1+y1)(x2+y2)/(1+x1y1+x2y2) and F = −f; upper constraints x1²+x2²−100 and x1−x2,
/// shared y1−x1 and y2−x2.
pub(crate) fn tp7() -> Fixed<2, 2> {
    Fixed::new("tp7", [(0.0, 10.0); 2], [(0.0, 1.0), (0.0, 10.0)], |level, &[x1, x2], &[y1, y2], g| {
        if level == Level::Upper {
            g.extend([x1 * x1 + x2 * x2 - 100.0, x1 - x2]);
        }
        g.extend([y1 - x1, y2 - x2]);
        let ratio = (x1 + y1) * (x2 + y2) / (1.0 + x1 * y1 + x2 * y2);
        pick(level, -ratio, ratio)
    })
    .shared(2, 2)
    .best(-1.96146, 1.96146)
    .budget(BUDGET)
}

/// TP8: TP2 with the absolute value of the upper objective (the lower one is never negative).
pub(crate) fn tp8() -> Fixed<2, 2> {
    Fixed::new("tp8", [(0.0, 50.0); 2], [(-10.0, 20.0); 2], |level, x, y, g| tp2_formula(level, x, y, g).abs())
        .shared(1, 2)
        .best(0.0, 100.0)
        .budget(BUDGET)
}

/// TP9: F = Σ|x−1| + Σ|y|, f = exp((1 + Σy²/4000 − Πcos(y_i/√i))·Σx²).
pub(crate) fn tp9() -> Fixed<5, 5> {
    Fixed::new("tp9", [(-1.0, 1.0); 5], [(-PI, PI); 5], |level, x, y, _| match level {
        Level::Upper => distance_from_optimum(x, y),
        Level::Lower => libm::exp(griewank(y.iter().copied(), 4000.0) * x.iter().map(|v| v * v).sum::<f64>()),
    })
    .best(0.0, 1.0)
    .budget(BUDGET)
}

/// TP10: F = Σ|x−1| + Σ|y|, f = exp(1 + Σ(x_i·y_i)²/4000 − Πcos(x_i·y_i/√i)).
pub(crate) fn tp10() -> Fixed<10, 10> {
    Fixed::new("tp10", [(-1.0, 1.0); 10], [(-PI, PI); 10], |level, x, y, _| match level {
        Level::Upper => distance_from_optimum(x, y),
        Level::Lower => libm::exp(griewank(x.iter().zip(y).map(|(x, y)| x * y), 4000.0)),
    })
    .best(0.0, 1.0)
    .budget(BUDGET)
}

/// Distance to x = 1, y = 0 in absolute values.
fn distance_from_optimum(x: &[f64], y: &[f64]) -> f64 {
    x.iter().map(|v| (v - 1.0).abs()).sum::<f64>() + y.iter().map(|v| v.abs()).sum::<f64>()
}

/// The optimal points, exact where the published values are rounded (see the module).
pub(crate) const OPTIMA: [Point; 10] = [
    (&[20.0, 5.0], &[10.0, 5.0]),
    (&[0.0, 30.0], &[-10.0, 10.0]),
    (&[0.0, 2.0], &[1.875, 0.90625]),
    (&[0.0, 0.9], &[0.0, 0.6, 0.4]),
    (&[2.0, 0.0], &[2.0, 0.0]),
    (&[17.0 / 9.0, 0.0], &[8.0 / 9.0, 0.0]),
    (&[SQRT_50, SQRT_50], &[0.0, SQRT_50]),
    (&[0.0, 30.0], &[-10.0, 10.0]),
    (&[1.0; 5], &[0.0; 5]),
    (&[1.0; 10], &[0.0; 10]),
];

const SQRT_50: f64 = 5.0 * std::f64::consts::SQRT_2;
