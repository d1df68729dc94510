//! The command line.

use anyhow::{Context, Result, bail};
use bilevo_core::methods::AUTO;
use std::path::PathBuf;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The methods, one after another.
    pub(super) methods: Vec<String>,
    pub(super) runs: u64,
    /// The first seed of each set of runs.
    pub(super) seeds: Vec<u64>,
    /// Evaluations of both levels; by default the budgets of the method.
    pub(super) budget: Option<u64>,
    pub(super) target: bool,
    pub(super) ablation: bool,
    pub(super) markdown: bool,
    /// Where to store the measurements.
    pub(super) csv: Option<PathBuf>,
    /// A figure to draw instead, and the tables it shows.
    pub(super) figure: Option<PathBuf>,
    pub(super) from: Vec<PathBuf>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) problems: Vec<String>,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// An option that does not exist or lacks its value.
    pub fn read(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options {
            methods: Vec::new(),
            runs: 21,
            seeds: Vec::new(),
            budget: None,
            target: true,
            ablation: false,
            markdown: false,
            csv: None,
            figure: None,
            from: Vec::new(),
            settings: Vec::new(),
            problems: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--method" => options.methods.push(value()?),
                "--runs" => options.runs = value()?.parse()?,
                "--seed" => options.seeds.push(value()?.parse()?),
                "--budget" => options.budget = Some(value()?.parse()?),
                "--no-target" => options.target = false,
                "--ablation" => options.ablation = true,
                "--markdown" => options.markdown = true,
                "--csv" => options.csv = Some(value()?.into()),
                "--figure" => options.figure = Some(value()?.into()),
                "--from" => options.from.push(value()?.into()),
                "--set" => {
                    let text = value()?;
                    let (path, value) = text.split_once('=').context("--set takes PATH=VALUE")?;
                    options.settings.push((path.into(), value.into()));
                }
                "smd" => options.problems.extend((1..=12).map(|i| format!("smd{i}"))),
                "tp" => options.problems.extend((1..=10).map(|i| format!("tp{i}"))),
                "rotated" => options.problems.extend((1..=12).map(|i| format!("smd{i}-rotated"))),
                "sizes" => {
                    let at = |size| ["smd1", "smd3", "smd5", "smd9"].map(|name| format!("{name}@{size}"));
                    options.problems.extend(["2+3", "5+5", "10+10", "20+20"].into_iter().flat_map(at));
                }
                "basblib" => {
                    let all = bilevo_problems::names().filter(|name| name.starts_with("basblib/"));
                    options.problems.extend(all.map(String::from));
                }
                name if name.starts_with('-') => bail!("there is no option {name}"),
                name => options.problems.push(name.into()),
            }
        }
        if options.seeds.is_empty() {
            options.seeds.push(1);
        }
        if options.methods.is_empty() {
            options.methods.push(AUTO.into());
        }
        Ok(options)
    }

    /// Every set of runs: a method and its first seed.
    pub(super) fn sets(&self) -> impl Iterator<Item = (&str, u64)> {
        self.methods.iter().flat_map(|method| self.seeds.iter().map(move |&seed| (method.as_str(), seed)))
    }
}
