//! The runs that wait for an effect key as a value.
//!
//! It never leaves out the full key: the store may address it by a hash only.

use mainstay_types::EffectKey;

use super::DecodeError;
use super::v1::{WaitersV1, Wire};
use super::value::{get_value, put_value};
use crate::wait::Waiters;

/// The value of `key`: who waits for `effect`.
#[must_use]
pub fn encode_waiters(key: &[u8], effect: &EffectKey, waiters: &Waiters) -> Vec<u8> {
    put_value(
        key,
        &WaitersV1 {
            key: Wire::wire(effect),
            waiters: Wire::wire(waiters),
        },
    )
}

/// The effect key in `key`'s value and who waits for it.
pub fn decode_waiters(key: &[u8], value: &[u8]) -> Result<(EffectKey, Waiters), DecodeError> {
    let WaitersV1 { key, waiters } = get_value(key, value)?;
    Ok((key.domain()?, waiters.domain()?))
}
