//! Signals that tests send to the program, whatever this program was started with.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A time that nothing needs which ends at all.
pub(crate) const AGES: Duration = Duration::from_secs(600);

/// What something that waits comes back with: a test that has to fail must not wait for ever.
pub(crate) fn within_ages<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(wait()));
    receiver.recv_timeout(AGES).unwrap()
}

/// The signals of a line such as `SigIgn` in the status of a process, where the system has one.
pub(crate) fn mask(process: u32, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|text| text.strip_prefix(line));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap())
}

/// Whether a mask has a signal.
pub(crate) fn has(mask: u64, signal: i32) -> bool {
    mask >> (signal - 1) & 1 == 1
}

/// Lets children hear signals. Started in the background of a script or by `nohup`, this program ignores some, and
/// its children would too: but what is handled here is not handled in a child.
pub(crate) fn children_hear_signals() {
    let ignored = mask(std::process::id(), "SigIgn:");
    for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| has(ignored, *signal)) {
        signal_hook::flag::register(signal, Arc::default()).unwrap();
    }
}

/// Sends a signal to a process that was started after `children_hear_signals`.
pub(crate) fn send(signal: &str, process: u32) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}
