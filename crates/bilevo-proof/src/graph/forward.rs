//! Ranges of formulas over a box, and how well they behave there.

use super::{Function, Graph, Id, Op};
use crate::interval::Interval;
use bilevo_problems::expression::tell::Comparison;

/// How a formula behaves on a box; each grade includes those before it.
///
/// First-order arguments (mean values, directions of descent) leave the box by a little or follow a
/// segment within it: they need [`Grade::Lipschitz`]. A grade above [`Grade::Defined`] therefore speaks
/// of a *neighbourhood* of the closed box: `floor` on [0, 0.5] has one value, yet it jumps at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// Perhaps undefined or infinite somewhere.
    Partial,
    /// Defined and finite everywhere on the box.
    Defined,
    /// Defined and Lipschitz near every point of the box; the derivative's range contains Clarke's
    /// generalised gradients.
    Lipschitz,
    /// Infinitely often differentiable near every point of the box.
    Smooth,
}

/// The range of an operation and its grade, from those of its operands.
pub(super) fn apply(op: Op, operand: impl Fn(Id) -> (Interval, Grade)) -> (Interval, Grade) {
    let two = |a: Id, b: Id| (operand(a), operand(b));
    let (value, grade) = match op {
        Op::Span(lo, hi) => (Interval::new(f64::from_bits(lo), f64::from_bits(hi)), Grade::Smooth),
        Op::Variable(_) => (Interval::ENTIRE, Grade::Partial),
        Op::Add(a, b) => {
            let ((a, ga), (b, gb)) = two(a, b);
            (a + b, ga.min(gb))
        }
        Op::Sub(a, b) => {
            let ((a, ga), (b, gb)) = two(a, b);
            (a - b, ga.min(gb))
        }
        Op::Mul(a, b) => {
            let ((a, ga), (b, gb)) = two(a, b);
            (a * b, ga.min(gb))
        }
        Op::Div(a, b) => {
            let ((a, ga), (b, gb)) = two(a, b);
            (a / b, ga.min(gb).min(nonzero(b)))
        }
        Op::Neg(a) => {
            let (a, grade) = operand(a);
            (-a, grade)
        }
        Op::Power(a, exponent) => {
            let (a, grade) = operand(a);
            (a.power(exponent), if exponent < 0 { grade.min(nonzero(a)) } else { grade })
        }
        Op::Raise(a, b) => {
            let ((a, ga), (b, gb)) = two(a, b);
            (a.raise(b), ga.min(gb).min(base(a, b)))
        }
        Op::Call(function, a) => {
            let (a, grade) = operand(a);
            (call(function, a), grade.min(call_grade(function, a)))
        }
        Op::Min(a, b) | Op::Max(a, b) => {
            let ((x, gx), (y, gy)) = two(a, b);
            let apart = if x.hi < y.lo || y.hi < x.lo { Grade::Smooth } else { Grade::Lipschitz };
            (if matches!(op, Op::Min(..)) { x.min(y) } else { x.max(y) }, gx.min(gy).min(apart))
        }
        Op::Test(comparison, a, b) => test(comparison, operand(a), operand(b)),
        Op::Choose(chosen, yes, no) => choose(operand(chosen), operand(yes), operand(no)),
    };
    // Too large for a number is a failure too, and what is empty is defined nowhere.
    (value, if value.is_finite() { grade } else { Grade::Partial })
}

fn choose(chosen: (Interval, Grade), yes: (Interval, Grade), no: (Interval, Grade)) -> (Interval, Grade) {
    match (chosen.0.contains(1.0), chosen.0.contains(0.0)) {
        (true, false) => (yes.0, chosen.1.min(yes.1)),
        (false, true) => (no.0, chosen.1.min(no.1)),
        _ => (yes.0.hull(no.0), Grade::Defined.min(yes.1).min(no.1)),
    }
}

fn nonzero(a: Interval) -> Grade {
    if a.contains(0.0) { Grade::Partial } else { Grade::Smooth }
}

/// A base with any exponent.
fn base(a: Interval, exponent: Interval) -> Grade {
    match a {
        a if a.lo > 0.0 => Grade::Smooth,
        a if a.lo == 0.0 && exponent.lo >= 0.0 => Grade::Defined,
        _ => Grade::Partial,
    }
}

fn call(function: Function, a: Interval) -> Interval {
    match function {
        Function::Sqrt => a.sqrt(),
        Function::Exp => a.exp(),
        Function::Ln => a.ln(),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Sinh => a.sinh(),
        Function::Cosh => a.cosh(),
        Function::Tanh => a.tanh(),
        Function::Cbrt => a.cbrt(),
        Function::Abs => a.abs(),
        Function::Sign => a.sign(),
        Function::Floor => a.floor(),
        Function::Above if a.lo > 0.0 => Interval::ONE,
        Function::Above if a.hi < 0.0 => Interval::ZERO,
        Function::Above => Interval::new(0.0, 1.0),
    }
}

fn call_grade(function: Function, a: Interval) -> Grade {
    match function {
        Function::Sqrt | Function::Ln if a.lo > 0.0 => Grade::Smooth,
        Function::Sqrt if a.lo == 0.0 => Grade::Defined,
        Function::Sqrt | Function::Ln => Grade::Partial,
        Function::Tan if !a.within_branch() => Grade::Partial,
        Function::Asin | Function::Acos if a.magnitude() < 1.0 => Grade::Smooth,
        Function::Asin | Function::Acos if a.magnitude() == 1.0 => Grade::Defined,
        Function::Asin | Function::Acos => Grade::Partial,
        Function::Abs if a.contains(0.0) => Grade::Lipschitz,
        Function::Sign | Function::Cbrt | Function::Above if a.contains(0.0) => Grade::Defined,
        // Between two whole numbers, neither of them reached.
        Function::Floor if a.lo.floor() < a.lo && a.hi < a.lo.ceil() => Grade::Smooth,
        Function::Floor => Grade::Defined,
        _ => Grade::Smooth,
    }
}

/// A test is 1 or 0 where it is certain. It is certain *nearby* too if the sides are apart and continuous.
fn test(comparison: Comparison, (a, ga): (Interval, Grade), (b, gb): (Interval, Grade)) -> (Interval, Grade) {
    let (below, above) = (a.hi < b.lo, a.lo > b.hi);
    let same = a.is_point() && a == b;
    let holds = match comparison {
        Comparison::Less if below => Some(true),
        Comparison::Less if a.lo >= b.hi => Some(false),
        Comparison::LessOrEqual if a.hi <= b.lo => Some(true),
        Comparison::LessOrEqual if above => Some(false),
        Comparison::Equal if below || above || same => Some(same),
        Comparison::NotEqual if below || above || same => Some(!same),
        _ => None,
    };
    let sides = ga.min(gb);
    // Where a side may be undefined or infinite, anything may come out.
    let holds = holds.filter(|_| sides >= Grade::Defined);
    let stable = if sides >= Grade::Lipschitz && (below || above) { Grade::Smooth } else { Grade::Defined };
    match holds {
        Some(true) => (Interval::ONE, stable),
        Some(false) => (Interval::ZERO, stable),
        None => (Interval::new(0.0, 1.0), Grade::Defined),
    }
}

impl Graph {
    /// Ranges and grades of the listed nodes over a box.
    pub(crate) fn forward(&self, list: &[Id], bounds: &[Interval], values: &mut [Interval], grades: &mut [Grade]) {
        for &id in list {
            let (value, grade) = match self.ops[id as usize] {
                Op::Variable(k) => (bounds[k as usize], Grade::Smooth),
                op => apply(op, |id| (values[id as usize], grades[id as usize])),
            };
            (values[id as usize], grades[id as usize]) = (value, grade);
        }
    }
}
