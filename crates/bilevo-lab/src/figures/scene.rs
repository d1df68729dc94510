//! What a figure consists of, and the SVG writer.

use bilevo::printable::printable_char;
use std::fmt::Write;

/// A point in pixels, y downwards.
pub(crate) type Point = (f64, f64);

/// Colours by role; a page may restyle them by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Text,
    Muted,
    Grid,
    /// Number of a curve or bar; the palette repeats.
    Series(usize),
}

/// Distinguishable with any common colour vision, and dark enough on white.
const SERIES: [&str; 8] = ["#0067a5", "#c44601", "#007a55", "#8a3f8f", "#8a6d00", "#00768f", "#b3245b", "#555555"];

impl Ink {
    pub(crate) fn hex(self) -> &'static str {
        match self {
            Ink::Text => "#1c2430",
            Ink::Muted => "#566072",
            Ink::Grid => "#d9dee6",
            Ink::Series(k) => SERIES[k % SERIES.len()],
        }
    }

    fn class(self) -> String {
        match self {
            Ink::Text => "ink-text".into(),
            Ink::Muted => "ink-muted".into(),
            Ink::Grid => "ink-grid".into(),
            Ink::Series(k) => format!("s{}", k % SERIES.len()),
        }
    }
}

/// Which side of a text is at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// One element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// Opens a group with a class and, optionally, the name of what it shows.
    Open { class: &'static str, name: Option<String> },
    /// Closes it.
    Close,
    /// A line through points.
    Line { points: Vec<Point>, ink: Ink, width: f64, dashed: bool, class: &'static str },
    /// A filled area; `opacity` 0 leaves only its outline.
    Area { points: Vec<Point>, ink: Ink, opacity: f64, tip: Option<String>, class: &'static str },
    /// A filled circle.
    Dot { at: Point, radius: f64, ink: Ink },
    /// A text; `upright` rotates it to read from bottom to top.
    Text { at: Point, size: f64, anchor: Anchor, ink: Ink, upright: bool, text: String },
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// What it shows, in a few words.
    pub title: String,
    /// What can be read off it, in a sentence or two.
    pub description: String,
    pub(crate) items: Vec<Item>,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64, title: impl Into<String>, description: impl Into<String>) -> Self {
        Scene { width, height, title: title.into(), description: description.into(), items: Vec::new() }
    }

    pub(crate) fn open(&mut self, class: &'static str, name: Option<String>) {
        self.items.push(Item::Open { class, name });
    }

    pub(crate) fn close(&mut self) {
        self.items.push(Item::Close);
    }

    pub(crate) fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64, class: &'static str) {
        self.items.push(Item::Line { points, ink, width, dashed: false, class });
    }

    pub(crate) fn text(&mut self, at: Point, size: f64, anchor: Anchor, ink: Ink, text: impl Into<String>) {
        self.items.push(Item::Text { at, size, anchor, ink, upright: false, text: text.into() });
    }

    /// Adds another scene, with its top left corner at a point.
    pub(crate) fn place(&mut self, other: &Scene, (dx, dy): Point) {
        let moved = |&(x, y): &Point| (x + dx, y + dy);
        self.items.extend(other.items.iter().cloned().map(|mut item| {
            match &mut item {
                Item::Line { points, .. } | Item::Area { points, .. } => {
                    points.iter_mut().for_each(|p| *p = moved(p));
                }
                Item::Dot { at, .. } | Item::Text { at, .. } => *at = moved(at),
                Item::Open { .. } | Item::Close => {}
            }
            item
        }));
    }

    /// The figure as SVG. `id` must be unique within a page; in a separate file it can be anything.
    pub fn svg(&self, id: &str) -> String {
        let id = escape(id);
        let (w, h) = (number(self.width), number(self.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\"><title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
            escape(&self.title),
            escape(&self.description)
        );
        let _ = write!(out, "<rect class=\"paper\" width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>");
        self.items.iter().for_each(|item| write_item(&mut out, item));
        out.push_str("</svg>\n");
        out
    }
}

/// A text that is to have at most this width, cut off if necessary. The width of a letter is an estimate, since fonts
/// differ.
pub(crate) fn fitting(text: &str, width: f64, size: f64) -> String {
    let most = (width / (0.62 * size)) as usize;
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn write_item(out: &mut String, item: &Item) {
    let _ = match item {
        Item::Open { class, name } => match name {
            Some(name) => write!(out, "<g class=\"{class}\" data-name=\"{}\">", escape(name)),
            None => write!(out, "<g class=\"{class}\">"),
        },
        Item::Close => write!(out, "</g>"),
        Item::Line { points, ink, width, dashed, class } => write!(
            out,
            "<polyline class=\"ln {class} {}\" points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>",
            ink.class(),
            coordinates(points),
            ink.hex(),
            number(*width),
            if *dashed { " stroke-dasharray=\"5 3\"" } else { "" }
        ),
        Item::Area { points, ink, opacity, tip, class } => {
            let (kind, paint) = if *opacity == 0.0 {
                ("ln", format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\"", ink.hex()))
            } else {
                ("fl", format!("fill=\"{}\" fill-opacity=\"{}\"", ink.hex(), number(*opacity)))
            };
            let tip = tip.as_ref().map(|t| format!("<title>{}</title>", escape(t))).unwrap_or_default();
            let (ink, points) = (ink.class(), coordinates(points));
            write!(out, "<polygon class=\"{kind} {class} {ink}\" points=\"{points}\" {paint}>{tip}</polygon>")
        }
        Item::Dot { at, radius, ink } => write!(
            out,
            "<circle class=\"fl end {}\" cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>",
            ink.class(),
            number(at.0),
            number(at.1),
            number(*radius),
            ink.hex()
        ),
        Item::Text { at, size, anchor, ink, upright, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (number(at.0), number(at.1));
            let turn = if *upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            write!(
                out,
                "<text class=\"fl {}\" x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>",
                ink.class(),
                number(*size),
                ink.hex(),
                escape(text)
            )
        }
    };
}

fn coordinates(points: &[Point]) -> String {
    let mut out = String::with_capacity(points.len() * 12);
    for (k, (x, y)) in points.iter().enumerate() {
        let blank = if k == 0 { "" } else { " " };
        let _ = write!(out, "{blank}{},{}", number(*x), number(*y));
    }
    out
}

/// Two decimals are a fiftieth of a pixel; numbers that are not finite never get into a file.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Text for XML and HTML, in elements and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters are not allowed in XML, not even escaped.
            c => out.push(printable_char(c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out() {
        let mut scene = Scene::new(10.0, 10.0, "<script>\"", "'&");
        scene.open("curve", Some("\"><script>".into()));
        scene.text((0.0, 0.0), 10.0, Anchor::Start, Ink::Text, "</text>\u{0}\u{202e}");
        scene.close();
        let svg = scene.svg("a");
        assert!(!svg.contains("<script"));
        assert!(!svg.contains(['\u{0}', '\u{202e}']));
        assert_eq!(svg.matches("</text>").count(), 1);
    }

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(
            (number(1.50), number(-2.0), number(3.0), number(f64::NAN)),
            ("1.5".into(), "-2".into(), "3".into(), "0".into())
        );
    }
}
