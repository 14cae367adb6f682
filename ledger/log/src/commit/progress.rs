//! Whether the store failed, and what is counted of it.

use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_ledger::LedgerError;
use parking_lot::Mutex;

/// Progress of one open store, shared by the committer and everyone else.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    failure: Mutex<Option<String>>,
    appends: AtomicU64,
    syncs: AtomicU64,
}

impl Progress {
    /// The store failed; the first failure is the one that is told from now on.
    pub(crate) fn poison(&self, detail: String) {
        self.failure.lock().get_or_insert(detail);
    }

    /// The failure, when the store failed.
    pub(crate) fn check(&self) -> Result<(), LedgerError> {
        match &*self.failure.lock() {
            Some(detail) => Err(LedgerError::Poisoned {
                detail: detail.clone(),
            }),
            None => Ok(()),
        }
    }

    /// What a caller is told whose request was dropped unanswered.
    pub(crate) fn gone(&self) -> LedgerError {
        self.check().err().unwrap_or_else(|| LedgerError::Poisoned {
            detail: "the store was closed before it took the request".to_owned(),
        })
    }

    /// Counts a group: its appends, and its sync.
    pub(crate) fn written(&self, appends: u64) {
        self.appends.fetch_add(appends, Ordering::Relaxed);
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn appends(&self) -> u64 {
        self.appends.load(Ordering::Relaxed)
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }
}
