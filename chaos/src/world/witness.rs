//! Who hears what the engine is told by its ledger, to hold the ledger to it.

use std::sync::Arc;

use mainstay_ledger::{CommitRequest, Layer, Ledger, LedgerError, Part, Verdict};
use mainstay_types::{BoxFuture, Epoch, RunId, Seq};
use parking_lot::Mutex;

/// Events that the engine was told are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acked {
    pub(crate) run: RunId,
    /// The place of the last of them.
    pub(crate) last: Seq,
    /// The epoch under which they were written.
    pub(crate) epoch: Epoch,
    /// How many they were.
    pub(crate) events: usize,
}

/// Notes every commit that was acknowledged.
pub(crate) struct Witness {
    below: Arc<dyn Ledger>,
    acked: Mutex<Vec<Acked>>,
}

impl Witness {
    /// Notes what `below` says.
    pub(crate) fn of(below: Arc<dyn Ledger>) -> Self {
        Self {
            below,
            acked: Mutex::default(),
        }
    }

    pub(crate) fn acked(&self) -> Vec<Acked> {
        self.acked.lock().clone()
    }
}

impl Layer for Witness {
    fn below(&self) -> &dyn Ledger {
        &*self.below
    }

    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        Box::pin(async move {
            let about = |part: &Part| (part.run, part.epoch, part.events.len());
            let asked: Vec<Vec<_>> = requests
                .iter()
                .map(|request| request.parts.iter().map(about).collect())
                .collect();
            let verdicts = self.below.commit(requests).await?;
            let mut acked = self.acked.lock();
            for (parts, verdict) in asked.iter().zip(&verdicts) {
                let Verdict::Committed(receipt) = verdict else {
                    continue;
                };
                let written = parts.iter().zip(&receipt.seqs);
                acked.extend(written.filter(|((.., events), _)| 0 < *events).map(
                    |(&(run, epoch, events), &last)| Acked {
                        run,
                        last,
                        epoch,
                        events,
                    },
                ));
            }
            drop(acked);
            Ok(verdicts)
        })
    }
}
