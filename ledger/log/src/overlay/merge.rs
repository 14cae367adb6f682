//! One view of the layers and the table below them, in pages.
//!
//! A snapshot of the layers is taken first; rows of the active one are copied, up to a horizon, and
//! the frozen ones cannot change. Newer layers win. Nothing beyond the horizon of any source is
//! shown, because it may miss rows there.

use std::iter::Peekable;
use std::sync::Arc;

use crate::keys::Key;
use crate::table::{KeyRange, Order, Span};

use super::{Layer, Overlay, Row};

/// The layers at one moment, as far as one page may need them.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Rows of the active layer, in order.
    active: Vec<(Key, Row)>,
    /// The last key up to which `active` is complete; `None` when it has all.
    horizon: Option<Key>,
    /// The newest first.
    frozen: Vec<Arc<Layer>>,
}

impl Snapshot {
    /// Takes rows of one kind in `range`, at most `max` of the active layer.
    pub(crate) fn take(overlay: &Overlay, kind: u8, range: KeyRange<'_>, wanted: Wanted) -> Self {
        let rows = overlay.active.range(kind, range, wanted.order);
        let active: Vec<_> = rows
            .take(wanted.rows)
            .map(|(key, row)| (key.clone(), row.clone()))
            .collect();
        let cut = active.len() == wanted.rows;
        let horizon = active.last().filter(|_| cut).map(|(key, _)| key.clone());
        let frozen = overlay.frozen.iter().rev();
        Self {
            active,
            horizon,
            frozen: frozen.map(Arc::clone).collect(),
        }
    }

    /// The rows of each layer in a range, the newest layer first.
    fn layers<'a>(&'a self, kind: u8, span: &Span, order: Order) -> Vec<LayerRows<'a>> {
        let active: Box<dyn Iterator<Item = _>> =
            Box::new(self.active.iter().map(|(key, row)| (key, row)));
        let frozen = self.frozen.iter();
        let frozen = frozen.map(|layer| layer.range(kind, span.range(), order));
        let layers = std::iter::once(active).chain(frozen);
        layers.map(Iterator::peekable).collect()
    }
}

/// How much of a range is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) rows: usize,
    pub(crate) order: Order,
}

/// Rows of the table in the order that was asked for, as they are stored.
#[derive(Debug, Default)]
pub(crate) struct Below {
    pub(crate) rows: Vec<(Key, Vec<u8>)>,
    /// The last key up to which `rows` is complete; `None` when it has all.
    pub(crate) horizon: Option<Key>,
}

/// A row that stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// In memory.
    Here(Arc<[u8]>),
    /// In the table, as it is stored there.
    Below(Vec<u8>),
}

/// What merging shows: rows that stand, and how far it saw.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) rows: Vec<(Key, Stands)>,
    /// The last key up to which this is complete; `None` at the end of the range.
    pub(crate) horizon: Option<Key>,
}

/// Merges a snapshot of the layers with rows of the table in the same range, as far as wanted.
pub(crate) fn merge(
    snapshot: &Snapshot,
    below: Below,
    (kind, span): (u8, &Span),
    wanted: Wanted,
) -> Merged {
    let order = wanted.order;
    let mut layers = snapshot.layers(kind, span, order);
    let mut table = below.rows.into_iter().peekable();
    let mut rows = Vec::new();
    let horizon = nearer(snapshot.horizon.clone(), below.horizon, order);
    while let Some(key) = first_key(&mut layers, table.peek().map(|(key, _)| key), order) {
        if let Some(end) = &horizon
            && is_before(end, &key, order)
        {
            break;
        }
        let mut said: Option<Option<Arc<[u8]>>> = None;
        for layer in &mut layers {
            if let Some((_, row)) = layer.next_if(|(other, _)| **other == key) {
                said.get_or_insert_with(|| row.value.clone());
            }
        }
        let stored = table.next_if(|(other, _)| *other == key);
        let stands = match said {
            Some(value) => value.map(Stands::Here),
            None => stored.map(|(_, stored)| Stands::Below(stored)),
        };
        let Some(stands) = stands else { continue };
        rows.push((key.clone(), stands));
        if rows.len() == wanted.rows {
            let horizon = Some(key);
            return Merged { rows, horizon };
        }
    }
    Merged { rows, horizon }
}

type LayerRows<'a> = Peekable<Box<dyn Iterator<Item = (&'a Key, &'a Row)> + 'a>>;

fn first_key(layers: &mut [LayerRows<'_>], table: Option<&Key>, order: Order) -> Option<Key> {
    let mut first = table;
    for layer in layers {
        if let Some((key, _)) = layer.peek() {
            first = match first {
                Some(other) if !is_before(key, other, order) => Some(other),
                Some(_) | None => Some(key),
            };
        }
    }
    first.cloned()
}

/// The end that comes first; none is the end of the range.
fn nearer(one: Option<Key>, other: Option<Key>, order: Order) -> Option<Key> {
    match (one, other) {
        (Some(one), Some(other)) if is_before(&other, &one, order) => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}

/// Whether `one` is shown before `other`.
fn is_before(one: &Key, other: &Key, order: Order) -> bool {
    match order {
        Order::Forward => one < other,
        Order::Reverse => other < one,
    }
}
