//! The port: writes go by the disk, reads see what is synced.

use std::future::ready;

use mainstay_ledger::{
    CommitRequest, Driving, Enqueued, InboxCommand, InboxMessage, Knocks, Ledger, LedgerError,
    Loaded, Mark, Page, Recorded, RunFilter, Snapshot, StoredAlert, StoredClass, Verdict,
};
use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId,
};

use super::SimLedger;
use super::flight::{Answer, Wish};

impl Ledger for SimLedger {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        Box::pin(async move {
            match self.ask(Wish::Commit(requests)).await {
                Answer::Committed(verdicts) => verdicts,
                Answer::Enqueued(_) => unreachable!("a commit is answered as one"),
            }
        })
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        Box::pin(async move {
            match self.ask(Wish::Enqueue(run, message, command)).await {
                Answer::Enqueued(enqueued) => enqueued,
                Answer::Committed(_) => unreachable!("a message is answered as one"),
            }
        })
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        self.0.memory.load(run)
    }

    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>> {
        self.0.memory.history(run, after)
    }

    fn keep(&self, run: RunId, snapshot: Snapshot) {
        self.0.memory.keep(run, snapshot);
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        self.0.memory.driven(cursor)
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        self.0.memory.driving(run)
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        self.0.memory.inbox(run)
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        self.0.memory.wakes(cursor)
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        self.0.memory.inboxes(cursor)
    }

    fn lease(
        &self,
        worker: WorkerId,
        until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        match self.0.disk.lock().is_shared {
            true => self.0.memory.lease(worker, until),
            false => Box::pin(ready(Ok(()))),
        }
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        self.0.memory.summary(run)
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        self.0.memory.alerts(after)
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        self.0.memory.runs(filter, cursor)
    }

    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>> {
        self.0.memory.effect(key)
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        self.0.memory.start_key(tenant, key)
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        self.0.memory.class(name, version)
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        self.0.memory.classes()
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        self.0.memory.last_time()
    }

    fn knocks(&self) -> Knocks {
        self.0.memory.knocks()
    }

    fn mark(&self, run: RunId) -> Mark {
        self.0.memory.mark(run)
    }

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        self.0.memory.aborted()
    }

    fn appends(&self) -> u64 {
        self.0.memory.appends()
    }
}
