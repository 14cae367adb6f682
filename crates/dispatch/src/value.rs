//! Values that cross the engine's border: a Rust type on the user's side, canonical JSON on ours.
//!
//! An error here never repeats the data it is about, only paths, field names and what was expected:
//! values may be sensitive, and failures end up in logs.

use std::fmt;

use mainstay_types::json::{self, JsonError};
use mainstay_types::{Payload, limits};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A type that can be stored, sent and shown: JSON both ways, with a schema.
///
/// Implemented for everything that derives `serde::Serialize`, `serde::Deserialize` and
/// `schemars::JsonSchema` and is `Send + Sync + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a value of a task class",
    note = "derive the three traits: \
            `#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait Value: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}

impl<T> Value for T where T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}

/// Why a value cannot cross the border.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// It has no canonical JSON.
    NotRepresentable(JsonError),
    /// Its canonical JSON is longer than `limits::PAYLOAD_BYTES_MAX`.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The bytes are not a value of the type.
    Mismatch {
        /// The Rust type that was wanted.
        wanted: &'static str,
        /// What is wrong, without the data.
        message: String,
    },
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRepresentable(error) => write!(f, "it has no canonical JSON: {error}"),
            Self::TooLarge { bytes } => {
                let max = limits::PAYLOAD_BYTES_MAX;
                write!(f, "it has {bytes} bytes, at most {max} are allowed")
            }
            Self::Mismatch { wanted, message } => write!(f, "it is no `{wanted}`: {message}"),
        }
    }
}

impl std::error::Error for ValueError {}

/// The canonical JSON of `value`, at most `limits::PAYLOAD_BYTES_MAX` bytes.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Payload, ValueError> {
    let text = json::to_canonical(value).map_err(ValueError::NotRepresentable)?;
    if limits::PAYLOAD_BYTES_MAX < text.len() {
        return Err(ValueError::TooLarge { bytes: text.len() });
    }
    Ok(Payload::from(text))
}

/// The value that `payload` is the JSON of.
pub fn decode<T: DeserializeOwned>(payload: &Payload) -> Result<T, ValueError> {
    serde_json::from_slice(payload.as_bytes()).map_err(|error| ValueError::Mismatch {
        wanted: std::any::type_name::<T>(),
        message: without_data(&error),
    })
}

/// serde_json's message without the value it quotes. Field names are the schema's words or keys,
/// never the data; what stands before `, expected` is the data itself.
fn without_data(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let names_a_field = ["missing field", "unknown field", "duplicate field"]
        .iter()
        .any(|p| text.starts_with(p));
    if names_a_field || error.is_syntax() || error.is_eof() {
        return text;
    }
    match text.rfind(", expected ") {
        Some(at) => text[at + 2..].to_owned(),
        None => format!("refused at line {} column {}", error.line(), error.column()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Person {
        name: String,
        age: u64,
        height: f64,
    }

    #[test]
    fn a_value_comes_back_as_it_was_with_every_digit() {
        let height = 0.1 + 0.2;
        let person = Person {
            name: "Kim".into(),
            age: u64::MAX,
            height,
        };
        let payload = encode(&person).expect("representable");
        assert_eq!(
            payload.as_bytes(),
            br#"{"age":18446744073709551615,"height":0.30000000000000004,"name":"Kim"}"#
        );
        assert_eq!(decode::<Person>(&payload).expect("the same type"), person);
    }

    #[test]
    fn every_finite_double_comes_back_in_its_last_bit() {
        let mut bits = 0u64;
        for _ in 0..20_000 {
            // Weyl's sequence: spread over all exponents, the same in every run.
            bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let double = f64::from_bits(bits);
            if double.is_finite() {
                let payload = encode(&double).expect("finite");
                assert_eq!(decode::<f64>(&payload), Ok(double), "{bits:#x}");
            }
        }
    }

    #[test]
    fn a_mismatch_names_fields_and_places_but_never_the_data() {
        let message = |text: &str| {
            decode::<Person>(&Payload::from(text))
                .expect_err("no person")
                .to_string()
        };
        let missing = message(r#"{"name":"x"}"#);
        assert!(missing.contains("missing field `age`"), "{missing}");
        let wrong = message(r#"{"name":"x","age":"swordfish, expected","height":1}"#);
        assert!(
            wrong.contains("expected u64") && !wrong.contains("swordfish"),
            "{wrong}"
        );
    }

    #[test]
    fn a_value_beyond_the_bound_is_refused_with_its_size() {
        let text = "x".repeat(limits::PAYLOAD_BYTES_MAX);
        let error = encode(&text).expect_err("two quotes too long");
        assert_eq!(
            error,
            ValueError::TooLarge {
                bytes: limits::PAYLOAD_BYTES_MAX + 2
            }
        );
        let nan = encode(&f64::NAN).expect_err("no JSON");
        assert!(matches!(nan, ValueError::NotRepresentable(_)), "{nan}");
    }
}
