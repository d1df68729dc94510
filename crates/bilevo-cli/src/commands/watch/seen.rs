//! What a checkpoint or a store shows about its runs.

use crate::output::{coded, counted, grouped, point, short};
use bilevo::checkpoint::{self, Checkpoint};
use bilevo::codes::code;
use bilevo::{Direction, Fate, Names, RunId, Step};
use bilevo_lab::live::Live;
use bilevo_lab::stats::successes;
use bilevo_lab::store::{Filter, Store};
use bilevo_lab::tables::{Cell, Table};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of points on the curve; older ones are thinned out.
const POINTS: usize = 500;

/// The longest answer of the follower that is shown.
const SHOWN: usize = 12;

/// A run that is at work saves more often than this, unless its evaluations take very long.
const LONG_AGO: Duration = Duration::from_secs(120);

/// How to get something to watch.
const WRITERS: &str =
    "give a file that `bilevo solve … --checkpoint FILE` or `bilevo experiment run … --store FILE` writes";

/// A file that is read repeatedly.
pub(super) struct Watched {
    path: PathBuf,
    what: What,
    /// Evaluations and the best F, each time they have changed.
    curve: Vec<(f64, f64)>,
    /// Evaluations at the first reading.
    first: Option<u64>,
}

enum What {
    Run,
    Experiment,
}

impl Watched {
    /// A checkpoint or a store.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let what = match checkpoint::header(path) {
            Ok(_) => What::Run,
            Err(not_a_run) => match Store::read(path) {
                Ok(_) => What::Experiment,
                Err(_) if path.exists() && code(&not_a_run) == Some("E403") => {
                    let words = "is neither a checkpoint nor the store of an experiment";
                    return Err(coded("E501", format!("`{}` {words}\nhint: {WRITERS}", path.display())));
                }
                Err(_) if !path.exists() => {
                    return Err(coded("E401", format!("there is no file `{}`\nhint: {WRITERS}", path.display())));
                }
                // The message about a damaged file is that about a checkpoint, which people watch most.
                Err(_) => return Err(not_a_run.into()),
            },
        };
        Ok(Watched { path: path.to_path_buf(), what, curve: Vec::new(), first: None })
    }

    /// Reads the current state.
    pub(super) fn look(&mut self, every: Duration) -> anyhow::Result<Live> {
        let mut live = match self.what {
            What::Run => {
                let saved = checkpoint::load(&self.path)?;
                self.run(saved, age(&self.path))
            }
            What::Experiment => experiment(&Store::read(&self.path)?)?,
        };
        live.refresh = live.refresh.map(|_| every.as_secs().max(1));
        Ok(live)
    }

    fn run(&mut self, saved: Checkpoint, age: Option<Duration>) -> Live {
        let summary = saved.engine.summary();
        let (RunId { problem, method, seed, .. }, total) = (&saved.header.id, summary.evaluations.total());
        let first = *self.first.get_or_insert(total);
        let names = Names::of(saved.engine.spec());
        if self.curve.is_empty() {
            self.curve = earlier(&summary.history, saved.engine.spec().upper.direction);
        }
        let mut facts = vec![
            (
                "evaluations",
                format!("{} upper + {} lower", grouped(summary.evaluations.upper), grouped(summary.evaluations.lower)),
            ),
            ("time", time(saved.times.seconds, total)),
        ];
        if let Some(solution) = &summary.solution {
            facts.push(("F", short(solution.upper_value)));
            facts.push(("f", short(solution.lower_value)));
            facts.push(("x", point(names.as_ref().map(|names| &names.x[..]), &solution.x)));
            if solution.y.len() <= SHOWN {
                facts.push(("y", point(names.as_ref().map(|names| &names.y[..]), &solution.y)));
            }
            facts.push(("violation", short(solution.upper_violation.max(solution.lower_violation))));
            if self.curve.last().is_none_or(|last| last.0 < total as f64) {
                self.curve.push((total as f64, solution.upper_value));
                if self.curve.len() > POINTS {
                    self.curve = self.curve.iter().copied().skip(1).step_by(2).collect();
                }
            }
        }
        facts.extend(summary.verification.map(|verification| ("answer", verification.to_string())));
        facts.extend(summary.history.last().map(|last| {
            // Without a recheck, F may be a value that the follower does not allow.
            let value = last.upper_value.filter(|_| last.fate != Fate::Passed);
            let value = value.map(|value| format!("F = {}, ", short(value))).unwrap_or_default();
            let finished = grouped(summary.history.len() as u64);
            ("searches", format!("{finished} finished; the last: {}, {value}{}", last.search, last.fate))
        }));
        let lead = match (saved.header.finished, summary.stop) {
            (true, Some(reason)) => format!("ended: {reason}"),
            (true, None) => "ended".into(),
            (false, _) => unfinished(total - first, age),
        };
        Live {
            title: format!("{problem} · {method} · seed {seed}"),
            lead,
            facts,
            table: None,
            curve: self.curve.clone(),
            refresh: (!saved.header.finished).then_some(1),
        }
    }
}

/// What a run had found before anybody watched: evaluations, and the best verified F so far.
fn earlier(history: &[Step], direction: Direction) -> Vec<(f64, f64)> {
    let (mut evaluations, mut best, mut curve) = (0, None::<f64>, Vec::new());
    for step in history {
        evaluations += step.evaluations;
        let verified = step.feasible && matches!(step.fate, Fate::Confirmed | Fate::Corrected);
        if let Some(value) = step.upper_value.filter(|_| verified)
            && best.is_none_or(|best| direction.flip(value) < direction.flip(best))
        {
            best = Some(value);
            curve.push((evaluations as f64, value));
        }
    }
    curve
}

/// What a run is doing: whether another process is still at work on it shows only when the file changes.
fn unfinished(more: u64, age: Option<Duration>) -> String {
    let saved = age.map(|age| format!("; last saved {} ago", rough(age))).unwrap_or_default();
    match more {
        0 => format!("not finished{saved}"),
        _ if age.is_some_and(|age| age > LONG_AGO) => format!("perhaps no longer running{saved}"),
        _ => format!("running; {} more evaluations since you started watching", grouped(more)),
    }
}

/// How long ago a file was written.
fn age(path: &Path) -> Option<Duration> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()?.elapsed().ok()
}

/// A duration in its largest unit.
fn rough(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// The time a run has taken, and how fast it evaluates.
fn time(seconds: f64, evaluations: u64) -> String {
    let rate = evaluations as f64 / seconds;
    if rate.is_finite() {
        format!("{seconds:.0} s, {} evaluations per second", grouped(rate as u64))
    } else {
        "0 s".into()
    }
}

/// The runs of a store by problem and method. How many are still to come is unknown.
fn experiment(store: &Store) -> anyhow::Result<Live> {
    let rows = store.rows(&Filter::all())?;
    let mut cells: BTreeMap<(&str, &str), Vec<_>> = BTreeMap::new();
    for row in &rows {
        cells.entry((&row.id().problem, &row.id().method)).or_default().push(row);
    }
    let mut table = Table::new("Runs so far", 2, &["problem", "method", "runs", "solved", "mean evaluations"]);
    for ((problem, method), rows) in cells {
        let mean = rows.iter().map(|row| row.total_evals() as f64).sum::<f64>() / rows.len() as f64;
        let counts = successes(rows);
        let solved = if counts.judged > 0 { counts.solved.to_string() } else { "–".into() };
        let texts = [problem.to_string(), method.to_string(), counts.runs.to_string(), solved, grouped(mean as u64)];
        table.rows.push(texts.map(Cell::new).into());
    }
    let failed = store.failures()?.len() as u64;
    let lead = format!("{} done, {} failed", counted(rows.len() as u64, "run"), grouped(failed));
    let title = store.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Live { title, lead, table: Some(table), refresh: Some(1), ..Live::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_run_is_running_if_its_file_changes() {
        let ago = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(unfinished(0, ago(3)), "not finished; last saved 3 s ago");
        assert_eq!(unfinished(0, None), "not finished");
        assert_eq!(unfinished(1_200, ago(3)), "running; 1,200 more evaluations since you started watching");
        assert_eq!(unfinished(1_200, ago(300)), "perhaps no longer running; last saved 5 min ago");
    }

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let told = [0, 119, 120, 7_199, 7_200, 172_800].map(|seconds| rough(Duration::from_secs(seconds)));
        assert_eq!(told, ["0 s", "119 s", "2 min", "119 min", "2 h", "2 days"]);
    }

    #[test]
    fn the_curve_begins_with_what_earlier_searches_verified() {
        let step = |value: f64, fate: Fate| Step {
            search: "descent".into(),
            restart: 1,
            upper_value: Some(value),
            feasible: true,
            fate,
            evaluations: 10,
        };
        let history = [
            step(3.0, Fate::Confirmed),
            step(9.0, Fate::Passed),
            step(2.0, Fate::Confirmed),
            step(5.0, Fate::Corrected),
        ];
        assert_eq!(earlier(&history, Direction::Maximize), [(10.0, 3.0), (40.0, 5.0)]);
        assert_eq!(earlier(&history, Direction::Minimize), [(10.0, 3.0), (30.0, 2.0)]);
    }
}
