//! Rows of one kind, in the order of their keys, a bounded handful at a time.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use mainstay_ledger::{LedgerError, Page};
use mainstay_types::limits;

use crate::keys::Key;
use crate::standing::Standing;

/// Rows that are read at once.
const HANDFUL: usize = limits::PAGE_ROWS_MAX + 1;

/// Rows whose keys begin alike.
pub(crate) struct Rows<'a> {
    standing: &'a Standing,
    prefix: Key,
    /// Beyond which key the next handful begins.
    cursor: Bound<Key>,
    reverse: bool,
    /// How many the next handful has: few at first, since many readers want one.
    handful: usize,
    ready: VecDeque<(Key, Arc<[u8]>)>,
    ended: bool,
}

impl<'a> Rows<'a> {
    /// All rows whose keys begin with `prefix`.
    pub(crate) fn of(standing: &'a Standing, prefix: Key) -> Self {
        Self {
            standing,
            prefix,
            cursor: Bound::Unbounded,
            reverse: false,
            handful: 16,
            ready: VecDeque::new(),
            ended: false,
        }
    }

    /// Only those after `key`, or before it in reverse.
    pub(crate) fn beyond(self, key: Option<Key>) -> Self {
        let cursor = key.map_or(Bound::Unbounded, Bound::Excluded);
        Self { cursor, ..self }
    }

    /// The last first.
    pub(crate) fn reversed(self) -> Self {
        Self {
            reverse: true,
            ..self
        }
    }

    fn fill(&mut self) -> Result<(), LedgerError> {
        let cursor = match &self.cursor {
            Bound::Excluded(key) | Bound::Included(key) => Some(key.as_slice()),
            Bound::Unbounded => None,
        };
        let rows = self
            .standing
            .scan(&self.prefix, cursor, self.handful, self.reverse)?;
        self.ended = rows.len() < self.handful;
        self.handful = HANDFUL.min(self.handful * 8);
        if let Some((last, _)) = rows.last() {
            self.cursor = Bound::Excluded(last.clone());
        }
        self.ready.extend(rows);
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<(Key, Arc<[u8]>), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty()
            && !self.ended
            && let Err(error) = self.fill()
        {
            self.ended = true;
            return Some(Err(error));
        }
        self.ready.pop_front().map(Ok)
    }
}

/// A page of rows, or the first error in it.
pub(crate) fn page<T>(
    rows: impl Iterator<Item = Result<T, LedgerError>>,
) -> Result<Page<T>, LedgerError> {
    let mut broken = None;
    let good = rows.map_while(|row| row.map_err(|error| broken = Some(error)).ok());
    // Fused: a row after the first error would replace it.
    let page = Page::of(good.fuse());
    broken.map_or(Ok(page), Err)
}
