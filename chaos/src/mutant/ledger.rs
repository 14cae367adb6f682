//! Ledgers with a bug.

use std::sync::Arc;

use mainstay_ledger::{CommitRequest, Ledger, LedgerError, Op, Receipt, Verdict};
use mainstay_types::{BoxFuture, Seq};
use parking_lot::Mutex;

use crate::world::layer::{Layer, Layered};

type Committed<'a> = BoxFuture<'a, Result<Vec<Verdict>, LedgerError>>;

/// Writes each commit only when the next one comes.
#[derive(Default)]
struct Early(Mutex<Vec<CommitRequest>>);

pub(super) fn acknowledges_early(below: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
    Layered::over(below, Arc::new(Early::default()))
}

impl Layer for Early {
    fn commit<'a>(
        &'a self,
        below: &'a Arc<dyn Ledger>,
        requests: Vec<CommitRequest>,
    ) -> Committed<'a> {
        Box::pin(async move {
            let before = std::mem::take(&mut *self.0.lock());
            let is_first = requests.iter().flat_map(|request| &request.parts);
            let is_first = is_first.clone().any(|part| part.expected_seq == Seq(0));
            if !before.is_empty() {
                below.commit(before).await?;
            }
            // A start is looked at by others at once.
            if is_first {
                return below.commit(requests).await;
            }
            let told = requests.iter().map(|request| {
                let ends = request.parts.iter().map(|part| {
                    let events = u64::try_from(part.events.len()).unwrap_or(u64::MAX);
                    Seq(part.expected_seq.get().saturating_add(events))
                });
                Verdict::Committed(Receipt {
                    seqs: ends.collect(),
                })
            });
            let told = told.collect();
            *self.0.lock() = requests;
            Ok(told)
        })
    }
}

/// Writes the append of an older owner as if it were the newest one's.
struct AnyEpoch;

pub(super) fn ignores_epochs(below: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
    Layered::over(below, Arc::new(AnyEpoch))
}

impl Layer for AnyEpoch {
    fn commit<'a>(
        &'a self,
        below: &'a Arc<dyn Ledger>,
        requests: Vec<CommitRequest>,
    ) -> Committed<'a> {
        Box::pin(async move {
            let mut verdicts = Vec::new();
            for mut request in requests {
                let mut verdict = committed(below, &request).await?;
                if let Verdict::Stale { run, seq, epoch } = verdict {
                    for part in request.parts.iter_mut().filter(|part| part.run == run) {
                        (part.expected_seq, part.epoch) = (seq, epoch);
                    }
                    verdict = committed(below, &request).await?;
                }
                verdicts.push(verdict);
            }
            Ok(verdicts)
        })
    }
}

/// Writes the events of a run whose key another one has.
struct AnyHolder;

pub(super) fn two_holders(below: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
    Layered::over(below, Arc::new(AnyHolder))
}

impl Layer for AnyHolder {
    fn commit<'a>(
        &'a self,
        below: &'a Arc<dyn Ledger>,
        requests: Vec<CommitRequest>,
    ) -> Committed<'a> {
        Box::pin(async move {
            let mut verdicts = Vec::new();
            for mut request in requests {
                let mut verdict = committed(below, &request).await?;
                if matches!(verdict, Verdict::KeyHeld(_)) {
                    for part in &mut request.parts {
                        part.ops
                            .retain(|op| !matches!(op, Op::Effect { .. } | Op::Wait { .. }));
                    }
                    verdict = committed(below, &request).await?;
                }
                verdicts.push(verdict);
            }
            Ok(verdicts)
        })
    }
}

async fn committed(
    below: &Arc<dyn Ledger>,
    request: &CommitRequest,
) -> Result<Verdict, LedgerError> {
    let mut verdicts = below.commit(vec![request.clone()]).await?;
    Ok(verdicts.pop().unwrap_or(Verdict::Full))
}
