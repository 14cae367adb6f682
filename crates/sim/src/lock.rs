//! One way to take a lock. It must never add a second failure to a test that has already failed: a
//! panic elsewhere leaves these small states whole.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
