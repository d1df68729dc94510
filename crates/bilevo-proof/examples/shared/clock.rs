//! The processor's time, which other programs do not disturb; on Windows, the wall's.

/// Seconds that `work` took, and what came of it.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let seconds = clock();
    let before = seconds();
    (work(), seconds() - before)
}

#[cfg(not(windows))]
fn clock() -> impl Fn() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    || {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    }
}

#[cfg(windows)]
fn clock() -> impl Fn() -> f64 {
    let start = std::time::Instant::now();
    move || start.elapsed().as_secs_f64()
}
