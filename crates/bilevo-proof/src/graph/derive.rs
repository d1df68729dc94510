//! Derivatives as formulas.
//!
//! The derivative of `abs`, `min`, `max` and `if` is that of the branch in force; over a box that reaches
//! where the branch changes its range contains both. It is right wherever the formula itself has at least
//! `Grade::Lipschitz`.

use super::{Function, Graph, Id, Op};

impl Graph {
    /// a · b, where 0 times anything is 0: derivatives are needed only where formulas are defined.
    fn times(&mut self, a: Id, b: Id) -> Id {
        if self.is(a, 0.0) || self.is(b, 0.0) { self.number(0.0) } else { self.mul(a, b) }
    }

    /// a / b, likewise.
    fn over(&mut self, a: Id, b: Id) -> Id {
        if self.is(a, 0.0) { a } else { self.div(a, b) }
    }

    /// The derivative by a variable.
    pub(crate) fn derivative(&mut self, id: Id, variable: u32) -> Id {
        // Operands come first, so that no formula is too deep for the stack.
        for node in self.list([id]) {
            if !self.derivatives.contains_key(&(node, variable)) {
                let derivative = self.one_derivative(node, variable);
                self.derivatives.insert((node, variable), derivative);
            }
        }
        self.known_derivative(id, variable)
    }

    fn known_derivative(&mut self, id: Id, variable: u32) -> Id {
        match self.derivatives.get(&(id, variable)) {
            Some(&known) => known,
            None => self.number(0.0),
        }
    }

    fn one_derivative(&mut self, id: Id, v: u32) -> Id {
        match self.ops[id as usize] {
            Op::Span(..) | Op::Test(..) => self.number(0.0),
            Op::Variable(k) => self.number(if k == v { 1.0 } else { 0.0 }),
            Op::Add(a, b) => {
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                self.add(da, db)
            }
            Op::Sub(a, b) => {
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                self.sub(da, db)
            }
            Op::Mul(a, b) => {
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                let (first, second) = (self.times(da, b), self.times(a, db));
                self.add(first, second)
            }
            Op::Div(a, b) => {
                // (a/b)' = (a' − (a/b) b') / b
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                let second = self.times(id, db);
                let difference = self.sub(da, second);
                self.over(difference, b)
            }
            Op::Neg(a) => {
                let da = self.known_derivative(a, v);
                self.neg(da)
            }
            Op::Power(a, exponent) => {
                let (da, power) = (self.known_derivative(a, v), self.power(a, exponent - 1));
                let factor = self.number(f64::from(exponent));
                let slope = self.times(factor, power);
                self.times(slope, da)
            }
            Op::Raise(a, b) => {
                // (a^b)' = a^b (b' ln a + b a' / a)
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                if self.is(db, 0.0) {
                    // b a^(b−1) a'
                    let one = self.number(1.0);
                    let less = self.sub(b, one);
                    let power = self.op(Op::Raise(a, less));
                    let slope = self.times(b, power);
                    return self.times(slope, da);
                }
                let ln = self.call(Function::Ln, a);
                let (first, second) = (self.times(db, ln), self.times(b, da));
                let second = self.over(second, a);
                let sum = self.add(first, second);
                self.times(id, sum)
            }
            Op::Call(function, a) => {
                let da = self.known_derivative(a, v);
                if self.is(da, 0.0) {
                    return da;
                }
                self.chain(function, id, a, da)
            }
            Op::Min(a, b) => {
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                self.larger(b, a, da, db)
            }
            Op::Max(a, b) => {
                let (da, db) = (self.known_derivative(a, v), self.known_derivative(b, v));
                self.larger(a, b, da, db)
            }
            Op::Choose(test, yes, no) => {
                let (yes, no) = (self.known_derivative(yes, v), self.known_derivative(no, v));
                if yes == no { yes } else { self.op(Op::Choose(test, yes, no)) }
            }
        }
    }

    /// The derivative of `a` if a > b, of `b` if a < b, and both where they touch: a test would be certain there, and
    /// miss one of them.
    fn larger(&mut self, a: Id, b: Id, da: Id, db: Id) -> Id {
        if da == db {
            return da;
        }
        let difference = self.sub(a, b);
        let above = self.call(Function::Above, difference);
        self.op(Op::Choose(above, da, db))
    }

    /// The derivative of function(a) = id, from that of a.
    fn chain(&mut self, function: Function, id: Id, a: Id, da: Id) -> Id {
        let one = self.number(1.0);
        let square = |graph: &mut Graph, of: Id| graph.power(of, 2);
        match function {
            Function::Sqrt => {
                let twice = self.number(2.0);
                let slope = self.mul(twice, id);
                self.over(da, slope)
            }
            Function::Exp => self.times(id, da),
            Function::Ln => self.over(da, a),
            Function::Sin => {
                let slope = self.call(Function::Cos, a);
                self.times(slope, da)
            }
            Function::Cos => {
                let slope = self.call(Function::Sin, a);
                let product = self.times(slope, da);
                self.neg(product)
            }
            Function::Tan => {
                let square = square(self, id);
                let slope = self.add(one, square);
                self.times(slope, da)
            }
            Function::Tanh => {
                let square = square(self, id);
                let slope = self.sub(one, square);
                self.times(slope, da)
            }
            Function::Asin | Function::Acos => {
                let square = square(self, a);
                let rest = self.sub(one, square);
                let root = self.call(Function::Sqrt, rest);
                let slope = self.over(da, root);
                if function == Function::Acos { self.neg(slope) } else { slope }
            }
            Function::Atan => {
                let square = square(self, a);
                let sum = self.add(one, square);
                self.over(da, sum)
            }
            Function::Sinh | Function::Cosh => {
                let other = if function == Function::Sinh { Function::Cosh } else { Function::Sinh };
                let slope = self.call(other, a);
                self.times(slope, da)
            }
            Function::Cbrt => {
                let (three, square) = (self.number(3.0), square(self, id));
                let slope = self.mul(three, square);
                self.over(da, slope)
            }
            Function::Abs => {
                let (zero, minus) = (self.number(0.0), self.neg(da));
                self.larger(a, zero, da, minus)
            }
            Function::Sign | Function::Floor | Function::Above => self.number(0.0),
        }
    }
}
