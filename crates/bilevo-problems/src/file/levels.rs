//! Definitions, objectives and constraints: the expressions of a problem file.

use super::data::{loop_shape, new_name};
use super::reader::{Field, Reader};
use crate::expression::ast::Comparison;
use crate::expression::expand::Expander;
use crate::expression::node::Node;
use crate::expression::parser::{parse, parse_statement};
use crate::expression::scope::{Scope, Symbol};
use crate::expression::{Definition, ExpressionError};
use bilevo_core::problem::{Direction, Level, MAX_CONSTRAINTS};
use std::ops::Range;

/// Maximum number of elements of all definitions together.
const MAX_DEFINITIONS: usize = 100_000;

/// An expression with its position in the file, for messages.
pub(crate) struct Place {
    pub(crate) field: String,
    pub(crate) span: Range<usize>,
}

/// One value that must be at most zero, or zero.
pub(crate) struct Constraint {
    pub(crate) node: Node,
    pub(crate) place: usize,
}

/// The expressions of a level.
pub(crate) struct Expressions {
    pub(crate) direction: Direction,
    pub(crate) objective: Node,
    pub(crate) objective_place: Place,
    pub(crate) inequalities: Vec<Constraint>,
    pub(crate) equalities: Vec<Constraint>,
    /// The constraints as written; a [`Constraint`] says to which of them it belongs.
    pub(crate) places: Vec<Place>,
}

impl Expressions {
    /// All constraints in the order of their values: inequalities first.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = &Constraint> {
        self.inequalities.iter().chain(&self.equalities)
    }
}

/// The levels whose variables something depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depends {
    pub(crate) upper: bool,
    pub(crate) lower: bool,
}

impl Depends {
    pub(crate) fn or(self, other: Depends) -> Depends {
        Depends { upper: self.upper | other.upper, lower: self.lower | other.lower }
    }
}

/// Determines what expressions depend on, directly or through definitions.
pub(crate) struct Dependence {
    /// Of each slot.
    slots: Vec<Depends>,
}

impl Dependence {
    /// With `upper` and `lower` variables and definitions that only use earlier ones.
    pub(crate) fn new(upper: usize, lower: usize, definitions: &[Definition]) -> Self {
        let mut slots = vec![Depends { upper: true, lower: false }; upper];
        slots.extend(vec![Depends { upper: false, lower: true }; lower]);
        let mut dependence = Dependence { slots };
        for definition in definitions {
            let on = dependence.of(&definition.node);
            dependence.slots.push(on);
        }
        dependence
    }

    pub(crate) fn of(&self, node: &Node) -> Depends {
        let mut on = Depends::default();
        node.each_slot(&mut |slot| {
            on = on.or(self.slots.get(slot as usize).copied().unwrap_or_default());
        });
        on
    }
}

/// Adds `[definitions]`; each may use those above it and its own earlier elements.
pub(crate) fn definitions(reader: &mut Reader, field: &Field, scope: &mut Scope, variables: usize) -> Vec<Definition> {
    let mut all: Vec<Definition> = Vec::new();
    let hint = "[definitions] holds `name = \"expression\"`";
    for field in reader.table(field, hint).unwrap_or_default() {
        if !new_name(reader, &field, scope) {
            continue;
        }
        let defined =
            reader.text(&field, hint).map(|text| define(reader, &field.key, text, scope, variables, &mut all));
        match defined {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                reader.expression_error(&field, error);
                scope.symbols.remove(&field.key);
                scope.broken.insert(field.key);
            }
            None => drop(scope.broken.insert(field.key)),
        }
    }
    all
}

fn define(
    reader: &mut Reader,
    name: &str,
    text: &str,
    scope: &mut Scope,
    variables: usize,
    all: &mut Vec<Definition>,
) -> Result<(), ExpressionError> {
    let statement = parse_statement(text)?;
    let mut expander = Expander { scope, allowance: &mut reader.allowance, indices: Vec::new() };
    let shape = loop_shape(&mut expander, &statement.loops)?;
    if shape.len() > MAX_DEFINITIONS - all.len() {
        let message = format!("more than {MAX_DEFINITIONS} elements of definitions");
        return Err(
            ExpressionError::new(statement.body.span, message).hint("use shorter loops, or an external program")
        );
    }
    // Which indices each element has; found first, because elements change the scope.
    let mut rounds = Vec::with_capacity(shape.len());
    expander.rounds(&statement.loops, &mut |expander| {
        rounds.push(expander.indices.clone());
        Ok(())
    })?;
    let first = (variables + all.len()) as u32;
    for (number, indices) in rounds.into_iter().enumerate() {
        // A definition without indices has no earlier elements to refer to.
        scope.symbols.insert(name.to_string(), Symbol::Slots { first, shape, defined: number });
        let node = Expander { scope, allowance: &mut reader.allowance, indices }.number(&statement.body)?;
        all.push(Definition { slot: first + number as u32, node });
    }
    scope.symbols.insert(name.to_string(), Symbol::Slots { first, shape, defined: shape.len() });
    Ok(())
}

/// Reads `minimize` or `maximize` and `subject_to`.
pub(crate) fn expressions(
    reader: &mut Reader,
    level: Level,
    level_field: &Field,
    fields: &[Field],
    scope: &Scope,
) -> Option<Expressions> {
    let find = |key: &str| fields.iter().find(|field| field.key == key);
    let (field, direction) = match (find("minimize"), find("maximize")) {
        (Some(field), None) => (field, Direction::Minimize),
        (None, Some(field)) => (field, Direction::Maximize),
        (None, None) => {
            let message = format!("the {level} level has no objective");
            reader.key_error(level_field, message, "add `minimize = \"...\"` or `maximize = \"...\"`");
            return None;
        }
        (Some(_), Some(second)) => {
            reader.key_error(second, "a level either minimises or maximises", "remove one of the two");
            return None;
        }
    };
    let goals = goals(reader, level, field, scope);
    let mut all = Expressions {
        direction,
        objective: Node::Const(0.0),
        objective_place: Place { field: field.path.clone(), span: field.span.clone() },
        inequalities: Vec::new(),
        equalities: Vec::new(),
        places: Vec::new(),
    };
    if let Some(field) = find("subject_to") {
        let list = match (field.elements(), field.value.as_str()) {
            (Some(list), _) => list,
            (None, Some(_)) => vec![field.clone()],
            (None, None) => {
                reader.expected(field, "a list of constraints", "write `subject_to = [\"t + y <= 12\"]`");
                return None;
            }
        };
        for field in &list {
            constraint(reader, level, field, scope, &mut all);
        }
    }
    let (objective, other) = goals?;
    all.objective = objective;
    if let Some((other, (limit, scale))) = other.zip(reader.reading.goal.and_then(|goal| goal.limit)) {
        let (other, limit) =
            ((direction == Direction::Maximize, other), (direction == Direction::Minimize, Node::Const(limit)));
        let excess = Node::Sum(if other.0 { vec![limit, other] } else { vec![other, limit] });
        let node = Node::Product(vec![(false, excess), (true, Node::Const(scale))]);
        all.inequalities.push(Constraint { node, place: all.places.len() });
        all.places.push(Place { field: field.path.clone(), span: field.span.clone() });
    }
    Some(all)
}

/// The objective, and the leader's other goal if it has two.
fn goals(reader: &mut Reader, level: Level, field: &Field, scope: &Scope) -> Option<(Node, Option<Node>)> {
    let Some(list) = field.elements().filter(|_| level == Level::Upper) else {
        let two =
            level == Level::Upper && reader.reading.goal.is_some_and(|goal| goal.index == 1 || goal.limit.is_some());
        if two {
            reader.error(field, "the leader has one goal", "a front needs two: `minimize = [\"cost\", \"emissions\"]`");
            return None;
        }
        return objective(reader, field, scope).map(|node| (node, None));
    };
    let [first, second] = &list[..] else {
        let message = format!("a list of {} goals is found where one or two are expected", list.len());
        reader.error(field, message, "write `minimize = [\"cost\", \"emissions\"]`, or one expression in quotes");
        return None;
    };
    let Some(goal) = reader.reading.goal else {
        let hint = "find their front with `bilevo solve --front`, or remove one of them";
        reader.error(field, "the leader has two goals", hint);
        return None;
    };
    let nodes = (objective(reader, first, scope), objective(reader, second, scope));
    let (first, second) = (nodes.0?, nodes.1?);
    Some(if goal.index == 0 { (first, Some(second)) } else { (second, Some(first)) })
}

fn objective(reader: &mut Reader, field: &Field, scope: &Scope) -> Option<Node> {
    let text = reader.text(field, "an objective is an expression in quotes")?;
    let node = parse(text)
        .and_then(|ast| Expander { scope, allowance: &mut reader.allowance, indices: Vec::new() }.number(&ast));
    node.map_err(|error| reader.expression_error(field, error)).ok()
}

fn constraint(reader: &mut Reader, level: Level, field: &Field, scope: &Scope, all: &mut Expressions) {
    let Some(text) = reader.text(field, "a constraint is written as `\"t + y <= 12\"`") else { return };
    let place = all.places.len();
    all.places.push(Place { field: field.path.clone(), span: field.span.clone() });
    let result = parse_statement(text).and_then(|statement| {
        let mut expander = Expander { scope, allowance: &mut reader.allowance, indices: Vec::new() };
        expander.rounds(&statement.loops, &mut |expander| {
            for (comparison, node) in expander.constraint(&statement.body)? {
                let group = if comparison == Comparison::Equal { &mut all.equalities } else { &mut all.inequalities };
                group.push(Constraint { node, place });
            }
            if all.inequalities.len() + all.equalities.len() > MAX_CONSTRAINTS {
                let message = format!("more than {MAX_CONSTRAINTS} constraints at the {level} level");
                let hint = "use shorter loops, or an external program";
                return Err(ExpressionError::new(statement.body.span.clone(), message).hint(hint));
            }
            Ok(())
        })
    });
    if let Err(error) = result {
        reader.expression_error(field, error);
    }
}
