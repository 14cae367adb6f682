//! Ledgers with a bug.

use std::sync::Arc;

use mainstay_ledger::{CommitRequest, Layer, Ledger, LedgerError, Op, Receipt, Verdict};
use mainstay_types::{BoxFuture, Seq};
use parking_lot::Mutex;

type Committed<'a> = BoxFuture<'a, Result<Vec<Verdict>, LedgerError>>;

/// Writes each commit only when the next one comes.
struct Early {
    below: Arc<dyn Ledger>,
    kept: Mutex<Vec<CommitRequest>>,
}

pub(super) fn acknowledges_early(below: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
    let kept = Mutex::default();
    Arc::new(Early { below, kept })
}

impl Layer for Early {
    fn below(&self) -> &dyn Ledger {
        &*self.below
    }

    fn commit(&self, requests: Vec<CommitRequest>) -> Committed<'_> {
        Box::pin(async move {
            let before = std::mem::take(&mut *self.kept.lock());
            let is_first = requests.iter().flat_map(|request| &request.parts);
            let is_first = is_first.clone().any(|part| part.expected_seq == Seq(0));
            if !before.is_empty() {
                self.below.commit(before).await?;
            }
            // A start is looked at by others at once.
            if is_first {
                return self.below.commit(requests).await;
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
            *self.kept.lock() = requests;
            Ok(told)
        })
    }
}

/// Writes what was refused after all, once the grounds of the refusal are made up.
struct Forged {
    below: Arc<dyn Ledger>,
    /// Changes a refused request so that it will be taken; says whether it did.
    forge: fn(&mut CommitRequest, &Verdict) -> bool,
}

/// Writes the append of an older owner as if it were the newest one's.
pub(super) fn ignores_epochs(below: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
    let forge = |request: &mut CommitRequest, verdict: &Verdict| {
        let &Verdict::Stale { run, seq, epoch } = verdict else {
            return false;
        };
        for part in request.parts.iter_mut().filter(|part| part.run == run) {
            (part.expected_seq, part.epoch) = (seq, epoch);
        }
        true
    };
    Arc::new(Forged { below, forge })
}

/// Writes the events of a run whose key another one has.
pub(super) fn two_holders(below: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
    let forge = |request: &mut CommitRequest, verdict: &Verdict| {
        let is_held = matches!(verdict, Verdict::KeyHeld(_));
        for part in request.parts.iter_mut().filter(|_| is_held) {
            part.ops
                .retain(|op| !matches!(op, Op::Effect { .. } | Op::Wait { .. }));
        }
        is_held
    };
    Arc::new(Forged { below, forge })
}

impl Layer for Forged {
    fn below(&self) -> &dyn Ledger {
        &*self.below
    }

    fn commit(&self, requests: Vec<CommitRequest>) -> Committed<'_> {
        Box::pin(async move {
            let mut verdicts = Vec::new();
            for mut request in requests {
                let mut verdict = committed(&*self.below, &request).await?;
                if (self.forge)(&mut request, &verdict) {
                    verdict = committed(&*self.below, &request).await?;
                }
                verdicts.push(verdict);
            }
            Ok(verdicts)
        })
    }
}

async fn committed(below: &dyn Ledger, request: &CommitRequest) -> Result<Verdict, LedgerError> {
    let mut verdicts = below.commit(vec![request.clone()]).await?;
    Ok(verdicts.pop().unwrap_or(Verdict::Full))
}
