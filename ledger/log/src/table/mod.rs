//! The port to the engine that holds how things stand.
//!
//! The log is the truth and the table a view of it that can be looked up quickly: it may lose
//! what was not synced, say so when it is damaged, and is made anew from the log. What it says is
//! proven elsewhere (`proof`), because an engine that lost a row does not know that it did. Nothing
//! here knows which engine stands behind the port.

pub(crate) mod pieces;

mod memory;

use std::ops::{Bound, ControlFlow};
use std::path::Path;

use crate::keys::Key;

pub use memory::{Fault, MemoryFactory};

/// A change as the table gets it: a key, and the new stored value, or `None` to remove the row.
pub type StoredChange = (Key, Option<Vec<u8>>);

/// Takes one row of a scan, key and stored value, and says whether the scan goes on.
pub type EachRow<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// Ordered rows under byte keys. Keys have at most `limits::TABLE_KEY_BYTES_MAX` bytes, values at
/// most [`TableLimits::value_bytes_max`].
///
/// A call never panics; what the engine panics about is [`TableError::Damaged`]. Only one thread
/// applies, any number read. After a crash the table is what it was after some batch: not before
/// the newest one that was synced, and never in between two.
pub trait Table: Send + Sync {
    /// The stored value under `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, TableError>;

    /// Shows the rows in `range`, in the order of their keys or the other way round, until `each`
    /// breaks. Rows that are applied meanwhile may be seen or not.
    fn scan(
        &self,
        range: KeyRange<'_>,
        order: Order,
        each: &mut EachRow<'_>,
    ) -> Result<(), TableError>;

    /// Makes all of `changes`, or none, also over a crash. Not durable until [`Table::sync`].
    fn apply(&self, changes: Vec<StoredChange>) -> Result<(), TableError>;

    /// Makes everything applied so far durable.
    ///
    /// `Unsynced` when the system could not: what of it is on the disk is then unknown.
    fn sync(&self) -> Result<(), TableError>;

    /// What was written to the engine's files since this table was opened, in bytes, estimated.
    fn bytes_written(&self) -> u64;

    /// Lets go of the engine's files; they can be opened again afterwards. What was applied and
    /// not synced may be lost.
    fn close(self: Box<Self>) -> Result<(), TableError>;
}

/// Opens tables. What a table is opened in is its own folder; nothing else is in there.
pub trait TableFactory: Send + Sync {
    /// Opens the table in `folder`, an empty one when there is none.
    ///
    /// `Damaged` when the engine says so, or panics; `Io` when the system refuses.
    fn open(&self, folder: &Path) -> Result<Box<dyn Table>, TableError>;

    /// Removes the table in `folder`; none there is as good.
    fn destroy(&self, folder: &Path) -> Result<(), TableError>;

    /// What holds for every table of this factory.
    fn limits(&self) -> TableLimits;

    /// Whether there is room to apply a batch. An engine that fails for good once its disk is full
    /// says `Io` here before that happens, and nothing is applied until it no longer does.
    fn room(&self, folder: &Path) -> Result<(), TableError>;
}

/// Bounds of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableLimits {
    /// Largest stored value, in bytes; more than a piece (`limits::TABLE_PIECE_BYTES_MAX`) needs.
    pub value_bytes_max: usize,
    /// The most that may be written between two syncs, in bytes of the engine's file.
    pub sync_bytes_max: usize,
    /// When more than this was written, the table is closed and opened again.
    pub written_bytes_max: u64,
    /// What the engine writes for a change beside its key and value, in bytes, from above.
    pub change_bytes: usize,
    /// How often the engine writes a changed key and value, from above.
    pub times_written: usize,
    /// What the engine writes for a piece put or removed, in bytes, from above.
    pub piece_change_bytes: usize,
}

impl TableLimits {
    /// What the engine writes for one change, in bytes, from above.
    pub(crate) fn cost(&self, key: &[u8], value: Option<&[u8]>) -> usize {
        if pieces::is_piece(key) {
            return self.piece_change_bytes;
        }
        let bytes = key.len() + value.map_or(0, <[u8]>::len);
        self.change_bytes + self.times_written * bytes
    }
}

/// Why a table could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// What it holds is not what was written. It has to be made anew from the log.
    #[error("{0}")]
    Damaged(String),
    /// The system refused. It may work once the table is opened again.
    #[error("{0}")]
    Io(String),
    /// A sync failed: the system may have dropped what was written, older things that the engine
    /// moved included. It works on, and has to be made anew when the store is opened next.
    #[error("{0}")]
    Unsynced(String),
}

impl TableError {
    /// Damage, and where.
    pub fn damaged(detail: impl Into<String>) -> Self {
        Self::Damaged(detail.into())
    }
}

/// Which way a scan goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By key, the smallest first.
    #[default]
    Forward,
    /// By key, the largest first.
    Reverse,
}

/// A range of keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'a> {
    /// Where it begins.
    pub from: Bound<&'a [u8]>,
    /// Where it ends.
    pub to: Bound<&'a [u8]>,
}

impl KeyRange<'_> {
    /// Whether no key can be in it. Ordered maps panic on such ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match (self.from, self.to) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(from), Bound::Included(to)) => to < from,
            (Bound::Included(from), Bound::Excluded(to))
            | (Bound::Excluded(from), Bound::Included(to))
            | (Bound::Excluded(from), Bound::Excluded(to)) => to <= from,
        }
    }
}

/// A range of keys that owns its ends.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) from: Bound<Key>,
    pub(crate) to: Bound<Key>,
}

impl Span {
    /// All keys that begin with `prefix`.
    pub(crate) fn of_prefix(prefix: &[u8]) -> Self {
        let to = next_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        Self {
            from: Bound::Included(prefix.to_vec()),
            to,
        }
    }

    /// What of it lies beyond `cursor` for a scan in `order`.
    pub(crate) fn beyond(mut self, cursor: Key, order: Order) -> Self {
        match order {
            Order::Forward if self.starts_at_or_before(&cursor) => {
                self.from = Bound::Excluded(cursor);
            }
            Order::Reverse if self.ends_at_or_after(&cursor) => self.to = Bound::Excluded(cursor),
            Order::Forward | Order::Reverse => {}
        }
        self
    }

    pub(crate) fn range(&self) -> KeyRange<'_> {
        KeyRange {
            from: self.from.as_ref().map(Vec::as_slice),
            to: self.to.as_ref().map(Vec::as_slice),
        }
    }

    /// Whether `key` lies within.
    pub(crate) fn holds(&self, key: &[u8]) -> bool {
        !self.starts_after(key) && !self.ends_before(key)
    }

    /// Whether `key` and all before it lie before its beginning.
    pub(crate) fn starts_after(&self, key: &[u8]) -> bool {
        match &self.from {
            Bound::Included(from) => key < from.as_slice(),
            Bound::Excluded(from) => key <= from.as_slice(),
            Bound::Unbounded => false,
        }
    }

    /// Whether `key` and all after it lie beyond its end.
    pub(crate) fn ends_before(&self, key: &[u8]) -> bool {
        match &self.to {
            Bound::Included(to) => to.as_slice() < key,
            Bound::Excluded(to) => to.as_slice() <= key,
            Bound::Unbounded => false,
        }
    }

    fn starts_at_or_before(&self, key: &[u8]) -> bool {
        match &self.from {
            Bound::Included(from) | Bound::Excluded(from) => from.as_slice() <= key,
            Bound::Unbounded => true,
        }
    }

    fn ends_at_or_after(&self, key: &[u8]) -> bool {
        match &self.to {
            Bound::Included(to) | Bound::Excluded(to) => key <= to.as_slice(),
            Bound::Unbounded => true,
        }
    }
}

/// The smallest key that is larger than every key with this prefix.
fn next_prefix(prefix: &[u8]) -> Option<Key> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}
