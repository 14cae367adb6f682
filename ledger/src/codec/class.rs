//! A task class as a value: the canonical JSON text of its stored form.
//!
//! The text is the class crate's own frozen form; nothing is added to it, so its digest is the
//! class's fingerprint.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_types::{Digest, json};

use super::DecodeError;
use super::value::{open_value, seal_value};
use crate::query::StoredClass;

/// The value of `key`.
#[must_use]
pub fn encode_class(key: &[u8], class: &TaskClass) -> Vec<u8> {
    seal_value(key, class.to_json().to_canonical().as_bytes())
}

/// The class in `key`'s value, with its fingerprint.
pub fn decode_class(key: &[u8], value: &[u8]) -> Result<StoredClass, DecodeError> {
    let payload = open_value(key, value)?;
    let text = str::from_utf8(payload).map_err(|error| DecodeError::form(error.to_string()))?;
    let form = json::parse(text).map_err(|error| DecodeError::form(error.to_string()))?;
    let class =
        TaskClass::from_json(&form).map_err(|error| DecodeError::form(error.to_string()))?;
    Ok(StoredClass {
        fingerprint: Digest::of(payload),
        class: Arc::new(class),
    })
}
