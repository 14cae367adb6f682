//! An effect entry as a value: what another run may find under an effect key.
//!
//! It never leaves out the full key: the store may address it by a hash only.

use mainstay_machine::EffectEntry;

use super::DecodeError;
use super::v1::{VersionedEntryV1, Wire};
use super::value::{get_value, put_value};

/// The value of `key`; `version` is how often the entry has changed, 1 when it is new.
#[must_use]
pub fn encode_entry(key: &[u8], entry: &EffectEntry, version: u64) -> Vec<u8> {
    put_value(
        key,
        &VersionedEntryV1 {
            version,
            entry: Wire::wire(entry),
        },
    )
}

/// The entry in `key`'s value and how often it has changed.
pub fn decode_entry(key: &[u8], value: &[u8]) -> Result<(EffectEntry, u64), DecodeError> {
    let VersionedEntryV1 { version, entry } = get_value(key, value)?;
    Ok((entry.domain()?, version))
}
