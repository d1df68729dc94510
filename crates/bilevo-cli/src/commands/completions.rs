//! `bilevo completions SHELL`.

use crate::{Exit, args::Cli, output};
use bilevo::{Config, methods, settings};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory};
use clap_complete::{Shell, generate};
use std::io::Write;

/// Print completions for a shell
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // `generate` panics if it cannot write, so it writes to memory.
    let mut text = Vec::new();
    generate(args.shell, &mut with_names(Cli::command()), "bilevo", &mut text);
    let mut out = output::stdout();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The commands, with the possible values of `--method`, `--methods` and `--set`. Only completion treats them as
/// fixed choices: on the command line, a wrong name gets a hint with the closest right one.
fn with_names(command: Command) -> Command {
    command.mut_args(name_values).mut_subcommands(with_names)
}

fn name_values(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "method" | "methods" => arg.value_parser(PossibleValuesParser::new(method_names())),
        "set" => arg.value_parser(PossibleValuesParser::new(assignments())),
        _ => arg,
    }
}

fn method_names() -> Vec<String> {
    methods::all().map(|method| method.name()).chain([methods::AUTO.into()]).collect()
}

/// `path=value` if a setting takes words, `path=` if it takes numbers.
fn assignments() -> Vec<PossibleValue> {
    let config = Config::default();
    let values = |setting: &settings::Setting| match (setting.allowed)(&config).words() {
        words if words.is_empty() => vec![String::new()],
        words => words,
    };
    let named = |setting: &'static settings::Setting| {
        values(setting).into_iter().map(|value| format!("{}={value}", setting.path)).map(PossibleValue::new)
    };
    settings::all().iter().flat_map(named).collect()
}
