//! Proof that the table has what it was given: a hole must never look like a free key.
//!
//! An engine can lose rows without a word. So sums are kept beside them, in the same batch: one per
//! kind, which a scan at open proves, and for the kinds that are too many to scan one per bucket of
//! about 64 keys, which each look-up proves. Nothing here repairs; what does not add up is damage.

mod bucket;
mod known;
mod sum;
mod whole;

use crate::keys::HASH_BYTES;

pub(crate) use bucket::{Bucket, prove_all, prove_from, prove_key};
pub(crate) use known::{Buckets, Changed, Held, Known, Moves, Print};
pub(crate) use sum::{Sum, Sums, hash_of_row};
pub(crate) use whole::prove;

use crate::table::pieces::PIECE;

/// The kind of the checkpoint, which has the sums of the others.
pub(crate) const CHECKPOINT: u8 = 0x01;
/// The kind of the rows of buckets.
pub(crate) const BUCKET: u8 = 0x33;

const SNAPSHOT: u8 = 0x14;
const SNAPSHOT_PAYLOAD: u8 = 0x15;
const EFFECT: u8 = 0x30;
const START: u8 = 0x31;

/// Kinds whose keys are spread over buckets by the hash that follows the kind.
pub(crate) const BUCKETED: [u8; 2] = [EFFECT, START];

/// How it is known that no row of a kind is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// By one sum over the kind, checked when the table is opened.
    Whole,
    /// By a sum per bucket, checked whenever a key of it is looked for.
    Buckets,
    /// Not at all: a lost one is made again from what it was made of, or is asked for by a row
    /// that proves it.
    Itself,
}

/// How rows of this kind are proven.
pub(crate) const fn proof_of(kind: u8) -> Proof {
    match kind {
        EFFECT | START => Proof::Buckets,
        CHECKPOINT | SNAPSHOT | SNAPSHOT_PAYLOAD | PIECE => Proof::Itself,
        _ => Proof::Whole,
    }
}

/// The hash by which a key of a bucketed kind is put into a bucket.
pub(crate) fn hash_of(key: &[u8]) -> u128 {
    let mut hash = [0; HASH_BYTES];
    let given = key.get(1..).unwrap_or_default();
    let len = given.len().min(HASH_BYTES);
    hash[..len].copy_from_slice(&given[..len]);
    u128::from_be_bytes(hash)
}
