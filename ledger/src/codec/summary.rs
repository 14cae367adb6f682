//! A run's row in listings as a value.
//!
//! It repeats what the run's events say and is never the only place of anything.

use mainstay_machine::Summary;

use super::DecodeError;
use super::v1::{SummaryV1, Wire, get};
use super::v2::SummaryV2;
use super::value::{open_any, put_value_in};

/// Forms of a row: without and with the reason of its state.
const BARE: u8 = 1;
const WITH_REASON: u8 = 2;

/// The value of `key`.
#[must_use]
pub fn encode_summary(key: &[u8], summary: &Summary) -> Vec<u8> {
    put_value_in(WITH_REASON, key, &SummaryV2::wire(summary))
}

/// The summary in `key`'s value, in either form.
pub fn decode_summary(key: &[u8], value: &[u8]) -> Result<Summary, DecodeError> {
    match open_any(key, value)? {
        (BARE, payload) => get::<SummaryV1>(payload)?.domain(),
        (WITH_REASON, payload) => get::<SummaryV2>(payload)?.domain(),
        (form, _) => Err(DecodeError::newer(format!("form {form} of a row"))),
    }
}
