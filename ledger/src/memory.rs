//! The ledger in memory: for unit tests and for runs nobody needs to find again.
//!
//! It obeys every rule of a durable backend except durability. Events are kept as records, so that
//! what is read back has gone through the codec; nothing may take a short cut around it.

mod store;

use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId, limits,
};
use parking_lot::Mutex;

use crate::Ledger;
use crate::alert::StoredAlert;
use crate::check::View;
use crate::commit::{CommitRequest, Verdict};
use crate::drive::Driving;
use crate::error::LedgerError;
use crate::inbox::{Enqueued, InboxCommand, InboxMessage};
use crate::knock::{Knocker, Knocks};
use crate::mark::Mark;
use crate::query::{Loaded, Page, Recorded, RunFilter, StoredClass};
use crate::snapshot::Snapshot;
use store::Store;

/// A ledger that lives as long as its process. Shared by reference; all methods take `&self`.
///
/// Several engines may stand on one: leases tell them which of the others still live.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    store: Mutex<Store>,
    knocker: Knocker,
}

impl MemoryLedger {
    /// An empty ledger without a bound but memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty ledger that answers `Full` to a request beyond `max` events in all.
    #[must_use]
    pub fn with_events_max(max: usize) -> Self {
        Self {
            store: Mutex::new(Store::with_events_max(max)),
            knocker: Knocker::default(),
        }
    }

    /// Makes [`Ledger::aborted`] say this. A ledger in memory ends with its process, so it has
    /// nothing of its own to say; tests of who reads it need an answer.
    #[cfg(any(test, feature = "conformance"))]
    pub fn assume_aborted(&self, runs: impl IntoIterator<Item = (RunId, u32)>) {
        self.store.lock().aborted = runs.into_iter().collect();
    }

    /// Bytes of all states that are kept, with their payloads.
    #[cfg(any(test, feature = "conformance"))]
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.store.lock().kept_bytes()
    }

    /// Changes the store, then knocks for what came up.
    fn change<T>(&self, change: impl FnOnce(&mut Store) -> T) -> T {
        let mut store = self.store.lock();
        let answer = change(&mut store);
        let knocked = store.take_knocked();
        drop(store);
        self.knocker.knock(&knocked);
        answer
    }
}

impl Ledger for MemoryLedger {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        assert!(
            requests.len() <= limits::COMMIT_GROUP_MAX,
            "a group beyond its bound"
        );
        Box::pin(async move {
            self.change(|store| {
                requests
                    .into_iter()
                    .map(|request| store.commit(request))
                    .collect()
            })
        })
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        let message = InboxMessage {
            id: message,
            command,
        };
        Box::pin(async move {
            let bytes = message.command.payload_bytes();
            if !message.command.fits() {
                return Err(LedgerError::TooLarge { run, bytes });
            }
            self.change(|store| store.enqueue(run, &message))
        })
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        Box::pin(async move { self.store.lock().load(run) })
    }

    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>> {
        Box::pin(async move { self.store.lock().history(run, after) })
    }

    fn keep(&self, run: RunId, snapshot: Snapshot) {
        self.store.lock().keep(run, snapshot);
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().driven(cursor)) })
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().driving(run)) })
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        Box::pin(async move { self.store.lock().inbox(run) })
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().wakes(cursor)) })
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().inboxes(cursor)) })
    }

    fn lease(
        &self,
        worker: WorkerId,
        until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            self.store.lock().lease(worker, until);
            Ok(())
        })
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().summary(run)) })
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        Box::pin(async move { self.store.lock().alerts(after) })
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().runs(&filter, cursor)) })
    }

    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>> {
        Box::pin(async move { View::effect(&*self.store.lock(), &key) })
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        Box::pin(async move { View::start_key(&*self.store.lock(), &tenant, &key) })
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        Box::pin(async move { self.store.lock().class(&name, version) })
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        Box::pin(async move { self.store.lock().classes() })
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().last_time) })
    }

    fn knocks(&self) -> Knocks {
        self.knocker.subscribe()
    }

    fn mark(&self, _run: RunId) -> Mark {
        Mark::none()
    }

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        Box::pin(async move {
            let aborted = self.store.lock().aborted.clone();
            Ok(aborted.into_iter().collect())
        })
    }

    fn appends(&self) -> u64 {
        self.store.lock().appends
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
