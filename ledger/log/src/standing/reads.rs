//! Reading how things stand: memory first, then the table, and what it says is proven.
//!
//! A single row is the newest at some moment of the call. A page is how things stood at one moment.
//! A key of a kind that is proven by buckets is never said to be free before its bucket adds up, on
//! whichever way it is read.

use std::ops::ControlFlow;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use parking_lot::RwLockReadGuard;

use crate::applier::Slot;
use crate::keys::Key;
use crate::overlay::{Below, Pin, Snapshot, Stands, Wanted, merge};
use crate::proof::{Known, Proof, hash_of, hash_of_row, proof_of, prove_from, prove_key};
use crate::table::pieces;
use crate::table::{Order, Span, Table, TableError};

use super::Standing;

/// A row that was looked up before its use.
#[derive(Clone, Debug)]
pub struct LookUp {
    /// Its value then; `None` when there was none, proven.
    pub value: Option<Arc<[u8]>>,
    /// What keeps it true: as long as it holds, a later change is in memory. `None` for a value
    /// that was itself in memory: a row that is made and removed there leaves no trace.
    pub pin: Option<Pin>,
}

impl LookUp {
    /// Whether it is still true, together with what is in memory now.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.pin.as_ref().is_some_and(Pin::holds)
    }
}

/// A row as it stands: its key and value.
pub type StandingRow = (Key, Arc<[u8]>);

/// The fewest rows that are taken of each source for a page: a page of few rows may have to skip
/// many that were removed.
const SOURCE_ROWS_MIN: usize = 64;

impl Standing {
    /// The value under `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Arc<[u8]>>, LedgerError> {
        if let Some(known) = self.in_memory(key) {
            return Ok(known);
        }
        self.value_below(key)
    }

    /// The value under `key`, and, when it comes from below, a pin: while it holds,
    /// [`Standing::in_memory`] says of this key what changed since, so that both together are the
    /// truth without another look at the disk.
    pub fn look_up(&self, key: &[u8]) -> Result<LookUp, LedgerError> {
        let (pin, known) = {
            let overlay = self.shared.overlay();
            let known = overlay.row(key).map(|row| row.value.clone());
            (overlay.pin(), known)
        };
        Ok(match known {
            Some(value) => LookUp { value, pin: None },
            None => LookUp {
                value: self.value_below(key)?,
                pin: Some(pin),
            },
        })
    }

    /// What memory says of `key`; `None` when it says nothing. Reads no disk.
    #[must_use]
    pub fn in_memory(&self, key: &[u8]) -> Option<Option<Arc<[u8]>>> {
        let overlay = self.shared.overlay();
        overlay.row(key).map(|row| row.value.clone())
    }

    /// Up to `max` rows whose keys begin with `prefix`, which is not empty: by key, or the other
    /// way round, those beyond `cursor`. Fewer than `max` are all there are.
    pub fn scan(
        &self,
        prefix: &[u8],
        cursor: Option<&[u8]>,
        max: usize,
        reverse: bool,
    ) -> Result<Vec<StandingRow>, LedgerError> {
        let kind = *prefix.first().expect("a scan is for rows of a kind");
        let order = match reverse {
            false => Order::Forward,
            true => Order::Reverse,
        };
        let mut span = Span::of_prefix(prefix);
        if let Some(cursor) = cursor {
            span = span.beyond(cursor.to_vec(), order);
        }
        let mut rows = Vec::new();
        while rows.len() < max {
            let wanted = Wanted {
                rows: (max - rows.len()).max(SOURCE_ROWS_MIN),
                order,
            };
            let horizon = self.page((kind, &span), wanted, (&mut rows, max))?;
            match horizon {
                Some(horizon) => span = span.beyond(horizon, order),
                None => break,
            }
        }
        Ok(rows)
    }

    /// Adds rows of the beginning of `span` as they stand at one moment, until there are `max`;
    /// says up to which key it saw all.
    fn page(
        &self,
        (kind, span): (u8, &Span),
        wanted: Wanted,
        (rows, max): (&mut Vec<StandingRow>, usize),
    ) -> Result<Option<Key>, LedgerError> {
        // The table first: what is applied after this is in memory now.
        let slot = self.shared.slot();
        let snapshot = Snapshot::take(&self.shared.overlay(), kind, span.range(), wanted);
        let mut read = || -> Result<Option<Key>, TableError> {
            let table = slot.table()?;
            let below = rows_in(table, (kind, span), wanted)?;
            let merged = merge(&snapshot, below, (kind, span), wanted);
            for (key, stands) in merged.rows {
                if rows.len() == max {
                    break;
                }
                let value = match stands {
                    Stands::Here(value) => value,
                    Stands::Below(stored) => pieces::open(table, &key, &stored)?,
                };
                rows.push((key, value));
            }
            Ok(merged.horizon)
        };
        let read = read();
        self.told(slot, read)
    }

    /// What the table has under `key`, proven. Where it is known to have nothing it is not even
    /// waited for.
    fn value_below(&self, key: &[u8]) -> Result<Option<Arc<[u8]>>, LedgerError> {
        let kind = *key.first().expect("a key has a kind");
        match proof_of(kind) {
            Proof::Buckets if self.shared.known.lock().known(key) == Known::Absent => Ok(None),
            Proof::Buckets => self.below(|table| {
                let stored = self.stored_in_bucket(table, key)?;
                opened(table, key, stored)
            }),
            Proof::Whole | Proof::Itself => self.below(|table| opened(table, key, table.get(key)?)),
        }
    }

    /// The stored value of a key that is in a bucket, which is proven unless it was before.
    fn stored_in_bucket(
        &self,
        table: &dyn Table,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, TableError> {
        let known = self.shared.known.lock().known(key);
        match known {
            Known::Absent => return Ok(None),
            Known::Perhaps => {
                let stored = table.get(key)?;
                if let Some(stored) = stored
                    && self
                        .shared
                        .known
                        .lock()
                        .fits(key, hash_of_row(key, &stored))
                {
                    return Ok(Some(stored));
                }
            }
            Known::Nothing => {}
        }
        let (stored, held) = prove_key(table, key)?;
        self.shared.known.lock().put(held);
        Ok(stored)
    }

    /// Reads all of the table and proves it: the kinds that are proven whole, and every bucket.
    /// Says how many rows and buckets were read. The applier waits meanwhile.
    #[cfg(any(test, feature = "conformance"))]
    pub fn verify(&self) -> Result<u64, LedgerError> {
        let store = self.shared.site.store;
        self.below(|table| crate::applier::prove(table, store))
    }

    /// Reads the table, between two batches.
    fn below<T>(
        &self,
        read: impl FnOnce(&dyn Table) -> Result<T, TableError>,
    ) -> Result<T, LedgerError> {
        let slot = self.shared.slot();
        let read = slot.table().and_then(read);
        self.told(slot, read)
    }

    /// What was read; damage is written down before it is told.
    fn told<T>(
        &self,
        slot: RwLockReadGuard<'_, Slot>,
        read: Result<T, TableError>,
    ) -> Result<T, LedgerError> {
        let read = read.map_err(|error| slot.told(error));
        drop(slot);
        read.map_err(|error| {
            if let TableError::Damaged(detail) = &error {
                self.shared.damaged(detail);
            }
            self.shared.error(error)
        })
    }
}

fn opened(
    table: &dyn Table,
    key: &[u8],
    stored: Option<Vec<u8>>,
) -> Result<Option<Arc<[u8]>>, TableError> {
    let value = stored.map(|stored| pieces::open(table, key, &stored));
    value.transpose()
}

/// Rows of the beginning of `span`, as they are stored.
fn rows_in(
    table: &dyn Table,
    (kind, span): (u8, &Span),
    wanted: Wanted,
) -> Result<Below, TableError> {
    match proof_of(kind) {
        Proof::Buckets => rows_in_buckets(table, (kind, span), wanted),
        Proof::Whole | Proof::Itself => rows_in_order(table, span, wanted),
    }
}

fn rows_in_order(table: &dyn Table, span: &Span, wanted: Wanted) -> Result<Below, TableError> {
    let mut rows = Vec::new();
    table.scan(span.range(), wanted.order, &mut |key, stored| {
        rows.push((key.to_vec(), stored.to_vec()));
        match rows.len() < wanted.rows {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    let cut = rows.len() == wanted.rows;
    let horizon = rows.last().filter(|_| cut).map(|(key, _)| key.clone());
    Ok(Below { rows, horizon })
}

/// The same bucket by bucket, each proven.
fn rows_in_buckets(
    table: &dyn Table,
    (kind, span): (u8, &Span),
    wanted: Wanted,
) -> Result<Below, TableError> {
    let mut rows: Vec<(Key, Vec<u8>)> = Vec::new();
    let mut next = Some(first_hash(span, wanted.order));
    while let Some(hash) = next
        && may_have(span, (kind, hash), wanted.order)
    {
        let proven = prove_from(table, kind, hash, wanted.order)?;
        let here = proven.rows.into_iter();
        rows.extend(here.filter(|(key, _)| span.holds(key)));
        next = proven.next;
        if wanted.rows <= rows.len() {
            break;
        }
    }
    // Whole buckets may be more than is wanted; all of them were read, so all may be shown.
    let cut = wanted.rows <= rows.len();
    let horizon = rows.last().filter(|_| cut).map(|(key, _)| key.clone());
    Ok(Below { rows, horizon })
}

/// Where a scan of hashes begins.
fn first_hash(span: &Span, order: Order) -> u128 {
    use std::ops::Bound;
    let (end, unbounded) = match order {
        Order::Forward => (&span.from, 0),
        Order::Reverse => (&span.to, u128::MAX),
    };
    match end {
        // The end of the kind is the beginning of the next, which has no hash.
        Bound::Included(key) | Bound::Excluded(key) if 1 < key.len() => hash_of(key),
        Bound::Included(_) | Bound::Excluded(_) | Bound::Unbounded => unbounded,
    }
}

/// Whether keys from this hash on can lie within `span`.
fn may_have(span: &Span, (kind, hash): (u8, u128), order: Order) -> bool {
    let key = [&[kind][..], &hash.to_be_bytes()].concat();
    match order {
        Order::Forward => !span.ends_before(&key),
        Order::Reverse => !span.starts_after(&key),
    }
}
