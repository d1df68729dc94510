//! Formulas as one graph, in which equal parts exist only once.
//!
//! Every formula of a problem, its derivatives included, is a node; a node's operands come before it, so
//! that one pass over a sorted list of nodes evaluates it. Constants are intervals, because what is
//! computed from constants alone (ln 10, π) need not be a floating-point number.

mod backward;
mod derive;
mod forward;
mod listen;
mod point;

pub(crate) use forward::Grade;

use crate::interval::Interval;
use bilevo_problems::expression::tell::Comparison;
use std::collections::HashMap;

/// A node.
pub(crate) type Id = u32;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Cbrt,
    Abs,
    Sign,
    Floor,
    /// For derivatives: 1 if the argument is positive, 0 if it is negative, anything in between at 0.
    Above,
}

/// What a node computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// A number known to lie between two, given by their bits.
    Span(u64, u64),
    Variable(u32),
    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    Div(Id, Id),
    Neg(Id),
    /// A whole power.
    Power(Id, i32),
    /// A power whose exponent is any number.
    Raise(Id, Id),
    Call(Function, Id),
    Min(Id, Id),
    Max(Id, Id),
    /// 1 if it holds, else 0; with NaN as in [`Comparison`].
    Test(Comparison, Id, Id),
    /// The second where the first is 1, else the third.
    Choose(Id, Id, Id),
}

impl Op {
    /// The operands.
    fn operands(self) -> impl Iterator<Item = Id> {
        let all = match self {
            Op::Span(..) | Op::Variable(_) => [None, None, None],
            Op::Neg(a) | Op::Power(a, _) | Op::Call(_, a) => [Some(a), None, None],
            Op::Add(a, b)
            | Op::Sub(a, b)
            | Op::Mul(a, b)
            | Op::Div(a, b)
            | Op::Raise(a, b)
            | Op::Min(a, b)
            | Op::Max(a, b)
            | Op::Test(_, a, b) => [Some(a), Some(b), None],
            Op::Choose(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        all.into_iter().flatten()
    }
}

/// All formulas.
#[derive(Default)]
pub(crate) struct Graph {
    ops: Vec<Op>,
    known: HashMap<Op, Id>,
    derivatives: HashMap<(Id, u32), Id>,
    /// A function that this crate does not know, if one occurred.
    pub(crate) unknown: Option<&'static str>,
}

impl Graph {
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    fn put(&mut self, op: Op) -> Id {
        let (ops, next) = (&mut self.ops, self.known.len() as Id);
        *self.known.entry(op).or_insert_with(|| {
            ops.push(op);
            next
        })
    }

    pub(crate) fn span(&mut self, value: Interval) -> Id {
        // + 0.0 merges the two zeros.
        self.put(Op::Span((value.lo + 0.0).to_bits(), (value.hi + 0.0).to_bits()))
    }

    pub(crate) fn number(&mut self, value: f64) -> Id {
        self.span(Interval::point(value))
    }

    /// The value, if it is the same everywhere.
    pub(crate) fn constant(&self, id: Id) -> Option<Interval> {
        match self.ops[id as usize] {
            Op::Span(lo, hi) => Some(Interval::new(f64::from_bits(lo), f64::from_bits(hi))),
            _ => None,
        }
    }

    pub(crate) fn is(&self, id: Id, value: f64) -> bool {
        self.constant(id) == Some(Interval::point(value))
    }

    /// A node; computed now if its operands are constants.
    pub(crate) fn op(&mut self, op: Op) -> Id {
        let constant = |id: Id| self.constant(id);
        let foldable = !matches!(op, Op::Span(..) | Op::Variable(_)) && op.operands().all(|id| constant(id).is_some());
        if foldable {
            let (value, grade) = forward::apply(op, |id| (constant(id).unwrap_or(Interval::EMPTY), Grade::Smooth));
            // Undefined values stay as formulas, so that every rule sees them.
            if grade == Grade::Smooth && value.is_finite() {
                return self.span(value);
            }
        }
        self.put(op)
    }

    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        match (self.is(a, 0.0), self.is(b, 0.0)) {
            (true, _) => b,
            (_, true) => a,
            _ => self.op(Op::Add(a, b)),
        }
    }

    pub(crate) fn sub(&mut self, a: Id, b: Id) -> Id {
        match (self.is(a, 0.0), self.is(b, 0.0)) {
            (_, true) => a,
            (true, _) => self.neg(b),
            _ => self.op(Op::Sub(a, b)),
        }
    }

    pub(crate) fn neg(&mut self, a: Id) -> Id {
        match self.ops[a as usize] {
            Op::Neg(inner) => inner,
            _ => self.op(Op::Neg(a)),
        }
    }

    pub(crate) fn mul(&mut self, a: Id, b: Id) -> Id {
        match (self.is(a, 1.0), self.is(b, 1.0)) {
            (true, _) => b,
            (_, true) => a,
            _ if a == b => self.power(a, 2),
            _ => self.op(Op::Mul(a, b)),
        }
    }

    pub(crate) fn div(&mut self, a: Id, b: Id) -> Id {
        if self.is(b, 1.0) { a } else { self.op(Op::Div(a, b)) }
    }

    pub(crate) fn power(&mut self, a: Id, exponent: i32) -> Id {
        match exponent {
            0 => self.number(1.0),
            1 => a,
            n => self.op(Op::Power(a, n)),
        }
    }

    pub(crate) fn call(&mut self, function: Function, a: Id) -> Id {
        self.op(Op::Call(function, a))
    }

    /// The nodes that `roots` need, in an order of evaluation.
    pub(crate) fn list(&self, roots: impl IntoIterator<Item = Id>) -> Vec<Id> {
        let mut needed = vec![false; self.ops.len()];
        let mut open: Vec<Id> = roots.into_iter().collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut needed[id as usize], true) {
                open.extend(self.ops[id as usize].operands());
            }
        }
        (0..self.ops.len() as Id).filter(|&id| needed[id as usize]).collect()
    }

    /// Which of the first `count` variables occur in a formula.
    pub(crate) fn variables(&self, list: &[Id], count: usize) -> Vec<bool> {
        let mut used = vec![false; count];
        for &id in list {
            if let Op::Variable(k) = self.ops[id as usize] {
                used[k as usize] = true;
            }
        }
        used
    }

    /// Without the terms in which no variable from `first` on occurs.
    pub(crate) fn strip(&mut self, id: Id, first: u32) -> Id {
        let list = self.list([id]);
        if !list.iter().any(|&i| matches!(self.ops[i as usize], Op::Variable(k) if k >= first)) {
            return self.number(0.0);
        }
        match self.ops[id as usize] {
            Op::Add(a, b) => {
                let (a, b) = (self.strip(a, first), self.strip(b, first));
                self.add(a, b)
            }
            Op::Sub(a, b) => {
                let (a, b) = (self.strip(a, first), self.strip(b, first));
                self.sub(a, b)
            }
            Op::Neg(a) => {
                let a = self.strip(a, first);
                self.neg(a)
            }
            _ => id,
        }
    }
}
