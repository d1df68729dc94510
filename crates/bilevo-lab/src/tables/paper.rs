//! Tables in the layout of the paper: medians of the runs, marks against a reference, savings.
//!
//! A mark stands on every line but the reference's, as in the paper: `+` says that the reference
//! (the version with contrastive ranking) is significantly better in that column. Two columns are
//! ours: how many runs solved the problem at both levels, and the accuracy of the ranking model.

use super::groups::{self, Group, Measure, find};
use super::{Cell, Mark, Table, Tally};
use crate::stats::{self, SIGNIFICANCE};

/// With fewer runs on each side no difference can be significant at 0.05.
pub const FEWEST_RUNS: usize = 4;

/// Which methods a table compares on which problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Caption.
    pub title: String,
    /// Methods, in the order of the lines.
    pub methods: Vec<String>,
    /// What the others are tested against.
    pub reference: String,
    /// What savings are measured against.
    pub base: String,
    /// Problems.
    pub problems: Vec<String>,
    /// What the problems are called together.
    pub suite: String,
}

/// The verdict on the reference against a method in one column.
pub fn mark(method: &Group<'_>, reference: &Group<'_>, measure: Measure) -> Option<Mark> {
    stats::verdict(&reference.values(measure), &method.values(measure)).ok()
}

/// R_rs in percent: what the method saves of the base's total evaluations, by medians.
pub fn saving(method: &Group<'_>, base: &Group<'_>) -> Option<f64> {
    let base = base.median(Measure::TotalEvals)?;
    let method = method.median(Measure::TotalEvals)?;
    (base > 0.0).then(|| 100.0 * (base - method) / base)
}

/// Mean of the savings of a method over the problems on which both it and the base were run.
pub fn average_saving(layout: &Layout, method: &str, groups: &[Group<'_>]) -> Option<f64> {
    let savings: Vec<f64> = layout
        .problems
        .iter()
        .filter_map(|p| saving(find(groups, method, p)?, find(groups, &layout.base, p)?))
        .collect();
    (!savings.is_empty()).then(|| savings.iter().sum::<f64>() / savings.len() as f64)
}

/// Marks of a method against the reference over all problems, in one column.
pub fn tally(layout: &Layout, method: &str, measure: Measure, groups: &[Group<'_>]) -> Tally {
    let mark_on = |p: &String| mark(find(groups, method, p)?, find(groups, &layout.reference, p)?, measure);
    layout.problems.iter().map(mark_on).collect()
}

/// The table; lines of methods that were not run are left out.
pub fn table(layout: &Layout, groups: &[Group<'_>]) -> Table {
    let own = layout.problems.iter().flat_map(|p| layout.methods.iter().filter_map(move |m| find(groups, m, p)));
    let [first, second] = groups::value_titles(own);
    let columns = ["Problem", "Method", first, second, "FEs_u", "FEs_l", "FEs_t", "R_rs %", "Solved", "Model accuracy"];
    let mut table = Table::new(&layout.title, 2, &columns);
    for problem in &layout.problems {
        for method in &layout.methods {
            if let Some(group) = find(groups, method, problem) {
                table.rows.push(line(layout, group, groups));
            }
        }
    }
    if table.is_empty() {
        return table;
    }
    for method in &layout.methods {
        table.footer.extend(closing_line(layout, method, groups));
    }
    table.note = note(layout, groups);
    table
}

fn note(layout: &Layout, groups: &[Group<'_>]) -> String {
    let counts = groups
        .iter()
        .filter(|g| layout.methods.contains(&g.method) && layout.problems.contains(&g.problem))
        .map(|g| g.rows.len());
    let (low, high) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    let runs = if low == high { format!("{low}") } else { format!("{low} to {high}") };
    let reference = &layout.reference;
    let mut note = format!(
        "Medians of {runs} runs; accuracies below 1E-06 are shown as 1E-06. Marks as in the paper, by a rank-sum test at {SIGNIFICANCE}: + {reference} is significantly better than the method beside the mark, ≈ no significant difference, − {reference} is significantly worse. R_rs: saving of FEs_t against {}.",
        layout.base
    );
    if high < FEWEST_RUNS {
        note.push_str(&format!(" With fewer than {FEWEST_RUNS} runs on each side the test cannot find a difference."));
    }
    note
}

fn line(layout: &Layout, group: &Group<'_>, groups: &[Group<'_>]) -> Vec<Cell> {
    let reference = find(groups, &layout.reference, &group.problem).filter(|r| r.method != group.method);
    let base = find(groups, &layout.base, &group.problem).filter(|b| b.method != group.method);
    let mut cells = vec![Cell::new(&group.problem), Cell::new(&group.method)];
    for measure in Measure::ALL {
        cells.push(Cell::sci(group.shown(measure)).marked(reference.and_then(|r| mark(group, r, measure))));
    }
    cells.push(Cell::fixed(base.and_then(|b| saving(group, b)), 1));
    cells.push(Cell::new(group.solved_text()));
    cells.push(Cell::fixed(group.model_accuracy(), 3));
    cells
}

fn closing_line(layout: &Layout, method: &str, groups: &[Group<'_>]) -> Option<Vec<Cell>> {
    let own: Vec<&Group<'_>> = layout.problems.iter().filter_map(|p| find(groups, method, p)).collect();
    if own.is_empty() {
        return None;
    }
    let is_reference = method == layout.reference;
    let mut cells = vec![Cell::new(if is_reference { "Average" } else { "+/≈/−" }), Cell::new(method)];
    for measure in Measure::ALL {
        let counted = tally(layout, method, measure, groups);
        let shown = !is_reference && counted.count() > 0;
        cells.push(Cell::new(if shown { counted.to_string() } else { String::new() }));
    }
    let average = (method != layout.base).then(|| average_saving(layout, method, groups)).flatten();
    cells.push(average.map_or_else(Cell::default, |a| Cell::fixed(Some(a), 1)));
    let judged = own.iter().filter_map(|g| Some((g.solved()?, g.rows.len())));
    let (solved, runs) = judged.fold((0, 0), |(a, b), (s, r)| (a + s, b + r));
    cells.push(Cell::new(if runs > 0 { format!("{solved}/{runs}") } else { String::new() }));
    let models: Vec<f64> = own.iter().filter_map(|g| g.model_accuracy()).collect();
    let mean = (!models.is_empty()).then(|| models.iter().sum::<f64>() / models.len() as f64);
    cells.push(mean.map_or_else(Cell::default, |m| Cell::fixed(Some(m), 3)));
    Some(cells)
}
