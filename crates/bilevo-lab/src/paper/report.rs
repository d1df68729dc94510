//! The report of the study: every table and figure of its comparisons.

use super::against::{self, Finding};
use super::compared::Compared;
use super::study::Comparison;
use super::{DIFFERENCES, beyond, controls, figures, layout, readings};
use crate::figures::bars::Bars;
use crate::figures::convergence::Panel;
use crate::report::{self, Charts, Curves, Remarks, Report, ReportError, Tile};
use crate::row::Row;
use crate::tables::Table;
use crate::tables::general::TableError;
use crate::tables::groups::{self, Group};
use std::collections::BTreeSet;

/// What the page is about, for those who do not know the paper.
const ABOUT: &str = "Methods whose names begin with cr- rank decisions first, and search the follower's answer only for \
                     the promising ones. This page shows which share of the evaluations that saves, in the paper and \
                     in our runs, compared with the same method without ranking (its base).";

/// The report of some comparisons on some rows (loaded with traces); `command` says how it was made.
///
/// # Errors
/// No rows.
pub fn report(comparisons: &[Comparison], rows: &[Row], command: &str) -> Result<Report, ReportError> {
    let groups = groups::group(rows);
    if groups.is_empty() {
        return Err(TableError::Empty.into());
    }
    let all: Vec<Compared<'_>> = comparisons.iter().map(|c| Compared::new(*c, &groups)).collect();
    let points = report::points(comparisons.iter().map(|c| c.methods.len() * c.on.names.len()).sum());
    let curves = all.iter().map(|c| curves(c, &groups, points)).filter(|c| !c.panels.is_empty());
    let mut facts = report::facts(rows, &groups, command);
    facts.insert(1, ("Parts of the study", parts(comparisons)));
    Ok(Report {
        title: "The published study, measured again".into(),
        lead: format!("{ABOUT} {}", report::lead(rows, &groups)),
        tiles: all.iter().filter_map(tile).collect(),
        summary: summaries(&all),
        curves: curves.collect(),
        charts: charts(&all),
        tables: all.iter().flat_map(tables).collect(),
        left_out: Vec::new(),
        remarks: Remarks { title: "Where we differ and why", paragraphs: DIFFERENCES },
        facts,
    })
}

/// The tables at the top of the page, and what is printed: conclusions, controls, readings, the default
/// method.
fn summaries(all: &[Compared<'_>]) -> Vec<(String, Table)> {
    let tables = [
        ("summary", against::summary(all)),
        ("controls", controls::table(all)),
        ("readings", readings::table(all)),
        ("beyond", beyond::table(all)),
        ("beyond-parts", beyond::parts(all)),
    ];
    tables.into_iter().filter_map(|(name, table)| Some((name.to_string(), table?))).collect()
}

fn parts(comparisons: &[Comparison]) -> String {
    let parts: BTreeSet<_> = comparisons.iter().map(|c| c.part).collect();
    parts.into_iter().map(|part| part.name()).collect::<Vec<_>>().join(", ")
}

fn tile(compared: &Compared<'_>) -> Option<Tile> {
    let finding = Finding::of(compared)?;
    let published = finding.published_saving.map_or_else(|| "nothing".into(), |p| format!("{p:.1}\u{a0}%"));
    Some(Tile {
        name: compared.comparison.title.into(),
        value: format!("{:.1}\u{a0}%", finding.saving?),
        detail: format!("average saving; published {published}"),
        claim: "Published conclusion",
        verdict: finding.conclusion().word().to_string(),
    })
}

fn curves(compared: &Compared<'_>, groups: &[Group<'_>], points: usize) -> Curves {
    let Comparison { id, title, methods, on, .. } = compared.comparison;
    let methods: Vec<String> = methods.iter().map(ToString::to_string).collect();
    let panels = on.names.iter().filter_map(|p| Panel::new(p, &methods, groups, points)).collect();
    Curves { name: format!("{id}-convergence"), title: title.into(), methods, panels }
}

fn charts(all: &[Compared<'_>]) -> Vec<Charts> {
    let draw = |name: &str, draw: fn(&Compared<'_>) -> Option<Bars>| -> Vec<(String, Bars)> {
        let named = |c: &Compared<'_>| Some((format!("{}-{name}", c.comparison.id), draw(c)?));
        all.iter().filter_map(named).collect()
    };
    let sections = [
        Charts {
            id: "savings",
            title: "Savings",
            words: "R_rs: the share of the base’s evaluations that the other method saves, from the medians of the runs.",
            charts: draw("savings", figures::savings),
        },
        Charts {
            id: "models",
            title: "Model accuracy",
            words: "How many pairs of new solutions a model orders correctly before it is trained on them; mean over the runs. As in the paper, the pairs come from different generations. The tables also show the accuracy within one generation, which is what matters for the search.",
            charts: draw("model-accuracy", figures::model_accuracy),
        },
    ];
    sections.into_iter().filter(|section| !section.charts.is_empty()).collect()
}

/// The published figures next to ours, if there are any, and the table in the paper's layout, each with a name for
/// its file.
fn tables(compared: &Compared<'_>) -> Vec<(String, Table)> {
    let id = compared.comparison.id;
    let beside = against::problem_table(compared).map(|table| (format!("{id}-published"), table));
    let own = Some(layout::table(compared)).filter(|table| !table.is_empty());
    beside.into_iter().chain(own.map(|table| (id.to_string(), table))).collect()
}
