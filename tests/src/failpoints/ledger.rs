//! A ledger whose appends are watched; everything else passes through as it is.
//!
//! It must never answer by itself.

use std::sync::Arc;

use mainstay::Summary;
use mainstay::types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId,
};
use mainstay_ledger::{
    CommitRequest, Driving, Enqueued, InboxCommand, InboxMessage, Knocks, Ledger, LedgerError,
    Loaded, Mark, Page, Recorded, RunFilter, Snapshot, StoredAlert, StoredClass, Verdict,
};
use mainstay_machine::EffectEntry;

use super::{Point, Watch};

/// The ledger.
pub(super) struct WatchedLedger {
    store: Arc<dyn Ledger>,
    watch: Arc<Watch>,
}

impl WatchedLedger {
    pub(super) fn new(store: Arc<dyn Ledger>, watch: Arc<Watch>) -> Self {
        Self { store, watch }
    }
}

impl Ledger for WatchedLedger {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        Box::pin(async move {
            let Some(line) = self.watch.begin(&requests) else {
                return self.store.commit(requests).await;
            };
            self.watch.reach(line, Point::BeforeAppend);
            let verdicts = self.store.commit(requests).await?;
            let is_durable = |verdict: &Verdict| matches!(verdict, Verdict::Committed(_));
            if !verdicts.iter().all(is_durable) {
                return Ok(verdicts);
            }
            self.watch.reach(line, Point::BeforeAcknowledgement);
            self.watch.reach(line, Point::BeforeSend);
            Ok(verdicts)
        })
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        self.store.enqueue(run, message, command)
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        self.store.load(run)
    }

    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>> {
        self.store.history(run, after)
    }

    fn keep(&self, run: RunId, snapshot: Snapshot) {
        self.store.keep(run, snapshot);
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        self.store.driven(cursor)
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        self.store.driving(run)
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        self.store.inbox(run)
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        self.store.wakes(cursor)
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        self.store.inboxes(cursor)
    }

    fn lease(
        &self,
        worker: WorkerId,
        until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.store.lease(worker, until)
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        self.store.summary(run)
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        self.store.runs(filter, cursor)
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        self.store.alerts(after)
    }

    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>> {
        self.store.effect(key)
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        self.store.start_key(tenant, key)
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        self.store.class(name, version)
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        self.store.classes()
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        self.store.last_time()
    }

    fn knocks(&self) -> Knocks {
        self.store.knocks()
    }

    fn mark(&self, run: RunId) -> Mark {
        self.store.mark(run)
    }

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        self.store.aborted()
    }

    fn appends(&self) -> u64 {
        self.store.appends()
    }
}
