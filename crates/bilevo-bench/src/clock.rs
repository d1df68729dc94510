//! The time of the processor, which other programs do not disturb.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of the processor that this thread has used.
pub(crate) fn clock() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
