//! `bilevo explain METHOD|PROBLEM`: what a method does, its steps, its settings and its
//! source; or what a problem is.

mod problem;

use crate::Exit;
use crate::args::{Format, SizeArgs};
use crate::output::{self, BOLD};
use crate::table::{columns, heading, paragraph};
use bilevo::problems::ProblemError;
use bilevo::{Config, ConfigError};
use bilevo::{SourceError, methods, settings, source};
use serde::Serialize;
use std::io::Write;

/// Explain a method (what it does, its settings, its source) or a problem (variables, constraints, optima)
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    /// A method (see `bilevo list methods`), a problem (see `bilevo list problems`) or a problem file
    #[arg(value_name = "METHOD|PROBLEM")]
    what: String,
    #[command(flatten)]
    size: SizeArgs,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct AboutMethod {
    method: String,
    base: &'static str,
    about: &'static str,
    variant: Option<&'static str>,
    /// What it does, step by step.
    steps: Vec<String>,
    /// Its settings.
    config: Config,
    source: &'static str,
    /// When `auto` chooses another method.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// What `auto` chooses instead of this method.
fn notice(name: &str) -> Option<String> {
    let (whole, most, beyond) = (methods::EXCHANGE.name, methods::MOST_VARIABLES, methods::MANY_VARIABLES);
    let words = format!(
        "With whole numbers, `auto` switches to `{whole}`. With more than {most} variables, `auto` switches to \
         `{beyond}`. The result says so."
    );
    (name == methods::AUTO).then_some(words)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let method = match methods::find(&args.what) {
        Ok(method) => method,
        Err(unknown) => {
            let source = match source::open(&args.what, args.size.dims()) {
                Err(SourceError::Problem(ProblemError::Unknown { nearest: None, .. }) | SourceError::Ending { .. }) => {
                    match unknown {
                        ConfigError::UnknownMethod { nearest: None, .. } => {
                            let hint = "`bilevo list methods`, `bilevo list problems` and `bilevo list settings` show all names";
                            let what = output::plain(&args.what);
                            let message = format!("there is no method or problem `{what}`\nhint: {hint}");
                            return Err(output::coded("E101", message));
                        }
                        // Probably a typo in the name of a method.
                        unknown => return Err(unknown.into()),
                    }
                }
                opened => opened?,
            };
            problem::explain(&*source, args.format)?;
            return Ok(Exit::Done);
        }
    };
    let config = method.config();
    if args.format == Format::Json {
        let variant = (method.name() != method.base.name).then_some(method.variant.about);
        let (base, about, source) = (method.base.name, method.base.about, method.base.source);
        let steps = config.steps();
        let notice = notice(&args.what);
        output::json(&AboutMethod { method: method.name(), base, about, variant, steps, config, source, notice })?;
        return Ok(Exit::Done);
    }
    let out = &mut output::stdout();
    heading(out, method.name())?;
    paragraph(out, method.base.about, 0)?;
    if method.name() != method.base.name {
        paragraph(out, method.variant.about, 0)?;
    }
    if let Some(notice) = notice(&args.what) {
        paragraph(out, &notice, 0)?;
    }
    writeln!(out)?;
    heading(out, "Step by step")?;
    for (number, step) in config.steps().iter().enumerate() {
        paragraph(out, &format!("  {}. {step}", number + 1), 5)?;
    }
    writeln!(out)?;
    heading(out, "Settings (change one with --set key=value)")?;
    columns(out, &rows(&config))?;
    writeln!(out, "\n* differs from the general default")?;
    writeln!(out, "\n{BOLD}Source{BOLD:#}\n  {}", method.base.source)?;
    if let Some(source) = config.allocator.kind.facts().source {
        writeln!(out, "  {source}")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The settings that the method uses.
fn rows(config: &Config) -> Vec<Vec<String>> {
    let general = Config::default();
    let mut rows = vec![["  setting", "default", "meaning"].map(String::from).to_vec()];
    for setting in settings::of(config) {
        let mark = if setting.value(config) == setting.value(&general) { ' ' } else { '*' };
        let meaning = format!("{} ({})", setting.meaning(), setting.takes(config).replace(" for the default", ""));
        rows.push(vec![format!("{mark} {}", setting.path), setting.text(config), meaning]);
    }
    rows
}
