//! How the engine says no or fails: one type, with the code of what is behind it.
//!
//! A refusal is the caller's to handle; a ledger error is the operator's; a decoding error says
//! that the caller asks for another type than the class returns.

use mainstay_ledger::LedgerError;
use mainstay_types::{Code, Millis, Refusal, RunId};

/// Why the engine did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// Policy said no; nothing changed.
    #[error("{refusal}{}", hint(*retry_after))]
    Refused {
        /// The code and its numbers.
        refusal: Refusal,
        /// When asking again may help.
        retry_after: Option<Millis>,
    },
    /// The store failed.
    #[error("{0}")]
    Ledger(LedgerError),
    /// The run stopped being driven before it had what was asked for.
    #[error("{code}: run {run} is not driven: {detail}")]
    NotDriven {
        /// The run.
        run: RunId,
        /// Why.
        code: Code,
        /// In words.
        detail: String,
    },
    /// A value is not of the type that was asked for.
    #[error("INVALID_INPUT: {detail}")]
    Value {
        /// What does not fit.
        detail: String,
    },
}

fn hint(retry_after: Option<Millis>) -> String {
    retry_after.map_or_else(String::new, |wait| format!("\n\nhint: try again in {wait}"))
}

impl EngineError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Refused { refusal, .. } => refusal.code,
            Self::Ledger(error) => error.code(),
            Self::NotDriven { code, .. } => *code,
            Self::Value { .. } => Code::InvalidInput,
        }
    }
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused {
            refusal,
            retry_after: None,
        }
    }
}

impl From<LedgerError> for EngineError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}
