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
use crate::snapshot::Snapshot;

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

/// A run as stored: the state after some of its events, when one was kept, and the events after it.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The newest state that was kept of it.
    pub snapshot: Option<Snapshot>,
    /// Its events after the snapshot, dense; from 1 when there is none.
    pub events: Vec<Recorded>,
    /// Its waiting inbox, in the order of arrival.
    pub inbox: Vec<InboxMessage>,
}

impl Loaded {
    /// The run's newest sequence number.
    #[must_use]
    pub fn seq(&self) -> Seq {
        let last = self.events.last().map(|last| last.seq);
        let kept = self.snapshot.as_ref().map(|snapshot| snapshot.seq);
        last.or(kept).unwrap_or_default()
    }
}

/// A page of rows and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, at most `limits::PAGE_ROWS_MAX` (of events `limits::PAGE_EVENTS_MAX`).
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
    open_tail(run, (Seq(0), Chain::start(run)), head, records)
}

/// Opens the records of a run that follow `after`, in order, up to its head: what comes after a
/// snapshot. The chain value is the one that the record after `after` carries.
///
/// Errors as [`open_all`].
pub fn open_tail<'a>(
    run: RunId,
    after: (Seq, Chain),
    head: Head,
    records: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<Recorded>, LedgerError> {
    let (events, (seq, chain)) = open_from(run, after, records)?;
    if (seq, chain) != (head.seq, head.chain) {
        let detail = format!(
            "the records end here, the run's head says record {}",
            head.seq
        );
        return Err(LedgerError::CorruptChain { run, seq, detail });
    }
    Ok(events)
}

/// Opens records that follow each other after `after`, wherever they end; says where that is.
///
/// `CorruptRecord` or `CorruptChain` at the first that does not prove itself.
pub fn open_from<'a>(
    run: RunId,
    (mut seq, mut chain): (Seq, Chain),
    records: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Vec<Recorded>, (Seq, Chain)), LedgerError> {
    let mut events = Vec::new();
    for bytes in records {
        seq = seq.next();
        let (recorded, next) = record::open(run, seq, bytes, chain)?;
        chain = next;
        events.push(recorded);
    }
    Ok((events, (seq, chain)))
}

/// How many of these records, given by their bytes, are one page of a history: the first whatever
/// its size, then what `limits::PAGE_EVENTS_MAX` and `limits::PAGE_EVENT_BYTES_MAX` let follow.
#[must_use]
pub fn page_of_events(sizes: impl IntoIterator<Item = usize>) -> usize {
    let mut bytes = 0usize;
    let fits = sizes.into_iter().enumerate().take_while(|(n, size)| {
        bytes = bytes.saturating_add(*size);
        *n == 0 || (*n < limits::PAGE_EVENTS_MAX && bytes <= limits::PAGE_EVENT_BYTES_MAX)
    });
    fits.count()
}
