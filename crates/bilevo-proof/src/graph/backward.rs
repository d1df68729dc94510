//! Contraction: what is known about a formula's value narrows its variables (forward and backward propagation,
//! HC4-revise).

use super::{Function, Graph, Id, Op};
use crate::interval::{Interval, add_up};

/// Ranges that shrink, and which nodes count: those that are computed at every feasible point.
pub(crate) struct Narrowing<'a> {
    pub(crate) values: &'a mut [Interval],
    pub(crate) needed: &'a mut [bool],
    empty: bool,
}

impl Narrowing<'_> {
    /// `id` lies in `range` at every feasible point.
    fn meet(&mut self, id: Id, range: Interval) {
        let met = self.values[id as usize].meet(range);
        self.values[id as usize] = met;
        self.needed[id as usize] = true;
        self.empty |= met.is_empty();
    }

    fn value(&self, id: Id) -> Interval {
        self.values[id as usize]
    }
}

impl Graph {
    /// Narrows a box by what `targets` say about formulas, using the ranges of a forward pass over `list`. Returns
    /// false if nothing is left.
    pub(crate) fn backward(
        &self,
        list: &[Id],
        targets: &[(Id, Interval)],
        bounds: &mut [Interval],
        values: &mut [Interval],
        needed: &mut [bool],
    ) -> bool {
        for &id in list {
            needed[id as usize] = false;
        }
        let mut narrowing = Narrowing { values, needed, empty: false };
        for &(id, range) in targets {
            narrowing.meet(id, range);
        }
        for &id in list.iter().rev() {
            if narrowing.empty {
                return false;
            }
            if narrowing.needed[id as usize] {
                match self.ops[id as usize] {
                    Op::Variable(k) => {
                        let met = bounds[k as usize].meet(narrowing.value(id));
                        bounds[k as usize] = met;
                        narrowing.empty |= met.is_empty();
                    }
                    op => operands(op, id, &mut narrowing),
                }
            }
        }
        !narrowing.empty
    }
}

/// What the range of a node says about its operands.
fn operands(op: Op, id: Id, n: &mut Narrowing<'_>) {
    let r = n.value(id);
    match op {
        Op::Span(..) | Op::Variable(_) | Op::Test(..) => {}
        Op::Add(a, b) => {
            let (x, y) = (n.value(a), n.value(b));
            n.meet(a, r - y);
            n.meet(b, r - x);
        }
        Op::Sub(a, b) => {
            let (x, y) = (n.value(a), n.value(b));
            n.meet(a, r + y);
            n.meet(b, x - r);
        }
        Op::Mul(a, b) => {
            let (x, y) = (n.value(a), n.value(b));
            n.meet(a, r.divide_within(y, x));
            n.meet(b, r.divide_within(x, y));
        }
        Op::Div(a, b) => {
            let (x, y) = (n.value(a), n.value(b));
            n.meet(a, r * y);
            n.meet(b, x.divide_within(r, y));
        }
        Op::Neg(a) => n.meet(a, -r),
        Op::Power(a, exponent) => {
            let powers = if exponent > 0 { r } else { Interval::ONE / r };
            let old = n.value(a);
            n.meet(a, powers.root_within(exponent.unsigned_abs(), old));
        }
        Op::Raise(a, b) => {
            let (x, y) = (n.value(a), n.value(b));
            // Only for positive bases: b = ln r / ln a and a = exp(ln r / b).
            let (mut base, mut exponent) = (x, y);
            if x.lo > 0.0 {
                exponent = r.ln().divide_within(x.ln(), y);
                base = r.ln().divide_within(y, x.ln()).exp();
            }
            n.meet(a, base);
            n.meet(b, exponent);
        }
        Op::Call(function, a) => {
            let old = n.value(a);
            n.meet(a, inverse(function, r, old));
        }
        Op::Min(a, b) => smaller(a, b, r, n, |i| i),
        Op::Max(a, b) => smaller(a, b, r, n, |i| -i),
        Op::Choose(test, yes, no) => {
            let chosen = n.value(test);
            let possible = |branch: Interval| !branch.meet(r).is_empty();
            // A branch without possible values is never taken.
            let yes_possible = chosen.contains(1.0) && possible(n.value(yes));
            let no_possible = chosen.contains(0.0) && possible(n.value(no));
            match (yes_possible, no_possible) {
                (true, false) => n.meet(yes, r),
                (false, true) => n.meet(no, r),
                (false, false) => n.empty = true,
                (true, true) => {}
            }
        }
    }
}

/// min(a, b) = r; with `flip` the negative, max(a, b) = r.
fn smaller(a: Id, b: Id, r: Interval, n: &mut Narrowing<'_>, flip: fn(Interval) -> Interval) {
    let r = flip(r);
    let (x, y) = (flip(n.value(a)), flip(n.value(b)));
    let at_least = Interval::new(r.lo, f64::INFINITY);
    n.meet(a, flip(if y.lo > r.hi { r } else { at_least }));
    n.meet(b, flip(if x.lo > r.hi { r } else { at_least }));
}

/// All arguments in `old` whose function value may lie in `r`.
fn inverse(function: Function, r: Interval, old: Interval) -> Interval {
    match function {
        Function::Sqrt => r.meet(Interval::POSITIVE).power(2),
        Function::Exp => r.ln(),
        Function::Ln => r.exp(),
        Function::Tan if old.within_branch() && old.magnitude() < 1.57 => r.atan(),
        Function::Atan if r.magnitude() < 1.57 => r.tan(),
        Function::Asin => r.meet(Interval::HALF_PI.hull(-Interval::HALF_PI)).sin(),
        Function::Acos => r.meet(Interval::PI.hull(Interval::ZERO)).cos(),
        Function::Cbrt => r.power(3),
        Function::Abs => {
            let size = r.meet(Interval::POSITIVE);
            old.meet(size).hull(old.meet(-size))
        }
        Function::Sign if r.lo > 0.0 => Interval::POSITIVE,
        Function::Sign if r.hi < 0.0 => -Interval::POSITIVE,
        Function::Floor => Interval::new(r.lo.ceil(), add_up(r.hi.floor(), 1.0)),
        _ => old,
    }
}
