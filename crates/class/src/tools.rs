//! What is offered to a model, and what is left of what it asked for.
//!
//! A tool is no value: it cannot be used where a ref is wanted, only offered.

use serde::{Deserialize, Serialize};

use crate::refs::Source;

/// A call that a model may ask for, to be offered by a call of
/// [`Builder::tools`](crate::Builder::tools).
#[derive(Clone, Copy, Debug)]
pub struct Tool(pub(crate) Source);

/// One of the model's calls, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolRecord {
    /// The model's id of its call.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// What came of it. Calls that were one intent have one outcome.
    pub outcome: ToolOutcome,
}

/// What came of one of the model's calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It was done, with this answer.
    Done(serde_json::Value),
    /// It was not done.
    Failed {
        /// The failure kind, for example `TRANSIENT_TRANSPORT`.
        kind: String,
        /// The reason code, for example `ATTEMPTS_EXHAUSTED`.
        reason: String,
    },
}
