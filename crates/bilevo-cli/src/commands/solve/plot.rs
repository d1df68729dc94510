//! `solve --plot`: draws a run at its end.

use super::files::is_stdout;
use anyhow::bail;
use bilevo::files::{self, Kind};
use bilevo::{Event, History, Observer, Run, RunId};
use bilevo_lab::figures::run_plot;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// How to recognise pictures; an empty file may be replaced.
const PICTURE: Kind = Kind {
    name: "plot",
    description: "a picture",
    is_ours: |start| {
        let pictures: [&[u8]; 3] = [b"<svg", b"<?xml", b"\x89PNG\r\n\x1a\n"];
        start.is_empty() || pictures.iter().any(|picture| start.starts_with(picture))
    },
};

/// The generations so far, and where their plot goes.
pub(super) struct Plot {
    path: PathBuf,
    history: History,
}

impl Plot {
    /// A plot for this file, which must be writable before the run begins. An earlier picture there stays until the
    /// run ends; anything else is refused.
    pub(super) fn new(path: &Path) -> anyhow::Result<Plot> {
        if !is_stdout(path) {
            if !ends_in(path, "svg") && !ends_in(path, "png") {
                let name = path.display();
                bail!("`--plot {name}` is not the name of a picture\nhint: give a name that ends in .svg or .png");
            }
            files::prepare(path, &PICTURE)?;
        }
        Ok(Plot { path: path.to_path_buf(), history: History::default() })
    }

    /// Draws the plot.
    pub(super) fn finish(self, run: &Run) -> anyhow::Result<()> {
        let RunId { method, problem, seed, .. } = run.id();
        let title = format!("{method} on {problem}, seed {seed}");
        let scene = run_plot(&title, &self.history.records);
        if is_stdout(&self.path) {
            let mut out = std::io::stdout().lock();
            out.write_all(scene.svg("run").as_bytes())?;
            return Ok(out.flush()?);
        }
        let bytes = if ends_in(&self.path, "png") { scene.png()? } else { scene.svg("run").into_bytes() };
        Ok(files::write(&self.path, &PICTURE, |out| out.write_all(&bytes))?)
    }
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

impl Observer for Plot {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.history.on(event)
    }
}
