//! Formulas for code that computes with something other than numbers, such as intervals or derivatives.
//!
//! The formulas are those that the machine computes: constants folded, loops written out, definitions inserted.
//! Sums and products go from left to right.

use super::ast::Comparison as Sign;
use super::node::{Node, Test};

/// A comparison of two numbers. With NaN only [`Comparison::NotEqual`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
}

/// Receives formulas, one operation after another, and gives each result a number.
pub trait Listener {
    /// A constant.
    fn constant(&mut self, value: f64) -> u32;
    /// A variable: x first, then y.
    fn variable(&mut self, index: usize) -> u32;
    /// `a + b`
    fn add(&mut self, a: u32, b: u32) -> u32;
    /// `a - b`
    fn sub(&mut self, a: u32, b: u32) -> u32;
    /// `a * b`
    fn mul(&mut self, a: u32, b: u32) -> u32;
    /// `a / b`
    fn div(&mut self, a: u32, b: u32) -> u32;
    /// `-a`
    fn neg(&mut self, a: u32) -> u32;
    /// A whole power.
    fn power(&mut self, a: u32, exponent: i32) -> u32;
    /// A function of one or two numbers by its name in files (`log` is `ln`).
    fn call(&mut self, function: &'static str, arguments: &[u32]) -> u32;
    /// 1 if it holds, else 0.
    fn compare(&mut self, comparison: Comparison, a: u32, b: u32) -> u32;
    /// 1 if `test` is 0, else 0.
    fn not(&mut self, test: u32) -> u32;
    /// 1 if both tests are 1, else 0.
    fn both(&mut self, a: u32, b: u32) -> u32;
    /// 1 if a test is 1, else 0.
    fn either(&mut self, a: u32, b: u32) -> u32;
    /// `yes` if `test` is 1, otherwise `no`; the branch not taken may be undefined.
    fn choose(&mut self, test: u32, yes: u32, no: u32) -> u32;
}

/// The expressions of a level, as the listener numbered them.
#[derive(Clone, Debug)]
pub struct Told {
    /// The objective, in the level's own direction.
    pub objective: u32,
    /// What must be at most 0.
    pub inequalities: Vec<u32>,
    /// What must be 0.
    pub equalities: Vec<u32>,
}

impl Node {
    /// Passes the formula on; `slots` has the numbers of variables and definitions.
    pub(crate) fn tell(&self, slots: &[u32], to: &mut dyn Listener) -> u32 {
        match self {
            Node::Const(value) => to.constant(*value),
            Node::Slot(slot) => slots[*slot as usize],
            Node::Sum(parts) => chain(parts, slots, to, |to, (minus, a), b| match (a, minus) {
                (None, false) => b,
                (None, true) => to.neg(b),
                (Some(a), false) => to.add(a, b),
                (Some(a), true) => to.sub(a, b),
            }),
            Node::Product(parts) => chain(parts, slots, to, |to, (divides, a), b| match (a, divides) {
                (None, false) => b,
                (None, true) => {
                    let one = to.constant(1.0);
                    to.div(one, b)
                }
                (Some(a), false) => to.mul(a, b),
                (Some(a), true) => to.div(a, b),
            }),
            Node::Power(base, exponent) => {
                let base = base.tell(slots, to);
                to.power(base, *exponent)
            }
            Node::One(function, argument) => {
                let argument = argument.tell(slots, to);
                to.call(function.name, &[argument])
            }
            Node::Fold(function, arguments) => {
                let told = arguments.iter().map(|argument| argument.tell(slots, to)).collect::<Vec<_>>();
                let call = |a, b| to.call(function.name, &[a, b]);
                told.into_iter().reduce(call).unwrap_or_default()
            }
            Node::Choose(test, yes, no) => {
                let test = test.tell(slots, to);
                let (yes, no) = (yes.tell(slots, to), no.tell(slots, to));
                to.choose(test, yes, no)
            }
        }
    }
}

/// A chain of terms or factors from left to right.
fn chain(
    parts: &[(bool, Node)],
    slots: &[u32],
    to: &mut dyn Listener,
    join: impl Fn(&mut dyn Listener, (bool, Option<u32>), u32) -> u32,
) -> u32 {
    let mut sum = None;
    for (inverse, part) in parts {
        let part = part.tell(slots, to);
        sum = Some(join(to, (*inverse, sum), part));
    }
    sum.unwrap_or_default()
}

impl Test {
    fn tell(&self, slots: &[u32], to: &mut dyn Listener) -> u32 {
        let mut joined = |tests: &[Test], all: bool| {
            let told = tests.iter().map(|test| test.tell(slots, to)).collect::<Vec<_>>();
            let join = |a, b| if all { to.both(a, b) } else { to.either(a, b) };
            told.into_iter().reduce(join).unwrap_or_default()
        };
        match self {
            Test::Known(known) => to.constant(f64::from(u8::from(*known))),
            Test::All(tests) => joined(tests, true),
            Test::Any(tests) => joined(tests, false),
            Test::Not(test) => {
                let test = test.tell(slots, to);
                to.not(test)
            }
            Test::Compare(sign, sides) => {
                let (a, b) = (sides.0.tell(slots, to), sides.1.tell(slots, to));
                match sign {
                    Sign::Less => to.compare(Comparison::Less, a, b),
                    Sign::LessOrEqual => to.compare(Comparison::LessOrEqual, a, b),
                    Sign::Greater => to.compare(Comparison::Less, b, a),
                    Sign::GreaterOrEqual => to.compare(Comparison::LessOrEqual, b, a),
                    Sign::Equal => to.compare(Comparison::Equal, a, b),
                    Sign::NotEqual => to.compare(Comparison::NotEqual, a, b),
                }
            }
        }
    }
}
