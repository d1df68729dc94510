//! An expression with every name, index and loop resolved: what remains to be computed at a point.
//!
//! The constructors fold constants. They never change the value of the expression as written (from left to right),
//! except for the sign of a zero.

use super::ast::Comparison;
use super::functions::{Binary, POW, SQRT, Unary, whole_power};

/// A number to compute.
#[derive(Clone)]
pub(crate) enum Node {
    Const(f64),
    /// A place in the machine's memory: a variable or a definition.
    Slot(u32),
    /// Terms from left to right, each with whether it is subtracted.
    Sum(Vec<(bool, Node)>),
    /// Factors from left to right, each with whether it divides.
    Product(Vec<(bool, Node)>),
    /// A whole power other than 0 and 1.
    Power(Box<Node>, i32),
    One(Unary, Box<Node>),
    /// At least two arguments, combined from left to right.
    Fold(Binary, Vec<Node>),
    Choose(Box<Test>, Box<Node>, Box<Node>),
}

/// A condition to test.
#[derive(Clone)]
pub(crate) enum Test {
    Known(bool),
    Compare(Comparison, Box<(Node, Node)>),
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
}

/// Largest whole power computed by multiplication.
const MAX_WHOLE_POWER: f64 = 64.0;

impl Node {
    /// The value, if it is already known.
    pub(crate) fn known(&self) -> Option<f64> {
        match self {
            Node::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// Passes every slot that it reads to a function.
    pub(crate) fn each_slot(&self, see: &mut dyn FnMut(u32)) {
        match self {
            Node::Const(_) => {}
            Node::Slot(slot) => see(*slot),
            Node::Sum(parts) | Node::Product(parts) => parts.iter().for_each(|(_, part)| part.each_slot(see)),
            Node::Power(inner, _) | Node::One(_, inner) => inner.each_slot(see),
            Node::Fold(_, parts) => parts.iter().for_each(|part| part.each_slot(see)),
            Node::Choose(test, yes, no) => {
                test.each_slot(see);
                yes.each_slot(see);
                no.each_slot(see);
            }
        }
    }

    pub(crate) fn sum(terms: impl IntoIterator<Item = (bool, Node)>) -> Node {
        let mut kept: Vec<(bool, Node)> = Vec::new();
        for (minus, term) in terms {
            match (kept.as_mut_slice(), term) {
                (_, Node::Const(0.0)) => {}
                // Constants at the beginning add up as they would at run time.
                ([(false, Node::Const(sum))], Node::Const(value)) => *sum += if minus { -value } else { value },
                ([], Node::Const(value)) => kept.push((false, Node::Const(if minus { -value } else { value }))),
                // (a + b) + c is a + b + c
                ([], Node::Sum(first)) if !minus => kept = first,
                (_, term) => kept.push((minus, term)),
            }
        }
        match kept.pop() {
            None => Node::Const(0.0),
            Some((false, only)) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Node::Sum(kept)
            }
        }
    }

    pub(crate) fn product(factors: impl IntoIterator<Item = (bool, Node)>) -> Node {
        let mut kept: Vec<(bool, Node)> = Vec::new();
        for (divides, factor) in factors {
            match (kept.as_mut_slice(), factor) {
                ([(false, Node::Const(product))], Node::Const(value)) => {
                    *product = if divides { *product / value } else { *product * value };
                }
                ([], Node::Const(value)) => kept.push((false, Node::Const(if divides { 1.0 / value } else { value }))),
                ([], factor) if divides => kept.extend([(false, Node::Const(1.0)), (true, factor)]),
                ([], Node::Product(first)) => kept = first,
                (_, Node::Const(1.0)) => {}
                (_, factor) => kept.push((divides, factor)),
            }
        }
        if let [(_, Node::Const(1.0)), (false, _), ..] = kept[..] {
            kept.remove(0);
        }
        let vanishes = kept.iter().any(|(divides, factor)| !divides && factor.known() == Some(0.0))
            && kept.iter().all(|(divides, factor)| !divides && matches!(factor, Node::Const(_) | Node::Slot(_)));
        if vanishes {
            return Node::Const(0.0);
        }
        match kept.pop() {
            None => Node::Const(1.0),
            Some((_, only)) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Node::Product(kept)
            }
        }
    }

    pub(crate) fn power(base: Node, exponent: Node) -> Node {
        let whole = exponent.known().filter(|e| e.fract() == 0.0 && e.abs() <= MAX_WHOLE_POWER);
        match (base, exponent) {
            (Node::Const(base), Node::Const(exponent)) => Node::Const(match whole {
                Some(whole) => whole_power(base, whole as i32),
                None => (POW.call)(base, exponent),
            }),
            (_, Node::Const(0.0)) => Node::Const(1.0),
            (base, Node::Const(1.0)) => base,
            (base, Node::Const(0.5)) => Node::One(SQRT, Box::new(base)),
            (base, exponent) => match whole {
                Some(whole) => Node::Power(Box::new(base), whole as i32),
                None => Node::Fold(POW, vec![base, exponent]),
            },
        }
    }

    pub(crate) fn one(function: Unary, argument: Node) -> Node {
        match argument {
            Node::Const(value) => Node::Const((function.call)(value)),
            argument => Node::One(function, Box::new(argument)),
        }
    }

    /// `arguments` has at least one.
    pub(crate) fn fold(function: Binary, arguments: impl IntoIterator<Item = Node>) -> Node {
        let mut kept: Vec<Node> = Vec::new();
        for argument in arguments {
            match (kept.as_mut_slice(), argument) {
                ([Node::Const(a)], Node::Const(b)) => *a = (function.call)(*a, b),
                (_, argument) => kept.push(argument),
            }
        }
        match kept.pop() {
            None => Node::Const(f64::NAN),
            Some(only) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Node::Fold(function, kept)
            }
        }
    }

    pub(crate) fn choose(test: Test, yes: Node, no: Node) -> Node {
        match test {
            Test::Known(true) => yes,
            Test::Known(false) => no,
            test => Node::Choose(Box::new(test), Box::new(yes), Box::new(no)),
        }
    }
}

impl Test {
    fn each_slot(&self, see: &mut dyn FnMut(u32)) {
        match self {
            Test::Known(_) => {}
            Test::Compare(_, sides) => {
                sides.0.each_slot(see);
                sides.1.each_slot(see);
            }
            Test::All(tests) | Test::Any(tests) => tests.iter().for_each(|test| test.each_slot(see)),
            Test::Not(inner) => inner.each_slot(see),
        }
    }

    pub(crate) fn compare(comparison: Comparison, a: Node, b: Node) -> Test {
        match (a.known(), b.known()) {
            (Some(a), Some(b)) => Test::Known(comparison.holds(a, b)),
            _ => Test::Compare(comparison, Box::new((a, b))),
        }
    }

    pub(crate) fn all(tests: Vec<Test>) -> Test {
        if tests.iter().any(|test| matches!(test, Test::Known(false))) {
            return Test::Known(false);
        }
        let open: Vec<Test> = tests.into_iter().filter(|test| !matches!(test, Test::Known(_))).collect();
        if open.is_empty() { Test::Known(true) } else { Test::All(open) }
    }

    pub(crate) fn any(tests: Vec<Test>) -> Test {
        if tests.iter().any(|test| matches!(test, Test::Known(true))) {
            return Test::Known(true);
        }
        let open: Vec<Test> = tests.into_iter().filter(|test| !matches!(test, Test::Known(_))).collect();
        if open.is_empty() { Test::Known(false) } else { Test::Any(open) }
    }

    pub(crate) fn negated(self) -> Test {
        match self {
            Test::Known(known) => Test::Known(!known),
            test => Test::Not(Box::new(test)),
        }
    }
}
