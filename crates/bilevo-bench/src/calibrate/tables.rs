//! The tables of a calibration.

use super::HELD_OUT;
use super::run::Run;
use anyhow::Result;
use bilevo::calibration::{HEAD as COLUMNS, Likeness, Looks, RANGES_HEAD};
use bilevo_problems::planted::Feature;
use std::collections::BTreeMap;
use std::io::Write;

/// Whether a problem was held out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    LookedAt,
    Seeds,
    Features,
}

const GROUPS: [Group; 3] = [Group::LookedAt, Group::Seeds, Group::Features];
const HEAD: &str = "right: seeds looked at | right: held-out seeds | right: held-out features |\n|---|---|---|---|";

/// Problems by the number of their variables.
const SIZES: [(usize, usize); 5] = [(2, 3), (4, 5), (6, 8), (9, 12), (13, 20)];

/// A run with the features of its result.
struct Seen<'a> {
    run: &'a Run,
    looks: Looks,
    group: Group,
    /// Whether its result has no warning.
    good: bool,
}

/// Runs, and how often those that look alike were right.
pub(super) struct Tables<'a> {
    runs: Vec<Seen<'a>>,
    counts: BTreeMap<Looks, Likeness>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(runs: &'a [Run], held_out: &[u64]) -> Self {
        let group = |run: &Run| match () {
            () if held_out.contains(&run.seed) => Group::Seeds,
            () if HELD_OUT.iter().any(|feature| run.has(*feature)) => Group::Features,
            () => Group::LookedAt,
        };
        let mut counts: BTreeMap<Looks, Likeness> = BTreeMap::new();
        let seen =
            runs.iter().filter_map(|run| Some(Seen { run, looks: run.looks()?, group: group(run), good: false }));
        let mut runs: Vec<Seen<'a>> = seen.collect();
        for seen in runs.iter().filter(|seen| seen.group == Group::LookedAt) {
            for looks in [seen.looks, seen.looks.unaudited()] {
                let none = Likeness { runs: 0, right: 0, infeasible: false };
                let likeness = counts.entry(looks).or_insert(none);
                likeness.runs += 1;
                likeness.right += u64::from(seen.run.right);
            }
        }
        // Warnings as results will have them with these counts.
        let poor = |looks: &Looks| counts.get(looks).is_some_and(Likeness::is_poor);
        runs.iter_mut().for_each(|seen| seen.good = seen.run.good && !poor(&seen.looks));
        Tables { runs, counts }
    }

    pub(super) fn print(&self, out: &mut impl Write) -> Result<()> {
        self.summary(out)?;
        self.words(out)?;
        self.features(out)?;
        self.evaluations(out)?;
        for Seen { run, looks, good, .. } in self.runs.iter().filter(|seen| !seen.run.right) {
            let said = if *good { "SILENT" } else { "flagged" };
            let features = run.features.join(",");
            writeln!(out, "    planted:{} ({features}): {}; {looks}; {said}", run.seed, run.found)?;
        }
        Ok(())
    }

    /// The file that results read.
    pub(super) fn counts(&self) -> String {
        let lines = self.counts.iter().map(|(looks, likeness)| looks.line(likeness.runs, likeness.right));
        std::iter::once(COLUMNS.to_string()).chain(lines).map(|line| line + "\n").collect()
    }

    /// The evaluations of the runs on problems with this many variables, sorted.
    fn of_size(&self, (from, to): (usize, usize), held_out: bool) -> Vec<u64> {
        let mine = self.runs.iter().filter(|seen| (seen.group == Group::LookedAt) != held_out);
        let sized = mine.filter(|seen| (from..=to).contains(&seen.run.variables.iter().sum()));
        let mut evaluations: Vec<u64> = sized.map(|seen| seen.run.evaluations).collect();
        evaluations.sort_unstable();
        evaluations
    }

    /// The file of expected evaluations, without the cheapest and the most expensive tenth.
    pub(super) fn ranges(&self) -> String {
        let line = |(from, to): (usize, usize)| {
            let (low, high) = middle(&self.of_size((from, to), false))?;
            Some(format!("{from},{to},{},{low},{high}\n", self.of_size((from, to), false).len()))
        };
        format!("{RANGES_HEAD}\n{}", SIZES.into_iter().filter_map(line).collect::<String>())
    }

    /// The range of eight out of ten runs, and how many held-out runs are within it.
    fn evaluations(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "| variables | eight of ten runs took | of held-out runs |\n|---|---|---|")?;
        for (from, to) in SIZES {
            let (mine, others) = (self.of_size((from, to), false), self.of_size((from, to), true));
            let Some((low, high)) = middle(&mine) else { continue };
            let inside = others.iter().filter(|count| (low..=high).contains(count)).count();
            let share = 100.0 * inside as f64 / others.len().max(1) as f64;
            writeln!(out, "| {from} to {to} | {low} to {high} evaluations | {share:.0} % of {} |", others.len())?;
        }
        Ok(writeln!(out)?)
    }

    fn summary(&self, out: &mut impl Write) -> Result<()> {
        let wrong = |good: bool| self.runs.iter().filter(|seen| !seen.run.right && seen.good == good).count();
        let (silent, flagged, all) = (wrong(true), wrong(false), self.runs.len());
        let mean = self.runs.iter().map(|seen| seen.run.evaluations).sum::<u64>() / all.max(1) as u64;
        let (held_out, looked_at): (Vec<&Seen<'_>>, _) = self.runs.iter().partition(|s| s.group == Group::Seeds);
        let [looked_at, held_out] = [looked_at, held_out].map(|runs: Vec<&Seen<'_>>| {
            let seeds = || runs.iter().map(|seen| seen.run.seed);
            format!("{}-{}", seeds().min().unwrap_or(0), seeds().max().unwrap_or(0))
        });
        writeln!(
            out,
            "{all} runs: {} right, {flagged} wrong and flagged, {silent} wrong and silent; {mean} evaluations on average. \
             Seeds {looked_at}; held out: {held_out}.\n",
            all - flagged - silent
        )?;
        Ok(())
    }

    /// How often each kind of result was right.
    fn words(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "| the result says | {HEAD}")?;
        let mut looks: Vec<Looks> = self.runs.iter().map(|seen| seen.looks).collect();
        looks.sort_unstable();
        looks.dedup();
        for looks in looks {
            self.row(&looks.to_string(), |seen| seen.looks == looks, out)?;
        }
        self.row("**success**", |seen| seen.good, out)?;
        self.row("**all**", |_| true, out)?;
        Ok(writeln!(out)?)
    }

    fn features(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "| feature | {HEAD}")?;
        for (feature, name, _) in Feature::ALL {
            if self.runs.iter().any(|seen| seen.run.has(feature)) {
                self.row(name, |seen| seen.run.has(feature), out)?;
            }
        }
        self.row("none", |seen| seen.run.features.is_empty(), out)?;
        Ok(writeln!(out)?)
    }

    /// A row with one cell for each group.
    fn row(&self, title: &str, wanted: impl Fn(&Seen<'_>) -> bool, out: &mut impl Write) -> Result<()> {
        let cells = GROUPS.map(|group| {
            let mine: Vec<&Seen<'_>> = self.runs.iter().filter(|seen| seen.group == group && wanted(seen)).collect();
            let right = mine.iter().filter(|seen| seen.run.right).count();
            let share = 100.0 * right as f64 / mine.len().max(1) as f64;
            if mine.is_empty() { String::new() } else { format!("{share:.1} % of {}", mine.len()) }
        });
        Ok(writeln!(out, "| {title} | {} |", cells.join(" | "))?)
    }
}

/// The values at the first and the last tenth of sorted ones, to two digits and outwards.
fn middle(sorted: &[u64]) -> Option<(u64, u64)> {
    let (low, high) = (*sorted.get(sorted.len() / 10)?, *sorted.get(sorted.len() - 1 - sorted.len() / 10)?);
    let unit = |value: u64| 10_u64.pow(value.max(10).ilog10() - 1);
    Some((low / unit(low) * unit(low), high.div_ceil(unit(high)) * unit(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_leaves_out_a_tenth_at_either_end() {
        let counts: Vec<u64> = (1..=20).map(|i| 101 * i).collect();
        assert_eq!(middle(&counts), Some((300, 1900)));
        assert_eq!(middle(&[7]), Some((7, 7)));
        assert_eq!(middle(&[]), None);
    }
    use crate::calibrate::run::tests::made_up;

    #[test]
    fn counts_are_of_what_was_looked_at_and_tell_what_is_a_warning() {
        let runs: Vec<Run> =
            (0..80).map(|seed| made_up(seed, seed >= 10, if seed < 20 { &["toll"] } else { &[] })).collect();
        // 20 with a held-out feature, 10 held-out seeds, 50 others, all of which are right.
        let held_out: Vec<u64> = (70..80).collect();
        let tables = Tables::new(&runs, &held_out);
        assert_eq!(tables.counts(), format!("{COLUMNS}\nagreed,own,no,none,50,50\nagreed,own,no,stands,50,50\n"));
        let mut text = Vec::new();
        tables.print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let first = "80 runs: 70 right, 0 wrong and flagged, 10 wrong and silent; 500 evaluations on average. Seeds 0-69; held out: 70-79.";
        assert_eq!(text.lines().next(), Some(first));
        assert!(text.contains("| **success** | 100.0 % of 50 | 100.0 % of 10 | 50.0 % of 20 |"), "{text}");
        // Of those that were looked at too many are wrong: all of them are flagged.
        let runs: Vec<Run> = (0..80).map(|seed| made_up(seed, seed >= 10, &[])).collect();
        let mut text = Vec::new();
        Tables::new(&runs, &held_out).print(&mut text).unwrap();
        assert!(
            String::from_utf8(text)
                .unwrap()
                .starts_with("80 runs: 70 right, 10 wrong and flagged, 0 wrong and silent;")
        );
    }
}
