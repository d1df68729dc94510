//! Success and cost by problem size. Each problem has a column: above, the share of solved runs; below, the expected
//! evaluations on a logarithmic axis; one curve for each method.

use super::axis::{Axis, Label, Spread};
use super::convergence::legend;
use super::frame::Frame;
use super::scene::{Anchor, Ink, Item, Point, Scene};

/// The results of one method on one problem at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Method.
    pub method: String,
    /// Problem, without its size.
    pub problem: String,
    /// Variables of the leader and of the follower.
    pub dims: (usize, usize),
    /// Runs, and how many of them solved the problem.
    pub runs: u64,
    /// See `runs`.
    pub solved: u64,
    /// Evaluations of all runs together.
    pub evaluations: u64,
}

impl Measured {
    fn variables(&self) -> f64 {
        (self.dims.0 + self.dims.1) as f64
    }

    fn percent(&self) -> f64 {
        100.0 * self.solved as f64 / self.runs.max(1) as f64
    }

    /// Evaluations of all runs per solved run, if there is one.
    fn expected(&self) -> Option<f64> {
        (self.solved > 0).then(|| self.evaluations as f64 / self.solved as f64)
    }
}

/// Width of a column, and heights of its two plots.
const COLUMN: f64 = 250.0;
const SHARE: f64 = 70.0;
const COST: f64 = 190.0;
/// Room for title and legend, between the plots, and below.
const HEAD: f64 = 78.0;
const GAP: f64 = 34.0;
const FOOT: f64 = 46.0;

/// The figure of all measurements; problems and methods in the given order.
pub fn sizes(title: &str, measured: &[Measured]) -> Scene {
    let methods = distinct(measured.iter().map(|m| &m.method));
    let problems = distinct(measured.iter().map(|m| &m.problem));
    let width = COLUMN * problems.len().max(1) as f64;
    let mut scene = Scene::new(width, HEAD + SHARE + GAP + COST + FOOT, title, description(measured));
    scene.text((18.0, 26.0), 16.0, Anchor::Start, Ink::Text, title);
    legend(&mut scene, &methods, 48.0);
    for (column, problem) in problems.iter().enumerate() {
        let left = COLUMN * column as f64;
        let [share, cost] = frames(measured, left);
        scene.text((share.left, HEAD - 8.0), 13.0, Anchor::Start, Ink::Text, problem.to_uppercase());
        draw_axes(&mut scene, measured, &share, "solved");
        draw_axes(&mut scene, measured, &cost, "evaluations until solved");
        scene.text((cost.left + cost.width / 2.0, cost.bottom() + 31.0), 11.0, Anchor::Middle, Ink::Muted, "variables");
        for (series, method) in methods.iter().enumerate() {
            let mut own: Vec<&Measured> =
                measured.iter().filter(|m| m.method == *method && m.problem == *problem).collect();
            own.sort_by_key(|m| m.dims);
            scene.open("curve", Some(method.clone()));
            curve(&mut scene, series, own.iter().map(|m| share.at(m.variables(), m.percent())).collect());
            let solved = own.iter().filter_map(|m| Some(cost.at(m.variables(), m.expected()?)));
            curve(&mut scene, series, solved.collect());
            scene.close();
        }
    }
    scene
}

/// The two plots of a column. All columns have the same axes.
fn frames(measured: &[Measured], left: f64) -> [Frame; 2] {
    let x = Axis::around(measured.iter().map(Measured::variables), Spread::Log, Label::Count);
    let share = Axis { spread: Spread::Linear, label: Label::Percent, low: -4.0, high: 104.0 };
    let cost = Axis::around(measured.iter().filter_map(Measured::expected), Spread::Log, Label::Count);
    let frame = |top: f64, height: f64, y: Axis| Frame { left: left + 58.0, top, width: COLUMN - 72.0, height, x, y };
    [frame(HEAD, SHARE, share), frame(HEAD + SHARE + GAP, COST, cost)]
}

/// Grid and labels; the ticks across are the sizes that were measured.
fn draw_axes(scene: &mut Scene, measured: &[Measured], frame: &Frame, upwards: &str) {
    scene.open("axes", None);
    frame.draw_y(scene);
    let mut dims: Vec<(usize, usize)> = measured.iter().map(|m| m.dims).collect();
    dims.sort_unstable();
    dims.dedup();
    for (m, n) in dims {
        let (x, _) = frame.at((m + n) as f64, 0.0);
        scene.line(vec![(x, frame.top), (x, frame.bottom())], Ink::Grid, 1.0, "grid");
        scene.text((x, frame.bottom() + 15.0), 11.0, Anchor::Middle, Ink::Muted, format!("{m}+{n}"));
    }
    frame.draw_corner(scene);
    frame.name(scene, "", upwards);
    scene.close();
}

fn curve(scene: &mut Scene, series: usize, points: Vec<Point>) {
    let (ink, dashed) = (Ink::Series(series), series.is_multiple_of(2));
    scene.items.extend(points.iter().map(|&at| Item::Dot { at, radius: 3.0, ink }));
    scene.items.push(Item::Line { points, ink, width: 1.8, dashed, class: "median" });
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.contains(name) {
            distinct.push(name.clone());
        }
    }
    distinct
}

fn description(measured: &[Measured]) -> String {
    let sentence = |m: &Measured| {
        let (upper, lower) = m.dims;
        let cost = m.expected().map_or_else(String::new, |cost| format!(", {cost:.0} evaluations"));
        format!("{} on {} at {upper}+{lower}: {} of {} solved{cost}", m.method, m.problem, m.solved, m.runs)
    };
    measured.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(method: &str, dims: (usize, usize), solved: u64) -> Measured {
        let (method, problem) = (method.into(), "smd1".into());
        Measured { method, problem, dims, runs: 10, solved, evaluations: 5_000 }
    }

    #[test]
    fn a_size_that_nobody_solved_has_a_share_and_no_cost() {
        let all = [measured("auto", (2, 3), 10), measured("auto", (5, 5), 0), measured("boc", (5, 5), 5)];
        let scene = sizes("Sizes", &all);
        assert!(scene.description.contains("auto on smd1 at 5+5: 0 of 10 solved; boc"), "{}", scene.description);
        assert!(scene.description.ends_with("boc on smd1 at 5+5: 5 of 10 solved, 1000 evaluations"));
        // Three shares, two costs.
        assert_eq!(scene.svg("a").matches("<circle").count(), 3 + 2);
        assert_eq!(scene.svg("a").matches(">5+5<").count(), 2);
    }

    #[test]
    fn larger_problems_stand_to_the_right_and_more_evaluations_higher() {
        let all = [measured("auto", (5, 5), 1), measured("auto", (2, 3), 10)];
        let scene = sizes("Sizes", &all);
        let dots: Vec<Point> = scene
            .items
            .iter()
            .filter_map(|item| if let Item::Dot { at, .. } = item { Some(*at) } else { None })
            .collect();
        // In order of size: shares, then costs; pixels count downwards.
        assert!(dots[0].0 < dots[1].0 && dots[0].1 < dots[1].1);
        assert!(dots[2].0 < dots[3].0 && dots[2].1 > dots[3].1);
    }
}
