//! The MPS file: rows, columns, right-hand sides, ranges and bounds.

use super::Mistake;
use std::collections::BTreeMap;

/// A linear row with its limits.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// Coefficients by column.
    pub(super) terms: BTreeMap<usize, f64>,
    pub(super) low: f64,
    pub(super) high: f64,
    /// N, L, G or E.
    kind: char,
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) whole: bool,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The content of an MPS file.
#[derive(Clone, Debug, Default)]
pub(super) struct Instance {
    /// The leader's objective, and its constant.
    pub(super) objective: BTreeMap<usize, f64>,
    pub(super) offset: f64,
    pub(super) maximize: bool,
    pub(super) columns: Vec<Column>,
    /// All rows but the objective, in the order of the file.
    pub(super) rows: Vec<Row>,
}

/// What a name refers to.
#[derive(Clone, Copy, Debug)]
enum Place {
    Objective,
    /// A free row that is not an objective.
    Ignored,
    Row(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Section {
    Start,
    Sense,
    Rows,
    Columns,
    Rhs,
    Ranges,
    Bounds,
    End,
}

struct Reader {
    instance: Instance,
    places: BTreeMap<String, Place>,
    columns: BTreeMap<String, usize>,
    section: Section,
    /// Between INTORG and INTEND.
    whole: bool,
    has_objective: bool,
}

/// Reads an MPS file.
pub(super) fn read(text: &str) -> Result<Instance, Mistake> {
    let mut reader = Reader {
        instance: Instance::default(),
        places: BTreeMap::new(),
        columns: BTreeMap::new(),
        section: Section::Start,
        whole: false,
        has_objective: false,
    };
    for (index, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.is_empty() || line.starts_with('*') {
            continue;
        }
        match line.starts_with(char::is_whitespace) {
            false => reader.head(&fields, index + 1)?,
            true => reader.line(&fields, index + 1)?,
        }
        if reader.section == Section::End {
            return Ok(reader.instance);
        }
    }
    Err(Mistake::new(0, "the file ends before ENDATA", "is it complete?"))
}

impl Reader {
    /// The head of a section.
    fn head(&mut self, fields: &[&str], line: usize) -> Result<(), Mistake> {
        self.section = match fields[0].to_ascii_uppercase().as_str() {
            "NAME" => Section::Start,
            "OBJSENSE" => {
                fields.get(1).iter().for_each(|word| self.sense(word));
                Section::Sense
            }
            "ROWS" => Section::Rows,
            "COLUMNS" => Section::Columns,
            "RHS" => Section::Rhs,
            "RANGES" => Section::Ranges,
            "BOUNDS" => Section::Bounds,
            "ENDATA" => Section::End,
            other => {
                let message = format!("`{other}` is no section that is read");
                let hint = "known are NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA: linear problems only";
                return Err(Mistake::new(line, message, hint));
            }
        };
        Ok(())
    }

    fn sense(&mut self, word: &str) {
        self.instance.maximize = word.to_ascii_uppercase().starts_with("MAX");
    }

    fn line(&mut self, fields: &[&str], line: usize) -> Result<(), Mistake> {
        match self.section {
            Section::Start | Section::End => {
                Err(Mistake::new(line, "this line belongs to no section", "start with ROWS"))
            }
            Section::Sense => {
                self.sense(fields[0]);
                Ok(())
            }
            Section::Rows => self.row(fields, line),
            Section::Columns => self.column(fields, line),
            Section::Rhs => self.pairs(fields, line, Reader::rhs),
            Section::Ranges => self.pairs(fields, line, Reader::range),
            Section::Bounds => self.bound(fields, line),
        }
    }

    fn row(&mut self, fields: &[&str], line: usize) -> Result<(), Mistake> {
        let [kind, name] = fields else {
            return Err(Mistake::new(line, "a row has a kind and a name", "as in ` L capacity`"));
        };
        let (inf, kind) = (f64::INFINITY, kind.to_ascii_uppercase());
        let (low, high) = match kind.as_str() {
            "N" => (-inf, inf),
            "L" => (-inf, 0.0),
            "G" => (0.0, inf),
            "E" => (0.0, 0.0),
            _ => return Err(Mistake::new(line, format!("`{kind}` is no kind of row"), "N, L, G or E")),
        };
        let place = match kind.as_str() {
            "N" if self.has_objective => Place::Ignored,
            "N" => Place::Objective,
            _ => Place::Row(self.instance.rows.len()),
        };
        self.has_objective |= kind == "N";
        if let Place::Row(_) = place {
            let kind = kind.chars().next().unwrap_or('E');
            self.instance.rows.push(Row { name: name.to_string(), terms: BTreeMap::new(), low, high, kind });
        }
        match self.places.insert(name.to_string(), place) {
            None => Ok(()),
            Some(_) => Err(Mistake::new(line, format!("there are two rows `{name}`"), "names must differ")),
        }
    }

    fn place(&self, name: &str, line: usize) -> Result<Place, Mistake> {
        let missing = || Mistake::new(line, format!("there is no row `{name}`"), "rows stand under ROWS");
        self.places.get(name).copied().ok_or_else(missing)
    }

    fn column(&mut self, fields: &[&str], line: usize) -> Result<(), Mistake> {
        if fields.get(1) == Some(&"'MARKER'") {
            self.whole = fields.get(2) == Some(&"'INTORG'");
            return Ok(());
        }
        let known = self.columns.get(fields[0]).copied();
        let index = known.unwrap_or(self.instance.columns.len());
        if known.is_none() {
            let (name, whole) = (fields[0].to_string(), self.whole);
            self.columns.insert(name.clone(), index);
            self.instance.columns.push(Column { name, whole, low: 0.0, high: f64::INFINITY });
        }
        if fields.len() < 3 || fields.len().is_multiple_of(2) {
            return Err(Mistake::new(
                line,
                "a column has a name and pairs of a row and a number",
                "as in ` x capacity 2`",
            ));
        }
        for pair in fields[1..].chunks_exact(2) {
            let value = number(pair[1], line)?;
            match self.place(pair[0], line)? {
                Place::Objective => *self.instance.objective.entry(index).or_default() += value,
                Place::Row(row) => *self.instance.rows[row].terms.entry(index).or_default() += value,
                Place::Ignored => {}
            }
        }
        Ok(())
    }

    /// Pairs of a row and a number, after the name of the set if there is one.
    fn pairs(&mut self, fields: &[&str], line: usize, take: fn(&mut Reader, Place, f64)) -> Result<(), Mistake> {
        for pair in fields[fields.len() % 2..].chunks_exact(2) {
            let place = self.place(pair[0], line)?;
            take(self, place, number(pair[1], line)?);
        }
        Ok(())
    }

    fn rhs(&mut self, place: Place, value: f64) {
        match place {
            // By the rule of the format the objective's constant is the negative of its right-hand side.
            Place::Objective => self.instance.offset = -value,
            Place::Row(row) => {
                let row = &mut self.instance.rows[row];
                row.low = if row.low.is_finite() { value } else { row.low };
                row.high = if row.high.is_finite() { value } else { row.high };
            }
            Place::Ignored => {}
        }
    }

    fn range(&mut self, place: Place, value: f64) {
        let Place::Row(row) = place else { return };
        let row = &mut self.instance.rows[row];
        match row.kind {
            'L' => row.low = row.high - value.abs(),
            'G' => row.high = row.low + value.abs(),
            _ if value < 0.0 => row.low = row.high + value,
            _ => row.high = row.low + value,
        }
    }

    fn bound(&mut self, fields: &[&str], line: usize) -> Result<(), Mistake> {
        let kind = fields[0].to_ascii_uppercase();
        let valued = !matches!(kind.as_str(), "FR" | "MI" | "PL" | "BV");
        // KIND [SET] COLUMN [VALUE]
        let named = |name: &&str| self.columns.contains_key(*name);
        let at =
            if fields.len() > 2 + usize::from(valued) || !valued && fields.get(2).is_some_and(named) { 2 } else { 1 };
        let name = fields.get(at).copied().unwrap_or("");
        let Some(&index) = self.columns.get(name) else {
            return Err(Mistake::new(line, format!("there is no column `{name}`"), "columns stand under COLUMNS"));
        };
        let value = match fields.get(at + 1).filter(|_| valued) {
            Some(word) => number(word, line)?,
            None if valued => return Err(Mistake::new(line, format!("the bound of `{name}` has no value"), "add it")),
            None => 0.0,
        };
        let column = &mut self.instance.columns[index];
        match kind.as_str() {
            "UP" | "UI" => {
                column.high = value;
                // A negative upper bound removes the default lower bound of 0.
                column.low = if value < 0.0 && column.low == 0.0 { f64::NEG_INFINITY } else { column.low };
            }
            "LO" | "LI" => column.low = value,
            "FX" => (column.low, column.high) = (value, value),
            "FR" => (column.low, column.high) = (f64::NEG_INFINITY, f64::INFINITY),
            "MI" => column.low = f64::NEG_INFINITY,
            "PL" => column.high = f64::INFINITY,
            "BV" => (column.low, column.high) = (0.0, 1.0),
            _ => {
                let hint = "UP, LO, FX, FR, MI, PL, BV, LI or UI";
                return Err(Mistake::new(line, format!("`{kind}` is no kind of bound"), hint));
            }
        }
        column.whole |= matches!(kind.as_str(), "BV" | "LI" | "UI");
        Ok(())
    }
}

/// A number that is one.
pub(super) fn number(word: &str, line: usize) -> Result<f64, Mistake> {
    match word.parse::<f64>() {
        // Such files use this number for infinity.
        Ok(value) if value.abs() >= 1e30 => Ok(value.signum() * f64::INFINITY),
        Ok(value) if !value.is_nan() => Ok(value),
        _ => Err(Mistake::new(line, format!("`{word}` is not a number"), "as in 2 or -1.5e3")),
    }
}
