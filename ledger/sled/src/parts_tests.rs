//! What is written between two syncs stays below its bound, and nobody sees a group half done.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_types::{EffectKey, RunId, Seq};

use super::*;
use crate::pieces::{Broken, Source, piece_keys, read};

/// What sled holds.
#[derive(Clone, Default)]
struct Store(BTreeMap<Key, Vec<u8>>);

impl Source for Store {
    fn stored(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        Ok(self.0.get(key).cloned())
    }
}

impl Store {
    fn apply(&mut self, writes: &Writes) {
        for (key, value) in writes {
            match value {
                Some(value) => self.0.insert(key.clone(), value.clone()),
                None => self.0.remove(key),
            };
        }
    }

    /// Everything that can be read in it.
    fn shows(&self) -> BTreeMap<Key, Vec<u8>> {
        let keys = self.0.keys().filter(|key| !keys::is_piece(key));
        keys.map(|key| (key.clone(), read(self, key).unwrap().unwrap()))
            .collect()
    }

    /// Stages a value as a group does: the pieces of the one it replaces go.
    fn replace(&self, writes: &mut Writes, key: Key, value: &[u8]) {
        let staged = writes.get(&key).map(Option::as_ref);
        if let Some(old) = staged.unwrap_or_else(|| self.0.get(&key)) {
            let pieces = piece_keys(&key, old).unwrap();
            writes.extend(pieces.into_iter().map(|piece| (piece, None)));
        }
        let cut = pieces::cut(&key, value);
        writes.insert(key, Some(cut.stored));
        writes.extend(
            cut.pieces
                .into_iter()
                .map(|(key, piece)| (key, Some(piece))),
        );
    }

    /// Writes a group part by part and checks each of them; says how many there were.
    fn write(&mut self, writes: Writes) -> usize {
        let (before, mut after) = (self.shows(), self.clone());
        after.apply(&writes);
        let after = after.shows();
        let parts = Parts::of(writes);
        let all = || {
            parts
                .ahead
                .iter()
                .chain([&parts.whole])
                .chain(&parts.behind)
        };
        for part in all() {
            assert!(bytes_of(part) <= SLED_SYNC_BYTES_MAX, "{}", bytes_of(part));
        }
        for part in &parts.ahead {
            self.apply(part);
        }
        assert!(self.shows() == before, "what goes ahead is seen");
        self.apply(&parts.whole);
        assert!(self.shows() == after, "a group is not seen whole");
        for part in &parts.behind {
            self.apply(part);
        }
        assert!(self.shows() == after, "what goes behind is missed");
        all().count()
    }

    /// Pieces that no plan names.
    fn orphans(&self) -> Vec<&Key> {
        let shown = self.0.iter().filter(|(key, _)| !keys::is_piece(key));
        let named: BTreeSet<Key> = shown
            .flat_map(|(key, stored)| piece_keys(key, stored).unwrap())
            .collect();
        let pieces = self.0.keys().filter(|key| keys::is_piece(key));
        pieces.filter(|key| !named.contains(*key)).collect()
    }
}

/// Pseudo-random numbers (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn size(&mut self, max: u64) -> usize {
        usize::try_from(self.below(max)).unwrap()
    }
}

fn effect_key(n: u64) -> EffectKey {
    let item = u32::try_from(n).unwrap();
    mainstay_ledger::sample::effect_key("mtg-1", item)
}

fn key(draw: &mut Draw, of: u64) -> Key {
    let n = draw.below(of);
    let run = RunId::from_bytes([n.to_le_bytes()[0]; 16]);
    match draw.below(4) {
        0 => keys::records(run, Seq(n)),
        1 => keys::inbox(run, n),
        _ => keys::effect(&effect_key(n)),
    }
}

/// Bytes that tell their size and their kind; few kinds, so that equal values meet.
fn value(draw: &mut Draw, max: u64) -> Vec<u8> {
    vec![b'a' + draw.below(3).to_le_bytes()[0]; draw.size(max)]
}

#[test]
fn groups_of_random_sizes_stay_below_the_bound_and_are_seen_whole_or_not_at_all() {
    let seed = std::env::var("MAINSTAY_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()) << 20 | 1);
    println!("MAINSTAY_SEED={seed}");
    let mut draw = Draw(seed);
    let mut taken_apart = 0;
    for trial in 0..12 {
        let mut store = Store::default();
        // From many small values to few large ones; the number of keys keeps the least bound.
        let max = [40, 500, 1_000, 4_000, 60_000, 400_000][trial % 6];
        let count = (8_000_000 / max).min(4_000);
        for _ in 0..3 {
            let mut writes = Writes::new();
            for _ in 0..=draw.below(count) {
                let (key, value) = (key(&mut draw, count), value(&mut draw, max));
                store.replace(&mut writes, key, &value);
            }
            assert!(
                least_bytes_of(&writes) <= REQUEST_BYTES_MAX,
                "too many keys"
            );
            taken_apart += usize::from(1 < store.write(writes));
            let orphans = store.orphans().len();
            assert_eq!(orphans, 0, "MAINSTAY_SEED={seed}, trial {trial}");
        }
    }
    assert!(6 < taken_apart, "only {taken_apart} groups were large");
}

#[test]
fn a_value_that_was_cut_small_and_is_written_again_keeps_its_pieces() {
    let mut store = Store::default();
    for _ in 0..3 {
        let mut writes = Writes::new();
        for n in 0..3_000 {
            store.replace(&mut writes, keys::effect(&effect_key(n)), &[b'x'; 1_000]);
        }
        assert!(1 < store.write(writes));
        assert_eq!(store.orphans().len(), 0);
    }
}

#[test]
fn a_small_group_is_one_part_and_its_values_stay_whole() {
    let mut writes = Writes::new();
    for n in 0..100 {
        Store::default().replace(&mut writes, keys::effect(&effect_key(n)), &[b'x'; 1_000]);
    }
    let parts = Parts::of(writes.clone());
    assert!(parts.ahead.is_empty() && parts.behind.is_empty());
    assert_eq!(parts.whole, writes);
}
