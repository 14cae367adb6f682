//! Values of indexes: format byte, payload, and a checksum that covers their key too.
//!
//! The store under us is not trusted to say what it lost or mixed up (storage.md, fact 5), so a
//! value proves itself and where it belongs. It must never be read past its checksum.

use bincode::{Decode, Encode};

use super::DecodeError;
use super::v1::{get, put};

/// The first form of every value; a value that changed has forms of its own after it.
const FORMAT: u8 = 1;
const CRC_BYTES: usize = 4;

/// Wraps `payload` as the value of `key`.
#[must_use]
pub fn seal_value(key: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + 1 + CRC_BYTES);
    bytes.push(FORMAT);
    bytes.extend_from_slice(payload);
    close(key, bytes)
}

/// The same in any form, for fuzzers.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn seal_in(format: u8, key: &[u8], payload: &[u8]) -> Vec<u8> {
    close(key, [&[format], payload].concat())
}

/// The payload of `key`'s value, when the value proves itself.
pub fn open_value<'a>(key: &[u8], value: &'a [u8]) -> Result<&'a [u8], DecodeError> {
    match open_any(key, value)? {
        (FORMAT, payload) => Ok(payload),
        (format, _) => Err(DecodeError::newer(format!("value format {format}"))),
    }
}

/// The form and the payload of `key`'s value, when the value proves itself.
pub(super) fn open_any<'a>(key: &[u8], value: &'a [u8]) -> Result<(u8, &'a [u8]), DecodeError> {
    let Some((bytes, crc)) = value.split_last_chunk::<CRC_BYTES>() else {
        return Err(DecodeError::form(format!("it has {} bytes", value.len())));
    };
    let (stored, computed) = (u32::from_le_bytes(*crc), crc_of(key, bytes));
    if stored != computed {
        return Err(DecodeError::Checksum { computed, stored });
    }
    let (format, payload) = bytes
        .split_first()
        .ok_or_else(|| DecodeError::form("it has no format byte"))?;
    Ok((*format, payload))
}

/// A wire struct as the value of `key`.
pub(super) fn put_value(key: &[u8], wire: &impl Encode) -> Vec<u8> {
    put_value_in(FORMAT, key, wire)
}

/// A wire struct as the value of `key`, in a later form than the first.
pub(super) fn put_value_in(format: u8, key: &[u8], wire: &impl Encode) -> Vec<u8> {
    let mut bytes = vec![format];
    put(wire, &mut bytes);
    close(key, bytes)
}

/// The wire struct in `key`'s value.
pub(super) fn get_value<W: Decode<()>>(key: &[u8], value: &[u8]) -> Result<W, DecodeError> {
    get(open_value(key, value)?)
}

fn close(key: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc_of(key, &bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

fn crc_of(key: &[u8], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(bytes);
    hasher.finalize()
}
