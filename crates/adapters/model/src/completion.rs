//! A chat completion as it comes back. Only what is needed is read; what else a server says is
//! ignored, because servers add to it freely.

use serde::Deserialize;
use serde_json::Value;

/// The body of a reply with a good status.
#[derive(Deserialize)]
pub(crate) struct Completion {
    #[serde(default)]
    pub(crate) choices: Vec<Choice>,
    #[serde(default)]
    pub(crate) usage: Option<Value>,
    /// Some servers tell errors under a good status.
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

/// One answer. Only the first is asked for.
#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default)]
    pub(crate) message: Option<Said>,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
}

/// What the model said.
#[derive(Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    pub(crate) content: Option<String>,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
}
