//! Which rows the table may have got since it was empty: what it never got, it does not have.
//!
//! While a table is made anew nearly all of the log concerns rows that came and went. Whoever knows
//! that the table never had a row need not write that it is gone. It may be taken to have had one
//! that it had not, never the other way round.

use std::hash::{BuildHasher, RandomState};

/// Bits, as many as keep mistakes rare with a few million rows.
const BITS: usize = 1 << 25;
const WORDS: usize = BITS / 64;
/// Bits that one key sets.
const PLACES: u64 = 4;

/// Keys that were put.
#[derive(Debug)]
pub(crate) struct Seen {
    words: Vec<u64>,
    hasher: RandomState,
}

impl Seen {
    pub(crate) fn new() -> Self {
        Self {
            words: vec![0; WORDS],
            hasher: RandomState::new(),
        }
    }

    pub(crate) fn add(&mut self, key: &[u8]) {
        for (word, bit) in self.places(key) {
            self.words[word] |= bit;
        }
    }

    /// Whether `key` may have been put.
    pub(crate) fn may_have(&self, key: &[u8]) -> bool {
        self.places(key)
            .all(|(word, bit)| self.words[word] & bit != 0)
    }

    fn places(&self, key: &[u8]) -> impl Iterator<Item = (usize, u64)> + use<> {
        let hash = self.hasher.hash_one(key);
        // Two numbers make as many as are wanted; an odd stride comes round last.
        let (first, stride) = (hash, (hash >> 32) | 1);
        (0..PLACES).map(move |n| {
            let place = first.wrapping_add(stride.wrapping_mul(n)) % BITS as u64;
            let word = usize::try_from(place / 64).unwrap_or(0);
            (word, 1 << (place % 64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_never_said_not_to_be_and_few_others_are() {
        let mut seen = Seen::new();
        let key = |number: u32| [&[0x11][..], &number.to_be_bytes()].concat();
        for number in 0..200_000 {
            seen.add(&key(number));
        }
        assert!((0..200_000).all(|number| seen.may_have(&key(number))));
        let mistakes = (200_000..300_000)
            .filter(|number| seen.may_have(&key(*number)))
            .count();
        assert!(mistakes < 1_000, "{mistakes} of 100000");
    }
}
