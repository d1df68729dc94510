//! `bilevo check FILE`: finds mistakes before a run, and estimates what a run will cost.

mod estimate;

use super::quoted;
use crate::args::Format;
use crate::output::{self, BAD, WARN, counted, grouped, short};
use crate::{Exit, table};
use bilevo::config::SchemeKind;
use bilevo::methods::{self, Method};
use bilevo::problems::file::{self, Diagnostic, Goal, ProblemFile, Reading, Rounding, Severity};
use bilevo::program::Program;
use bilevo::{Batch, BilevelProblem, Evaluator, Failure, FailureKind, Level, ProblemSpec, Replies};
use estimate::Estimate;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Find mistakes in a problem file before a run
///
/// A file with a `command` names a program, and checking the file starts that program. If the file comes
/// from somebody else, read it first or check it with --no-run.
#[derive(clap::Args, Debug)]
#[command(after_help = "Exit codes: 0 the file can be used, perhaps with warnings; 2 it cannot.")]
pub(crate) struct Args {
    /// A problem file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The method you want to solve it with [default: auto]
    #[arg(long, short, value_name = "NAME")]
    method: Option<String>,
    /// Do not start the program that the file names
    #[arg(long)]
    no_run: bool,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Report {
    file: String,
    errors: usize,
    warnings: usize,
    remarks: Vec<Diagnostic>,
    problem: Option<About>,
}

/// The problem, if the file could be read.
#[derive(Serialize)]
struct About {
    name: String,
    upper: Size,
    lower: Size,
    /// What a run would start; empty if the file has expressions.
    commands: Vec<Vec<String>>,
    /// Seconds of one evaluation, if anything was evaluated.
    upper_seconds: Option<f64>,
    lower_seconds: Option<f64>,
    run: Option<Estimate>,
    /// If there are whole numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<Whole>,
    /// Why the default method is not used, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Facts about whole numbers.
#[derive(Serialize)]
struct Whole {
    /// Combinations of the whole numbers at each level.
    upper: u64,
    lower: u64,
    /// What would happen if the follower's relaxed answers were rounded.
    rounding: Option<Rounding>,
}

#[derive(Serialize)]
struct Size {
    variables: usize,
    inequalities: usize,
    equalities: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // With two goals, the first one is checked.
    let reading = Reading { goal: Some(Goal { index: 0, limit: None }), ..Reading::default() };
    let (remarks, problem) = match file::read_as(&args.file, &reading) {
        Err(error) => (error.diagnostics, None),
        Ok(file) => {
            let choice = methods::choose(args.method.as_deref().unwrap_or(methods::AUTO), file.spec(), &[])?;
            let (remarks, about) = examine(&file, &choice.method, args.no_run)?;
            (remarks, Some(About { notice: choice.notice, ..about }))
        }
    };
    let count = |severity| remarks.iter().filter(|remark| remark.severity == severity).count();
    let report = Report {
        file: args.file.display().to_string(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        remarks,
        problem,
    };
    match args.format {
        Format::Json => output::json(&report)?,
        Format::Text => text(&report)?,
    }
    Ok(if report.errors > 0 { Exit::Mistakes } else { Exit::Done })
}

/// Remarks about a readable file, and the cost of its evaluations.
fn examine(file: &ProblemFile, method: &Method, no_run: bool) -> anyhow::Result<(Vec<Diagnostic>, About)> {
    let spec = file.spec();
    let mut clock = Clock::default();
    let mut remarks = match file {
        ProblemFile::Expressions(problem) => {
            clock.measure(problem);
            file::check(file, &mut |level, x, y, constraints| problem.evaluate(level, x, y, constraints))
        }
        ProblemFile::Program { spec, .. } if no_run => {
            Program::check(spec)?;
            Vec::new()
        }
        ProblemFile::Program { spec, .. } => {
            let mut program = Program::new(spec.clone(), 1)?;
            let mut silent: Option<Failure> = None;
            file::check(file, &mut |level, x, y, constraints| {
                if let Some(failure) = &silent {
                    return Err(failure.clone());
                }
                let start = Instant::now();
                let answer = ask(&mut program, &spec.problem, level, x, y, constraints);
                clock.add(level, start.elapsed());
                answer.map_err(|failure| {
                    silent = time_out(&failure);
                    silent.clone().unwrap_or(failure)
                })
            })
        }
    };
    let config = method.config();
    if config.scheme.kind == SchemeKind::Nested {
        let message = format!("{} hardly ever satisfies an equation", method.name());
        remarks.extend(file::about_equations(file, message, "the default method, `--method auto`, does"));
    }
    let seconds = clock.medians();
    // For a search over decisions alone, the number of decisions cannot be predicted.
    let run = seconds.filter(|_| !spec.is_oracle_alone()).map(|seconds| Estimate::new(spec, method, &config, seconds));
    Ok((remarks, About::new(file, seconds, run)))
}

/// After this time-out, a program is not asked again: a check should not wait for all its points.
fn time_out(failure: &Failure) -> Option<Failure> {
    const HINT: &str = "does it write one line per request, and flush it? Octave must read with `input(\"\", \"s\")`, because `fgetl` waits for the next request; if the program needs more time, raise `timeout`";
    let late = failure.kind == FailureKind::Timeout;
    late.then(|| Failure::new(FailureKind::Timeout, format!("{}\nhint: {HINT}", failure.message)))
}

/// One evaluation by a program.
fn ask(
    program: &mut Program,
    spec: &ProblemSpec,
    level: Level,
    x: &[f64],
    y: &[f64],
    constraints: &mut Vec<f64>,
) -> Result<f64, Failure> {
    let failed = |reason: String| Failure::from(reason);
    let mut answer = |batch: Result<Batch, String>| {
        let batch = batch.map_err(failed)?;
        let mut replies = Replies::default();
        replies.start_on(spec, &batch);
        program.evaluate(&batch, &mut replies).map_err(|error| failed(error.to_string()))?;
        match replies.failures().first() {
            Some((_, failure)) => Err(failure.clone()),
            None => Ok(replies),
        }
    };
    let replies = if spec.is_oracle_alone() {
        let given = answer(Batch::of_decisions(spec, [x]).map_err(|e| e.to_string()))?
            .answers()
            .given
            .first()
            .cloned()
            .unwrap_or_default();
        if level == Level::Lower {
            return Ok(given.value.unwrap_or(0.0));
        }
        answer(Batch::of_answers(spec, [(x, given)]).map_err(|e| e.to_string()))?
    } else {
        answer(Batch::from_points(spec, level, [(x, y)]).map_err(|e| e.to_string()))?
    };
    constraints.extend_from_slice(replies.constraints(0));
    let value = replies.outcomes().first().map_or(f64::NAN, |outcome| outcome.value);
    Ok(spec.level(level).direction.flip(value))
}

/// Seconds of single evaluations, upper and lower.
#[derive(Default)]
struct Clock {
    seconds: [Vec<f64>; 2],
}

impl Clock {
    fn add(&mut self, level: Level, time: Duration) {
        self.seconds[usize::from(level == Level::Lower)].push(time.as_secs_f64());
    }

    /// Evaluates the centre of the boxes for a few milliseconds.
    fn measure(&mut self, problem: &impl BilevelProblem) {
        const ROUNDS: u32 = 64;
        let (x, y) = (problem.spec().upper.space.middle(), problem.spec().lower.space.middle());
        let mut constraints = Vec::new();
        for level in [Level::Upper, Level::Lower] {
            // The first evaluations include memory allocation.
            let _ = problem.evaluate(level, &x, &y, &mut constraints);
            let start = Instant::now();
            let mut rounds = 0;
            while rounds == 0 || (start.elapsed() < Duration::from_millis(5) && rounds < 1_000_000) {
                for _ in 0..ROUNDS {
                    constraints.clear();
                    let _ = std::hint::black_box(problem.evaluate(level, &x, &y, &mut constraints));
                }
                rounds += ROUNDS;
            }
            self.add(level, start.elapsed() / rounds);
        }
    }

    /// The median at each level, because the first answer of a program may have included its start. `None` if nothing
    /// was evaluated.
    fn medians(mut self) -> Option<[f64; 2]> {
        let measured = self.seconds.iter().any(|seconds| !seconds.is_empty());
        let medians = self.seconds.each_mut().map(|seconds| {
            seconds.sort_by(f64::total_cmp);
            seconds.get(seconds.len() / 2).copied().unwrap_or(0.0)
        });
        measured.then_some(medians)
    }
}

impl About {
    fn new(file: &ProblemFile, seconds: Option<[f64; 2]>, run: Option<Estimate>) -> Self {
        let spec = file.spec();
        let size = |level: Level| {
            let level = spec.level(level);
            Size { variables: level.dim(), inequalities: level.inequalities, equalities: level.equalities }
        };
        let commands = match file {
            ProblemFile::Expressions(_) => Vec::new(),
            ProblemFile::Program { spec, .. } => {
                let mut commands: Vec<_> = spec.all_commands().iter().map(|command| command.command.clone()).collect();
                commands.dedup();
                commands
            }
        };
        let [upper_seconds, lower_seconds] = [0, 1].map(|level| seconds.map(|seconds| seconds[level]));
        let (upper, lower, name) = (size(Level::Upper), size(Level::Lower), spec.name.clone());
        About { name, upper, lower, commands, upper_seconds, lower_seconds, run, whole: Whole::of(file), notice: None }
    }
}

impl Whole {
    fn of(file: &ProblemFile) -> Option<Self> {
        let (upper, lower) = (&file.spec().upper.space, &file.spec().lower.space);
        (upper.has_whole() || lower.has_whole()).then(|| Whole {
            upper: upper.combinations(),
            lower: lower.combinations(),
            rounding: file::rounding(file),
        })
    }

    /// For people: how many combinations there are, and whether rounding would be good enough.
    fn lines(&self, out: &mut impl Write) -> std::io::Result<()> {
        let many = |count: u64| match count {
            u64::MAX => "too many to count".into(),
            count => grouped(count),
        };
        let (upper, lower) = (many(self.upper), many(self.lower));
        table::line(
            out,
            "choices",
            format!("whole numbers: {upper} combinations at the upper level, {lower} at the lower"),
        )?;
        let Some(Rounding { decisions, infeasible, worse }) = self.rounding else { return Ok(()) };
        if infeasible + worse == 0 {
            return Ok(());
        }
        let words = format!(
            "would mislead: of {decisions} relaxed answers of the follower, {infeasible} violate a constraint when rounded, and {worse} are clearly worse than another whole answer"
        );
        table::line(out, "rounding", words)
    }
}

fn text(report: &Report) -> anyhow::Result<()> {
    let mut out = output::stdout();
    for remark in &report.remarks {
        match remark.severity {
            Severity::Error => writeln!(out, "{BAD}error[E103]{BAD:#}: {remark}")?,
            Severity::Warning => writeln!(out, "{WARN}warning[W101]{WARN:#}: {remark}")?,
        }
        writeln!(out)?;
    }
    if let Some(about) = &report.problem {
        table::heading(&mut out, &about.name)?;
        for (name, size) in [("upper", &about.upper), ("lower", &about.lower)] {
            let constraints = size.inequalities + size.equalities;
            let equalities = match size.equalities {
                0 => String::new(),
                n => format!(", of which {}", counted(n as u64, "equation")),
            };
            if size.variables == 0 {
                table::line(&mut out, name, "has its own solver")?;
                continue;
            }
            let variables = counted(size.variables as u64, "variable");
            let line = format!("{variables}, {}{equalities}", counted(constraints as u64, "constraint"));
            table::line(&mut out, name, line)?;
        }
        for command in &about.commands {
            let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
            table::line(&mut out, "starts", words.join(" "))?;
        }
        // Failed evaluations have no meaningful time.
        if let (0, Some(upper), Some(lower)) = (report.errors, about.upper_seconds, about.lower_seconds) {
            let (upper, lower) = (time(upper), time(lower));
            table::line(&mut out, "evaluation", format!("about {upper} at the upper level, {lower} at the lower"))?;
        }
        if let (0, Some(run)) = (report.errors, &about.run) {
            table::line(&mut out, "run", run.words())?;
        }
        if let Some(whole) = &about.whole {
            whole.lines(&mut out)?;
        }
        if let Some(notice) = &about.notice {
            table::line(&mut out, "method", notice)?;
        }
    }
    let (errors, warnings) = (counted(report.errors as u64, "error"), counted(report.warnings as u64, "warning"));
    writeln!(out, "{}: {errors}, {warnings}", report.file)?;
    out.flush()?;
    Ok(())
}

/// A time for people.
pub(super) fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    format!("{} {unit}", short((value * 10.0).round() / 10.0))
}
