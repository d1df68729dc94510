//! The processor's time, which other programs do not disturb.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of the processor that `work` took, and what came of it.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let clock = || {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    };
    let before = clock();
    (work(), clock() - before)
}
