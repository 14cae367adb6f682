//! A run's events: found through the archive, proven by their checksums and their chain.

use mainstay_ledger::query::{open_from, open_tail, page_of_events};
use mainstay_ledger::record::{self, Chain};
use mainstay_ledger::{LedgerError, Loaded, Page, Recorded};
use mainstay_types::{RunId, Seq, limits};

use super::Reader;
use crate::run_row::RunRow;
use crate::segment::{Pack, RecordsIter};

impl Reader {
    /// A run as it stands, and its waiting inbox.
    pub(crate) fn load(&self, run: RunId) -> Result<Option<Loaded>, LedgerError> {
        self.steady(run, |row| self.load_at(run, row))
    }

    /// What `read` makes of a run as its row says it stands. Records may be written forward and
    /// their segment freed while they are looked for; then the row has changed, and it is read
    /// again. Only what is wrong with a row that stays is told.
    pub(crate) fn steady<T>(
        &self,
        run: RunId,
        read: impl Fn(&RunRow) -> Result<T, LedgerError>,
    ) -> Result<Option<T>, LedgerError> {
        let Some(mut row) = self.row(run)? else {
            return Ok(None);
        };
        loop {
            let error = match read(&row) {
                Ok(found) => return Ok(Some(found)),
                Err(error) => error,
            };
            match self.row(run)? {
                Some(again) if again != row => row = again,
                Some(_) => return Err(error),
                None => return Ok(None),
            }
        }
    }

    fn load_at(&self, run: RunId, row: &RunRow) -> Result<Loaded, LedgerError> {
        let kept = self.kept(run, row.head.seq)?;
        let start = kept.as_ref().map_or_else(
            || (Seq(0), Chain::start(run)),
            |(snapshot, chain)| (snapshot.seq, *chain),
        );
        let packs = self.packs(run, row, start.0.next())?;
        let records = records_between(run, &packs, start.0, row.head.seq)?;
        let events = open_tail(run, start, row.head, records)?;
        Ok(Loaded {
            snapshot: kept.map(|(snapshot, _)| snapshot),
            events,
            inbox: self.inbox(run)?,
        })
    }

    /// A page of a run's events after `after`.
    pub(crate) fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> Result<Option<Page<Recorded>>, LedgerError> {
        self.steady(run, |row| self.history_at(run, row, after))
    }

    fn history_at(
        &self,
        run: RunId,
        row: &RunRow,
        after: Seq,
    ) -> Result<Page<Recorded>, LedgerError> {
        // Beginning one record early proves that the page follows what lies before it.
        let from = Seq(after.get().min(row.head.seq.get()).saturating_sub(1));
        if row.head.seq <= after {
            return Ok(Page {
                rows: Vec::new(),
                more: false,
            });
        }
        // A page more than is shown, so that the record before it never leaves none.
        let within = 2 * limits::PAGE_EVENT_BYTES_MAX;
        let place = (row.newest, from.next());
        let mut packs = self.archive.records_within(run, place, within)?;
        if packs.last().is_some_and(|pack| pack.last() <= after) {
            // One record fills the page on its own.
            packs = self.archive.records(run, row.newest, from.next())?;
        }
        let last = packs.last().map_or(row.head.seq, |pack| pack.last());
        let records = records_between(run, &packs, from, last.min(row.head.seq))?;
        let start = match records.first() {
            Some(bytes) if Seq(0) < from => record::chain_of(run, from.next(), bytes)?,
            Some(_) | None => Chain::start(run),
        };
        let early = usize::try_from(after.get().saturating_sub(from.get())).unwrap_or(usize::MAX);
        let early = early.min(records.len());
        let count = page_of_events(records[early..].iter().map(|record| record.len()));
        let wanted = records.into_iter().take(early + count);
        let (mut rows, (last, _)) = open_from(run, (from, start), wanted)?;
        rows.drain(..early.min(rows.len()));
        let more = !rows.is_empty() && last < row.head.seq;
        Ok(Page { rows, more })
    }

    pub(crate) fn packs(
        &self,
        run: RunId,
        row: &RunRow,
        from: Seq,
    ) -> Result<Vec<Pack>, LedgerError> {
        if row.head.seq < from {
            return Ok(Vec::new());
        }
        Ok(self.archive.records(run, row.newest, from)?)
    }
}

/// The records after `after`, up to `last`, dense.
///
/// A hole says where it begins, not that some checksum after it fails.
pub(crate) fn records_between(
    run: RunId,
    packs: &[Pack],
    after: Seq,
    last: Seq,
) -> Result<Vec<&[u8]>, LedgerError> {
    let mut next = after.next();
    let mut records = Vec::new();
    for pack in packs {
        for (seq, record) in RecordsIter::new(pack.first, &pack.bytes) {
            if seq < next || last < seq {
                continue;
            }
            if seq != next {
                return Err(missing(run, next, seq));
            }
            records.push(record);
            next = seq.next();
        }
    }
    if next <= last {
        return Err(LedgerError::CorruptChain {
            run,
            seq: next,
            detail: format!("records are missing: the run has {last}"),
        });
    }
    Ok(records)
}

fn missing(run: RunId, expected: Seq, found: Seq) -> LedgerError {
    let detail = format!("records are missing: the next that is there is {found}");
    let seq = expected;
    LedgerError::CorruptChain { run, seq, detail }
}
