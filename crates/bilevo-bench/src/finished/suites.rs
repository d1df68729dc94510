//! Which problems a suite has, and how a name becomes a problem.

use super::options::dims;
use anyhow::{Result, bail};
use bilevo::Source;
use bilevo_problems::BoxedProblem;
use bilevo_problems::file::{self, ProblemFile};
use std::path::{Path, PathBuf};

/// A run to do.
pub(super) struct Case {
    pub(super) problem: String,
    pub(super) seed: u64,
}

/// Every problem of a suite with every seed.
pub(super) fn cases(suite: &str, seeds: &[u64]) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for name in names(suite)? {
        for &seed in seeds {
            let problem = if name.ends_with("-rotated") { format!("{name}:{seed}") } else { name.clone() };
            cases.push(Case { problem, seed });
        }
    }
    Ok(cases)
}

fn names(suite: &str) -> Result<Vec<String>> {
    let numbered = |last: usize, name: fn(usize) -> String| (1..=last).map(name).collect();
    Ok(match suite {
        "smd" => numbered(12, |i| format!("smd{i}")),
        "tp" => numbered(10, |i| format!("tp{i}")),
        "rotated" => numbered(12, |i| format!("smd{i}-rotated")),
        "basblib" | "bolib" | "integer" => collection(suite),
        "own" => own()?,
        "nc" => indefinite(1),
        suite if suite.starts_with("nc:") => indefinite(suite[3..].parse()?),
        "bowls" => random("two-bowls", 1, &["1+1", "2+2", "3+3"]),
        suite if planted(suite).is_some() => planted(suite).into_iter().flatten().collect(),
        name => vec![name.into()],
    })
}

/// Ten random problems with indefinite followers from number `first` on, in two sizes.
fn indefinite(first: u32) -> Vec<String> {
    random("indefinite", first, &["2+2", "3+3"])
}

/// Ten random problems from number `first` on, in several sizes.
fn random(name: &str, first: u32, sizes: &[&str]) -> Vec<String> {
    sizes.iter().flat_map(|size| (first..first + 10).map(move |i| format!("{name}:{i}@{size}"))).collect()
}

/// `planted:1-100`: the planted problems of these numbers; `planted:1-100:ties,active` with these features.
fn planted(suite: &str) -> Option<impl Iterator<Item = String>> {
    let range = suite.strip_prefix("planted:")?;
    let (numbers, features) = range.split_at(range.find(':').unwrap_or(range.len()));
    let (first, last) = numbers.split_once('-')?;
    let numbers = first.parse::<u32>().ok()?..=last.parse().ok()?;
    Some(numbers.map(move |i| format!("planted:{i}{features}")))
}

fn collection(name: &str) -> Vec<String> {
    let prefix = format!("{name}/");
    bilevo_problems::names().filter(|name| name.starts_with(&prefix)).map(String::from).collect()
}

/// The files in `examples/problems`.
fn own() -> Result<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/problems");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    Ok(files.iter().map(|path| path.display().to_string()).collect())
}

/// Opens the problem of a name as a user would.
pub(super) fn source(name: &str) -> Result<Box<dyn Source>> {
    let (base, size) = name.split_once('@').map_or((name, None), |(base, size)| (base, Some(size)));
    Ok(bilevo::source::open(base, size.map(dims).transpose()?)?)
}

/// The problem of a name, a name with a size (`smd1@5+5`), or a file.
pub(super) fn open(name: &str) -> Result<BoxedProblem> {
    if name.ends_with(".toml") {
        return match file::read(Path::new(name))? {
            ProblemFile::Expressions(problem) => Ok(Box::new(problem)),
            ProblemFile::Program { .. } => bail!("{name} is a program: only problems with expressions are measured"),
        };
    }
    let (base, dims) = match name.split_once('@') {
        None => (name, None),
        Some((base, size)) => (base, Some(dims(size)?)),
    };
    Ok(bilevo_problems::problem(base, dims)?)
}

/// The name without folder and ending.
pub(super) fn short(name: &str) -> &str {
    let name = name.strip_suffix(".toml").map_or(name, |path| path.rsplit('/').next().unwrap_or(path));
    name.strip_prefix("basblib/").or(name.strip_prefix("bolib/")).or(name.strip_prefix("integer/")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_their_problems_and_every_one_opens() {
        let counts = ["smd", "tp", "rotated", "basblib", "bolib", "own", "nc"].map(|suite| {
            let cases = cases(suite, &[1, 5]).unwrap();
            cases.iter().for_each(|case| drop(open(&case.problem).unwrap()));
            cases.len()
        });
        assert_eq!(counts, [24, 20, 24, 60, 122, 68, 40]);
        assert_eq!(open("smd1@5+5").unwrap().spec().dim(), 10);
        assert_eq!(names("nc:101").unwrap()[10], "indefinite:101@3+3");
        assert_eq!(names("planted:8-10").unwrap(), ["planted:8", "planted:9", "planted:10"]);
        assert_eq!(names("planted:8-9:ties").unwrap(), ["planted:8:ties", "planted:9:ties"]);
        assert_eq!(names("planted:8").unwrap(), ["planted:8"], "one problem");
        assert!(source("indefinite:101@3+3").unwrap().formulas().is_some_and(|file| file.spec().dim() == 6));
    }
}
