//! The machine that evaluates compiled expressions: an accumulator, a memory of slots, and a stack
//! at its end.
//!
//! Memory is `variables | definitions | stack`. Every step works on the accumulator. Operands that are variables or
//! constants are part of the step, so a sum such as `x1^2 + 3*x2` takes one step per term. No step allocates.

use super::ast::Comparison;
use super::functions::whole_power;

/// One step. `slot` is a place in memory, `a` the accumulator, `top` the top of the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// a = constant
    Const(f64),
    /// a = slot
    Slot(u32),
    /// Pushes a, then a = constant.
    PushConst(f64),
    /// Pushes a, then a = slot.
    PushSlot(u32),
    /// slot = a
    Store(u32),
    /// Appends a to the results.
    Result,
    /// a = a + constant
    AddConst(f64),
    /// a = a · constant
    MulConst(f64),
    /// a = a / constant
    DivConst(f64),
    /// a = constant − a
    ConstMinus(f64),
    /// a = constant / a
    ConstOver(f64),
    /// a = a + slot
    AddSlot(u32),
    /// a = a − slot
    SubSlot(u32),
    /// a = a · slot
    MulSlot(u32),
    /// a = a / slot
    DivSlot(u32),
    /// a = slot − a
    SlotMinus(u32),
    /// a = a + constant · slot
    AddScaled(u32, f64),
    /// a = a + slot²
    AddSquare(u32),
    /// a = a − slot²
    SubSquare(u32),
    /// a = top + a, and so on; pops.
    Add,
    Sub,
    Mul,
    Div,
    /// a = −a
    Negate,
    /// a = a²
    Square,
    /// a = a³
    Cube,
    Power(i32),
    One(fn(f64) -> f64),
    /// a = function(top, a); pops.
    Two(fn(f64, f64) -> f64),
    /// a = 1 if the comparison of top and a holds, else 0; pops.
    Compare(Comparison),
    /// Continues at a step.
    Jump(u32),
    /// Continues at a step if a is 0.
    JumpIfZero(u32),
}

/// Runs a program. `memory` begins with the variables and is as long as the program requires; the stack begins at
/// `stack`. Returns the accumulator.
pub(crate) fn run(code: &[Op], memory: &mut [f64], stack: usize, results: &mut Vec<f64>) -> f64 {
    let (mut a, mut top, mut at) = (0.0, stack, 0);
    while let Some(&op) = code.get(at) {
        at += 1;
        match op {
            Op::Const(c) => a = c,
            Op::Slot(slot) => a = memory[slot as usize],
            Op::PushConst(c) => {
                memory[top] = a;
                top += 1;
                a = c;
            }
            Op::PushSlot(slot) => {
                memory[top] = a;
                top += 1;
                a = memory[slot as usize];
            }
            Op::Store(slot) => memory[slot as usize] = a,
            Op::Result => results.push(a),
            Op::AddConst(c) => a += c,
            Op::MulConst(c) => a *= c,
            Op::DivConst(c) => a /= c,
            Op::ConstMinus(c) => a = c - a,
            Op::ConstOver(c) => a = c / a,
            Op::AddSlot(slot) => a += memory[slot as usize],
            Op::SubSlot(slot) => a -= memory[slot as usize],
            Op::MulSlot(slot) => a *= memory[slot as usize],
            Op::DivSlot(slot) => a /= memory[slot as usize],
            Op::SlotMinus(slot) => a = memory[slot as usize] - a,
            Op::AddScaled(slot, c) => a += c * memory[slot as usize],
            Op::AddSquare(slot) => a += memory[slot as usize] * memory[slot as usize],
            Op::SubSquare(slot) => a -= memory[slot as usize] * memory[slot as usize],
            Op::Add => {
                top -= 1;
                a += memory[top];
            }
            Op::Sub => {
                top -= 1;
                a = memory[top] - a;
            }
            Op::Mul => {
                top -= 1;
                a *= memory[top];
            }
            Op::Div => {
                top -= 1;
                a = memory[top] / a;
            }
            Op::Negate => a = -a,
            Op::Square => a *= a,
            Op::Cube => a = a * a * a,
            Op::Power(exponent) => a = whole_power(a, exponent),
            Op::One(function) => a = function(a),
            Op::Two(function) => {
                top -= 1;
                a = function(memory[top], a);
            }
            Op::Compare(comparison) => {
                top -= 1;
                a = f64::from(u8::from(comparison.holds(memory[top], a)));
            }
            Op::Jump(target) => at = target as usize,
            Op::JumpIfZero(target) => {
                if a == 0.0 {
                    at = target as usize;
                }
            }
        }
    }
    a
}
