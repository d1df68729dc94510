//! `bilevo completions SHELL`.

use crate::{Exit, args::Cli, output};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::io::Write;

/// Print completions for a shell
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // `generate` panics when it cannot write, so it writes into memory.
    let mut text = Vec::new();
    generate(args.shell, &mut Cli::command(), "bilevo", &mut text);
    let mut out = output::stdout();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Done)
}
