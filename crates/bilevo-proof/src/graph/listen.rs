//! From the formulas of a problem file to the graph.

use super::{Function, Graph, Id, Op};
use crate::interval::Interval;
use bilevo_problems::expression::tell::{Comparison, Listener};

impl Listener for Graph {
    fn constant(&mut self, value: f64) -> Id {
        self.number(value)
    }

    fn variable(&mut self, index: usize) -> Id {
        self.put(Op::Variable(index as u32))
    }

    fn add(&mut self, a: Id, b: Id) -> Id {
        Graph::add(self, a, b)
    }

    fn sub(&mut self, a: Id, b: Id) -> Id {
        Graph::sub(self, a, b)
    }

    fn mul(&mut self, a: Id, b: Id) -> Id {
        Graph::mul(self, a, b)
    }

    fn div(&mut self, a: Id, b: Id) -> Id {
        Graph::div(self, a, b)
    }

    fn neg(&mut self, a: Id) -> Id {
        Graph::neg(self, a)
    }

    fn power(&mut self, a: Id, exponent: i32) -> Id {
        Graph::power(self, a, exponent)
    }

    fn call(&mut self, function: &'static str, arguments: &[Id]) -> Id {
        match *arguments {
            [a] => self.one(function, a),
            [a, b] => self.two(function, a, b),
            _ => self.unknown(function),
        }
    }

    fn compare(&mut self, comparison: Comparison, a: Id, b: Id) -> Id {
        self.op(Op::Test(comparison, a, b))
    }

    fn not(&mut self, test: Id) -> Id {
        let one = self.number(1.0);
        Graph::sub(self, one, test)
    }

    fn both(&mut self, a: Id, b: Id) -> Id {
        self.op(Op::Min(a, b))
    }

    fn either(&mut self, a: Id, b: Id) -> Id {
        self.op(Op::Max(a, b))
    }

    fn choose(&mut self, test: Id, yes: Id, no: Id) -> Id {
        self.op(Op::Choose(test, yes, no))
    }
}

impl Graph {
    fn one(&mut self, name: &'static str, a: Id) -> Id {
        let function = match name {
            "sin" => Function::Sin,
            "cos" => Function::Cos,
            "tan" => Function::Tan,
            "asin" => Function::Asin,
            "acos" => Function::Acos,
            "atan" => Function::Atan,
            "sinh" => Function::Sinh,
            "cosh" => Function::Cosh,
            "tanh" => Function::Tanh,
            "exp" => Function::Exp,
            "ln" => Function::Ln,
            "sqrt" => Function::Sqrt,
            "cbrt" => Function::Cbrt,
            "abs" => Function::Abs,
            "sign" => Function::Sign,
            "floor" => Function::Floor,
            _ => return self.composed(name, a),
        };
        Graph::call(self, function, a)
    }

    /// Functions that are expressed by others.
    fn composed(&mut self, name: &'static str, a: Id) -> Id {
        let one = self.number(1.0);
        match name {
            "expm1" => {
                let exp = Graph::call(self, Function::Exp, a);
                Graph::sub(self, exp, one)
            }
            "log1p" => {
                let sum = Graph::add(self, one, a);
                Graph::call(self, Function::Ln, sum)
            }
            "log2" | "log10" => {
                let base = self.span(Interval::point(if name == "log2" { 2.0 } else { 10.0 }).ln());
                let ln = Graph::call(self, Function::Ln, a);
                Graph::div(self, ln, base)
            }
            "ceil" => {
                let mirrored = Graph::neg(self, a);
                let floor = Graph::call(self, Function::Floor, mirrored);
                Graph::neg(self, floor)
            }
            "round" => {
                // Halves go away from zero.
                let (size, sign) = (Graph::call(self, Function::Abs, a), Graph::call(self, Function::Sign, a));
                let half = self.number(0.5);
                let sum = Graph::add(self, size, half);
                let floor = Graph::call(self, Function::Floor, sum);
                Graph::mul(self, sign, floor)
            }
            _ => self.unknown(name),
        }
    }

    fn two(&mut self, name: &'static str, a: Id, b: Id) -> Id {
        match name {
            "min" => self.op(Op::Min(a, b)),
            "max" => self.op(Op::Max(a, b)),
            "pow" => match Graph::constant(self, b) {
                Some(i) if i.is_point() && i.lo.fract() == 0.0 && i.lo.abs() <= 1e6 => {
                    Graph::power(self, a, i.lo as i32)
                }
                _ => self.op(Op::Raise(a, b)),
            },
            "hypot" => {
                let (a, b) = (Graph::power(self, a, 2), Graph::power(self, b, 2));
                let sum = Graph::add(self, a, b);
                Graph::call(self, Function::Sqrt, sum)
            }
            "mod" => {
                let quotient = Graph::div(self, a, b);
                let floor = Graph::call(self, Function::Floor, quotient);
                let whole = Graph::mul(self, b, floor);
                Graph::sub(self, a, whole)
            }
            "atan2" => self.angle(a, b),
            _ => self.unknown(name),
        }
    }

    /// No proof uses it.
    fn unknown(&mut self, name: &'static str) -> Id {
        self.unknown = Some(name);
        self.number(0.0)
    }

    /// The angle of the point (x, y); on the negative x axis it depends on the sign of a zero.
    fn angle(&mut self, y: Id, x: Id) -> Id {
        let zero = self.number(0.0);
        let right = self.op(Op::Test(Comparison::Less, zero, x));
        let above = self.op(Op::Test(Comparison::Less, zero, y));
        let below = self.op(Op::Test(Comparison::Less, y, zero));
        let (slope, inverse) = (Graph::div(self, y, x), Graph::div(self, x, y));
        let (flat, steep) = (Graph::call(self, Function::Atan, slope), Graph::call(self, Function::Atan, inverse));
        let half = self.span(Interval::HALF_PI);
        let up = Graph::sub(self, half, steep);
        let sum = Graph::add(self, half, steep);
        let down = Graph::neg(self, sum);
        let cut = self.span(Interval::PI.hull(-Interval::PI));
        let left = self.op(Op::Choose(below, down, cut));
        let left = self.op(Op::Choose(above, up, left));
        self.op(Op::Choose(right, flat, left))
    }
}
