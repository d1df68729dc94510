//! An expression as written: names unresolved, loops not yet unrolled.
//!
//! Chains such as `a + b - c` are one node with many terms, so that the depth of the tree is the
//! depth of the brackets and long sums do not nest.

use std::ops::Range;

/// A part of an expression with its position in the text.
#[derive(Debug)]
pub(crate) struct Ast<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) span: Range<usize>,
}

/// The kinds of parts.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Number(f64),
    Name(&'a str),
    /// `y[i]` or `c[i, j]`.
    Element(&'a str, Vec<Ast<'a>>),
    /// `sin(x)`, also `if(condition, a, b)`.
    Call(&'a str, Vec<Ast<'a>>),
    /// `sum(i in 1..n, ...)`
    Reduce(Reduction, Loops<'a>, Box<Ast<'a>>),
    /// Terms, each with whether it is subtracted.
    Sum(Vec<(bool, Ast<'a>)>),
    /// Factors, each with whether it divides.
    Product(Vec<(bool, Ast<'a>)>),
    Power(Box<Ast<'a>>, Box<Ast<'a>>),
    /// `a < b`, or a chain `a <= b <= c`.
    Compare(Box<Ast<'a>>, Vec<(Comparison, Ast<'a>)>),
    And(Vec<Ast<'a>>),
    Or(Vec<Ast<'a>>),
    Not(Box<Ast<'a>>),
}

/// How the values of a loop are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Min,
    Max,
}

impl Reduction {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Reduction::Sum,
            "prod" => Reduction::Product,
            "min" => Reduction::Min,
            "max" => Reduction::Max,
            _ => return None,
        })
    }
}

/// A comparison sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    pub(crate) fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            _ => return None,
        })
    }

    /// Whether it holds; with NaN, only `!=` does.
    pub(crate) fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterOrEqual => a >= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
        }
    }
}

/// `i in 1..n, j in 1..i if i != j`: indices from the outermost on, and a filter.
#[derive(Debug, Default)]
pub(crate) struct Loops<'a> {
    pub(crate) indices: Vec<Index<'a>>,
    pub(crate) filter: Option<Box<Ast<'a>>>,
}

/// One index with its first and last value.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    pub(crate) name: &'a str,
    pub(crate) span: Range<usize>,
    pub(crate) first: Ast<'a>,
    pub(crate) last: Ast<'a>,
}

/// An expression with what follows it: `y[i] <= c[i] for i in 1..n`.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) body: Ast<'a>,
    pub(crate) loops: Loops<'a>,
}
