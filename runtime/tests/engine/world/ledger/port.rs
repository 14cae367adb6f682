//! The port itself: what an engine asks, passed on with the troubles that a test ordered.
//!
//! It adds nothing to what the ledger below says.

use super::*;

impl Ledger for TestLedger {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        Box::pin(self.write(requests))
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        if self.is_gone(run) {
            return Box::pin(async move { Err(LedgerError::RunUnknown { run }) });
        }
        self.inner.enqueue(run, message, command)
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        Box::pin(async move {
            let takes = self.state.lock().reads_take;
            if 0 < takes {
                self.timers.sleep(Millis::new(takes)).await;
            }
            self.readable()?;
            if self.is_gone(run) {
                return Ok(None);
            }
            let mut loaded = self.inner.load(run).await;
            if let Ok(Some(loaded)) = &mut loaded {
                self.gives(loaded);
            }
            let late = std::mem::take(&mut self.state.lock().read_returns_after);
            if 0 < late {
                self.timers.sleep(Millis::new(late)).await;
            }
            loaded
        })
    }

    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>> {
        Box::pin(async move {
            let page = self.inner.history(run, after).await?;
            if let Some(page) = &page {
                self.state.lock().reads.push(Given {
                    snapshot: None,
                    events: page.rows.len(),
                });
            }
            Ok(page)
        })
    }

    fn keep(&self, run: RunId, snapshot: Snapshot) {
        self.prove(run, &snapshot);
        self.inner.keep(run, snapshot);
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        Box::pin(async move {
            self.readable()?;
            self.inner.driven(cursor).await
        })
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        self.inner.driving(run)
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        self.inner.inbox(run)
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        self.inner.wakes(cursor)
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        self.inner.inboxes(cursor)
    }

    /// As in a store that one process holds, unless a test wants several workers: whoever drove a
    /// run in an earlier life is gone.
    fn lease(
        &self,
        worker: WorkerId,
        until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        let is_shared = self.state.lock().shared;
        Box::pin(async move {
            match is_shared {
                true => self.inner.lease(worker, until).await,
                false => Ok(()),
            }
        })
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        self.inner.summary(run)
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        self.inner.alerts(after)
    }

    fn knocks(&self) -> Knocks {
        self.inner.knocks()
    }

    fn mark(&self, run: RunId) -> Mark {
        self.inner.mark(run)
    }

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        let aborted = self.state.lock().aborted.clone();
        Box::pin(async move { Ok(aborted) })
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        self.inner.runs(filter, cursor)
    }

    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>> {
        self.inner.effect(key)
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        self.inner.start_key(tenant, key)
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        self.inner.class(name, version)
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        self.inner.classes()
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        self.inner.last_time()
    }

    fn appends(&self) -> u64 {
        self.inner.appends()
    }
}
