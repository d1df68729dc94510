//! `cargo xtask test` runs everything a change must pass; `cargo xtask bench` measures speed;
//! `cargo xtask generate` makes the pages of the guide that come from the code.
//!
//! It uses only the standard library, so that it builds in a second. Messages go to stderr, tables to stdout.

// This developer's tool talks to a terminal; it is the only program that prints directly.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod archives;
mod bench;
mod calibrate;
mod commands;
mod deny;
mod faults;
mod fuzz;
mod generate;
mod guide;
mod links;
mod markdown;
mod mutants;
mod python;
mod shell;
mod stages;
mod steps;
mod study;
mod table;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test [STEP]...            run every step of the tests, or only those named
cargo xtask test --list               list the steps
cargo xtask bench [SECTION]... [--json]
                                      measure speed: every section, or only those named
cargo xtask bench --list              list the sections
cargo xtask wheel                     build the Python package: a wheel, and an sdist that builds offline
cargo xtask package                   prove that crates, wheel, sdist and guide can be published
cargo xtask generate [--check]        rewrite the generated files: the page of settings, llms.txt
cargo xtask guide                     write the whole guide into one Markdown file, dist/guide.md
cargo xtask tables [WORD]...          measure tables of the README and the guide again (minutes to hours), or only
                                      those whose page or command contains such a word; --list lists them
cargo xtask tables --everything       the same, and the study, the calibration, the comparison with other libraries
cargo xtask study [PART]...           run the study again (minutes): published, fresh (other seeds), beyond
cargo xtask calibrate [--resume] [ARGUMENT]...
                                      measure how often answers are right, on planted problems (minutes);
                                      --resume continues a calibration that was interrupted
cargo xtask fuzz proof [COUNT]        compare proofs of random problems with brute force: is anything false proven?
cargo xtask faults [WORD]...          do the tests find faults in the rules of proofs? All, or those named (minutes)
cargo xtask mutants [ARGUMENT]...     do the tests find faults in the search? (hours; --shard 0/12 for a part)

`test` does the same everywhere: whatever pip can install goes into its own environment in target.
Only things that need a system package (a browser, Octave, a C++ compiler, Python itself) may be missing;
the step is then reported as not run. If CI is set in the environment, they are installed too.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test", rest @ ..] => steps::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        ["wheel"] => archives::wheel(),
        ["package"] => archives::package(),
        ["generate", rest @ ..] => generate::run(rest),
        ["guide"] => guide::write(),
        ["calibrate", rest @ ..] => calibrate::run(rest),
        ["tables", rest @ ..] => tables::run(rest),
        ["study", rest @ ..] => study::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["faults", rest @ ..] => faults::run(rest),
        ["mutants", rest @ ..] => mutants::run(rest),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(true)
        }
        _ => Err(format!("usage:\n{HELP}")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}
