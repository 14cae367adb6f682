//! Version 1 of every wire struct, and how one becomes bytes.
//!
//! Frozen once released: fields keep their order and meaning, enum variants are only appended.
//! No wire struct is recursive, and no list in one holds elements without bytes.

pub(super) mod call;
pub(super) mod decision;
pub(super) mod effect;
pub(super) mod orphan;
pub(super) mod run;
pub(super) mod tools;
mod value;
pub(super) mod wire;
pub(super) mod words;

pub(super) use value::{
    AlertV1, HeadV1, InboxMessageV1, StartV1, SummaryV1, VersionedEntryV1, WaitersV1,
};
pub(super) use wire::Wire;
#[cfg(test)]
pub(super) use words::ENUMS;

use bincode::{Decode, Encode};
use mainstay_types::limits;

use super::DecodeError;

/// Bytes a decoder may claim: a whole record, and what lists claim before they are read.
const DECODE_BYTES_MAX: usize = limits::RECORD_BYTES_MAX + (1 << 20);

/// Appends `wire` to `out`.
pub(super) fn put(wire: &impl Encode, out: &mut Vec<u8>) {
    bincode::encode_into_std_write(wire, out, bincode::config::standard())
        .expect("writing to memory does not fail, and no wire struct can refuse");
}

/// The wire struct that `bytes` hold, all of them.
pub(super) fn get<W: Decode<()>>(bytes: &[u8]) -> Result<W, DecodeError> {
    let config = bincode::config::standard().with_limit::<DECODE_BYTES_MAX>();
    let (wire, used) = bincode::decode_from_slice(bytes, config)?;
    if used != bytes.len() {
        return Err(DecodeError::form(format!(
            "{} bytes are left over",
            bytes.len() - used
        )));
    }
    Ok(wire)
}
