//! What the model contributes: each method with contrastive ranking, compared with controls that have everything
//! but the model.

use super::compared::{Compared, Line, mean};
use super::study::Part;
use crate::tables::groups::Measure;
use crate::tables::{Cell, Table, Tally};

/// One line for each control and each method with the model; `None` if there are none.
pub fn table(all: &[Compared<'_>]) -> Option<Table> {
    let columns = ["Problems", "Method", "R_rs %", "Solved", "Saved by cr- %", "FEs_t", "Acc_u"];
    let mut table = Table::new("What the model contributes: the controls", 2, &columns);
    for compared in all.iter().filter(|c| c.comparison.part == Part::Controls) {
        table.rows.extend(compared.comparison.methods.iter().filter_map(|method| line(compared, method)));
    }
    table.note = "R_rs: the average saving compared with the base method. Solved: runs that found an optimum at both levels. The controls have no model: -recall searches every candidate and recalls the elite as often as cr- does, -random searches a random half, and -random-recall does both. Saved by cr-: the share of this row's evaluations that the cr- method saves, averaged over the problems; in the rows of -random-recall, this is what the model contributes. FEs_t (evaluations) and Acc_u (accuracy of F): the number of problems on which the cr- method is significantly better than this row, not significantly different, and significantly worse.".into();
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
        Cell::new(if runs > 0 { format!("{solved}/{runs}") } else { "–".into() }),
        Cell::fixed(if method == comparison.reference { None } else { saved_beyond(compared, method) }, 1),
        tally(Measure::TotalEvals),
        tally(Measure::UpperAccuracy),
    ])
}

/// How much of a method's evaluations the reference saves, in percent, averaged over the problems.
fn saved_beyond(compared: &Compared<'_>, method: &str) -> Option<f64> {
    let saving = |line: &Line<'_>| {
        let reference = compared.line(compared.comparison.reference, line.problem)?.total()?;
        let own = line.total()?;
        (own > 0.0).then(|| 100.0 * (own - reference) / own)
    };
    mean(compared.of(method).filter_map(saving))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::study::COMPARISONS;
    use crate::tables::groups::group;
    use crate::testing::row;

    #[test]
    fn a_control_stands_beside_what_is_saved_beyond_it() {
        let costs = [("bl-cma-es", 1000), ("bl-cma-es-random-recall", 800), ("cr-bl-cma-es", 600)];
        let mut rows = Vec::new();
        for (method, cost) in costs {
            for (problem, seed) in [("smd1", 1), ("smd1", 2), ("smd2", 1)] {
                let mut row = row(method, problem, seed);
                (row.result.evaluations.upper, row.result.evaluations.lower) = (0, cost);
                row.result.solved = Some(seed == 1);
                rows.push(row);
            }
        }
        let groups = group(&rows);
        let compared: Vec<Compared<'_>> = COMPARISONS.iter().map(|c| Compared::new(*c, &groups)).collect();
        let table = table(&compared).unwrap();
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|line| line[1..5].iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts[0], ["bl-cma-es", "–", "2/3", "40.0"]);
        assert_eq!(texts[1], ["bl-cma-es-random-recall", "20.0", "2/3", "25.0"]);
        assert_eq!(texts[2], ["cr-bl-cma-es", "40.0", "2/3", "–"]);
        assert_eq!(texts.len(), 3);
    }
}
