//! The pictures in a report on a run: its progress, its searches, and slices around the answer.

use super::{FEASIBLE, RunReport};
use crate::figures::Scene;
use crate::figures::axis::{Axis, Label, Spread};
use crate::figures::frame::Frame;
use crate::figures::scene::{Anchor, Ink, Item, fitting};
use bilevo::audit::around::{Slice, SlicePoint};
use bilevo::printable::{grouped, short};
use bilevo::record::{Fate, Step};
use bilevo::{GenerationRecord, Level};

/// Size of the pictures of progress: narrow enough to be read on a phone.
const WIDE: (f64, f64) = (420.0, 270.0);
/// Size of one panel of a slice.
const PANEL: (f64, f64) = (360.0, 250.0);
/// Height of a curve's name.
const LABEL_HEIGHT: f64 = 13.0;
/// Curves that end closer than this share one label.
const TOGETHER: f64 = 2.0;
/// How many of the follower's variables are drawn in one panel.
const RESPONSES: usize = 4;
/// A variable that moves by less than this share of its range does not respond.
const STILL: f64 = 1e-6;

fn frame((width, height): (f64, f64), x: Axis, y: Axis) -> Frame {
    Frame { left: 74.0, top: 34.0, width: width - 88.0, height: height - 78.0, x, y }
}

/// Distances from a value, for a logarithmic axis: none of them is 0, and the smallest are drawn at the bottom.
pub(crate) struct Gaps {
    to: f64,
    floor: f64,
}

impl Gaps {
    pub(crate) fn new(to: f64, values: impl Iterator<Item = f64>) -> Self {
        let gaps = values.map(|value| (value - to).abs()).filter(|gap| gap.is_finite() && *gap > 0.0);
        let smallest = gaps.fold(f64::INFINITY, f64::min);
        let rounding = 1e-12 * to.abs().max(1e-3);
        Gaps { to, floor: if smallest.is_finite() { (smallest / 3.0).max(rounding) } else { rounding } }
    }

    pub(crate) fn of(&self, value: f64) -> f64 {
        (value - self.to).abs().max(self.floor)
    }
}

/// The distance of F from its final value, over the evaluations; `None` if fewer than two generations were feasible.
pub(super) fn progress(report: &RunReport<'_>) -> Option<Scene> {
    let feasible = |g: &&GenerationRecord| g.upper_violation <= FEASIBLE && g.lower_violation <= FEASIBLE;
    let shown: Vec<&GenerationRecord> = report.records.iter().filter(feasible).collect();
    let (last, end) = (shown.last().filter(|_| shown.len() > 1)?, report.result.upper_value()?);
    let known =
        report.spec.nearest_known(end, report.result.lower_value().unwrap_or(f64::NAN)).map(|known| known.upper);
    let gaps = Gaps::new(known.unwrap_or(end), shown.iter().map(|g| g.upper_value));
    let evals = |g: &GenerationRecord| g.evaluations.total() as f64;
    let (title, axis) = match known {
        Some(_) => ("Distance of F from the best known value", "|F − best known|"),
        None => ("Distance of F from its final value", "|F − final F|"),
    };
    let words = format!(
        "F was {} after {} evaluations and {} at the end, after {}.",
        short(shown[0].upper_value),
        grouped(shown[0].evaluations.total()),
        short(end),
        grouped(last.evaluations.total())
    );
    let mut scene = Scene::new(WIDE.0, WIDE.1, title, words);
    let x = Axis::around(shown.iter().map(|g| evals(g)), Spread::Linear, Label::Count);
    let y = Axis::around(shown.iter().map(|g| gaps.of(g.upper_value)), Spread::Log, Label::Value);
    let frame = frame(WIDE, x, y);
    scene.text((frame.left, 20.0), 14.0, Anchor::Start, Ink::Text, title);
    frame.draw(&mut scene);
    frame.name(&mut scene, "evaluations of both levels", axis);
    let points = shown.iter().map(|g| frame.at(evals(g), gaps.of(g.upper_value))).collect();
    scene.line(points, Ink::Series(0), 2.0, "median");
    Some(scene)
}

/// Whether the best answer was once farther away than before: it looked better than it was.
pub(super) fn has_peaks(report: &RunReport<'_>) -> bool {
    let Some(end) = report.result.upper_value() else { return false };
    let feasible = |g: &&GenerationRecord| g.upper_violation <= FEASIBLE && g.lower_violation <= FEASIBLE;
    let values: Vec<f64> = report.records.iter().filter(feasible).map(|g| g.upper_value).collect();
    let gaps = Gaps::new(end, values.iter().copied());
    values.windows(2).any(|pair| gaps.of(pair[1]) > 1.5 * gaps.of(pair[0]))
}

/// The colour of a search, by its outcome.
fn ink(fate: Fate) -> Ink {
    match fate {
        Fate::Confirmed => Ink::Series(2),
        Fate::Corrected => Ink::Series(1),
        Fate::Arrived => Ink::Series(0),
        _ => Ink::Muted,
    }
}

/// The outcomes that have a colour, in the order of the legend.
const FATES: [Fate; 4] = [Fate::Confirmed, Fate::Corrected, Fate::Arrived, Fate::Passed];

/// How many searches had which outcome, in words.
fn outcomes(steps: &[&Step]) -> String {
    let count = |fate: Fate| steps.iter().filter(|step| step.fate == fate).count();
    let fates = FATES.into_iter().chain([Fate::Nothing]).filter(|&fate| count(fate) > 0);
    let parts: Vec<_> = fates.map(|fate| format!("{} {fate}", count(fate))).collect();
    format!("{} searches: {}. The table above lists them.", steps.len(), parts.join(", "))
}

/// Every search as a bar: how long it took, and how far from the answer it ended.
pub(super) fn searches(report: &RunReport<'_>) -> Option<Scene> {
    let steps: Vec<&Step> = report.searches().collect();
    // If there is only one search, the curve says more. F at an infeasible point is nothing to compare with.
    let end = report.result.upper_value().filter(|_| steps.len() > 1 && !report.is_infeasible())?;
    let values = || steps.iter().filter_map(|step| step.upper_value.filter(|_| step.feasible));
    let gaps = Gaps::new(end, values());
    let total: u64 = steps.iter().map(|step| step.evaluations).sum();
    let title = "Where each search ended";
    let words = outcomes(&steps);
    let mut scene = Scene::new(WIDE.0, WIDE.1 + 24.0, title, words);
    let x = Axis::around([0.0, total as f64].into_iter(), Spread::Linear, Label::Count);
    let y = Axis::around(values().map(|value| gaps.of(value)).chain([gaps.floor]), Spread::Log, Label::Value);
    let frame = Frame { top: 58.0, ..frame(WIDE, x, y) };
    scene.text((frame.left, 20.0), 14.0, Anchor::Start, Ink::Text, title);
    let mut left = 10.0;
    for fate in FATES.into_iter().filter(|fate| steps.iter().any(|step| step.fate == *fate)) {
        scene.text((left, 42.0), 11.0, Anchor::Start, ink(fate), format!("■ {fate}"));
        left += 26.0 + 5.8 * fate.to_string().len() as f64;
    }
    frame.draw(&mut scene);
    frame.name(&mut scene, "evaluations of both levels", "|F − final F|");
    let mut spent = 0;
    for step in &steps {
        let from = spent;
        spent += step.evaluations;
        let Some(value) = step.upper_value.filter(|_| step.feasible) else { continue };
        let (start, stop) = (frame.at(from as f64, gaps.of(value)), frame.at(spent as f64, gaps.of(value)));
        let points =
            vec![(start.0, start.1 - 3.0), (stop.0, start.1 - 3.0), (stop.0, start.1 + 3.0), (start.0, start.1 + 3.0)];
        let tip =
            format!("{}: F {}, {}, {} evaluations", step.search, short(value), step.fate, grouped(step.evaluations));
        scene.items.push(Item::Area { points, ink: ink(step.fate), opacity: 1.0, tip: Some(tip), class: "bar" });
    }
    Some(scene)
}

/// A curve over the points of a slice, with its name.
type Curve = (String, Vec<Option<f64>>);

fn curve(name: impl Into<String>, slice: &Slice, shown: impl Fn(&SlicePoint) -> Option<f64>) -> Curve {
    (name.into(), slice.points.iter().map(shown).collect())
}

/// What a panel shows, for those who cannot see it.
fn reading(report: &RunReport<'_>, slice: &Slice, (low, high): (f64, f64)) -> String {
    let name = report.name(slice.level, slice.index);
    let ends = [slice.points.first(), slice.points.last()].map(|p| p.map_or("–".into(), |p| short(p.at)));
    let outside = match slice.points.iter().filter(|point| !point.feasible).count() {
        0 => String::new(),
        all if all == slice.points.len() => " Everywhere, a constraint is violated.".into(),
        some => format!(" At {some} of {} points, a constraint is violated.", slice.points.len()),
    };
    format!(
        "Values from {} to {}, for {name} from {} to {}. In the answer, {name} is {}.{outside}",
        short(low),
        short(high),
        ends[0],
        ends[1],
        report.with_unit(&name, short(report.point(slice.level)[slice.index]))
    )
}

/// A panel of a slice: curves over one variable, the answer marked.
fn panel(report: &RunReport<'_>, slice: &Slice, title: &str, curves: &[Curve]) -> Scene {
    let name = report.name(slice.level, slice.index);
    let here = report.point(slice.level)[slice.index];
    let values = || curves.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let words = reading(report, slice, (low, high));
    let mut scene = Scene::new(PANEL.0, PANEL.1, title, words);
    let x = Axis::around(slice.points.iter().map(|p| p.at), Spread::Linear, Label::Value);
    let frame = frame(PANEL, x, Axis::around(values(), Spread::Linear, Label::Value));
    let room = PANEL.0 - frame.left;
    scene.text((frame.left, 20.0), 13.0, Anchor::Start, Ink::Text, fitting(title, room, 13.0));
    frame.draw(&mut scene);
    frame.name(&mut scene, &fitting(&report.axis(&name), room, 11.0), "");
    let at = frame.at(here, 0.0).0;
    let points = vec![(at, frame.top), (at, frame.bottom())];
    scene.items.push(Item::Line { points, ink: Ink::Muted, width: 1.0, dashed: true, class: "cross" });
    let mut labels = Vec::new();
    for (k, (label, values)) in curves.iter().enumerate() {
        let seen: Vec<(&SlicePoint, (f64, f64))> =
            slice.points.iter().zip(values).filter_map(|(p, value)| Some((p, frame.at(p.at, (*value)?)))).collect();
        // Points that violate a constraint are not available, so they are drawn differently.
        for part in seen.chunk_by(|a, b| a.0.feasible == b.0.feasible).filter(|part| part[0].0.feasible) {
            scene.line(part.iter().map(|(_, at)| *at).collect(), Ink::Series(k), 2.0, "median");
        }
        for pair in seen.windows(2).filter(|pair| pair.iter().any(|(point, _)| !point.feasible)) {
            let points = pair.iter().map(|(_, at)| *at).collect();
            scene.items.push(Item::Line { points, ink: Ink::Muted, width: 1.0, dashed: true, class: "outside" });
        }
        for &(point, at) in &seen {
            let (radius, ink) = if point.feasible { (2.2, Ink::Series(k)) } else { (1.6, Ink::Muted) };
            scene.items.push(Item::Dot { at, radius, ink });
        }
        if let (2.., Some((_, at))) = (curves.len(), seen.last()) {
            labels.push((at.1 - 6.0, k, label.clone()));
        }
    }
    for (height, ink, name) in apart(labels, frame.bottom() - 5.0) {
        let name = fitting(&name, frame.width, 11.0);
        scene.text((frame.left + frame.width - 4.0, height), 11.0, Anchor::End, ink, name);
    }
    scene
}

/// The names of curves, each near the end of its curve. Curves that end together share a line, and no two lines
/// overlap or lie below `bottom`.
fn apart(mut labels: Vec<(f64, usize, String)>, bottom: f64) -> Vec<(f64, Ink, String)> {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut names: Vec<(f64, Ink, String)> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (height, k, label) in labels {
        match names.last_mut() {
            Some((_, ink, name)) if height - end < TOGETHER => (*ink, *name) = (Ink::Text, format!("{name}, {label}")),
            last => {
                let free = last.map_or(height, |(above, ..)| *above + LABEL_HEIGHT);
                names.push((height.max(free), Ink::Series(k), label));
            }
        }
        end = height;
    }
    let mut free = bottom;
    for (height, ..) in names.iter_mut().rev() {
        *height = height.min(free);
        free = *height - LABEL_HEIGHT;
    }
    names
}

/// The variables of the follower that respond most along a slice, in their order.
fn responding(report: &RunReport<'_>, slice: &Slice) -> Vec<usize> {
    let space = &report.spec.lower.space;
    let movement = |j: usize| {
        let values = slice.points.iter().filter_map(|p| p.y.get(j).copied()).filter(|value| value.is_finite());
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        // The range of an answer that only the follower's own solver knows is unknown.
        let range = if j < space.dim() { space.variable(j).closed(None).width() } else { low.abs().max(high.abs()) };
        (high - low) / range
    };
    let count = slice.points.iter().map(|point| point.y.len()).max().unwrap_or(0);
    let mut all: Vec<(usize, f64)> = (0..count).map(|j| (j, movement(j))).filter(|(_, by)| *by > STILL).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.truncate(RESPONSES);
    all.sort_by_key(|(j, _)| *j);
    all.into_iter().map(|(j, _)| j).collect()
}

/// Whether every change of a variable violates a constraint, as an equation does, so that a picture would show
/// nothing that is available.
fn is_stuck(report: &RunReport<'_>, slice: &Slice) -> bool {
    let here = report.point(slice.level)[slice.index];
    let range = slice.points.last().map_or(0.0, |last| last.at) - slice.points.first().map_or(0.0, |first| first.at);
    // Closer to the answer, a violation is within the tolerance.
    let beside = |point: &&SlicePoint| (point.at - here).abs() > STILL * range;
    !report.is_infeasible() && slice.points.iter().filter(beside).all(|point| !point.feasible)
}

/// Whether there is such a variable of the follower.
pub(super) fn leaves_out_stuck(report: &RunReport<'_>) -> bool {
    report.slices(Level::Lower).any(|slice| slice.points.len() > 1 && is_stuck(report, slice))
}

/// Whether some of the follower's variables are not drawn.
pub(super) fn leaves_out(report: &RunReport<'_>) -> bool {
    let count = report.point(Level::Lower).len();
    report.slices(Level::Upper).any(|slice| responding(report, slice).len() < count)
}

/// F and the follower's answer along each variable of the leader, and f along each of the follower.
pub(super) fn slices(report: &RunReport<'_>) -> [Vec<Scene>; 2] {
    let mut upper = Vec::new();
    for slice in report.slices(Level::Upper).filter(|slice| slice.points.len() > 1) {
        let name = report.name(Level::Upper, slice.index);
        upper.push(panel(report, slice, &format!("F along {name}"), &[curve("F", slice, |p| p.upper_value)]));
        let answer = |j: usize| curve(report.name(Level::Lower, j), slice, move |p| p.y.get(j).copied());
        let answers: Vec<Curve> = responding(report, slice).into_iter().map(answer).collect();
        if !answers.is_empty() {
            upper.push(panel(report, slice, &format!("The follower's answer to {name}"), &answers));
        }
    }
    let lower =
        report.slices(Level::Lower).filter(|slice| slice.points.len() > 1 && !is_stuck(report, slice)).map(|slice| {
            let title = format!("f along {}", report.name(Level::Lower, slice.index));
            panel(report, slice, &title, &[curve("f", slice, |p| p.lower_value)])
        });
    [upper, lower.collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_curves_neither_overlap_nor_leave_the_frame() {
        let label = |height: f64, k: usize| (height, k, format!("y{}", k + 1));
        let names = apart(vec![label(204.0, 0), label(40.0, 2), label(204.5, 1), label(200.0, 3)], 203.0);
        let seen: Vec<_> = names.iter().map(|(height, ink, name)| (*height, *ink, name.as_str())).collect();
        assert_eq!(seen, [(40.0, Ink::Series(2), "y3"), (190.0, Ink::Series(3), "y4"), (203.0, Ink::Text, "y1, y2")]);
    }
}
