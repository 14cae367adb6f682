//! The port: writes go by the disk, reads see what is synced.

use std::future::ready;

use mainstay_ledger::{CommitRequest, Enqueued, InboxCommand, Layer, Ledger, LedgerError, Verdict};
use mainstay_types::{BoxFuture, MessageId, RunId, Timestamp, WorkerId};

use super::SimLedger;
use super::flight::{Answer, Wish};

impl Layer for SimLedger {
    fn below(&self) -> &dyn Ledger {
        &self.0.memory
    }

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
}
