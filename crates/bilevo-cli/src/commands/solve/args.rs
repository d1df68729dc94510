//! The arguments of `solve`.

use super::super::eval::Vector;
use super::sweep;
use crate::args::{Duration, Format, SizeArgs, positive, whole_number};
use crate::settings;
use bilevo::testing::Inject;
use bilevo::{AuditOptions, Position};
use clap::ValueEnum;
use std::path::PathBuf;

/// The arguments that belong to a single run.
const ONE_RUN: [&str; 11] =
    ["x0", "known", "save_evaluations", "checkpoint", "resume", "trace", "plot", "report", "audit", "prove", "inject"];

/// Solve a problem
///
/// The exit code is 0 if the answer is good: it is feasible at both levels, the follower was rechecked,
/// the search finished (restarts agree, nothing improves any more, or the target is met), and an audit, if you
/// asked for one, confirmed it. Otherwise the exit code is 1, and a warning says what is wrong.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// A built-in problem (see `bilevo list problems`) or a problem file
    #[arg(required_unless_present = "resume")]
    pub(super) problem: Option<String>,
    /// The method (see `bilevo list methods`) [default: auto, which chooses one that suits the problem: portfolio,
    /// exchange-cma-es if some variables are whole numbers, cr-tlea-cma-es if there are more than 100 variables]
    #[arg(long, short, value_name = "NAME")]
    pub(super) method: Option<String>,
    /// Seed of all random numbers; the same seed gives the same answer [default: a random one, which is printed]
    #[arg(long, short, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,
    /// When the run has searched enough: `quick` stops earlier than `normal`, `thorough` later, `budget` only when
    /// the budget is spent, and `local` at the first verified answer, which is enough if --x0 is close to the
    /// optimum (portfolio only) [default: normal]
    #[arg(long, value_name = "EFFORT", value_parser = ["local", "quick", "normal", "thorough", "budget"])]
    pub(super) effort: Option<String>,
    /// Change one setting of the method, as in --set allocator.window=48 (see `bilevo explain`)
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::parse_assignment)]
    pub(super) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) size: SizeArgs,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    /// Limit on the evaluations of both levels together, exact to within one batch [default: none]. You can
    /// raise it when you resume a run
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    pub(super) max_evals: Option<u64>,
    /// Limit on upper evaluations; the current generation is finished first [default: depends on the number
    /// of variables]. You can raise it when you resume a run
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    pub(super) max_upper_evals: Option<u64>,
    /// Limit on lower evaluations; the current batch is finished first [default: none]
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    pub(super) max_lower_evals: Option<u64>,
    /// Limit on the wall time, as in 90s, 10m or 1h30m, including earlier sessions and the audit
    #[arg(help_heading = "Limits", long, value_name = "TIME", allow_negative_numbers = true)]
    pub(super) time_limit: Option<Duration>,
    /// Whether reaching the best known value, if there is one, ends the run [default: both
    /// for portfolio, upper for the others]
    #[arg(help_heading = "Limits", long, value_enum, value_name = "WHEN")]
    pub(super) target: Option<TargetArg>,
    /// Check the answer: solve the follower's problem again, with different methods, and compare
    #[arg(help_heading = "Checks of the answer", long)]
    pub(super) audit: bool,
    /// Treat gaps in the follower's objective up to this as zero, relative to max(1, |f|) [default: the
    /// file's `position_tolerance`, or 1e-4 of what f usually changes by]
    #[arg(help_heading = "Checks of the answer", long, value_name = "GAP", value_parser = positive)]
    pub(super) audit_tolerance: Option<f64>,
    /// Limit on the lower evaluations of the audit, plus half as many for ties [default: 40 times
    /// those of one lower search]
    #[arg(help_heading = "Checks of the answer", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    pub(super) audit_evals: Option<u64>,
    /// Prove that no decision is better, and adopt better ones found on the way; takes at most a minute
    /// or --time-limit, and works for problems given by formulas
    #[arg(help_heading = "Checks of the answer", long)]
    pub(super) prove: bool,
    /// Which answer counts if several are equally good for the follower. Every lower evaluation then costs an
    /// upper one too, and the run ends with an audit [default: as in the problem file, if it says so]
    #[arg(help_heading = "Checks of the answer", long, value_enum, value_name = "WHICH")]
    pub(super) position: Option<PositionArg>,
    /// Start at this decision of the leader: numbers separated by spaces or commas. If the follower has its own
    /// solver, you can give several
    #[arg(help_heading = "Starts and known evaluations", long, value_name = "NUMBERS", allow_hyphen_values = true)]
    pub(super) x0: Vec<Vector>,
    /// Start at this answer of the follower: one for each --x0 [default: the middle of its box]
    #[arg(
        help_heading = "Starts and known evaluations",
        long,
        value_name = "NUMBERS",
        allow_hyphen_values = true,
        requires = "x0"
    )]
    pub(super) y0: Vec<Vector>,
    /// Use the evaluations of earlier runs in this table, written by --save-evaluations: they are not repeated,
    /// and the default method learns from them. You can give several tables
    #[arg(help_heading = "Starts and known evaluations", long, value_name = "FILE.csv")]
    pub(super) known: Vec<PathBuf>,
    /// Write every evaluation of the run to this table
    #[arg(help_heading = "Starts and known evaluations", long, value_name = "FILE.csv")]
    pub(super) save_evaluations: Option<PathBuf>,
    /// Find the Pareto front of a leader with two goals, for a problem file with `minimize = ["...", "..."]`
    #[arg(help_heading = "Two goals and what-if", long, conflicts_with_all = ONE_RUN)]
    pub(super) front: bool,
    /// Number of points on the front [default: 9]
    #[arg(help_heading = "Two goals and what-if", long, value_name = "N", requires = "front", value_parser = clap::value_parser!(u16).range(2..=1000), allow_negative_numbers = true)]
    pub(super) points: Option<u16>,
    /// Solve a problem file for several values of one of its parameters, evenly spaced, as in demand=1:10:10;
    /// each run begins at the answer of the one before
    #[arg(help_heading = "Two goals and what-if", long, value_name = "NAME=FROM:TO:COUNT", conflicts_with = "front", conflicts_with_all = ONE_RUN)]
    pub(super) sweep: Option<sweep::Values>,
    /// Number of evaluation threads; 0 means one per processor. The answer does not depend on it
    #[arg(help_heading = "Evaluations", long, short, value_name = "N", default_value_t = 1, value_parser = crate::args::jobs, allow_negative_numbers = true)]
    pub(super) jobs: u16,
    /// What to do if an evaluation fails, after all retries
    #[arg(help_heading = "Evaluations", long, value_enum, default_value_t)]
    pub(super) on_failure: OnFailure,
    /// How often to try a failed evaluation again
    #[arg(help_heading = "Evaluations", long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000), allow_negative_numbers = true)]
    pub(super) retries: u32,
    /// Save the run to this file, every two seconds and at the end
    #[arg(help_heading = "Files", long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Continue a saved run, and keep saving to the same file unless --checkpoint names another
    #[arg(help_heading = "Files", long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// Write one JSON line per generation; `-` is standard output
    #[arg(help_heading = "Files", long, value_name = "FILE.jsonl")]
    pub(super) trace: Option<PathBuf>,
    /// Plot the accuracy (or F) and the evaluations at both levels, as SVG or, if the name ends in .png,
    /// as PNG; `-` is standard output
    #[arg(help_heading = "Files", long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Write an HTML report on the run: the answer, how certain it is and why, what lies around it, and what
    /// to try next. Takes a few more evaluations: a tenth of the run's, or two seconds' worth
    #[arg(help_heading = "Files", long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Evaluations the report may spend [default: see --report]
    #[arg(help_heading = "Files", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true, requires = "report")]
    pub(super) report_evals: Option<u64>,
    /// Make the problem misbehave, for tests: nan:7, panic:7, slow:1000, …
    #[arg(long, hide = true, value_name = "FAULT:N")]
    pub(super) inject: Vec<Inject>,
}

/// The words of `stop.target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TargetArg {
    /// End as soon as F is within the tolerance of the best known value
    #[value(alias = "on")]
    Upper,
    /// End as soon as F, f and both violations are within their tolerances
    Both,
    /// Ignore the best known value
    Off,
}

impl TargetArg {
    pub(super) fn word(self) -> &'static str {
        match self {
            TargetArg::Upper => "upper",
            TargetArg::Both => "both",
            TargetArg::Off => "off",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum OnFailure {
    /// The point counts as the worst of all, and the run continues
    #[default]
    Worst,
    /// Save the run and end it with an error
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PositionArg {
    /// The one that is best for the leader
    Optimistic,
    /// The one that is worst for the leader
    Pessimistic,
}

impl PositionArg {
    pub(super) fn meant(self) -> Position {
        match self {
            PositionArg::Optimistic => Position::Optimistic,
            PositionArg::Pessimistic => Position::Pessimistic,
        }
    }
}

impl Args {
    /// The requested audit, if any.
    pub(super) fn audit(&self) -> Option<AuditOptions> {
        let asked = [self.audit, self.position.is_some(), self.audit_tolerance.is_some(), self.audit_evals.is_some()];
        let wanted = asked.contains(&true);
        wanted.then(|| AuditOptions {
            tolerance: self.audit_tolerance,
            max_lower_evals: self.audit_evals,
            ..AuditOptions::default()
        })
    }
}
