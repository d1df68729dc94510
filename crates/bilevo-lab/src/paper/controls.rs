//! What the model brings: each method with contrastive ranking beside its controls, which have all of
//! it but the model.

use super::compared::{Compared, Line, mean};
use super::study::Part;
use crate::tables::groups::Measure;
use crate::tables::{Cell, Table, Tally};

/// One line for each control and each method with the model; none without any.
pub fn table(all: &[Compared<'_>]) -> Option<Table> {
    let columns = ["Problems", "Method", "R_rs %", "Solved", "Saved beyond it %", "FEs_t", "Acc_u"];
    let mut table = Table::new("What the model brings: the controls", 2, &columns);
    for compared in all.iter().filter(|c| c.comparison.part == Part::Controls) {
        table.rows.extend(compared.comparison.methods.iter().filter_map(|method| line(compared, method)));
    }
    table.note = "R_rs: average saving against the base, over the problems. Solved: runs that found an optimum, both levels. The controls have no model: -recall searches for every candidate and recalls the elite as cr- does, -random searches for a random half, -random-recall does both. Saved beyond it: what the cr- method saves of the evaluations of the method of the line, average over the problems; beside -random-recall that is what the model brings. FEs_t and Acc_u: problems by mark, +/≈/−: + the cr- method is significantly better than the method of the line, ≈ no significant difference, − it is significantly worse.".into();
    (!table.is_empty()).then_some(table)
}

fn line(compared: &Compared<'_>, method: &str) -> Option<Vec<Cell>> {
    compared.of(method).next()?;
    let comparison = &compared.comparison;
    let (solved, runs) = compared.solved(method);
    let tally = |measure| -> Cell {
        let counted: Tally = compared.tally(method, measure);
        Cell::new(if counted.count() > 0 { counted.to_string() } else { "–".into() })
    };
    Some(vec![
        Cell::new(comparison.on.name),
        Cell::new(method),
        Cell::fixed(compared.average_saving(method), 1),
        Cell::new(format!("{solved}/{runs}")),
        Cell::fixed(if method == comparison.reference { None } else { saved_beyond(compared, method) }, 1),
        tally(Measure::TotalEvals),
        tally(Measure::UpperAccuracy),
    ])
}

/// What the reference saves of a method's evaluations in percent, average over the problems.
fn saved_beyond(compared: &Compared<'_>, method: &str) -> Option<f64> {
    let saving = |line: &Line<'_>| {
        let reference = compared.line(compared.comparison.reference, line.problem)?.total()?;
        let own = line.total()?;
        (own > 0.0).then(|| 100.0 * (own - reference) / own)
    };
    mean(compared.of(method).filter_map(saving))
}
