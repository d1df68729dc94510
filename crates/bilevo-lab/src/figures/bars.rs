//! Bars by problem: savings and model accuracies, measured (filled) beside published (outlined).

use super::axis::{Axis, Label, Spread};
use super::frame::Frame;
use super::scene::{Anchor, Ink, Item, Scene};
use crate::published;
use crate::tables::groups::{Group, find};
use crate::tables::paper::{self, Layout};

/// One bar of each sort for each problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// Problem, published value, measured value.
    pub values: Vec<(String, Option<f64>, Option<f64>)>,
    /// A line across with its name.
    pub line: Option<(f64, String)>,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Percent,
    Share,
}

/// Savings (R_rs) of a comparison's reference by problem; none if nothing was measured.
pub fn savings(layout: &Layout, published_as: Option<&str>, groups: &[Group<'_>]) -> Option<Bars> {
    let measured = |p: &str| paper::saving(find(groups, &layout.reference, p)?, find(groups, &layout.base, p)?);
    let published = |p: &str| published::saving(published_as?, &layout.base, p);
    let average = paper::average_saving(layout, &layout.reference, groups)?;
    Some(Bars {
        title: format!("Saving of {}, {}", layout.reference, layout.suite),
        values: layout.problems.iter().map(|p| (p.clone(), published(p), measured(p))).collect(),
        line: Some((average, format!("average {average:.1} %"))),
        unit: Unit::Percent,
    })
}

/// Accuracy of the ranking model of a comparison's reference by problem; none if it has no model.
/// The paper gives numbers for its CR-TLEA-CMA-ES on four SMD problems.
pub fn model_accuracy(layout: &Layout, groups: &[Group<'_>]) -> Option<Bars> {
    let measured = |p: &str| find(groups, &layout.reference, p)?.model_accuracy();
    let with_numbers = layout.reference == "cr-tlea-cma-es";
    let published = |p: &str| if with_numbers { published::model_accuracy(p) } else { None };
    let values: Vec<_> = layout.problems.iter().map(|p| (p.clone(), published(p), measured(p))).collect();
    values.iter().any(|(_, _, m)| m.is_some()).then(|| Bars {
        title: format!("Model accuracy of {}, {}", layout.reference, layout.suite),
        values,
        line: Some((published::MODEL_ACCURACY_ON_MOST, "0.8: published for most problems".into())),
        unit: Unit::Share,
    })
}

impl Bars {
    /// The figure.
    pub fn scene(&self) -> Scene {
        let (width, height) = (540.0, 250.0);
        let mut scene = Scene::new(width, height, &self.title, self.description());
        scene.text((52.0, 18.0), 13.0, Anchor::Start, Ink::Text, &self.title);
        let after_keys = self.legend(&mut scene);
        let frame = self.frame(width, height);
        frame.draw_y(&mut scene);
        let slot = (frame.width / self.values.len().max(1) as f64).min(150.0);
        for (k, (problem, published, measured)) in self.values.iter().enumerate() {
            let left = frame.left + slot * k as f64;
            // A bar without a partner stands above the middle of its label.
            let [first, second] = if published.is_some() && measured.is_some() { [0.12, 0.52] } else { [0.32; 2] };
            self.bar(&mut scene, &frame, (left + slot * first, slot * 0.36), (problem, "published", *published), true);
            self.bar(&mut scene, &frame, (left + slot * second, slot * 0.36), (problem, "measured", *measured), false);
            // A letter is about six pixels wide.
            let shown: String = problem.chars().take((slot / 6.0) as usize + 1).collect();
            scene.text((left + slot / 2.0, frame.bottom() + 15.0), 10.0, Anchor::Middle, Ink::Muted, shown);
        }
        if let Some((value, name)) = &self.line {
            let (_, y) = frame.at(0.0, *value);
            let points = vec![(frame.left, y), (frame.left + frame.width, y)];
            let ink = Ink::Text;
            scene.items.push(Item::Line { points, ink, width: 1.0, dashed: true, class: "level" });
            scene.text((after_keys, 37.0), 11.0, Anchor::Start, Ink::Muted, format!("- - {name}"));
        }
        let (_, zero) = frame.at(0.0, 0.0);
        scene.line(vec![(frame.left, zero), (frame.left + frame.width, zero)], Ink::Muted, 1.0, "frame");
        scene
    }

    fn frame(&self, width: f64, height: f64) -> Frame {
        let finite = |v: Option<f64>| v.filter(|v| v.is_finite());
        let all = self.values.iter().flat_map(|(_, p, m)| [finite(*p), finite(*m)]).flatten().chain([0.0]);
        let top = if self.unit == Unit::Share { 1.0 } else { 10.0 };
        let label = if self.unit == Unit::Share { Label::Value } else { Label::Percent };
        let mut y = Axis::around(all.chain([top]), Spread::Linear, label);
        if self.values.iter().all(|(_, p, m)| p.unwrap_or(0.0) >= 0.0 && m.unwrap_or(0.0) >= 0.0) {
            y.low = 0.0;
        }
        let x = Axis { spread: Spread::Linear, label: Label::Count, low: 0.0, high: 1.0 };
        Frame { left: 52.0, top: 48.0, width: width - 66.0, height: height - 76.0, x, y }
    }

    fn bar(
        &self,
        scene: &mut Scene,
        frame: &Frame,
        (left, width): (f64, f64),
        what: (&str, &str, Option<f64>),
        outlined: bool,
    ) {
        let (problem, sort, Some(value)) = what else { return };
        let ((_, zero), (_, top)) = (frame.at(0.0, 0.0), frame.at(0.0, value));
        let points = vec![(left, zero), (left, top), (left + width, top), (left + width, zero)];
        let tip = Some(format!("{problem}, {sort}: {}", self.number(value)));
        let (ink, opacity) = if outlined { (Ink::Series(0), 0.0) } else { (Ink::Series(1), 0.85) };
        scene.items.push(Item::Area { points, ink, opacity, tip, class: "bar" });
    }

    /// Draws the keys from the left, where a narrow screen shows them without scrolling; returns
    /// where they end.
    fn legend(&self, scene: &mut Scene) -> f64 {
        let mut x = 52.0;
        let any_published = self.values.iter().any(|(_, p, _)| p.is_some());
        let mut keys = vec![("measured", Ink::Series(1), 0.85)];
        if any_published {
            keys.insert(0, ("published", Ink::Series(0), 0.0));
        }
        for (name, ink, opacity) in keys {
            let points = vec![(x, 28.0), (x + 12.0, 28.0), (x + 12.0, 38.0), (x, 38.0)];
            scene.items.push(Item::Area { points, ink, opacity, tip: None, class: "key" });
            scene.text((x + 17.0, 37.0), 11.0, Anchor::Start, Ink::Muted, name);
            x += 82.0;
        }
        x
    }

    fn number(&self, value: f64) -> String {
        match self.unit {
            Unit::Percent => format!("{value:.1} %"),
            Unit::Share => format!("{value:.3}"),
        }
    }

    fn description(&self) -> String {
        let shown = |v: &Option<f64>| v.map_or_else(|| "none".into(), |v| self.number(v));
        let each: Vec<String> =
            self.values.iter().map(|(p, a, b)| format!("{p} {} ({})", shown(b), shown(a))).collect();
        format!("Measured, with the published value in brackets: {}.", each.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study;
    use crate::tables::groups::group;
    use crate::testing::row;

    #[test]
    fn a_bar_for_each_figure() {
        let rows: Vec<_> = ["tlea-cma-es", "cr-tlea-cma-es"]
            .iter()
            .flat_map(|m| (1..=12).map(move |k| row(m, &format!("smd{k}"), 1)))
            .collect();
        let study = study::comparisons(&[study::Part::Smd]);
        let groups = group(&rows);
        let saving = savings(&study[0].layout, study[0].published_as.as_deref(), &groups).unwrap();
        assert_eq!(saving.scene().svg("a").matches("bar s").count(), 24);
        let accuracy = model_accuracy(&study[0].layout, &groups).unwrap();
        assert_eq!(accuracy.scene().svg("a").matches("bar s").count(), 12 + 4);
        // smd2 has no published accuracy: its bar is centred on its label.
        let scene = accuracy.scene();
        let middle = scene.items.iter().find_map(|item| match item {
            Item::Area { points, tip: Some(tip), .. } if tip.starts_with("smd2,") => {
                Some((points[0].0 + points[2].0) / 2.0)
            }
            _ => None,
        });
        let label = scene.items.iter().find_map(|item| match item {
            Item::Text { at, text, .. } if text == "smd2" => Some(at.0),
            _ => None,
        });
        assert!(middle.is_some() && libm::fabs(middle.unwrap() - label.unwrap()) < 1e-9);
        assert!(accuracy.scene().description.contains("smd6 0.830 (0.586)"));
        assert!(savings(&study[1].layout, None, &groups).is_none());
    }
}
