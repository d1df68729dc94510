//! Convergence: median and quartile band over the runs, against total evaluations.
//!
//! A run is a step function of the evaluations it has spent; after its end, its last value continues. Curves are
//! sampled at points spread evenly over the logarithm of the evaluations, so a page stays small however long the runs
//! were. A dot marks the median end of the runs.

use super::axis::{Axis, Label, Spread};
use super::frame::Frame;
use super::scene::{Anchor, Ink, Item, Point, Scene};
use crate::row::{Row, TracePoint};
use crate::stats;
use crate::tables::groups::{Group, find};

/// Points per curve, unless there are very many curves.
pub const POINTS: usize = 48;
/// Smaller accuracies are drawn at this value: a run may end anywhere below its target.
pub const FLOOR: f64 = 1e-8;

/// The quantity on the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// |F - F*|
    Accuracy,
    /// F
    Value,
}

/// The runs of one method as a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Method.
    pub method: String,
    /// Number that decides its colour.
    pub series: usize,
    /// Total evaluations.
    pub evals: Vec<f64>,
    /// First quartile at each of them.
    pub q1: Vec<f64>,
    /// Median.
    pub median: Vec<f64>,
    /// Third quartile.
    pub q3: Vec<f64>,
    /// Median of the runs' total evaluations and of their last values.
    pub end: (f64, f64),
}

/// The curves of one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Problem.
    pub problem: String,
    /// The quantity on the vertical axis.
    pub quantity: Quantity,
    /// One for each method that was run.
    pub curves: Vec<Curve>,
    frame: Frame,
}

/// Size of a panel in pixels.
pub const PANEL: (f64, f64) = (340.0, 240.0);

impl Panel {
    /// The panel of a problem; `None` if none of its runs has a trace.
    pub fn new(problem: &str, methods: &[String], groups: &[Group<'_>], points: usize) -> Option<Panel> {
        let found: Vec<(usize, &Group<'_>)> =
            methods.iter().enumerate().filter_map(|(k, m)| Some((k, find(groups, m, problem)?))).collect();
        let all_known = found.iter().all(|(_, g)| g.rows.iter().all(|r| r.solved().is_some()));
        let quantity = if all_known { Quantity::Accuracy } else { Quantity::Value };
        let curves: Vec<Curve> = found.iter().filter_map(|(k, g)| curve(g, *k, quantity, points)).collect();
        if curves.is_empty() {
            return None;
        }
        let frame = frame(&curves, quantity);
        Some(Panel { problem: problem.to_string(), quantity, curves, frame })
    }

    /// Left, top, width and height of the plot area in pixels.
    pub fn plot_area(&self) -> [f64; 4] {
        [self.frame.left, self.frame.top, self.frame.width, self.frame.height]
    }

    /// Ends of the axes: evaluations from and to, values from and to.
    pub fn ends(&self) -> [f64; 4] {
        [self.frame.x.low, self.frame.x.high, self.frame.y.low, self.frame.y.high]
    }

    /// The panel as a figure of its own.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::new(PANEL.0, PANEL.1, format!("Convergence on {}", self.problem), self.description());
        scene.text((self.frame.left, 18.0), 13.0, Anchor::Start, Ink::Text, &self.problem);
        self.frame.draw(&mut scene);
        let upwards = match self.quantity {
            Quantity::Accuracy => "|F − F*|",
            Quantity::Value => "F",
        };
        self.frame.name(&mut scene, "total evaluations", upwards);
        self.curves.iter().for_each(|c| self.draw(&mut scene, c));
        scene
    }

    fn draw(&self, scene: &mut Scene, curve: &Curve) {
        let ink = Ink::Series(curve.series);
        let along = |values: &[f64]| -> Vec<Point> {
            curve.evals.iter().zip(values).map(|(&x, &y)| self.frame.at(x, y)).collect()
        };
        let mut band = along(&curve.q1);
        band.extend(along(&curve.q3).into_iter().rev());
        scene.open("curve", Some(curve.method.clone()));
        scene.items.push(Item::Area { points: band, ink, opacity: 0.16, tip: None, class: "band" });
        let dashed = curve.series.is_multiple_of(2);
        scene.items.push(Item::Line { points: along(&curve.median), ink, width: 1.8, dashed, class: "median" });
        scene.items.push(Item::Dot { at: self.frame.at(curve.end.0, curve.end.1), radius: 3.4, ink });
        scene.close();
    }

    fn description(&self) -> String {
        let sentence = |c: &Curve| format!("{} ends at {:.2e} after {:.0} evaluations", c.method, c.end.1, c.end.0);
        let ends: Vec<String> = self.curves.iter().map(sentence).collect();
        format!("Median and quartile band of the runs over total evaluations. Medians: {}.", ends.join("; "))
    }
}

fn frame(curves: &[Curve], quantity: Quantity) -> Frame {
    let x = Axis::around(curves.iter().flat_map(|c| c.evals.iter().copied()), Spread::Log, Label::Count);
    let spread = if quantity == Quantity::Accuracy { Spread::Log } else { Spread::Linear };
    let values = curves.iter().flat_map(|c| c.q1.iter().chain(&c.q3).copied().chain([c.end.1]));
    let y = Axis::around(values, spread, Label::Value);
    Frame { left: 58.0, top: 28.0, width: PANEL.0 - 72.0, height: PANEL.1 - 68.0, x, y }
}

fn curve(group: &Group<'_>, series: usize, quantity: Quantity, points: usize) -> Option<Curve> {
    let traces: Vec<&[TracePoint]> = group.rows.iter().map(|r| r.trace.as_slice()).filter(|t| !t.is_empty()).collect();
    let first = traces.iter().filter_map(|t| t.first()).map(total).fold(1.0, f64::max);
    let last = traces.iter().filter_map(|t| t.last()).map(total).fold(0.0, f64::max);
    if traces.is_empty() {
        return None;
    }
    let mut curve = Curve {
        method: group.method.clone(),
        series,
        evals: Vec::new(),
        q1: Vec::new(),
        median: Vec::new(),
        q3: Vec::new(),
        end: end(group, quantity)?,
    };
    let mut places = vec![0; traces.len()];
    for evals in spread(first, last.max(first), points.max(2)) {
        let values: Vec<f64> = traces
            .iter()
            .zip(&mut places)
            .map(|(trace, place)| {
                while trace.get(*place + 1).is_some_and(|p| total(p) <= evals) {
                    *place += 1;
                }
                value(&trace[*place], quantity)
            })
            .filter(|v| v.is_finite())
            .collect();
        if let Ok(summary) = stats::Summary::of(&values) {
            curve.evals.push(evals);
            curve.q1.push(summary.q1);
            curve.median.push(summary.median);
            curve.q3.push(summary.q3);
        }
    }
    (!curve.evals.is_empty()).then_some(curve)
}

fn end(group: &Group<'_>, quantity: Quantity) -> Option<(f64, f64)> {
    let totals: Vec<f64> = group.rows.iter().map(|r| r.total_evals() as f64).collect();
    let last = |r: &&Row| r.trace.last().map(|p| value(p, quantity)).filter(|v| v.is_finite());
    let values: Vec<f64> = group.rows.iter().filter_map(last).collect();
    Some((stats::median(&totals).ok()?, stats::median(&values).ok()?))
}

fn total(point: &TracePoint) -> f64 {
    point.total_evals() as f64
}

fn value(point: &TracePoint, quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Accuracy => point.accuracy.map_or(f64::NAN, |a| if a < FLOOR { FLOOR } else { a }),
        Quantity::Value => point.upper_value,
    }
}

/// Whole numbers spread evenly over the logarithm, both ends included.
fn spread(low: f64, high: f64, count: usize) -> impl Iterator<Item = f64> {
    let ratio = libm::log(high / low);
    (0..count).map(move |k| libm::round(low * libm::exp(ratio * k as f64 / (count - 1) as f64)))
}

/// All panels on one sheet with a legend, for a file.
pub fn sheet(title: &str, methods: &[String], panels: &[Panel]) -> Scene {
    let columns = panels.len().clamp(1, 4);
    let lines = panels.len().div_ceil(columns);
    let head = 62.0;
    let (width, height) = (PANEL.0 * columns as f64, head + PANEL.1 * lines as f64);
    let description = "Median and quartile band of the runs over total evaluations, one panel for each problem.";
    let mut scene = Scene::new(width, height, title, description);
    scene.text((18.0, 26.0), 16.0, Anchor::Start, Ink::Text, title);
    legend(&mut scene, methods, 48.0);
    for (k, panel) in panels.iter().enumerate() {
        let at = ((k % columns) as f64 * PANEL.0, head + (k / columns) as f64 * PANEL.1);
        scene.place(&panel.scene(), at);
    }
    scene
}

/// A key for each method, from the left.
pub(super) fn legend(scene: &mut Scene, methods: &[String], y: f64) {
    let mut x = 18.0;
    for (k, method) in methods.iter().enumerate() {
        let points = vec![(x, y - 4.0), (x + 26.0, y - 4.0)];
        let (ink, dashed) = (Ink::Series(k), k.is_multiple_of(2));
        scene.items.push(Item::Line { points, ink, width: 2.2, dashed, class: "key" });
        scene.text((x + 32.0, y), 12.0, Anchor::Start, Ink::Text, method);
        x += 56.0 + 7.2 * method.chars().count() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::groups::group;
    use crate::testing::row;

    fn panel(rows: &[Row]) -> Panel {
        Panel::new("smd1", &["bl-cma-es".into(), "cr-bl-cma-es".into()], &group(rows), POINTS).unwrap()
    }

    fn rows() -> Vec<Row> {
        ["bl-cma-es", "cr-bl-cma-es"].iter().flat_map(|m| (1..=5).map(|s| row(m, "smd1", s))).collect()
    }

    #[test]
    fn one_curve_for_each_method() {
        let panel = panel(&rows());
        assert_eq!(panel.curves.len(), 2);
        assert_eq!(panel.scene().svg("a").matches("class=\"curve\"").count(), 2);
        assert_eq!(panel.curves[0].evals.len(), POINTS);
    }

    #[test]
    fn a_curve_is_the_median_of_step_functions() {
        let mut rows: Vec<Row> = (1..=3).map(|s| row("bl-cma-es", "smd1", s)).collect();
        for (row, accuracy) in rows.iter_mut().zip([1.0, 10.0, 100.0]) {
            let at = |evals, a| TracePoint { upper_evals: 0, lower_evals: evals, upper_value: a, accuracy: Some(a) };
            row.trace = vec![at(10, accuracy), at(1000, accuracy / 10.0)];
        }
        // The third run ends early and continues with its last value.
        rows[2].trace.pop();
        let curve = &panel(&rows).curves[0];
        assert_eq!((curve.evals[0], curve.median[0]), (10.0, 10.0));
        assert_eq!((curve.q1[0], curve.q3[0]), (5.5, 55.0));
        let last = curve.evals.len() - 1;
        assert_eq!((curve.evals[last], curve.median[last]), (1000.0, 1.0));
        assert_eq!(curve.median[last - 1], 10.0);
    }

    #[test]
    fn without_a_known_optimum_the_objective_is_drawn() {
        let mut rows = rows();
        for row in &mut rows {
            row.result.solved = None;
        }
        assert_eq!(panel(&rows).quantity, Quantity::Value);
    }

    #[test]
    fn no_trace_no_panel() {
        let mut rows = rows();
        rows.iter_mut().for_each(|r| r.trace.clear());
        assert!(Panel::new("smd1", &["bl-cma-es".into()], &group(&rows), POINTS).is_none());
    }
}
