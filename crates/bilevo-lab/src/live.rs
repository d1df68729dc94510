//! The live page of a run or an experiment in progress.

use crate::figures::Scene;
use crate::figures::axis::{Axis, Label, Spread};
use crate::figures::frame::Frame;
use crate::figures::scene::{Anchor, Ink};
use crate::report::ReportError;
use crate::report::page::{TablePart, inline};
use crate::run_report::Gaps;
use crate::tables::Table;
use askama::Template;
use bilevo::printable::short;

/// The state of a run or an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Its name.
    pub title: String,
    /// Its state in a sentence.
    pub lead: String,
    /// Its state in figures.
    pub facts: Vec<(&'static str, String)>,
    /// The runs of an experiment so far.
    pub table: Option<Table>,
    /// Evaluations and the best F, one point for each time the file was read.
    pub curve: Vec<(f64, f64)>,
    /// Seconds after which the page reloads; `None` once the run has ended.
    pub refresh: Option<u64>,
}

#[derive(Template)]
#[template(path = "live.html")]
struct Page<'a> {
    title: &'a str,
    lead: &'a str,
    live: &'a Live,
    table: Option<String>,
    figure: Option<String>,
}

/// Size of the picture: narrow enough to be read on a phone.
const SIZE: (f64, f64) = (420.0, 250.0);

impl Live {
    /// The page.
    ///
    /// # Errors
    /// The page cannot be built.
    pub fn html(&self) -> Result<String, ReportError> {
        let table = self.table.as_ref().map(|table| TablePart { table }.render()).transpose()?;
        let figure = self.figure().map(|scene| inline(&scene, "curve"));
        Ok(Page { title: &self.title, lead: &self.lead, live: self, table, figure }.render()?)
    }

    /// The distance of the best F at each time from the current one, over the evaluations; `None` until it changes.
    /// The scale is logarithmic, because a bad early value would flatten everything that follows.
    fn figure(&self) -> Option<Scene> {
        let [.., last] = &self.curve[..] else { return None };
        if self.curve.iter().all(|point| point.1 == last.1) {
            return None;
        }
        let words = format!("The best F was {} when the page was made.", short(last.1));
        let title = "Distance of F from the best so far";
        let mut scene = Scene::new(SIZE.0, SIZE.1, title, words);
        let gaps = Gaps::new(last.1, self.curve.iter().map(|p| p.1));
        let x = Axis::around(self.curve.iter().map(|p| p.0), Spread::Linear, Label::Count);
        let y = Axis::around(self.curve.iter().map(|p| gaps.of(p.1)), Spread::Log, Label::Value);
        let frame = Frame { left: 74.0, top: 34.0, width: SIZE.0 - 88.0, height: SIZE.1 - 78.0, x, y };
        scene.text((frame.left, 20.0), 14.0, Anchor::Start, Ink::Text, title);
        frame.draw(&mut scene);
        frame.name(&mut scene, "evaluations of both levels", "|F − best F|");
        // The best F stays what it is until something better is found.
        let steps = self.curve.windows(2).flat_map(|pair| [(pair[1].0, pair[0].1), pair[1]]);
        let points = self.curve.first().copied().into_iter().chain(steps);
        scene.line(points.map(|p| frame.at(p.0, gaps.of(p.1))).collect(), Ink::Series(0), 2.0, "median");
        Some(scene)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_renews_itself_until_there_is_nothing_to_wait_for() {
        let live = Live { title: "a <run>".into(), refresh: Some(2), ..Live::default() };
        let html = live.html().unwrap_or_default();
        assert!(html.contains("a &#60;run&#62;") && html.contains("http-equiv=\"refresh\" content=\"2\""));
        let ended = Live { refresh: None, curve: vec![(1.0, 3.0), (9.0, 2.5)], ..live };
        let html = ended.html().unwrap_or_default();
        assert!(!html.contains("http-equiv") && html.contains("The best F was 2.5"));
        let flat = Live { curve: vec![(1.0, 3.0), (9.0, 3.0)], ..Live::default() };
        assert!(!flat.html().unwrap_or_default().contains("<svg"), "a line that says nothing");
    }
}
