//! What sled's panics print: they are caught and told as damage, and Rust prints them all the same.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;

thread_local! {
    /// Calls of sled on this thread whose panic is caught.
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
}

/// Runs `call`; `Err` is its panic.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let within = CAUGHT.get();
    CAUGHT.set(within + 1);
    let end = catch_unwind(AssertUnwindSafe(call));
    CAUGHT.set(within);
    end
}

/// Runs what is not sled's within a call of sled: its panic is told as any other.
pub(super) fn not_sleds<T>(call: impl FnOnce() -> T) -> T {
    let within = CAUGHT.replace(0);
    let end = call();
    CAUGHT.set(within);
    end
}

/// Keeps what sled's panics say out of the process's error output.
///
/// sled panics when its pages contradict each other. The ledger catches that and says what is
/// damaged and what to do, which is all that a person needs. Every other panic goes to the hook
/// that was set before. For the whole process, which is why no ledger does it by itself; calling it
/// again changes nothing.
pub fn hide_sled_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if CAUGHT.get() == 0 && !is_sleds_own_thread() {
                before(panic);
            }
        }));
    });
}

/// Threads that sled starts; what they meet is found by whoever calls sled next.
fn is_sleds_own_thread() -> bool {
    let thread = thread::current();
    let name = thread.name().unwrap_or_default();
    name.starts_with("sled-io-") || name == "log flusher"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    static PRINTED: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn what_sled_panics_with_is_not_printed_and_every_other_panic_is() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {
            PRINTED.fetch_add(1, Ordering::SeqCst);
        }));
        hide_sled_panics();
        assert!(caught(|| panic!("a page without a root")).is_err());
        let own = thread::Builder::new().name("sled-io-7".to_owned());
        let own = own.spawn(|| panic!("its own")).unwrap();
        assert!(own.join().is_err());
        assert_eq!(PRINTED.load(Ordering::SeqCst), 0);
        // Within a call, and after one that panicked.
        let nested = || caught(|| caught(|| panic!("within")).is_err());
        assert!(nested().unwrap());
        assert!(catch_unwind(|| panic!("of somebody else")).is_err());
        assert_eq!(PRINTED.load(Ordering::SeqCst), 1);
        std::panic::set_hook(before);
    }
}
