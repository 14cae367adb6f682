//! Lists: who drives what, what wakes, what waits, all runs, alerts; a page at a time.

use std::iter::Peekable;

use mainstay_ledger::codec::decode_alert;
use mainstay_ledger::{Driving, LedgerError, Page, RunFilter, StoredAlert};
use mainstay_machine::Summary;
use mainstay_types::{AlertSeq, RunId, Timestamp};

use super::scan::{Rows, page};
use super::{Reader, driving_in};
use crate::fault;
use crate::keys;
use crate::rows::alerts::number_in;
use crate::run_row::RunRow;

impl Reader {
    /// Runs that are driven, by id, after `cursor`.
    pub(crate) fn driven(&self, cursor: Option<RunId>) -> Result<Page<Driving>, LedgerError> {
        let rows = Rows::of(&self.standing, keys::all_driven()).beyond(cursor.map(keys::driven));
        page(rows.map(|row| {
            let (key, value) = row?;
            let run = keys::run_at_end(&key).ok_or_else(|| bad_key("driven runs"))?;
            driving_in(run, &key, &value)
        }))
    }

    /// Parked runs by the moment they wake at, after `cursor`.
    pub(crate) fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> Result<Page<(Timestamp, RunId)>, LedgerError> {
        let after = cursor.map(|(at, run)| keys::wake(at, run));
        let rows = Rows::of(&self.standing, keys::wakes()).beyond(after);
        page(rows.map(|row| {
            let (key, _) = row?;
            keys::wake_in(&key).ok_or_else(|| bad_key("runs that wake"))
        }))
    }

    /// Runs with a waiting inbox, by id, after `cursor`: one look per run, however much waits for
    /// it.
    pub(crate) fn inboxes(&self, cursor: Option<RunId>) -> Result<Page<RunId>, LedgerError> {
        let mut last = cursor;
        let rows = std::iter::from_fn(|| {
            let after = last.map(|run| keys::inbox(run, u64::MAX));
            let row = Rows::of(&self.standing, keys::inboxes())
                .beyond(after)
                .next()?;
            let run = row
                .and_then(|(key, _)| keys::run_in(&key).ok_or_else(|| bad_key("waiting inboxes")));
            last = run.as_ref().ok().copied().or(last);
            Some(run)
        });
        page(rows)
    }

    /// Where every run stands, newest first, before `cursor`: open ones from what stands, closed
    /// ones from the archive.
    pub(crate) fn run_rows(&self, cursor: Option<RunId>) -> impl Iterator<Item = Row> + '_ {
        let closed = self.archive.list_closed(cursor).map(|closed| {
            let (run, closed) = closed?;
            Ok((run, RunRow::decode(run, &closed.row)?))
        });
        let open = Rows::of(&self.standing, keys::runs())
            .beyond(cursor.map(keys::run))
            .reversed();
        let open = open.map(|row| {
            let (key, value) = row?;
            let run = keys::run_at_end(&key).ok_or_else(|| bad_key("runs"))?;
            Ok((run, RunRow::decode(run, &value)?))
        });
        Merged {
            open: open.peekable(),
            closed: closed.peekable(),
        }
    }

    /// Rows of the runs that pass `filter`, newest first, before `cursor`.
    pub(crate) fn runs(
        &self,
        filter: &RunFilter,
        cursor: Option<RunId>,
    ) -> Result<Page<Summary>, LedgerError> {
        let summaries = self.run_rows(cursor).filter_map(|row| match row {
            Ok((_, row)) => row.summary.map(Ok),
            Err(error) => Some(Err(error)),
        });
        page(summaries.filter(|row| match row {
            Ok(summary) => filter.passes(summary),
            Err(_) => true,
        }))
    }

    /// Alerts after `after`, in order.
    pub(crate) fn alerts(&self, after: AlertSeq) -> Result<Page<StoredAlert>, LedgerError> {
        loop {
            let first = self.first_alert()?;
            match self.alerts_kept_after(after) {
                // The oldest ones were forgotten while they were read.
                Err(_) if first < self.first_alert()? => {}
                page => return page,
            }
        }
    }

    fn alerts_kept_after(&self, after: AlertSeq) -> Result<Page<StoredAlert>, LedgerError> {
        // Read before the alerts: those that come meanwhile have larger numbers.
        let newest = self.number(&keys::newest_alert())?;
        let first = self.first_alert()?.max(after.next());
        let rows = Rows::of(&self.standing, keys::alerts())
            .beyond(Some(keys::alert(AlertSeq(first.get() - 1))))
            .zip(first.get()..)
            .map(|(row, expected)| {
                let (key, value) = row?;
                let seq = keys::seq_of_alert(&key).filter(|seq| seq.get() == expected);
                let seq = seq.ok_or_else(|| missing(AlertSeq(expected)))?;
                let alert = decode_alert(&key, &value)
                    .map_err(|error| fault::of_store("an alert", &error))?;
                Ok(StoredAlert { seq, alert })
            });
        let page = page(rows)?;
        let last = page
            .rows
            .last()
            .map_or(first.get() - 1, |last| last.seq.get());
        if !page.more && last < newest.get() {
            return Err(missing(AlertSeq(last + 1)));
        }
        Ok(page)
    }

    /// The oldest and the newest alert that are kept.
    pub(crate) fn alerts_kept(&self) -> Result<(AlertSeq, AlertSeq), LedgerError> {
        let newest = self.number(&keys::newest_alert())?;
        Ok((self.first_alert()?, newest))
    }

    /// The oldest alert that is kept: those before it were pruned.
    fn first_alert(&self) -> Result<AlertSeq, LedgerError> {
        Ok(self.number(&keys::oldest_alert())?.next())
    }

    fn number(&self, key: &[u8]) -> Result<AlertSeq, LedgerError> {
        number_in(key, self.standing.get(key)?.as_deref())
    }
}

fn bad_key(list: &str) -> LedgerError {
    fault::damaged(format!("the list of {list}: a key without its parts"))
}

fn missing(seq: AlertSeq) -> LedgerError {
    fault::damaged(format!("alerts: number {seq} is missing"))
}

/// Two lists of runs, newest first, as one; a run that is in both is as the first says.
struct Merged<O: Iterator, C: Iterator> {
    open: Peekable<O>,
    closed: Peekable<C>,
}

/// Where one run stands.
pub(crate) type Row = Result<(RunId, RunRow), LedgerError>;

impl<O, C> Iterator for Merged<O, C>
where
    O: Iterator<Item = Row>,
    C: Iterator<Item = Row>,
{
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let (Some(Ok((open, _))), Some(Ok((closed, _)))) = (self.open.peek(), self.closed.peek())
        else {
            // An error comes out at once; an empty list leaves the other alone.
            return match (self.open.peek(), self.closed.peek()) {
                (Some(Err(_)), _) | (Some(_), None) => self.open.next(),
                _ => self.closed.next(),
            };
        };
        match open.cmp(closed) {
            std::cmp::Ordering::Greater => self.open.next(),
            std::cmp::Ordering::Less => self.closed.next(),
            std::cmp::Ordering::Equal => {
                self.closed.next();
                self.open.next()
            }
        }
    }
}
