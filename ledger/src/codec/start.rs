//! A start key's entry as a value: the run it stands for and its input's digest.
//!
//! Tenant and start key are in it in full: the store may address it by a hash only.

use mainstay_types::{Digest, RunId, StartKey, Tenant};

use super::DecodeError;
use super::v1::{StartV1, Wire};
use super::value::{get_value, put_value};

/// What a start key stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Whose key.
    pub tenant: Tenant,
    /// The key.
    pub start_key: StartKey,
    /// The run.
    pub run: RunId,
    /// The digest of the run's input.
    pub input: Digest,
}

/// The value of `key`.
#[must_use]
pub fn encode_start(key: &[u8], start: &Start) -> Vec<u8> {
    put_value(key, &StartV1::wire(start))
}

/// The start key's entry in `key`'s value.
pub fn decode_start(key: &[u8], value: &[u8]) -> Result<Start, DecodeError> {
    get_value::<StartV1>(key, value)?.domain()
}
