//! A user value as bytes: canonical JSON that is stored and sent unchanged.
//!
//! The core never looks inside a payload; it only passes it on and compares digests.

use std::fmt;
use std::sync::Arc;

use crate::ids::Digest;

/// Canonical JSON bytes, shared, never copied. Bound: `limits::PAYLOAD_BYTES_MAX`.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(Arc<[u8]>);

impl Payload {
    /// Wraps bytes that are already canonical JSON.
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The canonical JSON list of `values`.
    #[must_use]
    pub fn list(values: &[Self]) -> Self {
        let mut bytes = vec![b'['];
        for (i, value) in values.iter().enumerate() {
            if 0 < i {
                bytes.push(b',');
            }
            bytes.extend_from_slice(value.as_bytes());
        }
        bytes.push(b']');
        Self::new(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no bytes at all (never true for canonical JSON).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The digest of the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self(Arc::from(text.into_bytes()))
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self(Arc::from(text.as_bytes()))
    }
}

/// Prints the size only: payloads may hold what a log must not show.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.0.len())
    }
}
