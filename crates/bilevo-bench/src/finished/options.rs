//! The command line.

use anyhow::{Context, Result, bail};
use bilevo_core::methods::AUTO;
use std::path::PathBuf;
use std::time::Duration;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) method: String,
    pub(super) seeds: Vec<u64>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) units: bool,
    /// Boxes that extend this far to both sides.
    pub(super) wider: Option<f64>,
    /// Leaves out each part of the default method in turn.
    pub(super) ablation: bool,
    /// Proves every answer, for at most this long, and adopts better ones.
    pub(super) prove: Option<Duration>,
    pub(super) markdown: bool,
    /// Where every run is written.
    pub(super) csv: Option<PathBuf>,
    pub(super) suites: Vec<String>,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// An option that does not exist or lacks its value.
    pub fn read(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options {
            method: AUTO.into(),
            seeds: (1..=9).collect(),
            settings: Vec::new(),
            units: false,
            wider: None,
            ablation: false,
            prove: None,
            markdown: false,
            csv: None,
            suites: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--method" => options.method = value()?,
                "--seeds" => options.seeds = seeds(&value()?)?,
                "--units" => options.units = true,
                "--wider" => options.wider = Some(value()?.parse()?),
                "--ablation" => options.ablation = true,
                "--prove" => options.prove = Some(Duration::try_from_secs_f64(value()?.parse()?)?),
                "--markdown" => options.markdown = true,
                "--csv" => options.csv = Some(value()?.into()),
                "--set" => options.settings.push(setting(&value()?)?),
                name if name.starts_with('-') => bail!("there is no option {name}"),
                name => options.suites.push(name.into()),
            }
        }
        if (options.units || options.wider.is_some()) && options.prove.is_some() {
            bail!("--prove needs the plain formulas: leave out --units and --wider");
        }
        if options.ablation && (options.units || options.wider.is_some()) {
            bail!("--ablation takes the plain units: leave out --units and --wider");
        }
        if options.suites.is_empty() {
            bail!("name a suite: smd, tp, rotated, basblib, bolib, integer, own, nc, planted:1-100, or a problem");
        }
        Ok(options)
    }
}

/// `PATH=VALUE`
pub(crate) fn setting(text: &str) -> Result<(String, String)> {
    let (path, value) = text.split_once('=').context("--set takes PATH=VALUE")?;
    Ok((path.into(), value.into()))
}

/// `m+n`
pub(crate) fn dims(text: &str) -> Result<(usize, usize)> {
    let (m, n) = text.split_once('+').context("sizes are written m+n")?;
    Ok((m.parse()?, n.parse()?))
}

/// `1-9`, `4`, or several of these with commas between.
pub(crate) fn seeds(text: &str) -> Result<Vec<u64>> {
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u64>().with_context(|| format!("`{part}` are no seeds"));
        seeds.extend(number(first)?..=number(last)?);
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_ranges_and_lists() {
        assert_eq!(seeds("1-3,7").unwrap(), [1, 2, 3, 7]);
        assert!(seeds("1-x").is_err() && seeds("").is_err());
    }

    #[test]
    fn a_suite_must_be_named() {
        let read = |args: &[&str]| Options::read(args.iter().map(|arg| (*arg).to_string()));
        assert!(read(&["--units"]).is_err() && read(&["--nonsense", "smd"]).is_err());
        assert!(read(&["--units", "--prove", "10", "nc"]).is_err() && read(&["--prove", "10", "nc"]).is_ok());
        assert!(read(&["--units", "--ablation", "nc"]).is_err() && read(&["--ablation", "nc"]).unwrap().ablation);
        let options = read(&["smd", "--seeds", "2", "--set", "portfolio.descent=0", "tp"]).unwrap();
        assert_eq!((options.suites.len(), &options.seeds[..], options.settings[0].1.as_str()), (2, &[2][..], "0"));
    }
}
