//! Ctrl-C: the first one lets the batch finish, the second one ends the program at once.

use crate::output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C (or a polite request to terminate) sets, for a run that is saved.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    flag_saying("stopping after this batch; Ctrl-C again stops at once, without saving")
}

/// The same with other words for whoever pressed it.
pub(crate) fn flag_saying(words: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        output::say(format_args!("\n{words}"));
    })?;
    Ok(stop)
}
