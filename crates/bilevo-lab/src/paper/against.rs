//! The published figures next to ours: problem by problem, and the conclusion of each comparison.

use super::compared::{Compared, mean};
use super::published;
use crate::tables::groups::Measure;
use crate::tables::marks::MEASURES;
use crate::tables::{Cell, Mark, Table, Tally};

/// Whether our results support a published conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// In every respect.
    Holds,
    /// In some respects.
    Partly,
    /// In none.
    Fails,
    /// There are too few runs to judge.
    TooFewRuns,
    /// Nothing was measured, or nothing was published.
    Unknown,
}

impl Conclusion {
    /// The text for tables.
    pub fn word(self) -> &'static str {
        match self {
            Conclusion::Holds => "holds",
            Conclusion::Partly => "partly",
            Conclusion::Fails => "does not hold",
            Conclusion::TooFewRuns => "too few runs to test",
            Conclusion::Unknown => "–",
        }
    }
}

/// What was published and what was measured about one method against its base.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Average R_rs in percent, published.
    pub published_saving: Option<f64>,
    /// Average R_rs in percent, measured.
    pub saving: Option<f64>,
    /// Marks of the base against the method in FEs_t, published.
    pub published_evals: Tally,
    /// The same, measured.
    pub evals: Tally,
    /// Marks of the base against the method in Acc_u, published.
    pub published_accuracy: Tally,
    /// The same, measured.
    pub accuracy: Tally,
    /// Median over the problems of measured FEs_t by published FEs_t, base.
    pub base_ratio: Option<f64>,
    /// The same, method.
    pub ratio: Option<f64>,
    /// Whether there are too few runs on some problem to test anything.
    pub too_few_runs: bool,
}

/// The columns with the marks on which conclusions are based.
const ACCURACY: usize = 0;
const EVALS: usize = MEASURES - 1;

impl Finding {
    /// The findings of a comparison; `None` if nothing was published about it.
    pub fn of(compared: &Compared<'_>) -> Option<Finding> {
        let comparison = &compared.comparison;
        let (base, published_as) = (comparison.base, comparison.published_as?);
        let published_tally = |place: usize| -> Tally {
            comparison.on.names.iter().map(|p| published::find(base, p).and_then(|l| l.marks[place])).collect()
        };
        Some(Finding {
            published_saving: published_average(compared, published_as),
            saving: compared.average_saving(comparison.reference),
            published_evals: published_tally(EVALS),
            evals: compared.tally(base, Measure::TotalEvals),
            published_accuracy: published_tally(ACCURACY),
            accuracy: compared.tally(base, Measure::UpperAccuracy),
            base_ratio: median_ratio(compared, base, base),
            ratio: median_ratio(compared, comparison.reference, published_as),
            too_few_runs: compared.of(base).any(|line| line.too_few_runs),
        })
    }

    /// It holds if the published average saving is reached, at least as many problems are significantly cheaper as
    /// published, and no more problems lost upper accuracy. With fewer runs than the test needs, nothing is
    /// concluded.
    pub fn conclusion(&self) -> Conclusion {
        let (Some(published), Some(measured)) = (self.published_saving, self.saving) else {
            return Conclusion::Unknown;
        };
        if self.too_few_runs {
            return Conclusion::TooFewRuns;
        }
        let mut met = vec![measured >= published];
        if self.published_evals.count() > 0 {
            met.push(self.evals.plus >= self.published_evals.plus);
            met.push(self.accuracy.minus <= self.published_accuracy.minus);
        }
        match met.iter().filter(|&&m| m).count() {
            0 => Conclusion::Fails,
            n if n == met.len() => Conclusion::Holds,
            _ => Conclusion::Partly,
        }
    }
}

/// As printed in the paper, if it prints one; otherwise the mean of its lines.
fn published_average(compared: &Compared<'_>, method: &str) -> Option<f64> {
    let (base, problems) = (compared.comparison.base, compared.comparison.on.names);
    let suite: String = problems.first()?.chars().take_while(|c| c.is_alphabetic()).collect();
    let printed = published::average_saving(method, &suite);
    if printed.is_some() && method.strip_prefix("cr-") == Some(base) {
        return printed;
    }
    mean(problems.iter().filter_map(|p| published::saving(method, base, p)))
}

fn median_ratio(compared: &Compared<'_>, method: &str, published_as: &str) -> Option<f64> {
    let ratios = compared
        .of(method)
        .filter_map(|line| Some(line.total()? / published::find(published_as, line.problem)?.total()));
    crate::stats::median(&ratios.collect::<Vec<_>>()).ok()
}

/// Problem by problem: FEs_t of base and method, R_rs, and the mark on FEs_t, published and ours; `None` if nothing
/// was published or run.
pub fn problem_table(compared: &Compared<'_>) -> Option<Table> {
    let columns = [
        "Problem",
        "Base published",
        "Base ours",
        "Ratio",
        "CR published",
        "CR ours",
        "Ratio",
        "R_rs % published",
        "R_rs % ours",
        "Mark published",
        "Mark ours",
        "Same mark",
        "Solved base",
        "Solved CR",
    ];
    let comparison = &compared.comparison;
    let (base, cr, published_as) = (comparison.base, comparison.reference, comparison.published_as?);
    let mut table = Table::new(format!("{}: FEs_t published and ours", comparison.title), 1, &columns);
    table.rows = comparison.on.names.iter().filter_map(|p| problem_line(compared, published_as, p)).collect();
    table.note = format!(
        "Base: {base}. CR: {cr}, compared with the published {published_as}. Ratio: our evaluations (FEs_t) divided by the published ones. Mark: + {cr} takes significantly fewer evaluations than {base}, ≈ no significant difference, − {cr} takes significantly more."
    );
    table.footer.push(average_line(&Finding::of(compared)?));
    (!table.is_empty()).then_some(table)
}

fn problem_line(compared: &Compared<'_>, published_as: &str, problem: &str) -> Option<Vec<Cell>> {
    let comparison = &compared.comparison;
    let base = compared.line(comparison.base, problem)?;
    let method = compared.line(comparison.reference, problem)?;
    let (base_line, line) = (published::find(comparison.base, problem), published::find(published_as, problem));
    let ratio = |ours: Option<f64>, theirs: Option<f64>| Cell::fixed(ours.zip(theirs).map(|(o, t)| o / t), 2);
    let (base_published, published) = (base_line.map(|l| l.total()), line.map(|l| l.total()));
    let published_mark = base_line.and_then(|l| l.marks[EVALS]);
    let mark = base.marks[EVALS];
    let symbol = |m: Option<Mark>| Cell::new(m.map_or_else(|| "–".to_string(), |m| m.symbol().to_string()));
    let agree = published_mark.zip(mark).map(|(a, b)| if a == b { "yes" } else { "no" });
    Some(vec![
        Cell::new(problem),
        Cell::sci(base_published),
        Cell::sci(base.total()),
        ratio(base.total(), base_published),
        Cell::sci(published),
        Cell::sci(method.total()),
        ratio(method.total(), published),
        Cell::fixed(published::saving(published_as, comparison.base, problem), 1),
        Cell::fixed(method.saving, 1),
        symbol(published_mark),
        symbol(mark),
        Cell::new(agree.unwrap_or("–")),
        Cell::new(base.group.solved_text()),
        Cell::new(method.group.solved_text()),
    ])
}

fn counts(tally: Tally) -> Cell {
    Cell::new(if tally.count() > 0 { tally.to_string() } else { "–".into() })
}

fn average_line(finding: &Finding) -> Vec<Cell> {
    let mut cells = vec![Cell::default(); 14];
    cells[0] = Cell::new("Average or median");
    cells[3] = Cell::fixed(finding.base_ratio, 2);
    cells[6] = Cell::fixed(finding.ratio, 2);
    cells[7] = Cell::fixed(finding.published_saving, 1);
    cells[8] = Cell::fixed(finding.saving, 1);
    cells[9] = counts(finding.published_evals);
    cells[10] = counts(finding.evals);
    cells
}

/// One line for each comparison with published figures: do the conclusions hold? `None` if there are none.
pub fn summary(all: &[Compared<'_>]) -> Option<Table> {
    let columns = [
        "Method",
        "Problems",
        "R_rs % publ.",
        "ours",
        "reached",
        "FEs_t publ.",
        "ours",
        "Acc_u publ.",
        "ours",
        "Base ratio",
        "CR ratio",
        "Conclusion",
    ];
    let mut table = Table::new("Published and measured: the conclusions", 2, &columns);
    for compared in all {
        let Some(finding) = Finding::of(compared) else { continue };
        let Some(saving) = finding.saving else { continue };
        let reached = finding.published_saving.map(|p| if saving >= p { "yes" } else { "no" });
        table.rows.push(vec![
            Cell::new(compared.comparison.reference),
            Cell::new(compared.comparison.on.name),
            Cell::fixed(finding.published_saving, 1),
            Cell::fixed(Some(saving), 1),
            Cell::new(reached.unwrap_or("–")),
            counts(finding.published_evals),
            counts(finding.evals),
            counts(finding.published_accuracy),
            counts(finding.accuracy),
            Cell::fixed(finding.base_ratio, 2),
            Cell::fixed(finding.ratio, 2),
            Cell::new(finding.conclusion().word()),
        ]);
    }
    table.note = "R_rs: the average saving compared with the base method. FEs_t (evaluations) and Acc_u (accuracy of F): the number of problems on which the method is significantly better than its base, not significantly different, and significantly worse. Ratios: our FEs_t divided by the published one, median over the problems. A conclusion holds if the published saving is reached, at least as many problems are significantly cheaper, and no more problems lose accuracy of F; with fewer than 4 runs, nothing is tested or concluded. Against v1: the cr- method recalls the elite and v1 does not; the table of the controls compares methods with the same recall.".into();
    (!table.is_empty()).then_some(table)
}
