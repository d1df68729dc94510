//! Arithmetic as people write it, compiled once and evaluated without allocation.
//!
//! A text goes through `parser` (a tree as written), `expand` (names resolved, loops unrolled, constants folded: a
//! `node`) and `emit` (steps of the `machine`). Every name and index is checked before anything is evaluated, and the
//! unrolling of loops is limited, so that a small text cannot cause endless work.
//!
//! ```
//! use bilevo_problems::expression::Expression;
//! let area = Expression::compile("pi * r^2 - max(r, 0)", &["r"])?;
//! assert_eq!(area.evaluate(&[2.0]), Some(4.0 * std::f64::consts::PI - 2.0));
//! let error = Expression::compile("2 * radius", &["radios"]).unwrap_err();
//! assert_eq!(error.to_string(), "unknown name `radius`; did you mean `radios`? (at byte 4)\n\
//!                                hint: replace it with `radios`, or declare `radius`");
//! # Ok::<(), bilevo_problems::expression::ExpressionError>(())
//! ```

pub(crate) mod ast;
mod emit;
mod error;
pub(crate) mod expand;
mod functions;
mod lexer;
mod machine;
pub(crate) mod node;
pub(crate) mod parser;
pub(crate) mod scope;
pub mod tell;
#[cfg(test)]
mod tests;

pub use error::ExpressionError;

use emit::Code;
use expand::Expander;
use machine::Op;
use node::Node;
use scope::{Allowance, Scope, Shape, Symbol};
use std::cell::RefCell;

/// An expression of some variables, without a file.
#[derive(Debug)]
pub struct Expression {
    program: Program,
}

impl Expression {
    /// Compiles a text in which the given names are variables.
    ///
    /// # Errors
    /// When the text is no expression, or uses other names.
    pub fn compile(text: &str, names: &[&str]) -> Result<Expression, ExpressionError> {
        let mut scope = Scope::default();
        for (slot, name) in names.iter().enumerate() {
            if let Some(reason) = scope.refuse(name) {
                return Err(ExpressionError::new(0..0, reason).hint("choose another name"));
            }
            let symbol = Symbol::Slots { first: slot as u32, shape: Shape::Scalar, defined: 1 };
            scope.symbols.insert((*name).into(), symbol);
        }
        let ast = parser::parse(text)?;
        let mut allowance = Allowance::default();
        let node = Expander { scope: &scope, allowance: &mut allowance, indices: Vec::new() }.number(&ast)?;
        Ok(Expression { program: Program::new(&[], &[], &node, names.len()) })
    }

    /// The value for these values of the variables; `None` if their number is wrong.
    pub fn evaluate(&self, variables: &[f64]) -> Option<f64> {
        (variables.len() == self.program.variables).then(|| self.program.run(variables, &[], &mut Vec::new()))
    }
}

/// A named part of other expressions, stored in a slot.
pub(crate) struct Definition {
    pub(crate) slot: u32,
    pub(crate) node: Node,
}

/// Several results and a last value, computed together.
#[derive(Debug)]
pub(crate) struct Program {
    code: Vec<Op>,
    /// Number of variables, which come first in memory.
    variables: usize,
    /// Where the stack begins, and the total length of the memory.
    stack: usize,
    memory: usize,
}

thread_local! {
    /// The machine's memory, reused between evaluations.
    static MEMORY: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl Program {
    /// Steps for those `definitions` (in order) that are used, then `results`, then `value`.
    pub(crate) fn new(definitions: &[Definition], results: &[&Node], value: &Node, variables: usize) -> Program {
        let stack = variables + definitions.len();
        let used = used_slots(definitions, results.iter().copied().chain([value]), stack);
        let mut code = Code::default();
        for definition in definitions.iter().filter(|d| used[d.slot as usize]) {
            code.value(&definition.node);
            code.ops.push(Op::Store(definition.slot));
        }
        for result in results {
            code.value(result);
            code.ops.push(Op::Result);
        }
        code.value(value);
        Program { variables, stack, memory: stack + code.max_depth, code: code.ops }
    }

    /// Number of steps.
    pub(crate) fn steps(&self) -> usize {
        self.code.len()
    }

    /// Computes everything for the variables `x` and then `y`; their numbers must match the program.
    pub(crate) fn run(&self, x: &[f64], y: &[f64], results: &mut Vec<f64>) -> f64 {
        MEMORY.with_borrow_mut(|memory| {
            if memory.len() < self.memory {
                memory.resize(self.memory, 0.0);
            }
            memory[..x.len()].copy_from_slice(x);
            memory[x.len()..x.len() + y.len()].copy_from_slice(y);
            machine::run(&self.code, &mut memory[..self.memory], self.stack, results)
        })
    }
}

/// Which slots the given nodes use, directly or through definitions. Definitions only use earlier ones.
pub(crate) fn used_slots<'n>(
    definitions: &[Definition],
    nodes: impl Iterator<Item = &'n Node>,
    slots: usize,
) -> Vec<bool> {
    let mut used = vec![false; slots];
    nodes.for_each(|node| node.each_slot(&mut |slot| used[slot as usize] = true));
    for definition in definitions.iter().rev() {
        if used[definition.slot as usize] {
            definition.node.each_slot(&mut |slot| used[slot as usize] = true);
        }
    }
    used
}
