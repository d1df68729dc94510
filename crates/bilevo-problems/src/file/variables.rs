//! The variables of a level with their boxes.

use super::data::new_name;
use super::diagnostic::Severity;
use super::reader::{Field, Reader, plain_number};
use crate::expression::scope::{Scope, Shape, Symbol};
use bilevo_core::printable::number;
use bilevo_core::problem::{Level, MAX_DIM};
use bilevo_core::space::{Kind, LARGEST_WHOLE, Space};
use toml::de::DeValue;

/// What to do if there are too many variables.
const MANY: &str = "describe the decision by fewer numbers, for example the parameters of a curve";

/// The variables of a level, in the order of the file.
#[derive(Default)]
pub(crate) struct Variables {
    /// Each element by name: `t`, `y[2]`, `f[1,3]`.
    pub(crate) space: Space,
    /// Where each element is declared.
    pub(crate) spans: Vec<std::ops::Range<usize>>,
}

const HINT: &str = "a variable is `name = [low, high]`, a vector `name = { size = 3, bounds = [low, high] }`, a whole number `name = { integer = [low, high] }`";

/// Reads `variables` and adds them to the scope, from the given slot on.
pub(crate) fn variables(reader: &mut Reader, field: &Field, level: Level, scope: &mut Scope, slot: usize) -> Variables {
    let mut all = Variables::default();
    let declared = scope.clone();
    for variable in reader.table(field, HINT).unwrap_or_default() {
        if !new_name(reader, &variable, scope) {
            continue;
        }
        // Boxes may use parameters and data, but not other variables.
        let before = all.space.dim();
        let Some(shape) = declare(reader, &variable, &declared, &mut all) else {
            scope.broken.insert(variable.key);
            continue;
        };
        if all.space.dim() > MAX_DIM {
            reader.key_error(&variable, format!("more than {MAX_DIM} variables at the {level} level"), MANY);
            return all;
        }
        let first = (slot + before) as u32;
        scope.symbols.insert(variable.key.clone(), Symbol::Slots { first, shape, defined: shape.len() });
    }
    if all.space.dim() == 0 && !reader.failed() {
        reader.error(field, format!("the {level} level has no variables"), HINT);
    }
    if all.space.dim() > 0 && all.space.iter().all(|v| v.is_fixed()) && !reader.failed() {
        let hint = "at least one needs bounds that differ; make the others parameters";
        reader.error(field, format!("every {level} variable is fixed"), hint);
    }
    all
}

/// Reads the shape and box of one variable and appends its elements.
fn declare(reader: &mut Reader, variable: &Field, scope: &Scope, all: &mut Variables) -> Option<Shape> {
    let (shape, kind, bounds) = match variable.value {
        DeValue::Array(_) => (Shape::Scalar, Kind::Real, variable.clone()),
        DeValue::Table(_) => described(reader, variable, scope)?,
        _ => {
            reader.expected(variable, "the box `[low, high]`", HINT);
            return None;
        }
    };
    if shape.len() > MAX_DIM {
        reader.error(variable, format!("more than {MAX_DIM} variables at one level"), MANY);
        return None;
    }
    let columns = if let Shape::Matrix(_, columns) = shape { columns } else { 1 };
    let elements = bounds.elements().unwrap_or_default();
    let each = !elements.is_empty() && elements.iter().all(|element| element.value.is_array());
    if each && elements.len() != shape.len() {
        let message = format!("{} boxes for {} elements", elements.len(), shape.len());
        reader.error(&bounds, message, "one box for each element, or one for all");
        return None;
    }
    for at in 0..shape.len() {
        let (i, j) = (at / columns + 1, at % columns + 1);
        let one = if each { elements.get(at)? } else { &bounds };
        let indices: &[(&str, f64)] = match shape {
            Shape::Scalar => &[],
            Shape::Vector(_) => &[("i", i as f64)],
            Shape::Matrix(..) => &[("i", i as f64), ("j", j as f64)],
        };
        let (low, high) = interval(reader, one, kind, scope, indices)?;
        let name = match shape {
            Shape::Scalar => variable.key.clone(),
            Shape::Vector(_) => format!("{}[{i}]", variable.key),
            Shape::Matrix(..) => format!("{}[{i},{j}]", variable.key),
        };
        all.space.add(name, kind, low, high);
        all.spans.push(one.span.clone());
    }
    Some(shape)
}

/// `{ size = 3, bounds = ... }`, `{ integer = [low, high] }`
fn described<'d>(reader: &mut Reader, variable: &Field<'d>, scope: &Scope) -> Option<(Shape, Kind, Field<'d>)> {
    let fields = reader.table(variable, HINT)?;
    reader.unknown_keys(&fields, &["size", "bounds", "integer"]);
    let find = |key: &str| fields.iter().find(|field| field.key == key);
    let (kind, bounds) = match (find("bounds"), find("integer")) {
        (Some(bounds), None) => (Kind::Real, bounds),
        (None, Some(integer)) => (Kind::Whole, integer),
        (Some(_), Some(integer)) => {
            let hint = "`bounds` for real numbers, `integer` for whole ones";
            reader.error(integer, "`bounds` and `integer` are both given", hint);
            return None;
        }
        (None, None) => {
            reader.error(variable, "`bounds` is missing", HINT);
            return None;
        }
    };
    if !bounds.value.is_array() {
        reader.expected(bounds, "the box `[low, high]`", HINT);
        return None;
    }
    let Some(size) = find("size") else {
        // With one box for each element, the number of boxes is the size.
        let elements = bounds.elements()?;
        if elements.iter().any(|element| !element.value.is_array()) {
            if kind == Kind::Whole {
                return Some((Shape::Scalar, kind, bounds.clone()));
            }
            reader.error(variable, "`size` is missing", HINT);
            return None;
        }
        return Some((Shape::Vector(elements.len()), kind, bounds.clone()));
    };
    let mut one = |field: &Field| {
        let value = reader.known(field, scope, &[])?;
        if value.fract() == 0.0 && (1.0..=MAX_DIM as f64).contains(&value) {
            return Some(value as usize);
        }
        reader.error(
            field,
            format!("{} is not a whole number from 1 to {MAX_DIM}", number(value)),
            "a size is a number, or an expression of parameters",
        );
        None
    };
    let shape = match size.elements() {
        None => Shape::Vector(one(size)?),
        Some(sizes) => match &sizes[..] {
            [rows, columns] => Shape::Matrix(one(rows)?, one(columns)?),
            _ => {
                reader.error(size, "a size is one number, or two for a matrix", "`size = 3` or `size = [2, 3]`");
                return None;
            }
        },
    };
    Some((shape, kind, bounds.clone()))
}

/// `[low, high]`
fn interval(
    reader: &mut Reader,
    field: &Field,
    kind: Kind,
    scope: &Scope,
    indices: &[(&'static str, f64)],
) -> Option<(f64, f64)> {
    let ends = field.elements().unwrap_or_default();
    let [low, high] = &ends[..] else {
        reader.error(field, "a box has two bounds", "write `[low, high]`");
        return None;
    };
    let end = |reader: &mut Reader, field: &Field, open: f64| match plain_number(field.value) {
        Some(value) if value == open => Some(value),
        _ => reader.known(field, scope, indices),
    };
    let (low, high) = (end(reader, low, f64::NEG_INFINITY)?, end(reader, high, f64::INFINITY)?);
    let open = low.is_infinite() || high.is_infinite();
    let wide = !open && !(high - low).is_finite();
    let large = |end: f64| end.is_finite() && end.abs() > LARGEST_WHOLE;
    let too_many = kind == Kind::Whole && (large(low) || large(high));
    let too_narrow = kind == Kind::Real && !open && Space::too_narrow(low, high);
    let (first, last) = (number(low), number(high));
    let (message, hint) = if low > high {
        (format!("the box [{first}, {last}] is empty"), format!("did you mean `[{last}, {first}]`?"))
    } else if wide {
        (format!("the box [{first}, {last}] is too wide"), "choose bounds that no sensible answer exceeds".to_string())
    } else if too_narrow {
        (format!("the box [{first}, {last}] is too narrow for its numbers"), "use smaller units".to_string())
    } else if kind == Kind::Whole && low.ceil() > high.floor() {
        (format!("no whole number lies within [{first}, {last}]"), "widen it, or write `bounds`".to_string())
    } else if too_many {
        (format!("whole numbers in [{first}, {last}] are too large to be exact"), "use larger units".to_string())
    } else {
        return Some((low, high));
    };
    reader.remark(Severity::Error, field.span.clone(), &field.path, message, hint);
    None
}
