//! The progress of a grid: on a terminal, a line with the time left; on request, JSON lines on stdout.

use crate::args::Format;
use crate::output::{self, plain, warn};
use bilevo::RunId;
use bilevo_lab::runner::Progress;
use bilevo_lab::store::FailedRun;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Shows the progress of a grid.
pub(crate) struct Watch {
    bar: ProgressBar,
    format: Format,
    written: anyhow::Result<()>,
}

#[derive(Serialize)]
struct ProgressLine<'a> {
    #[serde(flatten)]
    run: &'a RunId,
    done: usize,
    failed: usize,
    total: usize,
    seconds: f64,
    seconds_left: Option<f64>,
    failure: Option<&'a str>,
}

impl Watch {
    pub(crate) fn new(format: Format) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos} of {len} runs{msg}") {
            bar.set_style(style);
        }
        Watch { bar, format, written: Ok(()) }
    }

    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        let Progress { done, failed, total, elapsed, left, run, failure } = *progress;
        if let Some(FailedRun { id, message }) = failure {
            self.bar.suspend(|| warn("W303", format_args!("{} failed: {}", plain(&id.to_string()), plain(message))));
        }
        self.bar.set_length(total as u64);
        self.bar.set_position((done + failed) as u64);
        let left_words = left.map(|left| format!(" · {:#} left", HumanDuration(left))).unwrap_or_default();
        self.bar.set_message(left_words);
        if let (Format::Json, Ok(()), Some(run)) = (self.format, &self.written, run) {
            let (seconds, seconds_left) = (elapsed.as_secs_f64(), left.map(|left| left.as_secs_f64()));
            let failure = failure.map(|f| f.message.as_str());
            self.written =
                output::json_line(&ProgressLine { run, done, failed, total, seconds, seconds_left, failure });
        }
    }

    /// Removes the line. Returns what the grid reported, unless that or a line could not be written.
    pub(crate) fn end<T, E: Into<anyhow::Error>>(self, ended: Result<T, E>) -> anyhow::Result<T> {
        self.bar.finish_and_clear();
        let ended = ended.map_err(Into::into)?;
        self.written?;
        Ok(ended)
    }
}
