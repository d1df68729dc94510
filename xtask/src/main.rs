//! `cargo xtask test` runs everything a change must pass; `cargo xtask bench` measures speed;
//! `cargo xtask generate` makes the pages of the guide that come from the code.
//!
//! Only the standard library, so that it builds in a second. Words go to stderr, tables to stdout.

// A developer's tool talks to a terminal; this is the one program whose output is plain printing.
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
cargo xtask test [STEP]...            every step, or only those named
cargo xtask test --list               the names of the steps
cargo xtask bench [SECTION]... [--json]
                                      every section, or only those named
cargo xtask bench --list              the names of the sections
cargo xtask wheel                     the Python package: a wheel, and an sdist that builds offline
cargo xtask package                   proves that crates, wheel, sdist and guide can be published
cargo xtask generate [--check]        what is made from other sources: the page of settings, llms.txt
cargo xtask guide                     the whole guide as one Markdown file, dist/guide.md
cargo xtask tables [WORD]...          the tables of the guide's page on the default method, measured again
                                      (minutes), or only those whose command has such a word
cargo xtask study                     the published study and what goes beyond it, measured again (minutes)
cargo xtask calibrate [--resume] [ARGUMENT]...
                                      what the words of a result are worth, on planted problems (minutes);
                                      --resume goes on with one that was broken off
cargo xtask fuzz proof [COUNT]        random problems against brute force: is anything false ever proven?
cargo xtask faults [WORD]...          are faults in the rules of proofs found, all or those named so? (minutes)
cargo xtask mutants [ARGUMENT]...     which faults in the search the tests find (hours; --shard 0/12 for a part)

`test` is the same everywhere: whatever pip can install goes into an environment of its own in target.
Only what needs a package of the system (a browser, Octave, a C++ compiler, Python itself) may be absent, and
is then named as not run. With CI set in the environment it is installed too.";

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
        ["study"] => study::run(),
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
