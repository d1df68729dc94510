//! Fills the template of the page.

use super::{Curves, Report, ReportError};
use crate::figures::Scene;
use crate::figures::convergence::{FLOOR, Panel, Quantity};
use crate::tables::{Align, Column, Mark, Table};
use askama::Template;
use std::fmt::Write;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    lead: &'a str,
    report: &'a Report,
    summary: Vec<String>,
    curve_groups: Vec<CurveGroup<'a>>,
    problems: Vec<&'a str>,
    charts: Vec<ChartGroup>,
    tables: Vec<(&'a str, String)>,
    floor: f64,
    data: String,
    script: &'static str,
}

struct CurveGroup<'a> {
    title: &'a str,
    methods: &'a [String],
    panels: Vec<PanelView<'a>>,
}

struct PanelView<'a> {
    number: usize,
    problem: &'a str,
    svg: String,
}

struct ChartGroup {
    id: &'static str,
    title: &'static str,
    words: &'static str,
    figures: Vec<String>,
}

#[derive(Template)]
#[template(path = "table.html")]
pub(crate) struct TablePart<'a> {
    pub(crate) table: &'a Table,
}

impl TablePart<'_> {
    fn is_head(&self, column: &usize) -> bool {
        *column < self.table.heads
    }

    fn is_left(&self, column: &Column) -> bool {
        column.align == Align::Left
    }

    fn mark_class(&self, mark: &Mark) -> &'static str {
        match mark {
            Mark::Better => "plus",
            Mark::Similar => "same",
            Mark::Worse => "minus",
        }
    }
}

pub(super) fn write(report: &Report) -> Result<String, ReportError> {
    let mut data = String::from("[");
    let mut number = 0;
    let mut curve_groups = Vec::new();
    for curves in &report.curves {
        curve_groups.push(curve_group(curves, &mut number, &mut data));
    }
    data.push(']');
    let table = |t: &Table| TablePart { table: t }.render();
    let charts = report.charts.iter().map(|section| {
        let figures = section.charts.iter().enumerate();
        let figures = figures.map(|(k, (_, bars))| inline(&bars.scene(), &format!("{}{k}", section.id))).collect();
        ChartGroup { id: section.id, title: section.title, words: section.words, figures }
    });
    let mut tables = Vec::new();
    for (_, t) in &report.tables {
        tables.push((t.title.as_str(), table(t)?));
    }
    let page = Page {
        title: &report.title,
        lead: &report.lead,
        report,
        summary: report.summary.iter().map(|(_, t)| table(t)).collect::<Result<_, _>>()?,
        problems: problems(&report.curves),
        curve_groups,
        charts: charts.collect(),
        tables,
        floor: FLOOR,
        data,
        script: include_str!("report.js"),
    };
    Ok(page.render()?)
}

fn curve_group<'a>(curves: &'a Curves, number: &mut usize, data: &mut String) -> CurveGroup<'a> {
    let mut panels = Vec::new();
    for panel in &curves.panels {
        if *number > 0 {
            data.push(',');
        }
        write_data(data, panel);
        let svg = inline(&panel.scene(), &format!("panel{number}"));
        panels.push(PanelView { number: *number, problem: &panel.problem, svg });
        *number += 1;
    }
    CurveGroup { title: &curves.title, methods: &curves.methods, panels }
}

fn problems(curves: &[Curves]) -> Vec<&str> {
    let mut seen = Vec::new();
    for panel in curves.iter().flat_map(|c| &c.panels) {
        if !seen.contains(&panel.problem.as_str()) {
            seen.push(panel.problem.as_str());
        }
    }
    seen
}

/// An SVG within the page needs no size: the style sets its width.
pub(crate) fn inline(scene: &Scene, id: &str) -> String {
    let size = format!(" width=\"{}\" height=\"{}\" role", scene.width, scene.height);
    scene.svg(id).replacen(&size, " role", 1)
}

/// The numbers of a panel, for tooltips and other axes. Four digits are enough for both.
fn write_data(out: &mut String, panel: &Panel) {
    let list = |values: &[f64]| values.iter().map(|v| short(*v)).collect::<Vec<_>>().join(",");
    let log = panel.quantity == Quantity::Accuracy;
    let _ = write!(
        out,
        "{{\"area\":[{}],\"ends\":[{}],\"log\":{log},\"curves\":[",
        list(&panel.plot_area()),
        list(&panel.ends())
    );
    for (k, curve) in panel.curves.iter().enumerate() {
        let comma = if k == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma}{{\"name\":{},\"x\":[{}],\"low\":[{}],\"mid\":[{}],\"high\":[{}],\"end\":[{}]}}",
            json_text(&curve.method),
            list(&curve.evals),
            list(&curve.q1),
            list(&curve.median),
            list(&curve.q3),
            list(&[curve.end.0, curve.end.1])
        );
    }
    out.push_str("]}");
}

fn short(value: f64) -> String {
    if !value.is_finite() {
        "null".into()
    } else if value == libm::floor(value) && value.abs() < 1e7 {
        format!("{value:.0}")
    } else {
        format!("{value:.3e}")
    }
}

/// A JSON string that cannot close the surrounding script element.
fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
