//! The measurements as text for the terminal, and as a table for the guide.

use super::measure::{self, Row};
use super::{Options, stored};
use anyhow::Result;
use std::io::Write;

/// How many missed runs a line names.
const NAMED: usize = 4;

/// One line for each finished problem, then the summary; then, on request, all of it as a table.
pub(super) fn print(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut sets = Vec::new();
    for set in options.sets() {
        writeln!(
            out,
            "{:15} {:>7} {:>8} {:>8} {:>7} {:>6} {:>6} {:>7}  missed: seed, F, f, violation",
            "problem", "solved", "ERT", "median", "upper", "width", "ratio", "µs/eval"
        )?;
        let rows = measure::problems(options, set, out)?;
        if let Some(csv) = &options.csv {
            stored::keep(csv, set.0, &rows)?;
        }
        writeln!(out, "{}", summary(&rows))?;
        sets.push(rows);
    }
    if options.markdown { markdown(options, &sets, out) } else { Ok(()) }
}

pub(super) fn line(row: &Row, out: &mut impl Write) -> Result<()> {
    let solved = format!("{}/{}", row.solved, row.runs);
    let Row { problem, median, width, micros, .. } = row;
    let (ert, upper) = (row.ert(), row.upper / row.runs);
    let ratio = shown(row.ratio());
    let missed = row.missed.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
    writeln!(
        out,
        "{problem:15} {solved:>7} {ert:8.0} {median:8} {upper:7} {width:6.1} {ratio:>6} {micros:7.0}  {missed}"
    )?;
    Ok(out.flush()?)
}

/// The geometric mean of the ratios, if there is anything published to compare with.
pub(super) fn ratio<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<f64> {
    let logs: Vec<f64> = rows.into_iter().filter_map(Row::ratio).map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// A ratio, or a dash if nothing was published.
pub(super) fn shown(ratio: Option<f64>) -> String {
    ratio.map_or("–".into(), |ratio| format!("{ratio:.3}"))
}

fn solved<'a>(rows: impl IntoIterator<Item = &'a Row>) -> (u64, u64) {
    rows.into_iter().fold((0, 0), |(solved, runs), row| (solved + row.solved, runs + row.runs))
}

fn summary(rows: &[Row]) -> String {
    let (solved, runs) = solved(rows);
    let mean = ratio(rows).map(|mean| format!(", geometric mean of the ratios {mean:.3}"));
    format!("all: {solved} of {runs} solved{}", mean.unwrap_or_default())
}

/// One row for each problem, and for each set of runs its solved ones, evaluations, ratio and time.
/// Without a target, the evaluations are the median of all runs, because each run ends by itself.
fn markdown(options: &Options, sets: &[Vec<Row>], out: &mut impl Write) -> Result<()> {
    let Some(first) = sets.first() else { return Ok(()) };
    let compared = options.target && first.iter().any(|row| row.ratio().is_some());
    let mut head = vec!["problem".to_string()];
    for (method, seed) in options.sets() {
        let method = if options.methods.len() > 1 { format!("`{method}`: ") } else { String::new() };
        head.push(format!("{method}solved, seeds {seed}–{}", seed + options.runs - 1));
        head.push(if options.target { "evaluations" } else { "median of the evaluations" }.into());
        head.extend(compared.then(|| "of the published".into()));
        head.push("µs".into());
    }
    writeln!(out, "\n| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()))?;
    for (index, row) in first.iter().enumerate() {
        let cells = sets.iter().flat_map(|rows| problem_cells(options, compared, &rows[index]));
        writeln!(out, "| {} | {} |", title(&row.problem), cells.collect::<Vec<_>>().join(" | "))?;
    }
    let cells = sets.iter().flat_map(|rows| closing_cells(compared, rows));
    writeln!(out, "| all | {} |", cells.collect::<Vec<_>>().join(" | "))?;
    Ok(())
}

fn problem_cells(options: &Options, compared: bool, row: &Row) -> Vec<String> {
    let evaluations = match (options.target, row.solved) {
        (true, 0) => "none".into(),
        (true, _) => thousands(row.ert().round() as u64),
        (false, _) => thousands(row.median),
    };
    let mut cells = vec![format!("{} of {}", row.solved, row.runs), evaluations];
    let ratio = row.ratio().filter(|ratio| ratio.is_finite());
    cells.extend(compared.then(|| ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"))));
    cells.push(format!("{:.0}", row.micros));
    cells
}

fn closing_cells(compared: bool, rows: &[Row]) -> Vec<String> {
    let (solved, runs) = solved(rows);
    let mut cells = vec![format!("{solved} of {runs}"), String::new()];
    let mean = || ratio(rows).map_or_else(String::new, |mean| format!("{mean:.3}"));
    cells.extend(compared.then(mean));
    cells.push(String::new());
    cells
}

/// `smd1@5+5` as "SMD1 at 5+5"; names of BASBLib as they are.
fn title(problem: &str) -> String {
    let (name, size) = problem.split_once('@').map_or((problem, String::new()), |(n, d)| (n, format!(" at {d}")));
    let name = match name.split_once('/') {
        Some((_, name)) => name.into(),
        None => name.replace("smd", "SMD").replace("tp", "TP").replace("-rotated", ", rotated"),
    };
    format!("{name}{size}")
}

/// 12345 as 12,345.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_for_people() {
        assert_eq!([7, 999, 1000, 1_234_567].map(thousands), ["7", "999", "1,000", "1,234,567"]);
        let names = ["smd9@5+5", "tp10", "smd3-rotated", "basblib/b_1984_01"].map(title);
        assert_eq!(names, ["SMD9 at 5+5", "TP10", "SMD3, rotated", "b_1984_01"]);
    }

    #[test]
    fn what_has_no_published_total_is_compared_with_nothing() {
        let arguments = ["--runs", "1", "--budget", "300", "--markdown", "tp1", "basblib/sa_1981_01"];
        let options = Options::read(arguments.map(String::from).into_iter()).unwrap();
        for problems in [&["tp1", "basblib/sa_1981_01"][..], &["basblib/sa_1981_01"]] {
            let options = Options { problems: problems.iter().map(|name| (*name).into()).collect(), ..options.clone() };
            let mut out = Vec::new();
            print(&options, &mut out).unwrap();
            let printed = String::from_utf8(out).unwrap();
            assert!(!printed.contains("NaN") && printed.contains("of 1"), "{printed}");
        }
    }
}
