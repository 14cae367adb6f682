//! How much sled writes between two syncs, and how a batch that is too large is taken apart.
//!
//! What sled promises over a loss of power holds while less than a segment is written between two
//! syncs. What must change together therefore stays below `limits::SLED_SYNC_BYTES_MAX`; only
//! pieces, which nobody sees without their plan, may be written ahead of it or removed after it.

use mainstay_types::limits::{PIECE_BYTES_MAX, SLED_SYNC_BYTES_MAX, SLED_WHOLE_BYTES_MAX};

use crate::keys::{self, Key};
use crate::pieces::{self, Cut, PLAN_BYTES};
use crate::stage::Writes;

/// What sled writes for any change: it rewrites a page of up to about 17 values after each 10 or
/// so changes of it, so about the size of one neighbour.
const CHANGE_BYTES: usize = SLED_WHOLE_BYTES_MAX;

/// What sled writes for any change of a piece, whose neighbours are pieces. Written among their
/// like they take about 100 KiB, removed up to as much (emptied pages are merged); the rest leaves
/// room for what sled's cleaner moves meanwhile, which nobody outside sled can bound.
const PIECE_CHANGE_BYTES: usize = 8 * PIECE_BYTES_MAX;

/// How often sled writes a key and its value: measured 2.4 to 4.1 times among their like.
const TIMES_WRITTEN: usize = 4;

/// The most that one request may come to with all its values cut; the rest is for the position.
pub(crate) const REQUEST_BYTES_MAX: usize = SLED_SYNC_BYTES_MAX - 4 * CHANGE_BYTES;

/// The most that telling one run of a settled key comes to with all values cut: the message, its
/// id, the count, and a share of the row of those who wait.
pub(crate) const WAKE_BYTES: usize = 4 * (CHANGE_BYTES + TIMES_WRITTEN * (64 + PLAN_BYTES));

/// A batch, taken apart. Each part is written and synced before the next one.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Pieces that nothing refers to yet.
    pub(crate) ahead: Vec<Writes>,
    /// What changes at once.
    pub(crate) whole: Writes,
    /// Removals of pieces that nothing refers to any more. A crash before them leaves them behind,
    /// which costs room and nothing else.
    pub(crate) behind: Vec<Writes>,
}

impl Parts {
    /// Takes `writes` apart when they are too large for one part.
    ///
    /// A group of more than one request is never that large. One request alone fits in the end
    /// when [`least_bytes_of`] says so.
    pub(crate) fn of(writes: Writes) -> Self {
        if bytes_of(&writes) <= SLED_SYNC_BYTES_MAX {
            return Self {
                whole: writes,
                ..Self::default()
            };
        }
        let (mut ahead, mut behind, mut whole) = (Writes::new(), Writes::new(), Writes::new());
        for (key, value) in writes {
            let into = match (keys::is_piece(&key), &value) {
                (true, Some(_)) => &mut ahead,
                (true, None) => &mut behind,
                (false, _) => &mut whole,
            };
            into.insert(key, value);
        }
        for (key, piece) in cut_down(&mut whole) {
            // The value it replaces may be the same bytes, whose pieces must stay.
            behind.remove(&key);
            ahead.insert(key, Some(piece));
        }
        Self {
            ahead: in_parts(ahead),
            whole,
            behind: in_parts(behind),
        }
    }
}

/// Cuts values of `whole`, the largest first, until the rest fits; returns their pieces.
fn cut_down(whole: &mut Writes) -> Vec<(Key, Vec<u8>)> {
    let mut bytes = bytes_of(whole);
    let mut all = Vec::new();
    for key in largest_first(whole) {
        if bytes <= SLED_SYNC_BYTES_MAX {
            break;
        }
        let stored = whole.get(&key).and_then(Option::as_deref);
        let cut = stored.and_then(|stored| pieces::cut_whole(&key, stored));
        let Some(Cut {
            stored: plan,
            pieces,
        }) = cut
        else {
            continue;
        };
        bytes -= bytes_of_change(&key, stored);
        bytes += bytes_of_change(&key, Some(&plan));
        whole.insert(key, Some(plan));
        all.extend(pieces);
    }
    all
}

/// What sled writes for these changes, from above.
pub(crate) fn bytes_of(writes: &Writes) -> usize {
    writes
        .iter()
        .map(|(key, value)| bytes_of_change(key, value.as_deref()))
        .sum()
}

/// What sled writes at once for these changes when all values that may be cut are cut.
pub(crate) fn least_bytes_of(writes: &Writes) -> usize {
    writes
        .iter()
        .filter(|(key, _)| !keys::is_piece(key))
        .map(|(key, value)| match value {
            Some(value) if may_shrink(key, value) => bytes_of_lengths(key.len(), PLAN_BYTES),
            Some(_) | None => bytes_of_change(key, value.as_deref()),
        })
        .sum()
}

fn bytes_of_change(key: &[u8], value: Option<&[u8]>) -> usize {
    match keys::is_piece(key) {
        true => PIECE_CHANGE_BYTES,
        false => bytes_of_lengths(key.len(), value.map_or(0, <[u8]>::len)),
    }
}

fn bytes_of_lengths(key: usize, value: usize) -> usize {
    CHANGE_BYTES + TIMES_WRITTEN * (key + value)
}

fn may_shrink(key: &[u8], value: &[u8]) -> bool {
    PLAN_BYTES < value.len() && keys::may_be_cut(key)
}

/// Keys of the values that shrink when they are cut, so that few are.
fn largest_first(whole: &Writes) -> Vec<Key> {
    let mut values: Vec<_> = whole
        .iter()
        .filter_map(|(key, value)| Some((key, value.as_deref()?)))
        .filter(|(key, value)| may_shrink(key, value))
        .map(|(key, value)| (value.len(), key))
        .collect();
    values.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
    values.into_iter().map(|(_, key)| key.clone()).collect()
}

/// The same changes in the same order, each part within the bound.
fn in_parts(writes: Writes) -> Vec<Writes> {
    let mut parts = Vec::new();
    let (mut part, mut bytes) = (Writes::new(), 0);
    for (key, value) in writes {
        let more = bytes_of_change(&key, value.as_deref());
        if SLED_SYNC_BYTES_MAX < bytes + more {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += more;
        part.insert(key, value);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
