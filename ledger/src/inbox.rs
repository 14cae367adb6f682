//! Commands that enter a run from outside its owner, durable before they are taken.
//!
//! An inbox command is never fenced by an epoch and never applied twice: its message id is
//! acknowledged in the same commit as the events it caused.

use mainstay_types::MessageId;

/// A command from outside the run's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxCommand {
    /// Stop the run.
    Cancel {
        /// Who asks. Bound: `limits::TEXT_BYTES_MAX`.
        by: String,
        /// Why. Bound: `limits::TEXT_BYTES_MAX`.
        why: String,
    },
}

/// An inbox command that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    /// Its id.
    pub id: MessageId,
    /// The command.
    pub command: InboxCommand,
}

/// What `enqueue` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It waits now.
    New,
    /// A message of this id is waiting or was taken.
    Known,
}
