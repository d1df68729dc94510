//! Bars by problem: measured (filled) next to published (outlined).

use super::axis::{Axis, Label, Spread};
use super::frame::Frame;
use super::scene::{Anchor, Ink, Item, Scene};

/// A chart with one bar of each kind for each problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// The bars, from left to right.
    pub values: Vec<Bar>,
    /// A line across with its name.
    pub line: Option<(f64, String)>,
    /// What the values are.
    pub unit: Unit,
}

/// The bars of one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The problem.
    pub problem: String,
    /// Outlined.
    pub published: Option<f64>,
    /// Filled.
    pub measured: Option<f64>,
}

/// What the values of a bar chart are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Percent, perhaps negative.
    Percent,
    /// A share of one.
    Share,
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
        for (k, Bar { problem, published, measured }) in self.values.iter().enumerate() {
            let left = frame.left + slot * k as f64;
            // A single bar is centred on its label.
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
        let all =
            self.values.iter().flat_map(|bar| [finite(bar.published), finite(bar.measured)]).flatten().chain([0.0]);
        let top = if self.unit == Unit::Share { 1.0 } else { 10.0 };
        let label = if self.unit == Unit::Share { Label::Value } else { Label::Percent };
        let mut y = Axis::around(all.clone().chain([top]), Spread::Linear, label);
        if all.clone().all(|value| value >= 0.0) {
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

    /// Draws the keys from the left, where a narrow screen shows them without scrolling; returns where they end.
    fn legend(&self, scene: &mut Scene) -> f64 {
        let mut x = 52.0;
        let any_published = self.values.iter().any(|bar| bar.published.is_some());
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
        let shown = |v: Option<f64>| v.map_or_else(|| "none".into(), |v| self.number(v));
        let sentence = |bar: &Bar| format!("{} {} ({})", bar.problem, shown(bar.measured), shown(bar.published));
        let each: Vec<String> = self.values.iter().map(sentence).collect();
        format!("Measured, with the published value in brackets: {}.", each.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_for_each_figure() {
        let bar = |problem: &str, published| Bar { problem: problem.into(), published, measured: Some(0.83) };
        let values = vec![bar("smd1", Some(0.9)), bar("smd2", None), bar("smd6", Some(0.586))];
        let bars = Bars { title: "Accuracy".into(), values, line: None, unit: Unit::Share };
        let scene = bars.scene();
        assert_eq!(scene.svg("a").matches("bar s").count(), 3 + 2);
        // smd2 has no published accuracy: its bar is centred on its label.
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
        assert!(scene.description.contains("smd2 0.830 (none), smd6 0.830 (0.586)"), "{}", scene.description);
    }
}
