//! Buckets: the keys of a kind whose hashes share their leading bits, with one sum over them.
//!
//! The buckets of a kind lie side by side from the first hash to the last, from the moment the
//! table is made: a key in no bucket means that a bucket's row was lost. A bucket's row changes in
//! the batch that changes its keys, and a bucket above `limits::BUCKET_KEYS_MAX` keys becomes two
//! in that batch. Nothing is answered about a key before its bucket adds up.
//!
//! Row: `33`, kind, first hash (16); sealed: depth (1), count (8), sum (16).

use std::ops::{Bound, ControlFlow};

use mainstay_ledger::codec::value::{open_value, seal_value};

use crate::fields::Fields;
use crate::keys::Key;
use crate::table::pieces::shown;
use crate::table::{Order, Span, StoredChange, Table, TableError};

use super::{BUCKET, Held, Print, Sum, hash_of, hash_of_row};

/// Leading bits after which no bucket is split any more: then so many keys share nearly all of
/// their hash.
const DEPTH_MAX: u8 = 127;

/// Takes a row and its hash.
type EachHashed<'a> = dyn FnMut(&[u8], &[u8], u128) + 'a;

/// A bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) kind: u8,
    /// The first hash in it.
    pub(crate) first: u128,
    /// How many leading bits its hashes share.
    pub(crate) depth: u8,
    pub(crate) sum: Sum,
}

impl Bucket {
    /// The one bucket of a kind that has no keys yet.
    pub(crate) fn root(kind: u8) -> Self {
        Self {
            kind,
            first: 0,
            depth: 0,
            sum: Sum::default(),
        }
    }

    /// The bucket that `key` belongs to.
    pub(crate) fn holding(table: &dyn Table, key: &[u8]) -> Result<Self, TableError> {
        let kind = *key.first().expect("a key has a kind");
        Self::at(table, kind, hash_of(key))
    }

    /// The bucket that covers `hash`: the last one that does not begin after it.
    fn at(table: &dyn Table, kind: u8, hash: u128) -> Result<Self, TableError> {
        let span = Span {
            from: Bound::Included(row_key(kind, 0)),
            to: Bound::Included(row_key(kind, hash)),
        };
        let mut row = None;
        table.scan(span.range(), Order::Reverse, &mut |key, stored| {
            row = Some((key.to_vec(), stored.to_vec()));
            ControlFlow::Break(())
        })?;
        let bucket = row
            .map(|(key, stored)| Self::parse(&key, &stored))
            .transpose()?;
        bucket.filter(|bucket| bucket.covers(hash)).ok_or_else(|| {
            let detail = format!("the bucket of the key {kind:02x} {hash:032x} is missing");
            TableError::Damaged(detail)
        })
    }

    /// Whether a key of its kind with this hash is one of its keys.
    pub(crate) fn covers(&self, hash: u128) -> bool {
        self.first <= hash && hash <= self.last()
    }

    /// The last hash in it.
    fn last(&self) -> u128 {
        self.first | u128::MAX.checked_shr(u32::from(self.depth)).unwrap_or(0)
    }

    /// All keys that belong to it.
    pub(crate) fn span(&self) -> Span {
        let key = |hash: u128| [&[self.kind][..], &hash.to_be_bytes()].concat();
        let to = match self.last().checked_add(1) {
            Some(next) => key(next),
            None => vec![self.kind + 1],
        };
        Span {
            from: Bound::Included(key(self.first)),
            to: Bound::Excluded(to),
        }
    }

    /// Two empty ones that cover what it covers; `None` when it cannot be split.
    pub(crate) fn halves(&self) -> Option<[Self; 2]> {
        if DEPTH_MAX <= self.depth {
            return None;
        }
        let depth = self.depth + 1;
        let half = |first| Self {
            first,
            depth,
            sum: Sum::default(),
            ..*self
        };
        Some([
            half(self.first),
            half(self.first | 1 << (128 - u32::from(depth))),
        ])
    }

    /// Its row.
    pub(crate) fn to_row(self) -> StoredChange {
        let key = row_key(self.kind, self.first);
        let mut bytes = vec![self.depth];
        self.sum.put(&mut bytes);
        let stored = seal_value(&key, &bytes);
        (key, Some(stored))
    }

    fn parse(key: &[u8], stored: &[u8]) -> Result<Self, TableError> {
        let broken = |what: &str| TableError::Damaged(format!("the bucket {}: {what}", shown(key)));
        let bytes = open_value(key, stored).map_err(|error| broken(&error.to_string()))?;
        let (mut name, mut fields) = (Fields(key), Fields(bytes));
        let bucket = (|| {
            let [_, kind] = name.array()?;
            let first = u128::from_be_bytes(name.array()?);
            name.end()?;
            let [depth] = fields.array()?;
            let sum = Sum::take(&mut fields)?;
            fields.end()?;
            Some(Self {
                kind,
                first,
                depth,
                sum,
            })
        })();
        bucket.ok_or_else(|| broken("it has no valid form"))
    }

    /// Proves that the table has exactly its keys, and shows each.
    fn prove(&self, table: &dyn Table, each: &mut EachHashed<'_>) -> Result<(), TableError> {
        let mut found = Sum::default();
        table.scan(self.span().range(), Order::Forward, &mut |key, stored| {
            let hash = hash_of_row(key, stored);
            found.add(hash);
            each(key, stored, hash);
            ControlFlow::Continue(())
        })?;
        self.must_be(found)
    }

    /// `Damaged` unless its keys add up to `found`.
    pub(crate) fn must_be(&self, found: Sum) -> Result<(), TableError> {
        if found == self.sum {
            return Ok(());
        }
        Err(TableError::Damaged(format!(
            "the bucket of {} {:032x} (depth {}): its {} keys do not add up; {} were written",
            shown(&[self.kind]),
            self.first,
            self.depth,
            found.count,
            self.sum.count
        )))
    }
}

/// What stands under `key`, proven, and its bucket to be kept: a key that was lost is never taken
/// for one that is free.
pub(crate) fn prove_key(
    table: &dyn Table,
    key: &[u8],
) -> Result<(Option<Vec<u8>>, Held), TableError> {
    let (mut found, mut prints) = (None, Vec::new());
    let bucket = Bucket::holding(table, key)?;
    bucket.prove(table, &mut |other, stored, hash| {
        prints.push(Print::new(other, hash));
        if other == key {
            found = Some(stored.to_vec());
        }
    })?;
    Ok((found, Held::new(bucket, prints)))
}

/// Rows of whole buckets, in the order that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Proven {
    pub(crate) rows: Vec<(Key, Vec<u8>)>,
    /// The hash from which it goes on; `None` at the end of the kind.
    pub(crate) next: Option<u128>,
}

/// The rows of the bucket that covers `hash`, proven.
pub(crate) fn prove_from(
    table: &dyn Table,
    kind: u8,
    hash: u128,
    order: Order,
) -> Result<Proven, TableError> {
    let bucket = Bucket::at(table, kind, hash)?;
    let mut rows = Vec::new();
    bucket.prove(table, &mut |key, stored, _| {
        rows.push((key.to_vec(), stored.to_vec()))
    })?;
    let next = match order {
        Order::Forward => bucket.last().checked_add(1),
        Order::Reverse => {
            rows.reverse();
            bucket.first.checked_sub(1)
        }
    };
    Ok(Proven { rows, next })
}

/// Proves every bucket of a kind; returns how many there are.
pub(crate) fn prove_all(table: &dyn Table, kind: u8) -> Result<u64, TableError> {
    let (mut buckets, mut hash) = (0, 0);
    loop {
        let bucket = Bucket::at(table, kind, hash)?;
        bucket.prove(table, &mut |_, _, _| {})?;
        buckets += 1;
        match bucket.last().checked_add(1) {
            Some(next) => hash = next,
            None => return Ok(buckets),
        }
    }
}

fn row_key(kind: u8, first: u128) -> Key {
    [&[BUCKET, kind][..], &first.to_be_bytes()].concat()
}
