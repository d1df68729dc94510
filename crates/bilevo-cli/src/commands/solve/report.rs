//! `solve --report`: the report on a run, written at its end.

use super::files::{is_stdout, quoted_path};
use super::{Args, Ready};
use crate::commands::quoted;
use anyhow::bail;
use bilevo::{Event, History, Observer, RunResult, Status, files};
use bilevo_lab::report::KIND;
use bilevo_lab::run_report::RunReport;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The generations so far, and where the report goes.
pub(super) struct Page {
    path: PathBuf,
    history: History,
}

impl Page {
    /// A report for this file, which must be writable before the run begins. An earlier report there stays until the
    /// run ends; anything else is refused.
    pub(super) fn new(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().is_some_and(|own| own.eq_ignore_ascii_case("html"));
        if is_stdout(path) || !ending {
            bail!("`--report {}` is not the name of a page\nhint: give a name that ends in .html", path.display());
        }
        files::prepare(path, &KIND)?;
        Ok(Page { path: path.to_path_buf(), history: History::default() })
    }

    /// Explores the neighbourhood of the answer and writes the report.
    pub(super) fn finish(self, args: &Args, ready: &Ready<'_>, result: &RunResult) -> anyhow::Result<()> {
        // After an interruption, the user does not want to wait for more evaluations.
        let evaluations = if result.stop == Status::Interrupted { Some(0) } else { args.report_evals };
        let around = ready.look_around(result, evaluations)?;
        let spec = ready.run.engine().spec();
        let report = RunReport {
            spec,
            result,
            records: &self.history.records,
            around: &around,
            labels: &ready.labels(),
            command: &command(args, result),
        };
        let html = report.html()?;
        Ok(files::write(&self.path, &KIND, |out| out.write_all(html.as_bytes()))?)
    }
}

impl Observer for Page {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.history.on(event)
    }
}

/// The command that gives the same answer again.
fn command(args: &Args, result: &RunResult) -> String {
    let id = &result.id;
    let mut words = match (&args.problem, &args.resume) {
        (_, Some(path)) => vec![format!("bilevo solve --resume {}", quoted_path(path))],
        (problem, None) => vec![format!("bilevo solve {}", quoted(problem.as_deref().unwrap_or_default()))],
    };
    if args.resume.is_none() {
        words.push(format!("--method {} --seed {}", quoted(&id.method), id.seed));
        words.extend(args.size.dims().map(|(upper, lower)| format!("--dims {upper}+{lower}")));
        words.extend(id.settings.split_whitespace().map(|setting| format!("--set {}", quoted(setting))));
    }
    words.extend(args.audit.then(|| "--audit".to_string()));
    words.extend(args.prove.then(|| "--prove".to_string()));
    words.join(" ")
}
