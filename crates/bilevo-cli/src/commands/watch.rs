//! `bilevo watch`: shows the progress of a run or an experiment of another process.

mod seen;
mod serve;

use super::interrupt;
use crate::args::Duration;
use crate::output::{self, say};
use crate::{Exit, table};
use bilevo_lab::live::Live;
use seen::Watched;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Watch a run or an experiment in progress
///
/// Reads a checkpoint or a store repeatedly, without changing it, and shows the state of the run: in the
/// terminal, or with --open as a live page in the browser. Ends when the run does, or with Ctrl-C.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A checkpoint that `bilevo solve --checkpoint` writes, or the store of an experiment
    file: PathBuf,
    /// Show a page in the browser; only this computer can see it
    #[arg(long)]
    open: bool,
    /// Time between updates, as in 2s
    #[arg(long, value_name = "TIME", default_value = "1s")]
    every: Duration,
    /// Show the state once and exit
    #[arg(long, conflicts_with = "open")]
    once: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut watched = Watched::open(&args.file)?;
    let first = watched.look(args.every.0)?;
    if args.once {
        print(&first)?;
        return Ok(Exit::Done);
    }
    let stop = interrupt::flag_saying("no longer watching")?;
    if args.open {
        return serve::serve(&mut watched, args.every.0, &stop);
    }
    let mut live = first;
    let mut lines = 0;
    loop {
        let terminal = std::io::stdout().is_terminal();
        if terminal && lines > 0 {
            // Overwrites what was written last time; our own output contains no such control characters.
            std::io::stdout().write_all(format!("\x1b[{lines}A\x1b[J").as_bytes())?;
        }
        lines = print(&live)?;
        if live.refresh.is_none() || !wait(args.every.0, &stop) {
            return Ok(Exit::Done);
        }
        live = watched.look(args.every.0)?;
    }
}

/// Waits; returns whether to continue.
fn wait(every: std::time::Duration, stop: &AtomicBool) -> bool {
    let until = Instant::now() + every;
    while !stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(std::time::Duration::from_millis(50)));
    }
    false
}

/// Writes the lines; returns how many there were.
fn print(live: &Live) -> anyhow::Result<usize> {
    let mut out = output::stdout();
    table::heading(&mut out, format_args!("{}", output::plain(&live.title)))?;
    table::line(&mut out, "now", &live.lead)?;
    for (name, value) in &live.facts {
        table::line(&mut out, name, output::plain(value))?;
    }
    let mut lines = 2 + live.facts.len();
    if let Some(cells) = &live.table {
        let titles = cells.columns.iter().map(|column| column.title.clone()).collect();
        let rows = cells.rows.iter().map(|row| row.iter().map(|cell| output::plain(&cell.text)).collect());
        let all: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
        table::columns(&mut out, &all)?;
        lines += all.len();
    }
    out.flush()?;
    Ok(lines)
}

/// Prints the address of the page, and asks the system to open it.
fn announce(address: &str) {
    say(format_args!("watching at {address} (Ctrl-C ends it)"));
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(if cfg!(windows) { "explorer" } else { opener });
    // Without a browser, the user can still copy the address.
    let _ = command.arg(address).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn();
}
