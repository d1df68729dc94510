//! Ctrl-C: the first one lets the current batch finish, the second one ends the program at once.

use crate::output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C (or SIGTERM) sets, for a run that is saved.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    flag_saying("stopping after this batch; Ctrl-C again stops at once, without saving")
}

/// The same with another message.
pub(crate) fn flag_saying(words: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_each(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        output::say(format_args!("\n{words}"));
    })?;
    Ok(stop)
}

/// Calls a function for each signal, except for signals that were ignored when this program started: `nohup` and
/// background jobs of a script rely on that.
#[cfg(unix)]
fn on_each(act: impl Fn() + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| (ignored >> (signal - 1)) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || signals.forever().for_each(|_| act()))?;
    Ok(())
}

#[cfg(not(unix))]
fn on_each(act: impl Fn() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(act)
}

/// The ignored signals as bits, the lowest bit for the first one. Only Linux reports them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
