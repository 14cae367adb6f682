//! Commands that enter a run from outside its owner, durable before they are taken.
//!
//! An inbox command is never fenced by an epoch and never applied twice: its message id is
//! acknowledged in the same commit as the events it caused.

use mainstay_machine::{
    AskCompensate, AskOrphan, AskRaise, AskSettle, AskTool, FoundByOther, SettleEnd,
};
use mainstay_types::{AttemptNo, CallId, EffectKey, LapNo, MessageId, limits};

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
    /// End the run whatever its state.
    Terminate {
        /// Who asks. Bound: `limits::TEXT_BYTES_MAX`.
        by: String,
        /// Why. Bound: `limits::TEXT_BYTES_MAX`.
        why: String,
    },
    /// Go on after the outcome of a lap, or drive a quarantined run again.
    Continue {
        /// The lap that is gone on from.
        from: LapNo,
        /// Who asks. Bound: `limits::TEXT_BYTES_MAX`.
        by: String,
        /// Why. Bound: `limits::TEXT_BYTES_MAX`.
        why: String,
    },
    /// Let a lap spend more.
    Raise(AskRaise),
    /// A person found out what became of a write.
    SettleByHand(AskSettle),
    /// Somebody wants an effect undone.
    Compensate(AskCompensate),
    /// A model asks for a tool.
    ToolCall(Box<AskTool>),
    /// The model is done with what a call offers.
    ToolsDone {
        /// The call that offers tools.
        call: CallId,
    },
    /// A person says what is to be done about remote work that no run waits for.
    Orphan(AskOrphan),
    /// An attempt is over: evidence from an owner that lost the run meanwhile.
    Settle {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// How it ended. Bound of a value: `limits::PAYLOAD_BYTES_MAX`.
        end: SettleEnd,
    },
    /// Another run was answered about an effect whose key this one has taken over.
    FoundByOther(Box<FoundByOther>),
    /// The effect key that the run waited for is settled. The ledger itself sends this.
    KeySettled {
        /// The key.
        key: EffectKey,
    },
}

impl InboxCommand {
    /// Bytes of the payload it carries; 0 for most.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        match self {
            Self::Settle {
                end: SettleEnd::Answered { result, .. },
                ..
            } => result.len(),
            Self::SettleByHand(ask) => ask.result.len(),
            Self::FoundByOther(found) => found.result.len(),
            Self::ToolCall(ask) => ask.prepared.request.len(),
            Self::Settle {
                end: SettleEnd::Failed(_),
                ..
            }
            | Self::Cancel { .. }
            | Self::Terminate { .. }
            | Self::Continue { .. }
            | Self::Raise(_)
            | Self::Compensate(_)
            | Self::Orphan(_)
            | Self::ToolsDone { .. }
            | Self::KeySettled { .. } => 0,
        }
    }

    /// Whether an inbox takes it. Bound: `limits::PAYLOAD_BYTES_MAX`.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.payload_bytes() <= limits::PAYLOAD_BYTES_MAX
    }
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
