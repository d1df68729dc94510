//! `bilevo serve-problem`: a problem as an external program.

use crate::Exit;
use crate::args::SizeArgs;
use bilevo::{program, source};
use std::io;

/// Serve a problem over the protocol of external programs
///
/// Reads one JSON request per line and answers each with one line, like a program named in a problem
/// file, until its input ends. Use it for tests, and to compare your own program with.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A built-in problem (see `bilevo list problems`) or a problem file
    problem: String,
    #[command(flatten)]
    size: SizeArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let source = source::open(&args.problem, args.size.dims.map(|dims| (dims.upper, dims.lower)))?;
    let mut evaluator = source.evaluator(1)?;
    program::serve(&mut *evaluator, io::stdin().lock(), io::stdout().lock())?;
    Ok(Exit::Done)
}
