//! The port itself: what an engine asks, passed on with the troubles that a test ordered.
//!
//! It adds nothing to what the ledger below says.

use super::*;

impl Layer for TestLedger {
    fn below(&self) -> &dyn Ledger {
        &self.inner
    }

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

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        let aborted = self.state.lock().aborted.clone();
        Box::pin(async move { Ok(aborted) })
    }
}
