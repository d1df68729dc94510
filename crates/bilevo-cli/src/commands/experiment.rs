//! `bilevo experiment`: a grid of methods, problems and seeds in one store.

mod export;
mod grid;
mod report;
mod rows;
mod run;
mod status;
mod table;
mod watch;

pub(super) use run::{FINISHED_RUNS_ARE_SAFE, conclude};
pub(super) use watch::Watch;

use crate::Exit;
use clap::Subcommand;

/// Run and analyse grids of methods, problems and seeds
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
enum ExperimentCommand {
    Run(run::Args),
    Status(status::Args),
    Table(table::Args),
    Report(report::Args),
    Export(export::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        ExperimentCommand::Run(args) => run::run(args),
        ExperimentCommand::Status(args) => status::run(args),
        ExperimentCommand::Table(args) => table::run(args),
        ExperimentCommand::Report(args) => report::run(args),
        ExperimentCommand::Export(args) => export::run(args),
    }
}
