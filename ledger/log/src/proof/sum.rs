//! Counts and sums of rows, kept row by row and in any order.
//!
//! The sum is the addition mod 2^128 of the first 16 bytes of blake3 over key and stored value. It
//! guards against a disk and an engine, not against a forger.

use std::collections::BTreeMap;

use crate::fields::Fields;

/// How many rows there are, and what they sum up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) count: u64,
    pub(crate) hash: u128,
}

/// Bytes of a sum as it is stored.
const SUM_BYTES: usize = 8 + 16;

impl Sum {
    pub(crate) fn add(&mut self, row: u128) {
        self.count = self.count.wrapping_add(1);
        self.hash = self.hash.wrapping_add(row);
    }

    /// What was never added makes a sum that nothing adds up to: then something was lost before.
    pub(crate) fn remove(&mut self, row: u128) {
        self.count = self.count.wrapping_sub(1);
        self.hash = self.hash.wrapping_sub(row);
    }

    pub(crate) fn replace(&mut self, old: Option<u128>, new: Option<u128>) {
        if let Some(old) = old {
            self.remove(old);
        }
        if let Some(new) = new {
            self.add(new);
        }
    }

    pub(crate) fn put(self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.count.to_le_bytes());
        into.extend_from_slice(&self.hash.to_le_bytes());
    }

    pub(crate) fn take(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self {
            count: fields.u64()?,
            hash: u128::from_le_bytes(fields.array()?),
        })
    }
}

/// The hash of a row, as it is summed.
pub(crate) fn hash_of_row(key: &[u8], stored: &[u8]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(stored);
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk::<16>();
    u128::from_le_bytes(*first.expect("a blake3 hash has 32 bytes"))
}

/// The sums of the kinds that are proven as a whole; a kind without rows has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums(BTreeMap<u8, Sum>);

impl Sums {
    pub(crate) fn of(&self, kind: u8) -> Sum {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    pub(crate) fn change(&mut self, kind: u8) -> &mut Sum {
        self.0.entry(kind).or_default()
    }

    /// All kinds that have a sum here or there, with both.
    pub(crate) fn beside<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (u8, Sum, Sum)> + 'a {
        let kinds =
            (0..=u8::MAX).filter(|kind| self.0.contains_key(kind) || other.0.contains_key(kind));
        kinds.map(|kind| (kind, self.of(kind), other.of(kind)))
    }

    pub(crate) fn put(&self, into: &mut Vec<u8>) {
        let kinds = self.0.iter().filter(|(_, sum)| **sum != Sum::default());
        for (kind, sum) in kinds {
            into.push(*kind);
            sum.put(into);
        }
    }

    /// The rest of `fields`.
    pub(crate) fn take(fields: &mut Fields<'_>) -> Option<Self> {
        let mut sums = BTreeMap::new();
        while !fields.is_empty() {
            let [kind] = fields.array::<1>()?;
            sums.insert(kind, Sum::take(fields)?);
        }
        Some(Self(sums))
    }

    /// Bytes that [`Sums::put`] adds, from above.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len() * (1 + SUM_BYTES)
    }
}
