//! What can be read back.
//!
//! Everything here was durable when it was read; nothing here changes anything.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{Event, OutcomeKind, RunState, Summary};
use mainstay_types::{ClassName, Digest, Epoch, RunId, Seq, Tenant, Timestamp, limits};

use crate::check::Head;
use crate::error::LedgerError;
use crate::inbox::InboxMessage;
use crate::record::{self, Chain};

/// One stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its place in the run's log, from 1.
    pub seq: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// The epoch of its writer.
    pub epoch: Epoch,
    /// The event.
    pub event: Event,
}

/// A run as stored.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Its events, dense from 1.
    pub events: Vec<Recorded>,
    /// Its waiting inbox, in the order of arrival.
    pub inbox: Vec<InboxMessage>,
}

/// A page of rows and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, at most `limits::PAGE_ROWS_MAX`.
    pub rows: Vec<T>,
    /// Whether there are more after the last row.
    pub more: bool,
}

impl<T> Page<T> {
    /// The first page of `rows`; takes no more of them than it needs.
    pub fn of(rows: impl IntoIterator<Item = T>) -> Self {
        let mut rows = rows.into_iter();
        let page: Vec<T> = rows.by_ref().take(limits::PAGE_ROWS_MAX).collect();
        Self {
            rows: page,
            more: rows.next().is_some(),
        }
    }
}

/// Which runs a listing shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only this tenant's.
    pub tenant: Option<Tenant>,
    /// Only this class's.
    pub class: Option<ClassName>,
    /// Only those in this state.
    pub state: Option<RunState>,
    /// Only those whose newest lap ended so.
    pub outcome: Option<OutcomeKind>,
    /// Only those with an effect in doubt, or only those without one.
    pub in_doubt: Option<bool>,
}

impl RunFilter {
    /// Whether the listing shows this run.
    #[must_use]
    pub fn passes(&self, summary: &Summary) -> bool {
        is_wanted(self.tenant.as_ref(), &summary.tenant)
            && is_wanted(self.class.as_ref(), &summary.class.name)
            && is_wanted(self.state.as_ref(), &summary.state)
            && self
                .outcome
                .is_none_or(|wanted| Some(wanted) == summary.outcome)
            && is_wanted(self.in_doubt.as_ref(), &(0 < summary.in_doubt))
    }
}

fn is_wanted<T: PartialEq>(wanted: Option<&T>, there: &T) -> bool {
    wanted.is_none_or(|wanted| wanted == there)
}

/// A class as stored with its first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredClass {
    /// The digest of its stored form.
    pub fingerprint: Digest,
    /// Its data.
    pub class: Arc<TaskClass>,
}

/// Opens all records of a run, in order from 1, up to its head.
///
/// `CorruptRecord` or `CorruptChain` at the first that does not prove itself; `CorruptChain` also
/// when the records end elsewhere than the head says.
pub fn open_all<'a>(
    run: RunId,
    head: Head,
    records: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<Recorded>, LedgerError> {
    let (mut seq, mut chain) = (Seq(0), Chain::start(run));
    let mut events = Vec::new();
    for bytes in records {
        seq = seq.next();
        let (recorded, next) = record::open(run, seq, bytes, chain)?;
        chain = next;
        events.push(recorded);
    }
    if (seq, chain) != (head.seq, head.chain) {
        let detail = format!(
            "the records end here, the run's head says record {}",
            head.seq
        );
        return Err(LedgerError::CorruptChain { run, seq, detail });
    }
    Ok(events)
}
