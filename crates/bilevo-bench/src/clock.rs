//! The time of the processor, which other programs do not disturb.

/// Seconds of the processor that this thread has used.
#[cfg(unix)]
pub(crate) fn clock() -> f64 {
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Seconds since the first call: elsewhere there is no such clock.
#[cfg(not(unix))]
pub(crate) fn clock() -> f64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
