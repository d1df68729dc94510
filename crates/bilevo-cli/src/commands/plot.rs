//! `solve --plot`: draws a run at its end.

use anyhow::{Context, bail};
use bilevo::{Event, History, Observer, Run, RunId};
use bilevo_lab::figures::run_plot;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The generations seen so far, and where their plot goes.
pub(super) struct Plot {
    path: PathBuf,
    history: History,
}

impl Plot {
    /// A plot for this file, which must be writable before the run begins; an earlier picture there
    /// stays until the run ends, and anything else is refused.
    pub(super) fn new(path: &Path) -> anyhow::Result<Plot> {
        refuse_other_files(path)?;
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        opened.with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(Plot { path: path.to_path_buf(), history: History::default() })
    }

    /// Draws what was seen.
    pub(super) fn finish(self, run: &Run) -> anyhow::Result<()> {
        let RunId { method, problem, seed, .. } = run.id();
        let title = format!("{method} on {problem}, seed {seed}");
        let scene = run_plot(&title, &self.history.records);
        let bytes = if ends_in(&self.path, "png") { scene.png()? } else { scene.svg("run").into_bytes() };
        std::fs::write(&self.path, bytes).with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

/// Refuses names that promise no picture, and existing files that hold none. An empty file, as a
/// run that was killed leaves it, loses nothing.
fn refuse_other_files(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    if !ends_in(path, "svg") && !ends_in(path, "png") {
        bail!("`--plot {name}` is not the name of a picture\nhint: give a name that ends in .svg or .png");
    }
    let cannot_read = || format!("cannot read `{name}`");
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(cannot_read),
    };
    let mut start = Vec::new();
    if file.metadata().with_context(cannot_read)?.is_file() {
        file.take(8).read_to_end(&mut start).with_context(cannot_read)?;
        let pictures: [&[u8]; 3] = [b"<svg", b"<?xml", b"\x89PNG\r\n\x1a\n"];
        if start.is_empty() || pictures.iter().any(|picture| start.starts_with(picture)) {
            return Ok(());
        }
    }
    bail!("`{name}` exists and is not a picture\nhint: it was left as it is; give the name of another file")
}

impl Observer for Plot {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.history.on(event)
    }
}
