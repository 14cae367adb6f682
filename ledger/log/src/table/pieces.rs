//! How a value lies in the table: whole, or cut into pieces when it is large.
//!
//! An engine rewrites a row's neighbours with it, and has a bound on values; the log takes values
//! of any size. Pieces are written ahead of the plan that refers to them and removed after it, so
//! no plan ever lacks one. Values prove themselves (their codec's checksum covers key and bytes);
//! what is added here, plan and pieces, does so too.
//!
//! Forms: `0`, then the value; or `1`, then the sealed plan: length (8), pieces (4), digest of the
//! value (16), little-endian. A piece lies under `60`, length of the owner's key (1), that key, the
//! first 8 bytes of the digest, number (4, big-endian).

use std::ops::ControlFlow;
use std::sync::Arc;

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_types::limits::{TABLE_KEY_BYTES_MAX, TABLE_PIECE_BYTES_MAX, TABLE_WHOLE_BYTES_MAX};

use crate::fields::Fields;
use crate::keys::Key;

use super::{Order, Span, Table, TableError};

const WHOLE: u8 = 0;
const IN_PIECES: u8 = 1;

/// The kind of rows that are pieces of others.
pub(crate) const PIECE: u8 = 0x60;

/// What a piece's key has beside its owner's.
const PIECE_KEY_BYTES: usize = 1 + 1 + ID_BYTES + 4;
const ID_BYTES: usize = 8;
const DIGEST_BYTES: usize = 16;
const PLAN_BYTES: usize = 8 + 4 + DIGEST_BYTES;

/// The longest key of a row whose pieces have keys within the bound.
pub(crate) const ROW_KEY_BYTES_MAX: usize = TABLE_KEY_BYTES_MAX - PIECE_KEY_BYTES;

const _: () = assert!(ROW_KEY_BYTES_MAX <= u8::MAX as usize);

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
    if value.len() <= TABLE_WHOLE_BYTES_MAX {
        return Cut {
            stored: tagged(WHOLE, value),
            pieces: Vec::new(),
        };
    }
    let digest = digest_of(value);
    let pieces: Vec<_> = (0u32..)
        .zip(value.chunks(TABLE_PIECE_BYTES_MAX))
        .map(|(number, piece)| {
            let piece_key = piece_key(key, &digest, number);
            let stored = seal_value(&piece_key, piece);
            (piece_key, stored)
        })
        .collect();
    let plan = Plan {
        bytes: value.len() as u64,
        pieces: u32::try_from(pieces.len()).expect("4 Gi pieces do not fit into memory"),
        digest,
    };
    Cut {
        stored: tagged(IN_PIECES, &seal_value(key, &plan.to_bytes())),
        pieces,
    }
}

/// Reads back what [`cut`] made: `stored` stands under `key`, pieces come from `table`.
pub(crate) fn open(table: &dyn Table, key: &[u8], stored: &[u8]) -> Result<Arc<[u8]>, TableError> {
    match stored.split_first() {
        Some((&WHOLE, value)) => Ok(Arc::from(value)),
        Some((&IN_PIECES, plan)) => assemble(table, key, &Plan::parse(key, plan)?),
        Some((form, _)) => Err(broken(key, &format!("a value of the unknown form {form}"))),
        None => Err(broken(key, "a value without a form")),
    }
}

/// Whether a stored value has pieces.
pub(crate) fn has_pieces(stored: &[u8]) -> bool {
    stored.first() == Some(&IN_PIECES)
}

/// Whether `key` is one of a piece.
pub(crate) fn is_piece(key: &[u8]) -> bool {
    key.first() == Some(&PIECE)
}

/// The keys of all pieces in the table of a row, whatever value they were cut from.
pub(crate) fn keys_of(table: &dyn Table, owner: &[u8]) -> Result<Vec<Key>, TableError> {
    let mut keys = Vec::new();
    let span = Span::of_prefix(&pieces_of(owner));
    table.scan(span.range(), Order::Forward, &mut |key, _| {
        keys.push(key.to_vec());
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}

/// What stands under the key of a large value.
struct Plan {
    bytes: u64,
    pieces: u32,
    digest: [u8; DIGEST_BYTES],
}

impl Plan {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(PLAN_BYTES);
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.extend_from_slice(&self.pieces.to_le_bytes());
        bytes.extend_from_slice(&self.digest);
        bytes
    }

    fn parse(key: &[u8], sealed: &[u8]) -> Result<Self, TableError> {
        let opened = open_value(key, sealed);
        let bytes = opened.map_err(|error| broken(key, &format!("its plan: {error}")))?;
        let mut fields = Fields(bytes);
        let plan = (|| {
            let (bytes, pieces) = (fields.u64()?, fields.u32()?);
            let digest = fields.array()?;
            fields.end()?;
            Some(Self {
                bytes,
                pieces,
                digest,
            })
        })();
        plan.ok_or_else(|| broken(key, "its plan has no valid form"))
    }
}

fn assemble(table: &dyn Table, key: &[u8], plan: &Plan) -> Result<Arc<[u8]>, TableError> {
    let mut value = Vec::new();
    for number in 0..plan.pieces {
        let piece_key = piece_key(key, &plan.digest, number);
        let Some(stored) = table.get(&piece_key)? else {
            let total = plan.pieces;
            return Err(broken(
                key,
                &format!("piece {number} of {total} is missing"),
            ));
        };
        let piece = open_value(&piece_key, &stored)
            .map_err(|error| broken(key, &format!("piece {number}: {error}")))?;
        value.extend_from_slice(piece);
    }
    if value.len() as u64 == plan.bytes && digest_of(&value) == plan.digest {
        return Ok(Arc::from(value));
    }
    Err(broken(
        key,
        "the pieces do not make up the value that was cut",
    ))
}

/// Pieces lie under what they hold, so a replaced value shares them with its successor only when
/// both are the same bytes.
fn piece_key(owner: &[u8], digest: &[u8; DIGEST_BYTES], number: u32) -> Key {
    let mut key = pieces_of(owner);
    key.extend_from_slice(&digest[..ID_BYTES]);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

fn pieces_of(owner: &[u8]) -> Key {
    let len = u8::try_from(owner.len()).expect("a row's key is at most ROW_KEY_BYTES_MAX");
    let mut key = Vec::with_capacity(owner.len() + PIECE_KEY_BYTES);
    key.extend_from_slice(&[PIECE, len]);
    key.extend_from_slice(owner);
    key
}

fn digest_of(value: &[u8]) -> [u8; DIGEST_BYTES] {
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(&blake3::hash(value).as_bytes()[..DIGEST_BYTES]);
    digest
}

fn tagged(form: u8, bytes: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(1 + bytes.len());
    stored.push(form);
    stored.extend_from_slice(bytes);
    stored
}

fn broken(key: &[u8], what: &str) -> TableError {
    TableError::damaged(format!("the row {}: {what}", shown(key)))
}

/// A key for people.
pub(crate) fn shown(key: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * key.len());
    for byte in key {
        write!(text, "{byte:02x}").expect("a String takes what is written");
    }
    text
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
