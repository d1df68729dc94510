//! `bilevo man`.

use crate::{Exit, args::Cli, output};
use clap::CommandFactory;
use std::io::Write;

/// Print the manual page (`bilevo man | man -l -`)
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The page of one command, as in `bilevo man solve`
    command: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    if let Some(name) = &args.command {
        let found = command.find_subcommand(name).cloned();
        let names = command.get_subcommands().map(|c| c.get_name());
        let nearest = bilevo::config::nearest(name, names);
        let hint = bilevo::config::did_you_mean(&nearest);
        command = found.ok_or_else(|| anyhow::anyhow!("there is no command `{name}`{hint}"))?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    let mut out = output::stdout();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Done)
}
