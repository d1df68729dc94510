//! Beyond the paper: the default method and the published ones, on the published problems and on rotated ones, and
//! the default method without some of its parts.

use super::compared::{Compared, Line};
use super::published::{self, Published};
use super::study::{Comparison, Part, Problems, SMD, TP};
use crate::tables::{Cell, Table};

/// The default method, and the best published method that can solve every problem.
const DEFAULT: &str = "portfolio";
const BESIDE: &str = "cr-tlea-cma-es";

/// The default method on SMD.
pub(super) const ON_SMD: Comparison = Comparison {
    id: "default-smd",
    part: Part::Beyond,
    title: "portfolio (the default) and cr-tlea-cma-es, SMD1–12",
    methods: &[BESIDE, DEFAULT],
    reference: DEFAULT,
    base: BESIDE,
    on: SMD,
    published_as: None,
};

/// On TP.
pub(super) const ON_TP: Comparison =
    Comparison { id: "default-tp", title: "portfolio (the default) and cr-tlea-cma-es, TP1–10", on: TP, ..ON_SMD };

/// On problems that are not in any paper.
pub(super) const ON_ROTATED: Comparison = Comparison {
    id: "default-rotated",
    title: "portfolio (the default) and cr-tlea-cma-es, SMD1–12 rotated",
    on: Problems {
        name: "SMD1–12 rotated",
        names: &[
            "smd1-rotated",
            "smd2-rotated",
            "smd3-rotated",
            "smd4-rotated",
            "smd5-rotated",
            "smd6-rotated",
            "smd7-rotated",
            "smd8-rotated",
            "smd9-rotated",
            "smd10-rotated",
            "smd11-rotated",
            "smd12-rotated",
        ],
        dims: SMD.dims,
    },
    ..ON_SMD
};

/// Without each of the most important parts.
pub(super) const PARTS: Comparison = Comparison {
    id: "default-parts",
    title: "portfolio without its parts, SMD1–12",
    methods: &[
        "portfolio portfolio.descent=0",
        "portfolio portfolio.borders=off",
        "portfolio allocator.kind=all",
        DEFAULT,
    ],
    base: DEFAULT,
    ..ON_SMD
};

/// What each line of [`PARTS`] leaves out.
const WORDS: [&str; 4] = ["without descents", "without borders", "without the ranking network", "whole"];

/// One line for each problem of a comparison with the default method, and one for all; `None` without any runs of it.
pub fn table(all: &[Compared<'_>]) -> Option<Table> {
    let columns = ["Problem", "Best published", "by", BESIDE, "Solved", DEFAULT, "Solved", "of the published"];
    let mut table = Table::new("Beyond the paper: the default method and the published ones", 1, &columns);
    for id in [ON_SMD.id, ON_TP.id, ON_ROTATED.id] {
        let Some(compared) = all.iter().find(|c| c.comparison.id == id) else { continue };
        table.rows.extend(compared.of(DEFAULT).map(|line| problem(compared, line)));
        table.rows.extend(closing(compared));
    }
    table.note = "Expected evaluations of both levels until a run is solved (F within 1e-6, f within 1e-4, violations within 1e-6): the evaluations of all runs, divided by the number of solved runs. Best published: the smallest published total of a method with published accuracies of at most 1e-6 (F) and 1e-3 (f); on TP no method has these, so CR-TLEA-CMA-ES is shown. Rotated problems are compared with the published total of the plain problem. In the rows of a whole suite, the last column is the geometric mean.".into();
    (!table.is_empty()).then_some(table)
}

/// One line for each part that is left out; `None` if that was not run.
pub fn parts(all: &[Compared<'_>]) -> Option<Table> {
    let compared = all.iter().find(|c| c.comparison.id == PARTS.id)?;
    let columns = [DEFAULT, "Solved", "Evaluations", "Problems that lose runs"];
    let mut table = Table::new("Beyond the paper: the default method without its parts, SMD1–12", 1, &columns);
    let lines = PARTS.methods.iter().zip(WORDS).filter_map(|(method, words)| part(compared, method, words));
    table.rows.extend(lines);
    table.note = "Evaluations: the expected evaluations until a run is solved, divided by those of the complete method; geometric mean over the problems that both solve.".into();
    (!table.is_empty()).then_some(table)
}

fn part(compared: &Compared<'_>, method: &str, words: &str) -> Option<Vec<Cell>> {
    compared.of(method).next()?;
    let (solved, runs) = compared.solved(method);
    let ratio = |line: &Line<'_>| Some(expected(line)? / expected(compared.line(DEFAULT, line.problem)?)?);
    let whole = |line: &&Line<'_>| line.group.solved().is_some_and(|solved| solved < line.group.rows.len());
    let lost = compared.of(method).filter(whole).map(|line| format!("{} {}", line.problem, line.group.solved_text()));
    Some(vec![
        Cell::new(words),
        Cell::new(format!("{solved}/{runs}")),
        Cell::fixed(geometric_mean(compared.of(method).filter_map(ratio)), 2),
        Cell::new(lost.collect::<Vec<_>>().join(", ")),
    ])
}

fn problem(compared: &Compared<'_>, line: &Line<'_>) -> Vec<Cell> {
    let best = best_published(line.problem);
    let beside = compared.line(BESIDE, line.problem);
    vec![
        Cell::new(line.problem),
        Cell::fixed(best.map(Published::total), 0),
        Cell::new(best.map_or("–", |best| best.method.as_str())),
        Cell::fixed(beside.and_then(expected), 0),
        Cell::new(beside.map_or_else(|| "–".into(), |line| line.group.solved_text())),
        Cell::fixed(expected(line), 0),
        Cell::new(line.group.solved_text()),
        Cell::fixed(ratio(line), 3),
    ]
}

/// The line of a whole suite.
fn closing(compared: &Compared<'_>) -> Option<Vec<Cell>> {
    compared.of(DEFAULT).next()?;
    let solved = |method| {
        let (solved, runs) = compared.solved(method);
        Cell::new(format!("{solved}/{runs}"))
    };
    let mut cells = vec![Cell::default(); 8];
    cells[0] = Cell::new(compared.comparison.on.name);
    (cells[4], cells[6]) = (solved(BESIDE), solved(DEFAULT));
    cells[7] = Cell::fixed(geometric_mean(compared.of(DEFAULT).filter_map(ratio)), 3);
    Some(cells)
}

/// The evaluations of all runs, divided by the number of solved ones; `None` if there are none.
fn expected(line: &Line<'_>) -> Option<f64> {
    let solved = line.group.solved().filter(|solved| *solved > 0)?;
    let all: u64 = line.group.rows.iter().map(|row| row.total_evals()).sum();
    Some(all as f64 / solved as f64)
}

fn ratio(line: &Line<'_>) -> Option<f64> {
    Some(expected(line)? / best_published(line.problem)?.total())
}

/// The cheapest published method that reaches the optimum of a problem, or of its plain version.
fn best_published(problem: &str) -> Option<&'static Published> {
    let plain = problem.strip_suffix("-rotated").unwrap_or(problem);
    let accurate = |line: &&Published| line.values[0] <= 1e-6 && line.values[1] <= 1e-3;
    if plain.starts_with("tp") {
        return published::find(BESIDE, plain);
    }
    published::all()
        .iter()
        .filter(|line| line.problem == plain)
        .filter(accurate)
        .min_by(|a, b| a.total().total_cmp(&b.total()))
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    super::compared::mean(values.map(f64::ln)).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::groups::group;
    use crate::testing::row;

    fn rows(method: &str, problem: &str, runs: &[(u64, bool)]) -> Vec<crate::row::Row> {
        let made = runs.iter().enumerate().map(|(seed, &(cost, solved))| {
            let mut row = row(method, problem, seed as u64);
            (row.result.evaluations.upper, row.result.evaluations.lower) = (0, cost);
            row.result.solved = Some(solved);
            row
        });
        made.collect()
    }

    #[test]
    fn a_run_that_fails_is_paid_for_by_those_that_do_not() {
        let mut all = rows(DEFAULT, "smd1", &[(100, true), (200, false), (300, true)]);
        all.extend(rows(BESIDE, "smd1", &[(900, false)]));
        all.extend(rows(DEFAULT, "smd10", &[(100, true)]));
        let groups = group(&all);
        let compared = [Compared::new(ON_SMD, &groups)];
        let table = table(&compared).unwrap();
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|line| line.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts[0], ["smd1", "6330", "cr-boc", "–", "0/1", "300", "2/3", "0.047"]);
        // There is no published solution of SMD10.
        assert_eq!(texts[1], ["smd10", "–", "–", "–", "–", "100", "1/1", "–"]);
        assert_eq!(texts[2], ["SMD1–12", "", "", "", "0/1", "", "3/4", "0.047"]);
        assert_eq!(parts(&compared), None);
    }

    #[test]
    fn the_published_totals_are_those_that_reach_the_optimum() {
        let total = |problem| best_published(problem).map(Published::total);
        // Another method ends SMD12 with fewer evaluations, but its follower is off by 16.
        assert_eq!((total("smd12"), total("smd12-rotated")), (Some(30400.0), Some(30400.0)));
        assert_eq!((total("smd11"), total("smd10"), total("tp1")), (Some(36500.0), None, Some(69700.0)));
    }

    #[test]
    fn a_part_stands_beside_the_whole() {
        let mut all = rows(DEFAULT, "smd1", &[(100, true)]);
        all.extend(rows(DEFAULT, "smd2", &[(100, true)]));
        // Labels come from the settings.
        for (problem, cost, solved) in [("smd1", 400, true), ("smd2", 900, false)] {
            let mut without = rows(DEFAULT, problem, &[(cost, solved)]);
            without[0].result.id.settings = "portfolio.descent=0".into();
            without[0].result.id.config_hash = "other".into();
            all.extend(without);
        }
        let groups = group(&all);
        let table = parts(&[Compared::new(PARTS, &groups)]).unwrap();
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|line| line.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts[0], ["without descents", "1/2", "4.00", "smd2 0/1"]);
        assert_eq!(texts[1], ["whole", "2/2", "1.00", ""]);
    }
}
