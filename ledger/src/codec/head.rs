//! The end of a run's log as a value.
//!
//! With it a log that lost its newest records is noticed: the chain would end elsewhere.

use super::DecodeError;
use super::v1::{HeadV1, Wire};
use super::value::{get_value, put_value};
use crate::check::Head;

/// The value of `key`.
#[must_use]
pub fn encode_head(key: &[u8], head: &Head) -> Vec<u8> {
    put_value(key, &HeadV1::wire(head))
}

/// The head in `key`'s value.
pub fn decode_head(key: &[u8], value: &[u8]) -> Result<Head, DecodeError> {
    get_value::<HeadV1>(key, value)?.domain()
}
