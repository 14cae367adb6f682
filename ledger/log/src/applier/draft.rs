//! One batch in the making: changes, the buckets they belong to, and the sums of all of it.
//!
//! Old values are read before they are replaced, because sums lose them; a change that changes
//! nothing costs no write. Nothing is written here, and the table must not change meanwhile.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use mainstay_types::limits::BUCKET_KEYS_MAX;
use parking_lot::Mutex;

use crate::keys::Key;
use crate::proof::{
    self, Bucket, Buckets, Changed, Held, Moves, Print, Proof, Sum, Sums, hash_of, hash_of_row,
    proof_of,
};
use crate::table::{Order, StoredChange, Table, TableError, TableLimits};

/// Changes that go into the table at once.
#[derive(Debug)]
pub(super) struct Draft {
    limits: TableLimits,
    changes: BTreeMap<Key, Option<Vec<u8>>>,
    buckets: Touched,
    moves: Moves,
    sums: Sums,
    /// What the engine writes for it, in bytes, from above.
    cost: usize,
}

impl Draft {
    pub(super) fn new(limits: TableLimits, sums: Sums) -> Self {
        Self {
            limits,
            changes: BTreeMap::new(),
            buckets: Touched::default(),
            moves: Moves::default(),
            sums,
            cost: 0,
        }
    }

    /// Changes in it, the rows of buckets included.
    pub(super) fn len(&self) -> usize {
        self.changes.len() + self.buckets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Puts a stored value, or removes it; `old` is what the table has there now.
    pub(super) fn change(
        &mut self,
        below: Below<'_>,
        key: &Key,
        (old, new): (Option<&[u8]>, Option<Vec<u8>>),
    ) -> Result<(), TableError> {
        if old == new.as_deref() {
            return Ok(());
        }
        let kind = *key.first().expect("a key has a kind");
        let hash = |stored: Option<&[u8]>| stored.map(|stored| hash_of_row(key, stored));
        match proof_of(kind) {
            Proof::Whole => self
                .sums
                .change(kind)
                .replace(hash(old), hash(new.as_deref())),
            Proof::Buckets => {
                let (old, new) = (hash(old), hash(new.as_deref()));
                let (bucket, loaded) = self.buckets.holding(below, key)?;
                bucket.sum.replace(old, new);
                let key = key.clone();
                self.moves.changed.push(Changed { key, old, new });
                if loaded {
                    self.cost += self.limits.cost(&[], None) + BUCKET_ROW_COST;
                }
            }
            Proof::Itself => {}
        }
        self.cost += self.limits.cost(key, new.as_deref());
        self.changes.insert(key.clone(), new);
        Ok(())
    }

    /// All changes with the rows of their buckets, the sums with them, and what becomes of the
    /// buckets.
    pub(super) fn finish(mut self, table: &dyn Table) -> Result<Finished, TableError> {
        while let Some((large, old)) = self.buckets.take_large() {
            let halves = self.split(table, large)?;
            // The first half has the place, and so the row, of the whole.
            self.buckets.put(halves[0].bucket, old);
            self.buckets.put(halves[1].bucket, None);
            self.moves.split.push(halves);
        }
        let mut changes: Vec<StoredChange> = self.changes.into_iter().collect();
        for (bucket, old) in self.buckets.0.into_values() {
            let hash = |bucket: Bucket| {
                let (key, stored) = bucket.to_row();
                stored.as_deref().map(|stored| hash_of_row(&key, stored))
            };
            let sum = self.sums.change(proof::BUCKET);
            sum.replace(old.and_then(hash), hash(bucket));
            changes.push(bucket.to_row());
            self.moves.buckets.push(bucket);
        }
        Ok(Finished {
            changes,
            sums: self.sums,
            moves: self.moves,
        })
    }

    /// Two buckets with the keys of one; what it should have must be there before it is split, or
    /// the halves would prove a hole.
    fn split(&self, table: &dyn Table, large: Bucket) -> Result<[Held; 2], TableError> {
        let mut halves = large
            .halves()
            .expect("only those that can be split are taken");
        let (mut all, mut prints) = (Sum::default(), [Vec::new(), Vec::new()]);
        let mut add = |key: &[u8], stored: &[u8]| {
            let hash = hash_of_row(key, stored);
            all.add(hash);
            let half = usize::from(halves[1].covers(hash_of(key)));
            halves[half].sum.add(hash);
            prints[half].push(Print::new(key, hash));
        };
        let span = large.span();
        table.scan(span.range(), Order::Forward, &mut |key, stored| {
            if !self.changes.contains_key(key) {
                add(key, stored);
            }
            ControlFlow::Continue(())
        })?;
        for (key, new) in self
            .changes
            .range::<Key, _>((span.from.as_ref(), span.to.as_ref()))
        {
            if let Some(stored) = new {
                add(key, stored);
            }
        }
        large.must_be(all)?;
        let ([one, other], [of_one, of_other]) = (halves, prints);
        Ok([Held::new(one, of_one), Held::new(other, of_other)])
    }
}

/// What a bucket's row adds to its key, in bytes, from above.
pub(super) const BUCKET_ROW_COST: usize = 256;

/// A batch, ready.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) changes: Vec<StoredChange>,
    pub(super) sums: Sums,
    pub(super) moves: Moves,
}

/// What a draft is made upon: the table, and what is known of its buckets without reading.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    pub(super) table: &'a dyn Table,
    pub(super) known: &'a Mutex<Buckets>,
}

impl Below<'_> {
    fn bucket(&self, key: &[u8]) -> Result<Bucket, TableError> {
        let known = self.known.lock().bucket(key);
        known.map_or_else(|| Bucket::holding(self.table, key), Ok)
    }
}

/// The buckets that a batch changes, by kind and first hash, and what they are in the table now.
#[derive(Debug, Default)]
struct Touched(BTreeMap<(u8, u128), (Bucket, Option<Bucket>)>);

impl Touched {
    fn len(&self) -> usize {
        self.0.len()
    }

    /// The bucket of a key, and whether it is the first key of it.
    fn holding(&mut self, below: Below<'_>, key: &[u8]) -> Result<(&mut Bucket, bool), TableError> {
        let (kind, hash) = (key[0], hash_of(key));
        let known = self.0.range(..=(kind, hash)).next_back();
        let known = known.map(|(place, (bucket, _))| (*place, *bucket));
        let (place, loaded) = match known {
            Some((place, bucket)) if place.0 == kind && bucket.covers(hash) => (place, false),
            Some(_) | None => {
                let bucket = below.bucket(key)?;
                self.put(bucket, Some(bucket));
                ((bucket.kind, bucket.first), true)
            }
        };
        let (bucket, _) = self.0.get_mut(&place).expect("it was found or put there");
        Ok((bucket, loaded))
    }

    fn put(&mut self, bucket: Bucket, old: Option<Bucket>) {
        self.0.insert((bucket.kind, bucket.first), (bucket, old));
    }

    /// A bucket that has to be split, and what it is in the table; its place is free until its
    /// halves are put.
    fn take_large(&mut self) -> Option<(Bucket, Option<Bucket>)> {
        let mut all = self.0.iter();
        let (place, _) = all.find(|(_, (bucket, _))| {
            BUCKET_KEYS_MAX < bucket.sum.count && bucket.halves().is_some()
        })?;
        let place = *place;
        self.0.remove(&place)
    }
}
