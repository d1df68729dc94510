//! Catches panics and turns them into messages, without the usual report on stderr.
//!
//! The panic hook belongs to the whole process, so ours is installed in front of the existing one, and only takes
//! over (recording where the panic happened) on threads that are inside [`Quiet`].

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<u32> = const { Cell::new(0) };
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Installs the hook, once per process.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let quiet = QUIET.try_with(|depth| depth.get() > 0).unwrap_or(false);
            if quiet {
                let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
                let _ = PLACE.try_with(|cell| cell.set(place));
            } else {
                previous(info);
            }
        }));
    });
}

/// As long as it lives, panics on this thread are not reported.
pub(crate) struct Quiet(());

impl Quiet {
    pub(crate) fn start() -> Self {
        QUIET.with(|depth| depth.set(depth.get() + 1));
        Quiet(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.with(|depth| depth.set(depth.get().saturating_sub(1)));
    }
}

/// Runs code that may panic; a panic is returned as its message and location.
pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(code)).map_err(|payload| message(&*payload))
}

/// The same without a report on stderr, for threads that rarely need it.
pub(crate) fn quietly<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let _quiet = Quiet::start();
    catch(code)
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into());
    text + &PLACE.take().unwrap_or_default()
}
