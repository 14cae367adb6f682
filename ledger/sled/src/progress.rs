//! How far the store is durable, and whether it failed.
//!
//! sled shows what was applied before it is durable. A read therefore waits until the group that
//! was being written while it looked is durable; nothing a caller sees can be lost afterwards.
//! Reads never hold a lock that the committer needs for longer than a comparison.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_channel::oneshot;
use mainstay_ledger::LedgerError;
use parking_lot::Mutex;

/// Progress of one open store, shared by the committer and all readers.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    state: Mutex<State>,
    appends: AtomicU64,
    syncs: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    writing: bool,
    failure: Option<String>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Progress {
    /// From here on sled may show what is not durable yet.
    pub(crate) fn begin(&self) {
        self.state.lock().writing = true;
    }

    /// Everything that sled shows is durable.
    pub(crate) fn finish(&self, appends: u64) {
        self.appends.fetch_add(appends, Ordering::Relaxed);
        let waiting = {
            let mut state = self.state.lock();
            state.writing = false;
            std::mem::take(&mut state.waiting)
        };
        for reader in waiting {
            // A reader that gave up needs no answer.
            let _ = reader.send(());
        }
    }

    /// The store failed; the first failure is the one that is told from now on.
    pub(crate) fn poison(&self, detail: String) {
        let waiting = {
            let mut state = self.state.lock();
            state.failure.get_or_insert(detail);
            std::mem::take(&mut state.waiting)
        };
        drop(waiting);
    }

    /// The failure, when the store failed.
    pub(crate) fn check(&self) -> Result<(), LedgerError> {
        self.state.lock().check()
    }

    /// What a caller is told whose request was dropped unanswered.
    pub(crate) fn gone(&self) -> LedgerError {
        self.check().err().unwrap_or_else(|| LedgerError::Poisoned {
            detail: "the store was closed before it took the request".to_owned(),
        })
    }

    /// Completes once all that sled shows now is durable. Cancel-safe: it only waits.
    pub(crate) async fn durable(&self) -> Result<(), LedgerError> {
        let group = {
            let mut state = self.state.lock();
            state.check()?;
            if !state.writing {
                return Ok(());
            }
            let (waker, group) = oneshot::channel();
            state.waiting.push(waker);
            group
        };
        group.await.map_err(|_| self.gone())
    }

    /// Counts a sync.
    pub(crate) fn synced(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn appends(&self) -> u64 {
        self.appends.load(Ordering::Relaxed)
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }
}

impl State {
    fn check(&self) -> Result<(), LedgerError> {
        match &self.failure {
            Some(detail) => Err(LedgerError::Poisoned {
                detail: detail.clone(),
            }),
            None => Ok(()),
        }
    }
}
