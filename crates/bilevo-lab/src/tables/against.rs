//! The published figures beside ours: problem by problem, and the conclusions of each comparison.

use super::groups::{Group, Measure, find};
use super::paper::{self, Layout};
use super::{Cell, Mark, Table, Tally};
use crate::published;

/// Whether a published conclusion came out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// In every respect.
    Holds,
    /// In some respects.
    Partly,
    /// In none.
    Fails,
    /// Not to be judged with so few runs.
    TooFewRuns,
    /// Nothing measured or nothing published.
    Unknown,
}

impl Conclusion {
    /// As the tables say it.
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
    /// Runs on the problem that has fewest.
    pub runs: usize,
}

impl Finding {
    /// `published_as` is the method whose published figures `layout.reference` is held against.
    pub fn of(layout: &Layout, published_as: &str, groups: &[Group<'_>]) -> Finding {
        let base = layout.base.as_str();
        let published_tally = |column: usize| -> Tally {
            layout.problems.iter().map(|p| published::find(base, p).and_then(|l| l.marks[column])).collect()
        };
        Finding {
            published_saving: published_average(layout, published_as),
            saving: paper::average_saving(layout, &layout.reference, groups),
            published_evals: published_tally(4),
            evals: paper::tally(layout, base, Measure::TotalEvals, groups),
            published_accuracy: published_tally(0),
            accuracy: paper::tally(layout, base, Measure::UpperAccuracy, groups),
            base_ratio: median_ratio(layout, base, base, groups),
            ratio: median_ratio(layout, &layout.reference, published_as, groups),
            runs: fewest_runs(layout, groups),
        }
    }

    /// Measured marks, or none where there are too few runs for any to mean something.
    fn tested(&self, marks: Tally) -> Tally {
        if self.runs < paper::FEWEST_RUNS { Tally::default() } else { marks }
    }

    /// Holds if the published average saving is reached, at least as many problems are
    /// significantly cheaper as published, and no more problems lost upper accuracy. Nothing is
    /// concluded from fewer runs than the test needs.
    pub fn conclusion(&self) -> Conclusion {
        let (Some(published), Some(measured)) = (self.published_saving, self.saving) else {
            return Conclusion::Unknown;
        };
        if self.runs < paper::FEWEST_RUNS {
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

/// As printed in the paper where it prints one, else the mean of its lines.
fn published_average(layout: &Layout, method: &str) -> Option<f64> {
    let suite: String = layout.problems.first()?.chars().take_while(|c| c.is_alphabetic()).collect();
    let printed = published::average_saving(method, &suite);
    if printed.is_some() && method.strip_prefix("cr-") == Some(&layout.base) {
        return printed;
    }
    let lines: Vec<f64> = layout.problems.iter().filter_map(|p| published::saving(method, &layout.base, p)).collect();
    (!lines.is_empty()).then(|| lines.iter().sum::<f64>() / lines.len() as f64)
}

fn fewest_runs(layout: &Layout, groups: &[Group<'_>]) -> usize {
    let both = [&layout.base, &layout.reference];
    let found = layout.problems.iter().flat_map(|p| both.map(|m| find(groups, m, p)));
    found.flatten().map(|g| g.rows.len()).min().unwrap_or(0)
}

fn median_ratio(layout: &Layout, method: &str, published_as: &str, groups: &[Group<'_>]) -> Option<f64> {
    let ratio = |p: &String| {
        let measured = find(groups, method, p)?.median(Measure::TotalEvals)?;
        Some(measured / published::find(published_as, p)?.total())
    };
    crate::stats::median(&layout.problems.iter().filter_map(ratio).collect::<Vec<_>>()).ok()
}

/// Problem by problem: FEs_t of base and method, R_rs, and the mark on FEs_t, published and ours.
pub fn problem_table(layout: &Layout, published_as: &str, groups: &[Group<'_>]) -> Table {
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
    let title = format!("{}: FEs_t published and ours", layout.title);
    let mut table = Table::new(title, 1, &columns);
    for problem in &layout.problems {
        table.rows.extend(problem_line(layout, published_as, problem, groups));
    }
    if !table.is_empty() {
        let (base, cr) = (&layout.base, &layout.reference);
        table.note = format!(
            "Base: {base}. CR: {cr}, beside the published {published_as}. Ratio: ours by published. Mark: + {cr} needs significantly fewer evaluations (FEs_t) than {base}, ≈ no significant difference, − {cr} needs significantly more."
        );
        table.footer.push(average_line(layout, published_as, groups));
    }
    table
}

fn problem_line(layout: &Layout, published_as: &str, problem: &str, groups: &[Group<'_>]) -> Option<Vec<Cell>> {
    let base = find(groups, &layout.base, problem)?;
    let method = find(groups, &layout.reference, problem)?;
    let (base_line, line) = (published::find(&layout.base, problem), published::find(published_as, problem));
    let (base_total, total) = (base.median(Measure::TotalEvals), method.median(Measure::TotalEvals));
    let ratio = |ours: Option<f64>, theirs: Option<f64>| Cell::fixed(ours.zip(theirs).map(|(o, t)| o / t), 2);
    let (base_published, published) = (base_line.map(|l| l.total()), line.map(|l| l.total()));
    let published_mark = base_line.and_then(|l| l.marks[4]);
    let mark = paper::mark(base, method, Measure::TotalEvals);
    let symbol = |m: Option<Mark>| Cell::new(m.map_or_else(|| "–".to_string(), |m| m.symbol().to_string()));
    let agree = published_mark.zip(mark).map(|(a, b)| if a == b { "yes" } else { "no" });
    Some(vec![
        Cell::new(problem),
        Cell::sci(base_published),
        Cell::sci(base_total),
        ratio(base_total, base_published),
        Cell::sci(published),
        Cell::sci(total),
        ratio(total, published),
        Cell::fixed(published::saving(published_as, &layout.base, problem), 1),
        Cell::fixed(paper::saving(method, base), 1),
        symbol(published_mark),
        symbol(mark),
        Cell::new(agree.unwrap_or("–")),
        Cell::new(base.solved_text()),
        Cell::new(method.solved_text()),
    ])
}

fn average_line(layout: &Layout, published_as: &str, groups: &[Group<'_>]) -> Vec<Cell> {
    let finding = Finding::of(layout, published_as, groups);
    let counts = |t: Tally| Cell::new(if t.count() > 0 { t.to_string() } else { "–".into() });
    let mut cells = vec![Cell::default(); 14];
    cells[0] = Cell::new("Average or median");
    cells[3] = Cell::fixed(finding.base_ratio, 2);
    cells[6] = Cell::fixed(finding.ratio, 2);
    cells[7] = Cell::fixed(finding.published_saving, 1);
    cells[8] = Cell::fixed(finding.saving, 1);
    cells[9] = counts(finding.published_evals);
    cells[10] = counts(finding.tested(finding.evals));
    cells
}

/// One line for each comparison: (layout, the published method its reference is held against).
pub fn summary<'l>(comparisons: impl IntoIterator<Item = (&'l Layout, &'l str)>, groups: &[Group<'_>]) -> Table {
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
    for (layout, published_as) in comparisons {
        let finding = Finding::of(layout, published_as, groups);
        let Some(saving) = finding.saving else { continue };
        let reached = finding.published_saving.map(|p| if saving >= p { "yes" } else { "no" });
        let counts = |t: Tally| Cell::new(if t.count() > 0 { t.to_string() } else { "–".into() });
        table.rows.push(vec![
            Cell::new(&layout.reference),
            Cell::new(&layout.suite),
            Cell::fixed(finding.published_saving, 1),
            Cell::fixed(Some(saving), 1),
            Cell::new(reached.unwrap_or("–")),
            counts(finding.published_evals),
            counts(finding.tested(finding.evals)),
            counts(finding.published_accuracy),
            counts(finding.tested(finding.accuracy)),
            Cell::fixed(finding.base_ratio, 2),
            Cell::fixed(finding.ratio, 2),
            Cell::new(finding.conclusion().word()),
        ]);
    }
    table.note = "R_rs: average saving against the base. FEs_t and Acc_u: problems by mark, +/≈/−: + the method of the line is significantly better than its base, ≈ no significant difference, − it is significantly worse. Ratios: median over the problems of our FEs_t by the published one. A conclusion holds if the published saving is reached, at least as many problems are significantly cheaper, and no more problems lose upper accuracy; with fewer than 4 runs nothing is tested and nothing concluded.".into();
    table
}
