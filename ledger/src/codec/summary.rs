//! A run's row in listings as a value.
//!
//! It repeats what the run's events say and is never the only place of anything.

use mainstay_machine::Summary;

use super::DecodeError;
use super::v1::{SummaryV1, Wire};
use super::value::{get_value, put_value};

/// The value of `key`.
#[must_use]
pub fn encode_summary(key: &[u8], summary: &Summary) -> Vec<u8> {
    put_value(key, &SummaryV1::wire(summary))
}

/// The summary in `key`'s value.
pub fn decode_summary(key: &[u8], value: &[u8]) -> Result<Summary, DecodeError> {
    get_value::<SummaryV1>(key, value)?.domain()
}
