//! `bilevo list problems|methods|parts|settings`.

use crate::args::Format;
use crate::output::{self, best_known};
use crate::{Exit, table};
use bilevo::{Config, Level, methods, problems, settings};
use clap::ValueEnum;
use serde::Serialize;
use std::io::Write;

/// List the problems, the methods, the parts they are made of, or all settings
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    /// What to list
    what: What,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Built-in problems
    Problems,
    /// Methods by name
    Methods,
    /// The parts of methods: schemes, upper strategies, lower searches, allocators
    Parts,
    /// Every setting of every method
    Settings,
}

#[derive(Serialize)]
struct ProblemRow {
    name: &'static str,
    upper_dim: usize,
    lower_dim: usize,
    scalable: bool,
    upper_constraints: usize,
    lower_constraints: usize,
    best_known: Vec<bilevo::BestKnown>,
    about: &'static str,
}

#[derive(Serialize)]
struct MethodRow {
    name: String,
    base: &'static str,
    about: &'static str,
    source: &'static str,
    /// Whether this is the default method.
    default: bool,
}

#[derive(Serialize)]
struct SettingRow {
    setting: &'static str,
    default: serde_json::Value,
    takes: String,
    /// When a method uses it; empty if always.
    used: String,
    meaning: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match args.what {
        What::Problems => list_problems(args.format)?,
        What::Methods => list_methods(args.format)?,
        What::Parts => list_parts(args.format)?,
        What::Settings => list_settings(args.format)?,
    }
    Ok(Exit::Done)
}

fn list_problems(format: Format) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for info in problems::catalogue() {
        let problem = problems::problem(info.name, None)?;
        let spec = problem.spec();
        rows.push(ProblemRow {
            name: info.name,
            upper_dim: spec.upper.dim(),
            lower_dim: spec.lower.dim(),
            scalable: info.scalable,
            upper_constraints: spec.level(Level::Upper).constraints(),
            lower_constraints: spec.level(Level::Lower).constraints(),
            best_known: spec.best_known.clone(),
            about: info.about,
        });
    }
    if format == Format::Json {
        return output::json(&rows);
    }
    let mut lines = vec![["problem", "size", "constraints", "best F", "about"].map(String::from).to_vec()];
    for row in &rows {
        let size = format!("{}+{}{}", row.upper_dim, row.lower_dim, if row.scalable { " *" } else { "" });
        let constraints = format!("{}+{}", row.upper_constraints, row.lower_constraints);
        let best = row.best_known.first().map_or("unknown".into(), |best| best_known(best.upper));
        lines.push(vec![row.name.into(), size, constraints, best, row.about.into()]);
    }
    let mut out = output::stdout();
    table::columns(&mut out, &lines)?;
    writeln!(out, "\n* other sizes with --dims, as in --dims 5+5")?;
    Ok(out.flush()?)
}

fn list_methods(format: Format) -> anyhow::Result<()> {
    let row = |method: methods::Method| MethodRow {
        name: method.name(),
        base: method.base.name,
        about: if method.name() == method.base.name { method.base.about } else { method.variant.about },
        source: method.base.source,
        default: method.name() == methods::DEFAULT,
    };
    let rows: Vec<MethodRow> = methods::all().map(row).collect();
    if format == Format::Json {
        return output::json(&rows);
    }
    let mut lines = vec![vec!["method".to_string(), "about".to_string()]];
    let mark = |row: &MethodRow| format!("{}{}", row.name, if row.default { " (default)" } else { "" });
    lines.extend(rows.iter().map(|row| vec![mark(row), row.about.to_string()]));
    let mut out = output::stdout();
    table::columns(&mut out, &lines)?;
    writeln!(out, "\n`bilevo explain METHOD` describes a method.")?;
    Ok(out.flush()?)
}

fn list_parts(format: Format) -> anyhow::Result<()> {
    let parts = settings::parts();
    if format == Format::Json {
        return output::json(&parts);
    }
    let mut lines = vec![["setting", "value", "about"].map(String::from).to_vec()];
    lines.extend(parts.into_iter().map(|part| vec![part.setting.into(), part.name, part.about.into()]));
    let mut out = output::stdout();
    table::columns(&mut out, &lines)?;
    writeln!(out, "\nA method combines one of each; `bilevo explain METHOD` shows which.")?;
    Ok(out.flush()?)
}

fn list_settings(format: Format) -> anyhow::Result<()> {
    let config = Config::default();
    let row = |setting: &settings::Setting| SettingRow {
        setting: setting.path,
        default: setting.value(&config),
        takes: setting.takes(&config),
        used: setting.used_by(),
        meaning: setting.meaning(),
    };
    if format == Format::Json {
        return output::json(&settings::all().iter().map(row).collect::<Vec<_>>());
    }
    let mut lines = vec![["setting", "default", "meaning"].map(String::from).to_vec()];
    for setting in settings::all() {
        let used = setting.used_by();
        let used = if used.is_empty() { String::new() } else { format!(" Used: {used}.") };
        let meaning =
            format!("{} ({}){used}", setting.meaning(), setting.takes(&config).replace(" for the default", ""));
        lines.push(vec![setting.path.into(), setting.text(&config), meaning]);
    }
    let mut out = output::stdout();
    table::columns(&mut out, &lines)?;
    writeln!(out, "\n`bilevo explain METHOD` shows the settings of one method, with their values.")?;
    Ok(out.flush()?)
}
