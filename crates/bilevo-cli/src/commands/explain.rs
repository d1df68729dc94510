//! `bilevo explain METHOD|PROBLEM`: what a method does, how a generation goes, its settings and its
//! source; or what a problem is.

mod problem;

use crate::Exit;
use crate::args::{Format, SizeArgs};
use crate::output::{self, BOLD};
use crate::table::{columns, heading};
use bilevo::Config;
use bilevo::config::{AllocatorKind, LowerKind, PoolRule, SchemeKind, ShareRule};
use bilevo::problems::ProblemError;
use bilevo::{SourceError, methods, settings, source};
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
    columns(out, &rows(&config))?;
    writeln!(out, "\n* differs from the general default")?;
    writeln!(out, "\n{BOLD}Source{BOLD:#}\n  {}", method.base.source)?;
    if config.allocator.kind == AllocatorKind::Contrastive {
        writeln!(out, "  Contrastive ranking: Xu, Chen, Yen, Jiang, CR-BLEA")?;
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

/// A generation of the method, step by step.
fn steps(config: &Config) -> Vec<String> {
    match config.scheme.kind {
        SchemeKind::Nested => nested(config),
        SchemeKind::JointQuadratic => joint_quadratic(config),
    }
}

fn joint_quadratic(config: &Config) -> Vec<String> {
    let mut steps = vec!["Sample candidates (x, y) from the upper CMA-ES over both levels' variables.".to_string()];
    steps.push(allocation(config));
    if config.jq.injection.is_on() {
        steps.push("Add the minimiser of the leader's model to them.".into());
    }
    steps.extend(
        [
            "Search the lower level for all of them side by side, on one quadratic model of all lower evaluations.",
            "Evaluate the upper level once for each candidate with its follower's answer.",
            "Verify the best candidate and the incumbent by another lower search.",
            "Update the upper distribution from the candidates that were solved, and train the ranking network.",
            "Without progress: look at the follower once more without any model, then restart; end when restarts agree.",
        ]
        .map(String::from),
    );
    steps
}

fn nested(config: &Config) -> Vec<String> {
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
    let recall = match (config.allocator.kind, config.joint_cma.recall) {
        (AllocatorKind::All, _) | (_, 0) => String::new(),
        (_, 1) => " The elite joins them.".into(),
        (_, every) => format!(" The elite joins them every {every} generations."),
    };
    steps.push(format!("Update the upper distribution from the candidates that were solved.{recall}"));
    if config.allocator.kind == AllocatorKind::Contrastive {
        steps.push(match config.contrastive.pool {
            PoolRule::Window => {
                format!("Train the ranking network on the latest {} solutions.", config.contrastive.window)
            }
            PoolRule::Accumulate => {
                "Add the solutions to the pool; once it is full, train the network and empty it.".into()
            }
        });
    }
    steps
}

fn allocation(config: &Config) -> String {
    let contrastive = &config.contrastive;
    let percent = 100.0 * config.allocator.keep;
    match config.allocator.kind {
        AllocatorKind::All => "Take all of them.".into(),
        AllocatorKind::Random => format!("Take a random {percent:.0}% of them."),
        AllocatorKind::Contrastive => {
            let percent = |share: f64| format!("{:.1}%", 100.0 * share).replace(".0%", "%");
            let share = match contrastive.share {
                ShareRule::Adaptive => format!(
                    "{} of them (while it ranks no better than a coin) to {} (when it ranks well; all while it is new)",
                    percent(contrastive.keep_max),
                    percent(contrastive.keep_min)
                ),
                ShareRule::Fixed => format!("{} of them", percent(config.allocator.keep)),
            };
            let explore = match contrastive.explore {
                0 => String::new(),
                places => format!(" {places} of the places goes to a random candidate."),
            };
            let resample = match contrastive.resample_rounds {
                0 => "Nothing is sampled again.".to_string(),
                1 => "If the candidates look poor, more are sampled once.".to_string(),
                rounds => format!("If the candidates look poor, more are sampled (at most {rounds} times)."),
            };
            format!("Rank them with a small network and take the best {share}.{explore} {resample}")
        }
    }
}
