//! `bilevo new NAME`: a commented problem file to start from.

use crate::{Exit, output};
use anyhow::bail;
use bilevo::files::{self, Kind};
use std::path::{Path, PathBuf};

/// Template files never replace anything.
const NEW: Kind = Kind { name: "problem file", description: "a file of ours", is_ours: |_| false };

/// Write a commented problem file to start from
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The problem's name, or the file to write
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// What to start from
    #[arg(long, value_enum, default_value_t)]
    template: Template,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Template {
    /// A little of everything
    #[default]
    Empty,
    /// The toll of a bridge: one variable at each level
    Toll,
    /// A tax on pollution: parameters, definitions, constraints at both levels
    Tax,
    /// Two firms, one moving first: lists, bounds and best known values in closed form
    Stackelberg,
    /// Evaluated by your own program: a file and a Python script
    Program,
}

impl Template {
    /// The files, by the endings of their names.
    fn files(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Template::Empty => vec![("toml", include_str!("new/empty.toml"))],
            Template::Toll => vec![("toml", include_str!("new/toll.toml"))],
            Template::Tax => vec![("toml", include_str!("new/tax.toml"))],
            Template::Stackelberg => vec![("toml", include_str!("new/stackelberg.toml"))],
            Template::Program => {
                vec![("toml", include_str!("new/program.toml")), ("py", include_str!("new/program.py"))]
            }
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let path = match args.name.extension() {
        Some(ending) if ending == "toml" => args.name.clone(),
        _ => PathBuf::from(format!("{}.toml", args.name.display())),
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.is_empty() || stem.chars().any(|c| c.is_control() || "\"\\".contains(c)) {
        bail!("`{}` cannot be the name of a problem\nhint: use letters, digits, `-` and `_`", args.name.display());
    }
    let texts: Vec<(PathBuf, String)> = args
        .template
        .files()
        .into_iter()
        .map(|(ending, text)| (path.with_extension(ending), named(text, &stem)))
        .collect();
    if let Some((there, _)) = texts.iter().find(|(file, _)| file.symlink_metadata().is_ok()) {
        return Err(exists(there));
    }
    for (file, text) in &texts {
        files::write(file, &NEW, |out| out.write_all(text.as_bytes()))?;
        output::say(format_args!("wrote {}", file.display()));
    }
    let shown = super::quoted(&path.to_string_lossy());
    output::say(format_args!("next: `bilevo check {shown}`, then `bilevo solve {shown}`"));
    Ok(Exit::Done)
}

/// The template with the problem's own name.
fn named(text: &str, stem: &str) -> String {
    let line = |line: &str| match line.starts_with("name = ") {
        true => format!("name = \"{stem}\"\n"),
        false => format!("{}\n", line.replace("\"program.py\"", &format!("\"{stem}.py\""))),
    };
    text.lines().map(line).collect()
}

fn exists(path: &Path) -> anyhow::Error {
    let hint = "choose another name, or remove it first";
    output::coded("E403", format!("`{}` exists already\nhint: {hint}", path.display()))
}
