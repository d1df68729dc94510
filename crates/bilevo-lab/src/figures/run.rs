//! The plot of a single run: the progress of the elite, and the evaluations at both levels.

use super::axis::{Axis, Label, Spread};
use super::frame::Frame;
use super::scene::{Anchor, Ink, Item, Scene};
use bilevo_core::record::GenerationRecord;

const WIDTH: f64 = 760.0;

/// Draws one run from its generations: above, |F - F*| (F, if the optimum is unknown) over total
/// evaluations; below, evaluations at both levels over generations.
pub fn run_plot(title: &str, generations: &[GenerationRecord]) -> Scene {
    let known = !generations.is_empty() && generations.iter().all(|g| g.accuracy.is_some());
    let last = generations.last().map(|g| {
        format!(
            "After {} generations and {} evaluations F is {:e}.",
            g.generation,
            g.evaluations.total(),
            g.upper_value
        )
    });
    let mut scene = Scene::new(WIDTH, 560.0, title, last.unwrap_or_else(|| "No generation was finished.".into()));
    scene.text((70.0, 24.0), 15.0, Anchor::Start, Ink::Text, title);
    progress(&mut scene, generations, known);
    spending(&mut scene, generations);
    scene
}

fn progress(scene: &mut Scene, generations: &[GenerationRecord], known: bool) {
    let value = |g: &GenerationRecord| match g.accuracy {
        Some(accuracy) if known => accuracy.upper,
        _ => g.upper_value,
    };
    let spread = if known { Spread::Log } else { Spread::Linear };
    let evals = |g: &GenerationRecord| g.evaluations.total() as f64;
    let frame = Frame {
        left: 70.0,
        top: 42.0,
        width: WIDTH - 90.0,
        height: 210.0,
        x: Axis::around(generations.iter().map(evals), Spread::Linear, Label::Count),
        y: Axis::around(generations.iter().map(value), spread, Label::Value),
    };
    frame.draw(scene);
    frame.name(scene, "total evaluations", if known { "|F − F*| of the elite" } else { "F of the elite" });
    let curve = |g: &GenerationRecord| (evals(g), value(g));
    draw(scene, &frame, "elite", generations.iter().map(curve), Ink::Series(1), false);
}

fn spending(scene: &mut Scene, generations: &[GenerationRecord]) {
    let upper = |g: &GenerationRecord| (g.generation as f64, g.evaluations.upper as f64);
    let lower = |g: &GenerationRecord| (g.generation as f64, g.evaluations.lower as f64);
    let counts = generations.iter().flat_map(|g| [upper(g).1, lower(g).1]);
    let frame = Frame {
        left: 70.0,
        top: 320.0,
        width: WIDTH - 90.0,
        height: 190.0,
        x: Axis::around(generations.iter().map(|g| g.generation as f64), Spread::Linear, Label::Count),
        y: Axis::around(counts, Spread::Log, Label::Count),
    };
    frame.draw(scene);
    frame.name(scene, "generation", "evaluations");
    draw(scene, &frame, "lower", generations.iter().map(lower), Ink::Series(0), false);
    draw(scene, &frame, "upper", generations.iter().map(upper), Ink::Series(2), true);
    scene.text((70.0, 312.0), 12.0, Anchor::Start, Ink::Series(0), "— lower level");
    scene.text((180.0, 312.0), 12.0, Anchor::Start, Ink::Series(2), "- - upper level");
}

fn draw(
    scene: &mut Scene,
    frame: &Frame,
    name: &str,
    points: impl Iterator<Item = (f64, f64)>,
    ink: Ink,
    dashed: bool,
) {
    let points = points.filter(|(_, y)| y.is_finite()).map(|(x, y)| frame.at(x, y)).collect();
    scene.open("curve", Some(name.into()));
    scene.items.push(Item::Line { points, ink, width: 2.0, dashed, class: "median" });
    scene.close();
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_core::record::{Accuracy, Evaluations, LowerSearches};

    fn generation(k: u64, accuracy: Option<f64>) -> GenerationRecord {
        GenerationRecord {
            generation: k,
            evaluations: Evaluations { upper: 8 * k, lower: 400 * k, ..Evaluations::default() },
            lower_searches: LowerSearches::default(),
            upper_value: 3.0 / k as f64,
            lower_value: 0.0,
            upper_violation: 0.0,
            lower_violation: 0.0,
            accuracy: accuracy.map(|upper| Accuracy { upper, lower: None }),
            step_size: 1.0,
            axis_ratio: 1.0,
            model: None,
        }
    }

    #[test]
    fn three_curves_whatever_is_known() {
        let known: Vec<_> = (1..=30).map(|k| generation(k, Some(libm::pow(0.5, k as f64)))).collect();
        let unknown: Vec<_> = (1..=30).map(|k| generation(k, None)).collect();
        let zero: Vec<_> = (1..=3).map(|k| generation(k, Some(0.0))).collect();
        for (run, label) in [(known, "|F − F*|"), (unknown, "F of the elite"), (zero, "|F − F*|")] {
            let svg = run_plot("smd1", &run).svg("a");
            assert_eq!(svg.matches("class=\"curve\"").count(), 3);
            assert!(svg.contains(label));
        }
    }

    #[test]
    fn an_empty_run_is_an_empty_plot() {
        assert!(run_plot("<x>", &[]).svg("a").contains("No generation"));
    }
}
