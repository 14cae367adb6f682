//! A waiting inbox command as a value.
//!
//! The message id is in it, whatever the store's key says.

use super::DecodeError;
use super::v1::{InboxMessageV1, Wire};
use super::value::{get_value, put_value};
use crate::inbox::InboxMessage;

/// The value of `key`.
#[must_use]
pub fn encode_message(key: &[u8], message: &InboxMessage) -> Vec<u8> {
    put_value(key, &InboxMessageV1::wire(message))
}

/// The message in `key`'s value.
pub fn decode_message(key: &[u8], value: &[u8]) -> Result<InboxMessage, DecodeError> {
    get_value::<InboxMessageV1>(key, value)?.domain()
}
