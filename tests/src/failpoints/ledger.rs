//! A ledger whose appends are watched; everything else passes through as it is.
//!
//! It must never answer by itself.

use std::sync::Arc;

use mainstay::types::BoxFuture;
use mainstay_ledger::{CommitRequest, Layer, Ledger, LedgerError, Verdict};

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

impl Layer for WatchedLedger {
    fn below(&self) -> &dyn Ledger {
        &*self.store
    }

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
}
