//! Buckets that were proven, kept in memory with a print of each of their rows, so that most
//! look-ups of a free key read nothing.
//!
//! A bucket gets in when it was proven against its sum, and changes with each batch that changes
//! it; from then on memory is what is believed, and a row of the table that does not match its
//! print is damage. What is not here is unknown, never absent. Whenever it is not certain what the
//! table has, everything is forgotten.

use std::collections::BTreeMap;

use super::{Bucket, hash_of};

/// Prints of one row: of its key, and of its key and stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Print {
    key: u32,
    row: u32,
}

impl Print {
    /// Of a row whose hash is `row`.
    pub(crate) fn new(key: &[u8], row: u128) -> Self {
        Self {
            key: key_print(hash_of(key)),
            row: low(row),
        }
    }
}

/// The bits after those that buckets share: they are the same for no more than a few keys.
fn key_print(hash: u128) -> u32 {
    low(hash >> 32)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a print is a part of a hash"
)]
fn low(hash: u128) -> u32 {
    hash as u32
}

/// A proven bucket with prints of its rows, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) bucket: Bucket,
    prints: Vec<Print>,
}

impl Held {
    pub(crate) fn new(bucket: Bucket, mut prints: Vec<Print>) -> Self {
        prints.sort_unstable();
        Self { bucket, prints }
    }

    fn find(&self, hash: u128) -> &[Print] {
        let key = key_print(hash);
        let from = self.prints.partition_point(|print| print.key < key);
        let len = self.prints[from..].partition_point(|print| print.key == key);
        &self.prints[from..from + len]
    }
}

/// What is known of a key without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Its bucket is not here.
    Nothing,
    /// There is no such row.
    Absent,
    /// There may be one, and this is whether its hash fits.
    Perhaps,
}

/// How a batch changed a row of a bucket: hashes of what was there and of what is there now.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) key: Vec<u8>,
    pub(crate) old: Option<u128>,
    pub(crate) new: Option<u128>,
}

/// What a batch did to buckets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    pub(crate) changed: Vec<Changed>,
    /// What the buckets are after it, those that were split left out.
    pub(crate) buckets: Vec<Bucket>,
    /// The halves of those that were split, in the order of splitting.
    pub(crate) split: Vec<[Held; 2]>,
}

/// Proven buckets, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Buckets {
    held: BTreeMap<(u8, u128), Held>,
    prints: usize,
    max: usize,
    /// Where the next one is taken out that makes room.
    hand: (u8, u128),
}

impl Buckets {
    /// Room for about `max` rows.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            held: BTreeMap::new(),
            prints: 0,
            max,
            hand: (0, 0),
        }
    }

    pub(crate) fn known(&self, key: &[u8]) -> Known {
        match self.holding(key) {
            None => Known::Nothing,
            Some(held) if held.find(hash_of(key)).is_empty() => Known::Absent,
            Some(_) => Known::Perhaps,
        }
    }

    /// Whether a row of the table is one that was proven.
    pub(crate) fn fits(&self, key: &[u8], row: u128) -> bool {
        let print = Print::new(key, row);
        let held = self.holding(key);
        held.is_some_and(|held| held.prints.binary_search(&print).is_ok())
    }

    /// The bucket of a key, as it stands in the table.
    pub(crate) fn bucket(&self, key: &[u8]) -> Option<Bucket> {
        self.holding(key).map(|held| held.bucket)
    }

    fn holding(&self, key: &[u8]) -> Option<&Held> {
        let place = (*key.first()?, hash_of(key));
        let (_, held) = self.held.range(..=place).next_back()?;
        let here = held.bucket.kind == place.0 && held.bucket.covers(place.1);
        here.then_some(held)
    }

    /// Takes a bucket that was proven.
    pub(crate) fn put(&mut self, held: Held) {
        self.prints += held.prints.len();
        let place = (held.bucket.kind, held.bucket.first);
        if let Some(old) = self.held.insert(place, held) {
            self.prints -= old.prints.len();
        }
        while self.max < self.prints && 1 < self.held.len() {
            self.make_room(place);
        }
    }

    /// Takes one out, going round; keys are spread evenly, so that any is as good.
    fn make_room(&mut self, but: (u8, u128)) {
        let after = self.held.range(self.hand..).map(|(place, _)| *place);
        let before = self.held.keys().copied();
        let Some(place) = after.chain(before).find(|place| *place != but) else {
            return;
        };
        self.remove(place);
        self.hand = place;
    }

    fn remove(&mut self, place: (u8, u128)) {
        if let Some(held) = self.held.remove(&place) {
            self.prints -= held.prints.len();
        }
    }

    /// Follows a batch that the table has taken.
    pub(crate) fn follow(&mut self, moves: Moves) {
        for changed in moves.changed {
            self.change(&changed);
        }
        for bucket in moves.buckets {
            if let Some(held) = self.held.get_mut(&(bucket.kind, bucket.first)) {
                held.bucket = bucket;
            }
        }
        for [one, other] in moves.split {
            self.put(one);
            self.put(other);
        }
    }

    fn change(&mut self, changed: &Changed) {
        let Some(bucket) = self.bucket(&changed.key) else {
            return;
        };
        let place = (bucket.kind, bucket.first);
        let held = self.held.get_mut(&place).expect("it was found just now");
        let mut whole = true;
        if let Some(old) = changed.old {
            match held.prints.binary_search(&Print::new(&changed.key, old)) {
                Ok(at) => {
                    held.prints.remove(at);
                    self.prints -= 1;
                }
                Err(_) => whole = false,
            }
        }
        if let Some(new) = changed.new {
            let print = Print::new(&changed.key, new);
            let at = held.prints.partition_point(|other| *other < print);
            held.prints.insert(at, print);
            self.prints += 1;
        }
        if !whole {
            // It was not what it should have been; the table is asked again.
            self.remove(place);
        }
    }

    /// What the table has is not known any more.
    pub(crate) fn forget(&mut self) {
        self.held.clear();
        self.prints = 0;
    }
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
