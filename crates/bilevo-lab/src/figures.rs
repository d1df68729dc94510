//! Figures: convergence curves, bars, curves over size, and the plot of a single run, as SVG and PNG.
//!
//! A figure is a [`Scene`] of lines, areas and texts in pixels. [`Scene::svg`] writes it with classes, a title and a
//! description, so that a page can recolour it and a screen reader can describe it. [`Scene::png`] paints the same
//! scene with a bundled font; it needs no system font, window or browser. (Charting crates offer neither classes nor
//! descriptions.)

pub(crate) mod axis;
pub mod bars;
pub mod convergence;
pub(crate) mod frame;
mod png;
mod run;
pub(crate) mod scene;
pub mod sizes;

pub use png::PngError;
pub use run::run_plot;
pub use scene::Scene;
