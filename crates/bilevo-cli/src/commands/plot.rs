//! `solve --plot`: draws a run at its end.

use anyhow::Context;
use bilevo::{Event, History, Observer, Run};
use bilevo_lab::figures::run_plot;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The generations seen so far, and where their plot goes.
pub(super) struct Plot {
    path: PathBuf,
    history: History,
}

impl Plot {
    /// A plot for this file, which must be writable before the run begins and is left empty until
    /// its end.
    pub(super) fn new(path: &Path) -> anyhow::Result<Plot> {
        std::fs::File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(Plot { path: path.to_path_buf(), history: History::default() })
    }

    /// Draws what was seen.
    pub(super) fn finish(self, run: &Run) -> anyhow::Result<()> {
        let engine = run.engine();
        let title = format!("{} on {}, seed {}", run.method(), engine.spec().name, engine.seed());
        let scene = run_plot(&title, &self.history.records);
        let png = self.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        let bytes = if png { scene.png()? } else { scene.svg("run").into_bytes() };
        std::fs::write(&self.path, bytes).with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

impl Observer for Plot {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.history.on(event)
    }
}
