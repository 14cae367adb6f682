//! One layer: the newest value of each row that changed while it was the active one.
//!
//! Changed only while it is active; from the moment it is frozen it never changes again, so that
//! it can be applied, and applied once more after a failure, with the same result.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

use crate::keys::Key;
use crate::segment::Place;
use crate::table::pieces::ROW_KEY_BYTES_MAX;
use crate::table::{KeyRange, Order};

use super::Change;
use super::pin::{Pin, Pinned};

/// What keeping a row costs beside its key and value, in bytes: the map, two allocations.
const ROW_BYTES: usize = 112;

/// What a layer says of a row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// `None`: it is removed, whatever is below.
    pub(crate) value: Option<Arc<[u8]>>,
    /// Nothing below can have it.
    fresh: bool,
}

impl Row {
    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, |value| value.len())
    }
}

/// Rows by key, one map per kind: scans stay within one, and short maps are quick.
type Kinds = Vec<BTreeMap<Key, Row>>;

/// A layer.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) number: u64,
    kinds: Kinds,
    rows: usize,
    bytes: usize,
    /// When it got its first change.
    pub(crate) begun: Option<Instant>,
    /// Where the log ends with all its changes.
    pub(crate) end: Option<Place>,
    /// Some of it was read from the log at open, where an earlier process may have applied a part.
    pub(crate) replayed: bool,
    pins: Arc<Pinned>,
}

impl Layer {
    pub(super) fn new(number: u64) -> Self {
        Self {
            number,
            kinds: (0..=usize::from(u8::MAX))
                .map(|_| BTreeMap::new())
                .collect(),
            rows: 0,
            bytes: 0,
            begun: None,
            end: None,
            replayed: false,
            pins: Arc::default(),
        }
    }

    /// Takes a change. A row that was made here, that nothing below can have, goes without a trace.
    pub(super) fn put(&mut self, change: Change) {
        let Change { key, value, fresh } = change;
        assert!(
            !key.is_empty() && key.len() <= ROW_KEY_BYTES_MAX,
            "a row's key of {} bytes",
            key.len()
        );
        let kind = usize::from(key[0]);
        let removed = value.is_none();
        match self.kinds[kind].entry(key) {
            Entry::Vacant(_) if removed && fresh => {}
            Entry::Vacant(place) => {
                let row = Row { value, fresh };
                self.rows += 1;
                self.bytes += ROW_BYTES + place.key().len() + row.bytes();
                place.insert(row);
            }
            Entry::Occupied(place) if removed && place.get().fresh => {
                let (key, old) = place.remove_entry();
                self.rows -= 1;
                self.bytes -= ROW_BYTES + key.len() + old.bytes();
            }
            Entry::Occupied(mut place) => {
                let row = place.get_mut();
                self.bytes -= row.bytes();
                row.value = value;
                self.bytes += row.bytes();
            }
        }
    }

    /// Says where the log ends with what was taken.
    pub(super) fn reach(&mut self, end: Option<Place>) {
        if let Some(end) = end {
            debug_assert!(self.end <= Some(end), "the log went back");
            self.end = Some(end);
        }
        if self.begun.is_none() {
            self.begun = Some(Instant::now());
        }
    }

    /// Whether nothing came in since it was made.
    pub(crate) fn is_idle(&self) -> bool {
        self.begun.is_none()
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn row(&self, key: &[u8]) -> Option<&Row> {
        self.kinds[usize::from(*key.first()?)].get(key)
    }

    /// All rows, by key.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Key, &Row)> {
        self.kinds.iter().flatten()
    }

    /// The rows of one kind in a range.
    pub(crate) fn range<'a>(
        &'a self,
        kind: u8,
        range: KeyRange<'_>,
        order: Order,
    ) -> Box<dyn Iterator<Item = (&'a Key, &'a Row)> + 'a> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.from, range.to);
        let rows = self.kinds[usize::from(kind)].range::<[u8], _>(bounds);
        match order {
            Order::Forward => Box::new(rows),
            Order::Reverse => Box::new(rows.rev()),
        }
    }

    pub(super) fn pin(&self) -> Pin {
        Pin::on(&self.pins)
    }

    pub(super) fn is_pinned(&self) -> bool {
        1 < Arc::strong_count(&self.pins)
    }

    /// Says to its pins that it leaves memory.
    pub(super) fn give_up(&self) {
        self.pins.give_up();
    }
}
