//! `bilevo man`.

use crate::{Exit, args::Cli, output};
use clap::CommandFactory;
use std::io::Write;

/// Print the manual page (`bilevo man | man -l -`)
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The page of one command, as in `bilevo man solve` or `bilevo man experiment run`
    command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    for name in &args.command {
        let found = command.find_subcommand(name).cloned();
        let names = command.get_subcommands().map(|c| c.get_name());
        let nearest = bilevo::config::nearest(name, names);
        let hint = bilevo::config::did_you_mean(&nearest);
        let parent = command.get_bin_name().unwrap_or("bilevo");
        command = found.ok_or_else(|| anyhow::anyhow!("`{parent}` has no command `{name}`{hint}"))?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    let mut out = output::stdout();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Done)
}
