//! Paints a scene as PNG: lines and areas with `tiny-skia`, letters as outlines of the bundled DejaVu Sans. Pure
//! Rust; nothing from the system is needed. Letters that the font lacks are drawn as a box.

use super::scene::{Anchor, Item, Point, Scene};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

/// Pixels of the picture per pixel of the scene: sharp in print.
const SCALE: f32 = 2.0;

/// Why a figure could not be painted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// Zero-sized, or too large for memory.
    #[error("a figure of {width} by {height} pixels cannot be painted")]
    Size {
        /// Width asked for.
        width: f64,
        /// Height asked for.
        height: f64,
    },
    /// The bundled font could not be read.
    #[error("the bundled font cannot be read")]
    Font,
    /// The picture could not be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Encode(String),
}

impl Scene {
    /// The figure as PNG.
    ///
    /// # Errors
    /// A figure that is too large for memory.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        let size = PngError::Size { width: self.width, height: self.height };
        let pixels = |length: f64| (length as f32 * SCALE).ceil() as u32;
        let mut map = Pixmap::new(pixels(self.width), pixels(self.height)).ok_or(size)?;
        map.fill(Color::WHITE);
        let face = ttf_parser::Face::parse(dejavu::sans::regular(), 0).map_err(|_| PngError::Font)?;
        self.items.iter().for_each(|item| paint(&mut map, &face, item));
        map.encode_png().map_err(|e| PngError::Encode(e.to_string()))
    }
}

fn paint(map: &mut Pixmap, face: &ttf_parser::Face<'_>, item: &Item) {
    match item {
        Item::Open { .. } | Item::Close => {}
        Item::Line { points, ink, width, dashed, .. } => {
            if let Some(path) = path(points, false) {
                stroke(map, &path, ink.hex(), *width as f32, *dashed);
            }
        }
        Item::Area { points, ink, opacity, .. } => match path(points, true) {
            Some(outline) if *opacity == 0.0 => stroke(map, &outline, ink.hex(), 1.2, false),
            Some(area) => fill(map, &area, ink.hex(), *opacity as f32, scale()),
            None => {}
        },
        Item::Dot { at, radius, ink } => {
            if let Some(circle) = PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32) {
                fill(map, &circle, ink.hex(), 1.0, scale());
            }
        }
        Item::Text { at, size, anchor, ink, upright, text } => {
            let Some((path, length)) = outline(face, text, *size as f32) else { return };
            let back = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => length / 2.0,
                Anchor::End => length,
            };
            let turn = if *upright { Transform::from_rotate(-90.0) } else { Transform::identity() };
            let place = turn.pre_translate(-back, 0.0).post_translate(at.0 as f32, at.1 as f32);
            fill(map, &path, ink.hex(), 1.0, place.post_concat(scale()));
        }
    }
}

fn scale() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (k, &(x, y)) in points.iter().enumerate() {
        if k == 0 {
            builder.move_to(x as f32, y as f32);
        } else {
            builder.line_to(x as f32, y as f32);
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint_of(hex: &str, opacity: f32) -> Paint<'static> {
    let part = |at: usize| hex.get(at..at + 2).and_then(|p| u8::from_str_radix(p, 16).ok()).unwrap_or(0);
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(part(1), part(3), part(5), (opacity * 255.0) as u8);
    paint
}

fn fill(map: &mut Pixmap, path: &Path, hex: &str, opacity: f32, transform: Transform) {
    map.fill_path(path, &paint_of(hex, opacity), FillRule::Winding, transform, None);
}

fn stroke(map: &mut Pixmap, path: &Path, hex: &str, width: f32, dashed: bool) {
    let dash = if dashed { StrokeDash::new(vec![5.0, 3.0], 0.0) } else { None };
    let stroke = Stroke { width, line_cap: LineCap::Butt, line_join: LineJoin::Round, dash, ..Stroke::default() };
    map.stroke_path(path, &paint_of(hex, 1.0), &stroke, scale(), None);
}

/// Outlines of a text at a size, from (0, 0) on its base line, and its length.
fn outline(face: &ttf_parser::Face<'_>, text: &str, size: f32) -> Option<(Path, f32)> {
    let unit = size / f32::from(face.units_per_em());
    let mut pen = Pen { builder: PathBuilder::new(), unit, x: 0.0 };
    for letter in text.chars() {
        let glyph = face.glyph_index(letter).unwrap_or_default();
        face.outline_glyph(glyph, &mut pen);
        pen.x += unit * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    }
    let length = pen.x;
    Some((pen.builder.finish()?, length))
}

struct Pen {
    builder: PathBuilder,
    unit: f32,
    x: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.unit, -y * self.unit)
    }
}

impl ttf_parser::OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::scene::Ink;

    fn dark_pixels(scene: &Scene) -> usize {
        let map = Pixmap::decode_png(&scene.png().unwrap()).unwrap();
        map.pixels().iter().filter(|p| p.red() < 128).count()
    }

    #[test]
    fn letters_are_painted_without_any_system_font() {
        let mut scene = Scene::new(120.0, 30.0, "", "");
        assert_eq!(dark_pixels(&scene), 0);
        scene.text((60.0, 20.0), 12.0, Anchor::Middle, Ink::Text, "smd1 ≈ 10⁻⁶");
        assert!(dark_pixels(&scene) > 200);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for (width, height) in [(0.0, 10.0), (f64::NAN, 10.0), (1e12, 1e12)] {
            assert!(matches!(Scene::new(width, height, "", "").png(), Err(PngError::Size { .. })));
        }
    }
}
