//! Values at a point in floating-point numbers: for searches, never for proofs.

use super::{Function, Graph, Id, Op};
use bilevo_problems::expression::tell::Comparison;

impl Graph {
    /// Values of the listed nodes at a point.
    pub(crate) fn point(&self, list: &[Id], at: &[f64], values: &mut [f64]) {
        for &id in list {
            let v = |id: Id| values[id as usize];
            values[id as usize] = match self.ops[id as usize] {
                Op::Span(lo, hi) => 0.5 * f64::from_bits(lo) + 0.5 * f64::from_bits(hi),
                Op::Variable(k) => at[k as usize],
                Op::Add(a, b) => v(a) + v(b),
                Op::Sub(a, b) => v(a) - v(b),
                Op::Mul(a, b) => v(a) * v(b),
                Op::Div(a, b) => v(a) / v(b),
                Op::Neg(a) => -v(a),
                Op::Power(a, 2) => v(a) * v(a),
                Op::Power(a, exponent) => v(a).powi(exponent),
                Op::Raise(a, b) => libm::pow(v(a), v(b)),
                Op::Call(function, a) => call(function, v(a)),
                // NaN is kept.
                Op::Min(a, b) => {
                    if v(a) < v(b) || v(a).is_nan() {
                        v(a)
                    } else {
                        v(b)
                    }
                }
                Op::Max(a, b) => {
                    if v(a) > v(b) || v(a).is_nan() {
                        v(a)
                    } else {
                        v(b)
                    }
                }
                Op::Test(comparison, a, b) => f64::from(u8::from(match comparison {
                    Comparison::Less => v(a) < v(b),
                    Comparison::LessOrEqual => v(a) <= v(b),
                    Comparison::Equal => v(a) == v(b),
                    Comparison::NotEqual => v(a) != v(b),
                })),
                Op::Choose(test, yes, no) => {
                    if v(test) == 0.0 {
                        v(no)
                    } else {
                        v(yes)
                    }
                }
            };
        }
    }
}

fn call(function: Function, a: f64) -> f64 {
    match function {
        Function::Sqrt => a.sqrt(),
        Function::Exp => libm::exp(a),
        Function::Ln => libm::log(a),
        Function::Sin => libm::sin(a),
        Function::Cos => libm::cos(a),
        Function::Tan => libm::tan(a),
        Function::Asin => libm::asin(a),
        Function::Acos => libm::acos(a),
        Function::Atan => libm::atan(a),
        Function::Sinh => libm::sinh(a),
        Function::Cosh => libm::cosh(a),
        Function::Tanh => libm::tanh(a),
        Function::Cbrt => libm::cbrt(a),
        Function::Abs => a.abs(),
        Function::Sign if a == 0.0 => 0.0,
        Function::Sign => a.signum(),
        Function::Floor => a.floor(),
        Function::Above => f64::from(u8::from(a > 0.0)),
    }
}
