//! Canonical JSON: one value, one text, so that equal values have equal digests in every process.
//!
//! The text follows RFC 8785 (keys in the order of their UTF-16 code units, its escapes, the
//! ECMAScript form of floats) with one difference: **an integer is printed exactly** and never
//! passes through a double, so `u64::MAX` and `i128::MIN` survive. Two [`Value`]s are equal
//! exactly when their canonical texts are equal; `1.0` *is* `1`, and `-0.0` *is* `0`.
//!
//! It must never lose a digit of an integer it was given, never let two entries of one object
//! share a key, and never make a text that depends on hash order, locale or process.

mod error;
mod parse;
#[cfg(feature = "serde")]
mod ser;
#[cfg(feature = "serde")]
mod ser_key;
#[cfg(feature = "serde")]
mod ser_nested;
mod value;
mod write;

pub use error::{JsonError, Place, Position};
pub use parse::{parse, parse_within};
#[cfg(feature = "serde")]
pub use ser::{to_canonical, to_value};
pub use value::{Big, Finite, Object, Value};

/// Lists and objects that may lie inside each other; a scalar alone has depth 0.
///
/// Enforced by [`parse()`] and, with feature `serde`, by `to_value` and `to_canonical`. Beyond it:
/// [`JsonError::TooDeep`]. The bound keeps a hostile text from using up the stack.
pub const DEPTH_MAX: usize = crate::limits::JSON_DEPTH_MAX;

/// Bytes of one JSON text: what [`parse()`] reads at most and `to_canonical` writes at most.
///
/// Beyond it: [`JsonError::TooLarge`]. A caller with a smaller bound uses [`parse_within`].
pub const BYTES_MAX: usize = crate::limits::JSON_BYTES_MAX;
