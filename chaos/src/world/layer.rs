//! A ledger with something in between: a witness, or a bug that is there on purpose.

use std::sync::Arc;

use mainstay_ledger::{
    CommitRequest, Driving, Enqueued, InboxCommand, InboxMessage, Knocks, Ledger, LedgerError,
    Loaded, Mark, Page, Recorded, RunFilter, Snapshot, StoredAlert, StoredClass, Verdict,
};
use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId,
};

/// What stands in between. What it does not say is passed on.
pub(crate) trait Layer: Send + Sync + 'static {
    fn commit<'a>(
        &'a self,
        below: &'a Arc<dyn Ledger>,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, LedgerError>> {
        below.commit(requests)
    }

    /// What is read of a run.
    fn loaded(&self, _: &mut Loaded) {}
}

/// `layer` on top of a ledger.
pub(crate) struct Layered<L> {
    below: Arc<dyn Ledger>,
    layer: Arc<L>,
}

impl<L: Layer> Layered<L> {
    pub(crate) fn over(below: Arc<dyn Ledger>, layer: Arc<L>) -> Arc<dyn Ledger> {
        Arc::new(Self { below, layer })
    }
}

impl<L: Layer> Ledger for Layered<L> {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        self.layer.commit(&self.below, requests)
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        self.below.enqueue(run, message, command)
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        Box::pin(async move {
            let mut loaded = self.below.load(run).await?;
            if let Some(loaded) = &mut loaded {
                self.layer.loaded(loaded);
            }
            Ok(loaded)
        })
    }

    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>> {
        self.below.history(run, after)
    }

    fn keep(&self, run: RunId, snapshot: Snapshot) {
        self.below.keep(run, snapshot);
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        self.below.driven(cursor)
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        self.below.driving(run)
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        self.below.inbox(run)
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        self.below.wakes(cursor)
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        self.below.inboxes(cursor)
    }

    fn lease(
        &self,
        worker: WorkerId,
        until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.below.lease(worker, until)
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        self.below.summary(run)
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        self.below.alerts(after)
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        self.below.runs(filter, cursor)
    }

    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>> {
        self.below.effect(key)
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        self.below.start_key(tenant, key)
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        self.below.class(name, version)
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        self.below.classes()
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        self.below.last_time()
    }

    fn knocks(&self) -> Knocks {
        self.below.knocks()
    }

    fn mark(&self, run: RunId) -> Mark {
        self.below.mark(run)
    }

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        self.below.aborted()
    }

    fn appends(&self) -> u64 {
        self.below.appends()
    }
}
