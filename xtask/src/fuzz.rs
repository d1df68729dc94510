//! `cargo xtask fuzz proof [COUNT] [FIRST]`: compares thousands of random problems with brute force. Does
//! `bilevo-proof` ever prove something false?

use crate::shell::cargo;

/// Runs it; false if something false was proven.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    let ["proof", rest @ ..] = args else { return Err("usage: cargo xtask fuzz proof [COUNT] [FIRST]".into()) };
    let mut command = cargo(&["run", "--release", "--quiet", "--package", "bilevo-proof", "--example", "fuzz", "--"]);
    command.args(rest);
    let status = command.status().map_err(|e| format!("cargo could not be started: {e}"))?;
    Ok(status.success())
}
