//! An alert as a value.
//!
//! Its number is the store's key and not in it; the value's checksum covers the key.

use mainstay_machine::Alert;

use super::DecodeError;
use super::v1::{AlertV1, Wire};
use super::value::{get_value, put_value};

/// The value of `key`.
#[must_use]
pub fn encode_alert(key: &[u8], alert: &Alert) -> Vec<u8> {
    put_value(key, &AlertV1::wire(alert))
}

/// The alert in `key`'s value.
pub fn decode_alert(key: &[u8], value: &[u8]) -> Result<Alert, DecodeError> {
    get_value::<AlertV1>(key, value)?.domain()
}
