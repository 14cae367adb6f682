//! Waiting for a value, with a bound.
//!
//! Nothing here waits for time to pass: a look that finds nothing is followed by the next one.

use std::time::{Duration, Instant};

/// How long anything may take before it counts as lost. Far beyond what is needed: it is reached
/// only by what hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks.
const GLANCE: Duration = Duration::from_millis(3);

/// Looks until there is a value.
///
/// # Panics
/// There is none within [`PATIENCE`]; the message says what was waited for.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(GLANCE);
    }
}

/// Waits until it is so.
///
/// # Panics
/// It is not so within [`PATIENCE`].
pub fn until_true(what: &str, mut is_so: impl FnMut() -> bool) {
    until(what, || is_so().then_some(()));
}

/// Looks until there is a value or `end` has passed; for what need not come.
pub fn until_or<T>(end: Instant, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if end <= Instant::now() {
            return None;
        }
        std::thread::sleep(GLANCE);
    }
}
