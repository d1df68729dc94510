//! `bilevo explain METHOD|PROBLEM`: what a method does, how a generation goes, its settings and its
//! source; or what a problem is.

mod problem;

use crate::args::{Format, SizeArgs};
use crate::output::{self, BOLD};
use crate::table::{columns, heading};
use crate::{Exit, settings};
use bilevo::Config;
use bilevo::config::{AllocatorKind, LowerKind, PoolRule, TrustRule};
use bilevo::problems::ProblemError;
use bilevo::{SourceError, methods, source};
use serde::Serialize;
use std::io::Write;

/// Explain a method (what it does, its settings, its source) or a problem (variables, constraints, optima)
#[derive(clap::Args, Debug)]
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
    /// One generation.
    steps: Vec<String>,
    /// Its settings.
    config: Config,
    source: &'static str,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let method = match methods::find(&args.what) {
        Ok(method) => method,
        Err(unknown) => {
            let source = match source::open(&args.what, args.size.dims()) {
                // A slip in a method's name is one in a method's name.
                Err(SourceError::Problem(ProblemError::Unknown { nearest: None, .. })) => return Err(unknown.into()),
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
        let steps = steps(&config);
        output::json(&AboutMethod { method: method.name(), base, about, variant, steps, config, source })?;
        return Ok(Exit::Done);
    }
    let out = &mut output::stdout();
    heading(out, method.name())?;
    writeln!(out, "{}", method.base.about)?;
    if method.name() != method.base.name {
        writeln!(out, "{}", method.variant.about)?;
    }
    writeln!(out)?;
    heading(out, "One generation")?;
    for (number, step) in steps(&config).iter().enumerate() {
        writeln!(out, "  {}. {step}", number + 1)?;
    }
    writeln!(out)?;
    heading(out, "Settings (change one with --set key=value)")?;
    columns(out, &rows(&config)?)?;
    writeln!(out, "\n* differs from the general default")?;
    writeln!(out, "\n{BOLD}Source{BOLD:#}\n  {}", method.base.source)?;
    if config.allocator.kind == AllocatorKind::Contrastive {
        writeln!(out, "  Contrastive ranking: Xu, Chen, Yen, Jiang, CR-BLEA")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn rows(config: &Config) -> anyhow::Result<Vec<Vec<String>>> {
    let (own, general) = (settings::tree(config)?, settings::tree(&Config::default())?);
    let mut rows = vec![["  setting", "default", "meaning"].map(String::from).to_vec()];
    for &(path, meaning) in settings::SETTINGS {
        let value = settings::value(&own, path);
        let mark = if value == settings::value(&general, path) { ' ' } else { '*' };
        rows.push(vec![format!("{mark} {path}"), value, meaning.into()]);
    }
    Ok(rows)
}

/// A generation of the method, step by step.
fn steps(config: &Config) -> Vec<String> {
    let mut steps = vec!["Sample candidates (x, y) from the upper CMA-ES over both levels' variables.".to_string()];
    steps.push(allocation(config));
    let search = match config.lower.kind {
        LowerKind::Independent => {
            "Search the lower level for each of them with its own CMA-ES, started from the upper distribution."
        }
        LowerKind::TransferCma => {
            "Search the lower level for all of them side by side with CMA-ES; neighbours pass on their distributions."
        }
        LowerKind::TransferDe => {
            "Search the lower level for all of them side by side with differential evolution; neighbours pass on what worked."
        }
        LowerKind::Multiobjective => {
            "Search the lower level for all of them as one problem with two objectives, split by decomposition."
        }
        LowerKind::Collaborative => "Search the lower level with one solution for each of them, which help each other.",
    };
    steps.push(match config.lower.max_generations {
        Some(cap) => format!("{search} At most {cap} generations each."),
        None => search.into(),
    });
    steps.push("Evaluate the upper level once for each candidate with its follower's answer.".into());
    steps.push("Refine the best candidate or the elite by another lower search.".into());
    let recall = match (config.allocator.kind, config.upper.recall) {
        (AllocatorKind::Contrastive, 1) => " The elite joins them.".into(),
        (AllocatorKind::Contrastive, every @ 2..) => format!(" The elite joins them every {every} generations."),
        _ => String::new(),
    };
    steps.push(format!("Update the upper distribution from the candidates that were solved.{recall}"));
    if config.allocator.kind == AllocatorKind::Contrastive {
        steps.push(match config.allocator.pool {
            PoolRule::Window => {
                format!("Train the ranking network on the latest {} solutions.", config.allocator.window)
            }
            PoolRule::Accumulate => {
                "Add the solutions to the pool; once it is full, train the network and empty it.".into()
            }
        });
    }
    steps
}

fn allocation(config: &Config) -> String {
    let allocator = &config.allocator;
    let percent = 100.0 * allocator.keep;
    match allocator.kind {
        AllocatorKind::All => "Take all of them.".into(),
        AllocatorKind::Random => format!("Take a random {percent:.0}% of them."),
        AllocatorKind::Contrastive => {
            let percent = |share: f64| format!("{:.1}%", 100.0 * share).replace(".0%", "%");
            let share = match allocator.trust {
                TrustRule::Earned => format!(
                    "{} of them (while it is not proven) to {} (when it ranks well; all while it is new)",
                    percent(allocator.keep_doubted),
                    percent(allocator.keep_proven)
                ),
                TrustRule::Always => format!("{} of them", percent(allocator.keep)),
            };
            let explore = match allocator.explore {
                0 => String::new(),
                places => format!(" {places} of the places goes to a random candidate."),
            };
            let resample = match allocator.resample_rounds {
                0 => "Nothing is sampled again.".to_string(),
                1 => "If the candidates look poor, more are sampled once.".to_string(),
                rounds => format!("If the candidates look poor, more are sampled (at most {rounds} times)."),
            };
            format!("Rank them with a small network and take the best {share}.{explore} {resample}")
        }
    }
}
