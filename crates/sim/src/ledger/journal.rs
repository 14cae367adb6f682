//! What became durable, in the order of the commits.
//!
//! It is not read by any engine: it says what was on the disk when, for whoever holds the engine
//! to its promises.

use mainstay_ledger::{CommitRequest, Op, Stamped, Verdict};
use mainstay_machine::Summary;
use mainstay_types::{Epoch, Millis, RunId, Seq};

/// The events that one commit made durable of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The epoch of the writer.
    pub epoch: Epoch,
    /// The place of the last of these events in the run's log.
    pub last: Seq,
    /// When, since the world began.
    pub at: Millis,
    /// The events, in order; never empty.
    pub events: Vec<Stamped>,
    /// The run's row as its writer has it after them.
    pub summary: Option<Summary>,
}

/// The appends of requests that were committed.
pub(super) fn appends(requests: &[CommitRequest], verdicts: &[Verdict], at: Millis) -> Vec<Append> {
    let mut appends = Vec::new();
    for (request, verdict) in requests.iter().zip(verdicts) {
        let Verdict::Committed(receipt) = verdict else {
            continue;
        };
        let parts = request.parts.iter().zip(&receipt.seqs);
        appends.extend(
            parts
                .filter(|(part, _)| !part.events.is_empty())
                .map(|(part, last)| Append {
                    run: part.run,
                    epoch: part.epoch,
                    last: *last,
                    at,
                    events: part.events.clone(),
                    summary: part.ops.iter().rev().find_map(row),
                }),
        );
    }
    appends
}

fn row(op: &Op) -> Option<Summary> {
    if let Op::Summary(summary) = op {
        return Some(summary.clone());
    }
    None
}
