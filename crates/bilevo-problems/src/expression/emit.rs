//! From nodes to the steps of the machine.

use super::machine::Op;
use super::node::{Node, Test};

/// Steps under construction.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    /// Current and maximum number of values on the stack.
    depth: usize,
    pub(crate) max_depth: usize,
    /// Whether the accumulator holds a number that the next load must push.
    save: bool,
}

impl Code {
    /// Steps that leave the value of a node in the accumulator.
    pub(crate) fn value(&mut self, node: &Node) {
        match node {
            Node::Const(value) => self.load(Op::Const(*value), Op::PushConst(*value)),
            Node::Slot(slot) => self.load(Op::Slot(*slot), Op::PushSlot(*slot)),
            Node::Sum(terms) => self.sum(terms),
            Node::Product(factors) => self.product(factors),
            Node::Power(base, exponent) => {
                self.value(base);
                self.ops.push(match exponent {
                    2 => Op::Square,
                    3 => Op::Cube,
                    -1 => Op::ConstOver(1.0),
                    &other => Op::Power(other),
                });
            }
            Node::One(function, argument) => {
                self.value(argument);
                self.ops.push(Op::One(function.call));
            }
            Node::Fold(function, arguments) => {
                for (number, argument) in arguments.iter().enumerate() {
                    if number == 0 {
                        self.value(argument);
                    } else {
                        self.combine(argument, Op::Two(function.call));
                    }
                }
            }
            Node::Choose(test, yes, no) => self.choose(test, yes, no),
        }
    }

    /// A load, which first pushes the accumulator if it is still needed.
    fn load(&mut self, plain: Op, push: Op) {
        if std::mem::take(&mut self.save) {
            self.depth += 1;
            self.max_depth = self.max_depth.max(self.depth);
            self.ops.push(push);
        } else {
            self.ops.push(plain);
        }
    }

    /// Pushes the accumulator, computes `right`, and combines the two.
    fn combine(&mut self, right: &Node, op: Op) {
        self.save = true;
        self.value(right);
        self.ops.push(op);
        self.depth -= 1;
    }

    fn sum(&mut self, terms: &[(bool, Node)]) {
        let rest = match terms {
            // leaf + term and leaf − term need no stack
            [(false, leaf), (minus, term), rest @ ..] if is_leaf(leaf) && fused_term(*minus, term).is_none() => {
                self.value(term);
                self.ops.extend(mirrored(leaf, *minus));
                rest
            }
            [(minus, first), rest @ ..] => {
                self.value(first);
                if *minus {
                    self.ops.push(Op::Negate);
                }
                rest
            }
            [] => terms,
        };
        for (minus, term) in rest {
            match fused_term(*minus, term) {
                Some(op) => self.ops.push(op),
                None => self.combine(term, if *minus { Op::Sub } else { Op::Add }),
            }
        }
    }

    fn product(&mut self, factors: &[(bool, Node)]) {
        let rest = match factors {
            // c · factor and c / factor
            [(_, Node::Const(c)), (divides, second), rest @ ..] => {
                self.value(second);
                self.ops.push(if *divides { Op::ConstOver(*c) } else { Op::MulConst(*c) });
                rest
            }
            [(_, first), rest @ ..] => {
                self.value(first);
                rest
            }
            [] => factors,
        };
        for (divides, factor) in rest {
            match (divides, factor) {
                (false, Node::Const(c)) => self.ops.push(Op::MulConst(*c)),
                (true, Node::Const(c)) => self.ops.push(Op::DivConst(*c)),
                (false, Node::Slot(slot)) => self.ops.push(Op::MulSlot(*slot)),
                (true, Node::Slot(slot)) => self.ops.push(Op::DivSlot(*slot)),
                (divides, factor) => self.combine(factor, if *divides { Op::Div } else { Op::Mul }),
            }
        }
    }

    fn choose(&mut self, test: &Test, yes: &Node, no: &Node) {
        self.test(test);
        let branch = self.ops.len();
        self.ops.push(Op::JumpIfZero(0));
        self.value(yes);
        let leave = self.ops.len();
        self.ops.push(Op::Jump(0));
        self.ops[branch] = Op::JumpIfZero(self.ops.len() as u32);
        self.value(no);
        self.ops[leave] = Op::Jump(self.ops.len() as u32);
    }

    /// Steps that leave 1 or 0 in the accumulator. All parts are tested, because they are cheap.
    fn test(&mut self, test: &Test) {
        match test {
            Test::Known(known) => self.value(&Node::Const(f64::from(u8::from(*known)))),
            Test::Compare(comparison, sides) => {
                self.value(&sides.0);
                self.combine(&sides.1, Op::Compare(*comparison));
            }
            Test::Not(inner) => {
                self.test(inner);
                self.ops.push(Op::ConstMinus(1.0));
            }
            Test::All(tests) => self.tests(tests, Op::Mul),
            Test::Any(tests) => self.tests(tests, Op::Two(f64::max)),
        }
    }

    fn tests(&mut self, tests: &[Test], join: Op) {
        for (number, test) in tests.iter().enumerate() {
            self.save = self.save || number > 0;
            self.test(test);
            if number > 0 {
                self.ops.push(join);
                self.depth -= 1;
            }
        }
    }
}

fn is_leaf(node: &Node) -> bool {
    matches!(node, Node::Const(_) | Node::Slot(_))
}

/// The step that combines a leaf with the accumulator: `leaf + a` or `leaf − a`.
fn mirrored(leaf: &Node, minus: bool) -> Option<Op> {
    match (leaf, minus) {
        (Node::Const(c), false) => Some(Op::AddConst(*c)),
        (Node::Const(c), true) => Some(Op::ConstMinus(*c)),
        (Node::Slot(slot), false) => Some(Op::AddSlot(*slot)),
        (Node::Slot(slot), true) => Some(Op::SlotMinus(*slot)),
        _ => None,
    }
}

/// The single step that adds or subtracts a simple term.
fn fused_term(minus: bool, term: &Node) -> Option<Op> {
    match term {
        Node::Const(c) => Some(Op::AddConst(if minus { -c } else { *c })),
        Node::Slot(slot) => Some(if minus { Op::SubSlot(*slot) } else { Op::AddSlot(*slot) }),
        Node::Power(base, 2) => match **base {
            Node::Slot(slot) => Some(if minus { Op::SubSquare(slot) } else { Op::AddSquare(slot) }),
            _ => None,
        },
        Node::Product(factors) => match factors[..] {
            [(false, Node::Const(c)), (false, Node::Slot(slot))]
            | [(false, Node::Slot(slot)), (false, Node::Const(c))] => {
                Some(Op::AddScaled(slot, if minus { -c } else { c }))
            }
            _ => None,
        },
        _ => None,
    }
}
