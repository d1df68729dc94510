//! Numbers that are known before the run: `[parameters]` in the file, and `[data]` tables, which may be CSV files
//! next to it.

use super::diagnostic::{Document, MAX_SHOWN, Severity};
use super::reader::{Field, NOT_FINITE, Reader, plain_number};
use crate::expression::ExpressionError;
use crate::expression::ast::Loops;
use crate::expression::expand::Expander;
use crate::expression::parser::parse_statement;
use crate::expression::scope::{Scope, Shape, Symbol, Table};
use bilevo_core::printable::shorten;
use toml::de::DeValue;

/// Maximum number of values in a table.
const MAX_NUMBERS: usize = 1_000_000;

/// Returns the text of a file, given the name in the problem file.
pub(crate) type Load<'l> = &'l mut dyn FnMut(&str) -> Result<String, String>;

/// Adds `[parameters]`; each may use those above it.
pub(crate) fn parameters(reader: &mut Reader, field: &Field, scope: &mut Scope) {
    let hint =
        "[parameters] holds `name = value`, where a value is a number, a list, a table or an expression in quotes";
    for parameter in reader.table(field, hint).unwrap_or_default() {
        if !new_name(reader, &parameter, scope) {
            continue;
        }
        let wanted = reader.reading.parameters.iter().find(|(name, _)| *name == parameter.key);
        let table = match parameter.value {
            DeValue::Array(_) if wanted.is_some() => {
                reader.error(
                    &parameter,
                    "a list of numbers cannot be swept over",
                    "sweep over a parameter with one value",
                );
                None
            }
            _ if wanted.is_some() => wanted.map(|(_, value)| table_of(Shape::Scalar, vec![*value])),
            DeValue::String(text) => computed(reader, &parameter, text, scope),
            DeValue::Array(_) => list(reader, &parameter, scope),
            _ => reader.known(&parameter, scope, &[]).map(|value| table_of(Shape::Scalar, vec![value])),
        };
        declare(scope, parameter.key, table);
    }
}

/// Reports parameters that should be replaced but do not exist.
pub(crate) fn all_are_there(reader: &mut Reader, field: Option<&Field>) {
    let keys = field.and_then(|field| field.value.as_table());
    let has = |name: &str| keys.is_some_and(|keys| keys.iter().any(|(key, _)| key.get_ref() == name));
    let names = reader.reading.parameters.iter().map(|(name, _)| name);
    let missing: Vec<String> = names.filter(|name| !has(name)).cloned().collect();
    for name in missing {
        let there: Vec<&str> =
            keys.iter().flat_map(|keys| keys.iter()).map(|(key, _)| key.get_ref().as_ref()).collect();
        let hint = match there.is_empty() {
            true => format!("the file has no parameters; add `[parameters]` and, below it, `{name} = 1`"),
            false => format!("its parameters are {}", there.join(", ")),
        };
        reader.remark(Severity::Error, 0..0, "parameters", format!("there is no parameter `{name}`"), hint);
    }
}

/// Whether a name may be declared; reports why not.
pub(crate) fn new_name(reader: &mut Reader, field: &Field, scope: &Scope) -> bool {
    let refused = scope.refuse(&field.key);
    if let Some(reason) = &refused {
        reader.key_error(field, reason, "choose another name");
    }
    refused.is_none()
}

/// Declares a table. If it could not be read, its name is remembered, so that its uses are not reported as well.
fn declare(scope: &mut Scope, name: String, table: Option<Table>) {
    match table {
        Some(table) => drop(scope.symbols.insert(name, Symbol::Data(table))),
        None => drop(scope.broken.insert(name)),
    }
}

fn table_of(shape: Shape, values: Vec<f64>) -> Table {
    Table { shape, values: values.into() }
}

/// `"2*n"` or `"10*i for i in 1..n"`.
fn computed(reader: &mut Reader, field: &Field, text: &str, scope: &Scope) -> Option<Table> {
    let result = parse_statement(text).and_then(|statement| {
        let mut expander = Expander { scope, allowance: &mut reader.allowance, indices: Vec::new() };
        let shape = loop_shape(&mut expander, &statement.loops)?;
        let mut values = Vec::new();
        expander.rounds(&statement.loops, &mut |expander| {
            let value = expander.known(&statement.body, "a parameter")?;
            if !value.is_finite() {
                let message = format!("this is {value}, not a finite number");
                return Err(ExpressionError::new(statement.body.span.clone(), message).hint(NOT_FINITE));
            }
            values.push(value);
            Ok(())
        })?;
        Ok(table_of(shape, values))
    });
    result.map_err(|error| reader.expression_error(field, error)).ok()
}

/// The shape that `for i in 1..n, j in 1..m` gives.
pub(crate) fn loop_shape<'a>(expander: &mut Expander<'_, 'a>, loops: &Loops<'a>) -> Result<Shape, ExpressionError> {
    if let Some(filter) = &loops.filter {
        return Err(ExpressionError::new(filter.span.clone(), "every element needs a value, so none may be left out")
            .hint("give the others a value with `if(condition, value, 0)`"));
    }
    let mut sizes = Vec::new();
    for index in &loops.indices {
        // The indices of a table do not depend on each other: no index has a value here.
        let (first, last) = expander.range(index)?;
        if first != 1.0 || last < 1.0 {
            let span = index.first.span.start..index.last.span.end;
            return Err(ExpressionError::new(span, "indices start at 1").hint("write `for i in 1..n`"));
        }
        sizes.push(last as usize);
    }
    match sizes[..] {
        [] => Ok(Shape::Scalar),
        [n] => Ok(Shape::Vector(n)),
        [rows, columns] => Ok(Shape::Matrix(rows, columns)),
        _ => {
            let span = loops.indices.last().map(|index| index.span.clone()).unwrap_or_default();
            Err(ExpressionError::new(span, "at most two indices are possible")
                .hint("split the table into smaller ones"))
        }
    }
}

/// A list of numbers, or of rows of numbers.
fn list(reader: &mut Reader, field: &Field, scope: &Scope) -> Option<Table> {
    let array = field.value.as_array()?;
    if array.is_empty() {
        reader.error(field, "the list is empty", "put at least one number into it");
        return None;
    }
    let rows = array.iter().all(|row| matches!(row.get_ref(), DeValue::Array(_)));
    let mut values = Vec::with_capacity(array.len());
    if !rows {
        numbers(reader, field, scope, &mut values)?;
        return Some(table_of(Shape::Vector(values.len()), values));
    }
    let rows = field.elements()?;
    for row in &rows {
        numbers(reader, row, scope, &mut values)?;
    }
    let columns = rows[0].value.as_array().map_or(0, |row| row.len());
    if let Some(other) = rows.iter().find(|row| row.value.as_array().is_none_or(|row| row.len() != columns)) {
        reader.error(
            other,
            format!("the rows differ in length: the first has {columns} numbers"),
            "every row needs the same number",
        );
        return None;
    }
    if columns == 0 {
        reader.error(field, "the rows are empty", "put numbers into them");
        return None;
    }
    Some(table_of(Shape::Matrix(rows.len(), columns), values))
}

/// Appends the numbers of a list, each of which may be an expression.
fn numbers(reader: &mut Reader, field: &Field, scope: &Scope, values: &mut Vec<f64>) -> Option<()> {
    let array = field.value.as_array()?;
    // The usual case, without a path for each number.
    if let Some(plain) =
        array.iter().map(|v| plain_number(v.get_ref()).filter(|v| v.is_finite())).collect::<Option<Vec<_>>>()
    {
        values.extend(plain);
        return Some(());
    }
    for element in field.elements()? {
        values.push(reader.known(&element, scope, &[])?);
    }
    Some(())
}

/// Adds `[data]`: CSV files by name, or columns written out.
pub(crate) fn data(reader: &mut Reader, field: &Field, scope: &mut Scope, load: Load) {
    let hint = "[data] holds `name = \"file.csv\"` or `name = { column = [...], ... }`";
    for entry in reader.table(field, hint).unwrap_or_default() {
        if !new_name(reader, &entry, scope) {
            continue;
        }
        match entry.value {
            DeValue::String(path) => match load(path) {
                Ok(text) => csv(reader, &entry, path, text, scope),
                Err(reason) => {
                    let hint = "paths are relative to the problem file";
                    reader.error(&entry, format!("cannot read `{path}`: {reason}"), hint);
                    scope.broken.insert(entry.key);
                }
            },
            DeValue::Table(_) => columns(reader, &entry, scope),
            DeValue::Array(_) => {
                let table = list(reader, &entry, scope);
                declare(scope, entry.key, table);
            }
            _ => {
                reader.expected(&entry, "the name of a CSV file or a table of columns", hint);
                scope.broken.insert(entry.key);
            }
        }
    }
}

/// Columns in the file itself: `name.column[i]`, and `name[i,j]` as from a CSV file.
fn columns(reader: &mut Reader, entry: &Field, scope: &mut Scope) {
    let mut rows: Option<usize> = None;
    let mut all = Vec::new();
    for column in reader.table(entry, "").unwrap_or_default() {
        if !column.value.is_array() {
            reader.expected(&column, "a list of numbers", "write a column as in `from = [1, 2, 3]`");
            continue;
        }
        if let Some(reason) = Scope::default().refuse(&column.key) {
            reader.key_error(&column, reason, "choose another name");
            continue;
        }
        let Some(table) = list(reader, &column, scope) else {
            scope.broken.insert(format!("{}.{}", entry.key, column.key));
            continue;
        };
        if *rows.get_or_insert(table.values.len()) != table.values.len() {
            let expected = rows.unwrap_or_default();
            reader.error(
                &column,
                format!("the columns differ in length: the first has {expected} numbers"),
                "every column needs the same number",
            );
        }
        all.push(table.values.clone());
        scope.symbols.insert(format!("{}.{}", entry.key, column.key), Symbol::Data(table));
    }
    let rows = rows.unwrap_or_default();
    let values = (0..rows).flat_map(|row| all.iter().filter_map(move |column| column.get(row).copied())).collect();
    let shape = if all.len() == 1 { Shape::Vector(rows) } else { Shape::Matrix(rows, all.len()) };
    let sound = rows > 0 && all.iter().all(|column| column.len() == rows);
    declare(scope, entry.key.clone(), sound.then(|| table_of(shape, values)));
}

/// A CSV file: with a line of column names, it defines `name.column[i]`, and always `name[i,j]`, or `name[i]` if
/// there is one column.
fn csv(reader: &mut Reader, entry: &Field, path: &str, text: String, scope: &mut Scope) {
    match read_csv(path, text) {
        Err(error) => {
            scope.broken.insert(entry.key.clone());
            match error {
                CsvError::At(diagnostic) => reader.remarks.push(*diagnostic),
                CsvError::Whole(reason) => reader.error(
                    entry,
                    format!("`{path}`: {reason}"),
                    "a table is a CSV file of numbers next to this file",
                ),
            }
        }
        Ok(csv) => {
            let rows = csv.values.len() / csv.columns;
            for (number, name) in csv.names.iter().enumerate() {
                let column: Vec<f64> = csv.values.iter().skip(number).step_by(csv.columns).copied().collect();
                let table = table_of(Shape::Vector(rows), column);
                scope.symbols.insert(format!("{}.{name}", entry.key), Symbol::Data(table));
            }
            let shape = if csv.columns == 1 { Shape::Vector(rows) } else { Shape::Matrix(rows, csv.columns) };
            declare(scope, entry.key.clone(), Some(table_of(shape, csv.values)));
        }
    }
}

struct Csv {
    names: Vec<String>,
    columns: usize,
    values: Vec<f64>,
}

enum CsvError {
    At(Box<super::diagnostic::Diagnostic>),
    Whole(String),
}

/// A cell in a message: a part of it, on one line.
fn shown(cell: &str) -> String {
    shorten(&cell.replace(['\n', '\r'], " "), MAX_SHOWN).into_owned()
}

fn read_csv(path: &str, text: String) -> Result<Csv, CsvError> {
    let document = Document { name: path.into(), text };
    let at = |record: &csv::StringRecord, message: String, hint: &str| {
        let start = record.position().map_or(0, |position| position.byte() as usize);
        let length = document.text[start.min(document.text.len())..].lines().next().map_or(0, str::len);
        let span = start..start + length;
        let hint = Some(hint.to_string()).filter(|hint| !hint.is_empty());
        CsvError::At(Box::new(document.diagnostic(Severity::Error, span, "", message, hint)))
    };
    let mut lines = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(document.text.as_bytes());
    let mut csv = Csv { names: Vec::new(), columns: 0, values: Vec::new() };
    for record in lines.records() {
        let record = record.map_err(|error| CsvError::Whole(error.to_string()))?;
        if csv.columns == 0 {
            csv.columns = record.len();
            if record.iter().all(|word| word.parse::<f64>().is_err()) {
                csv.names = record.iter().map(String::from).collect();
                if let Some(name) = csv.names.iter().find(|name| Scope::default().refuse(name).is_some()) {
                    let reason = Scope::default().refuse(&shown(name)).unwrap_or_default();
                    let apart = name.contains([';', '\t']);
                    let hint =
                        if apart { "columns are separated by commas" } else { "the first line names the columns" };
                    return Err(at(&record, reason, hint));
                }
                continue;
            }
        }
        if record.len() != csv.columns {
            let message = format!("this row has {} of {} values", record.len(), csv.columns);
            return Err(at(&record, message, "columns are separated by commas"));
        }
        for word in &record {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => csv.values.push(value),
                _ => {
                    return Err(at(
                        &record,
                        format!("`{}` is not a finite number", shown(word)),
                        "only the first line may contain words, as names of the columns",
                    ));
                }
            }
        }
        if csv.values.len() > MAX_NUMBERS {
            return Err(CsvError::Whole(format!("more than {MAX_NUMBERS} numbers")));
        }
    }
    if csv.values.is_empty() { Err(CsvError::Whole("there are no numbers in it".into())) } else { Ok(csv) }
}
