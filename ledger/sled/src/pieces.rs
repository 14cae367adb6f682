//! How a value lies under its key: whole, or cut into pieces when it is large.
//!
//! No value under one key is larger than `limits::SLED_VALUE_BYTES_MAX`: sled puts pages that
//! outgrow a quarter of a segment into files that it never syncs. Those above
//! `limits::SLED_WHOLE_BYTES_MAX` are cut, and `parts` cuts smaller ones. Values prove themselves
//! (their codec adds a checksum over key and bytes); what is added here, plan and pieces, does so
//! too.
//!
//! Forms: `0`, then the value; or `1`, then the plan of its pieces: length (8), pieces (4),
//! crc of the value (4), payload id (8), little-endian.

use mainstay_ledger::codec::DecodeError;
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_types::Digest;
use mainstay_types::limits::{PIECE_BYTES_MAX, SLED_VALUE_BYTES_MAX, SLED_WHOLE_BYTES_MAX};

use crate::fields::Fields;
use crate::keys::{self, Key};

const WHOLE: u8 = 0;
const IN_PIECES: u8 = 1;

/// The largest value that is stored whole.
pub(crate) const WHOLE_BYTES_MAX: usize = SLED_WHOLE_BYTES_MAX - FORM_BYTES;

/// Bytes of the plan in its stored form.
pub(crate) const PLAN_BYTES: usize = FORM_BYTES + PLAN_BODY_BYTES + SEAL_BYTES;

const FORM_BYTES: usize = 1;
const PLAN_BODY_BYTES: usize = 24;
/// What [`seal_value`] adds.
const SEAL_BYTES: usize = 5;

const _: () = assert!(PIECE_BYTES_MAX + SEAL_BYTES <= SLED_VALUE_BYTES_MAX);

/// What is wrong with stored bytes, or why they could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// They are there and not what was written.
    Bytes(String),
    /// sled failed to read them.
    Read(String),
}

impl Broken {
    pub(crate) fn bytes(what: impl Into<String>) -> Self {
        Self::Bytes(what.into())
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(what) | Self::Read(what) => f.write_str(what),
        }
    }
}

impl From<DecodeError> for Broken {
    fn from(error: DecodeError) -> Self {
        Self::Bytes(error.to_string())
    }
}

/// sled says that something it wrote is damaged, or that the system failed.
impl From<sled::Error> for Broken {
    fn from(error: sled::Error) -> Self {
        let text = format!("sled: {error}");
        match error {
            sled::Error::Corruption { .. }
            | sled::Error::CollectionNotFound(_)
            | sled::Error::ReportableBug(_)
            | sled::Error::Unsupported(_) => Self::Bytes(text),
            sled::Error::Io(_) => Self::Read(text),
        }
    }
}

/// Where values are read from: sled, or sled below what a group has staged.
pub(crate) trait Source {
    /// The stored bytes under `key`.
    fn stored(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken>;
}

impl Source for sled::Tree {
    fn stored(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        Ok(self.get(key)?.map(|value| value.to_vec()))
    }
}

/// A value in its stored form.
#[derive(Debug)]
pub(crate) struct Cut {
    /// What stands under the value's own key.
    pub(crate) stored: Vec<u8>,
    /// Its pieces, when it is large.
    pub(crate) pieces: Vec<(Key, Vec<u8>)>,
}

/// Makes the stored form of `value` under `key`.
pub(crate) fn cut(key: &[u8], value: &[u8]) -> Cut {
    if value.len() <= WHOLE_BYTES_MAX {
        return Cut {
            stored: tagged(WHOLE, value),
            pieces: Vec::new(),
        };
    }
    cut_up(key, value)
}

/// Cuts a value that is stored whole; `None` when it has another form already.
pub(crate) fn cut_whole(key: &[u8], stored: &[u8]) -> Option<Cut> {
    match stored.split_first() {
        Some((&WHOLE, value)) => Some(cut_up(key, value)),
        Some(_) | None => None,
    }
}

fn cut_up(key: &[u8], value: &[u8]) -> Cut {
    let id = payload_id(value);
    let pieces: Vec<_> = (0u32..)
        .zip(value.chunks(PIECE_BYTES_MAX))
        .map(|(number, piece)| {
            let piece_key = keys::piece(key, id, number);
            let stored = seal_value(&piece_key, piece);
            (piece_key, stored)
        })
        .collect();
    let plan = Plan {
        bytes: value.len() as u64,
        pieces: u32::try_from(pieces.len()).expect("4 Gi pieces do not fit into memory"),
        crc: crc32fast::hash(value),
        id,
    };
    Cut {
        stored: tagged(IN_PIECES, &seal_value(key, &plan.to_bytes())),
        pieces,
    }
}

/// Reads the value under `key`.
pub(crate) fn read(source: &dyn Source, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
    source
        .stored(key)?
        .map(|stored| open(key, &stored, source))
        .transpose()
}

/// Reads back what [`cut`] made: `stored` stands under `key`, pieces come from `source`.
pub(crate) fn open(key: &[u8], stored: &[u8], source: &dyn Source) -> Result<Vec<u8>, Broken> {
    match stored.split_first() {
        Some((&WHOLE, value)) => Ok(value.to_vec()),
        Some((&IN_PIECES, plan)) => assemble(key, &Plan::parse(key, plan)?, source),
        Some((form, _)) => Err(Broken::bytes(format!("a value of the unknown form {form}"))),
        None => Err(Broken::bytes("a value without a form")),
    }
}

/// The keys of the pieces that belong to a stored value, which go when it is replaced.
pub(crate) fn piece_keys(key: &[u8], stored: &[u8]) -> Result<Vec<Key>, Broken> {
    match stored.split_first() {
        Some((&IN_PIECES, plan)) => {
            let plan = Plan::parse(key, plan)?;
            Ok((0..plan.pieces)
                .map(|number| keys::piece(key, plan.id, number))
                .collect())
        }
        Some(_) | None => Ok(Vec::new()),
    }
}

/// What stands under the key of a large value.
struct Plan {
    bytes: u64,
    pieces: u32,
    crc: u32,
    id: [u8; 8],
}

impl Plan {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(PLAN_BODY_BYTES);
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.extend_from_slice(&self.pieces.to_le_bytes());
        bytes.extend_from_slice(&self.crc.to_le_bytes());
        bytes.extend_from_slice(&self.id);
        bytes
    }

    fn parse(key: &[u8], sealed: &[u8]) -> Result<Self, Broken> {
        let mut fields = Fields(open_value(key, sealed)?);
        let plan = (|| {
            let (bytes, pieces, crc) = (fields.u64()?, fields.u32()?, fields.u32()?);
            let id = fields.array()?;
            fields.end()?;
            Some(Self {
                bytes,
                pieces,
                crc,
                id,
            })
        })();
        plan.ok_or_else(|| Broken::bytes("the plan of a value in pieces has no valid form"))
    }
}

fn assemble(key: &[u8], plan: &Plan, source: &dyn Source) -> Result<Vec<u8>, Broken> {
    let mut value = Vec::new();
    for number in 0..plan.pieces {
        let piece_key = keys::piece(key, plan.id, number);
        let Some(stored) = source.stored(&piece_key)? else {
            let total = plan.pieces;
            return Err(Broken::bytes(format!(
                "piece {number} of {total} is missing"
            )));
        };
        value.extend_from_slice(open_value(&piece_key, &stored)?);
    }
    if value.len() as u64 == plan.bytes && crc32fast::hash(&value) == plan.crc {
        return Ok(value);
    }
    Err(Broken::bytes(
        "the pieces do not make up the value that was cut",
    ))
}

/// Pieces are found under what they hold, so a replaced value shares a piece key with its
/// successor only when both are the same bytes.
fn payload_id(value: &[u8]) -> [u8; 8] {
    let mut id = [0; 8];
    id.copy_from_slice(&Digest::of(value).as_bytes()[..8]);
    id
}

fn tagged(form: u8, bytes: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(FORM_BYTES + bytes.len());
    stored.push(form);
    stored.extend_from_slice(bytes);
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Map = BTreeMap<Key, Vec<u8>>;

    impl Source for Map {
        fn stored(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
            Ok(self.get(key).cloned())
        }
    }

    fn stored(key: &[u8], value: &[u8]) -> Map {
        let cut = cut(key, value);
        let mut map: Map = cut.pieces.into_iter().collect();
        map.insert(key.to_vec(), cut.stored);
        map
    }

    fn noise(len: usize) -> Vec<u8> {
        let numbers = (0u32..).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]);
        numbers.take(len).collect()
    }

    #[test]
    fn values_of_every_size_come_back_and_nothing_stored_is_too_large() {
        let edge = WHOLE_BYTES_MAX;
        for len in [
            0,
            1,
            edge,
            edge + 1,
            3 * PIECE_BYTES_MAX,
            3 * PIECE_BYTES_MAX + 1,
            4 << 20,
        ] {
            let (key, value) = (b"k".as_slice(), noise(len));
            let map = stored(key, &value);
            assert!(
                map.values()
                    .all(|stored| stored.len() <= SLED_VALUE_BYTES_MAX),
                "{len}"
            );
            assert_eq!(map.len() == 1, len <= edge, "{len}");
            assert_eq!(read(&map, key).unwrap(), Some(value), "{len}");
        }
    }

    #[test]
    fn a_flipped_bit_in_a_plan_or_a_piece_is_found() {
        let key = b"key".as_slice();
        let map = stored(key, &noise(100_000));
        assert_eq!(map[key].len(), PLAN_BYTES);
        for (place, value) in &map {
            for at in [1, value.len() / 2, value.len() - 1] {
                let mut damaged = map.clone();
                damaged.get_mut(place).unwrap()[at] ^= 0x10;
                assert!(
                    matches!(read(&damaged, key), Err(Broken::Bytes(_))),
                    "{place:?} {at}"
                );
            }
        }
    }

    #[test]
    fn a_missing_or_swapped_piece_is_found() {
        let key = b"key".as_slice();
        let map = stored(key, &noise(100_000));
        let pieces = piece_keys(key, &map[key]).unwrap();
        assert_eq!(pieces.len(), 4);
        let mut missing = map.clone();
        missing.remove(&pieces[2]);
        assert!(
            read(&missing, key)
                .unwrap_err()
                .to_string()
                .contains("piece 2 of 4")
        );
        let mut swapped = map.clone();
        swapped.insert(pieces[0].clone(), map[&pieces[1]].clone());
        assert!(read(&swapped, key).is_err());
    }

    #[test]
    fn values_of_other_bytes_under_one_key_share_no_piece() {
        let key = b"key".as_slice();
        let keys_of = |value: &[u8]| piece_keys(key, &cut(key, value).stored).unwrap();
        let (one, mut other) = (noise(100_000), noise(100_000));
        other[99_999] ^= 1;
        let other = keys_of(&other);
        assert!(keys_of(&one).iter().all(|piece| !other.contains(piece)));
    }
}
