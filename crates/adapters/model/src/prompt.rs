//! What a model is asked: messages with roles, text only.
//!
//! A prompt is made by a function of the call's request, so that the same request asks the same. It
//! must never hold a key, a time or an id of its own.

use std::fmt;

use serde::Serialize;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever runs the program.
    System,
    /// Whoever asks.
    User,
    /// The model, earlier.
    Assistant,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What.
    pub content: String,
}

/// Prints the size only: messages may hold what a log must not show.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({:?}, {} bytes)", self.role, self.content.len())
    }
}

/// The messages of one request, in order: at least one, at most `limits::MODEL_MESSAGES_MAX`, and
/// together no more than `limits::PAYLOAD_BYTES_MAX` as JSON. Beyond: INVALID_INPUT, not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    messages: Vec<Message>,
}

impl Prompt {
    /// No message yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            messages: Vec::new(),
        }
    }

    /// Adds what the program says.
    #[must_use]
    pub fn system(self, content: impl Into<String>) -> Self {
        self.with(Role::System, content.into())
    }

    /// Adds what the asker says.
    #[must_use]
    pub fn user(self, content: impl Into<String>) -> Self {
        self.with(Role::User, content.into())
    }

    /// Adds what the model said earlier.
    #[must_use]
    pub fn assistant(self, content: impl Into<String>) -> Self {
        self.with(Role::Assistant, content.into())
    }

    /// The messages.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn with(mut self, role: Role, content: String) -> Self {
        self.messages.push(Message { role, content });
        self
    }
}
