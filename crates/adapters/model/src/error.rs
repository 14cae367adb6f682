//! Why a model cannot be built. Nothing was sent.
//!
//! No message repeats a key, an address with credentials or a parameter's value.

use mainstay_http::HttpError;
use mainstay_types::Code;

use crate::bounds::{PARAMETERS_MAX, SCHEMA_BYTES_MAX};

/// Why a model, or a dependency on it, cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The variable with the key is not set, or holds what is no key.
    #[error(
        "{}: the environment variable {variable} {why}\n\nhint: set it to the model's key; a \
         server that wants no key is asked with `keyless()`",
        Code::ModelKeyMissing
    )]
    KeyMissing {
        /// The variable.
        variable: String,
        /// What is wrong with it, without its value.
        why: &'static str,
    },
    /// The server cannot be asked at this address, or not with these headers.
    #[error("INVALID_INPUT: {error}{}", hint(error))]
    Http {
        /// What the client says.
        error: HttpError,
    },
    /// A parameter cannot be sent with every request.
    #[error("INVALID_INPUT: the parameter {name:?} {why}")]
    Parameter {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There are too many parameters.
    #[error("INVALID_INPUT: {count} parameters; at most {PARAMETERS_MAX} are sent")]
    TooManyParameters {
        /// How many.
        count: usize,
    },
    /// The reply's type has a schema that no server can be asked for.
    #[error("{}: the schema of `{reply}` {why}", Code::SchemaInvalid)]
    Schema {
        /// The Rust type.
        reply: &'static str,
        /// What is wrong with it.
        why: SchemaProblem,
    },
}

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// Structured answers are objects.
    #[error("is no object\n\nhint: wrap it into a struct, or ask for text")]
    NoObject,
    /// It would be sent with every request.
    #[error("has {bytes} bytes; at most {SCHEMA_BYTES_MAX} are sent with each request")]
    TooLarge {
        /// Its length as JSON.
        bytes: usize,
    },
    /// It is no JSON Schema.
    #[error("cannot be used: {message}")]
    Invalid {
        /// What the checker says.
        message: String,
    },
}

impl ModelError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::KeyMissing { .. } => Code::ModelKeyMissing,
            Self::Schema { .. } => Code::SchemaInvalid,
            Self::Http { .. } | Self::Parameter { .. } | Self::TooManyParameters { .. } => {
                Code::InvalidInput
            }
        }
    }
}

impl From<HttpError> for ModelError {
    fn from(error: HttpError) -> Self {
        Self::Http { error }
    }
}

fn hint(error: &HttpError) -> &'static str {
    match error {
        HttpError::TlsMissing => "\n\nhint: the facade's feature is called `tls`, too",
        HttpError::BaseUrl { .. } | HttpError::Header { .. } | HttpError::Client { .. } => "",
    }
}
