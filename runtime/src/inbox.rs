//! Inbox commands as commands of the core.
//!
//! Each is acknowledged in the append of what it caused, also when that is nothing.

use mainstay_ledger::{InboxCommand, InboxMessage};
use mainstay_machine::{Command, Evidence, Settle};

use crate::turn::Input;

/// The turn input of a waiting inbox message. `evidence` are the volatile facts for what follows
/// from it.
pub(crate) fn input(message: InboxMessage, evidence: Evidence) -> Input {
    let command = match message.command {
        InboxCommand::Cancel { by, why } => Command::Cancel { by, why },
        InboxCommand::Terminate { by, why } => Command::Terminate { by, why },
        InboxCommand::Continue { from, by, why } => Command::Continue { from, by, why },
        InboxCommand::Raise(ask) => Command::Raise(ask),
        InboxCommand::SettleByHand(ask) => Command::SettleByHand(ask),
        InboxCommand::Compensate(ask) => Command::Compensate(ask),
        InboxCommand::Orphan(ask) => Command::Orphan(ask),
        InboxCommand::ToolCall(ask) => Command::ToolCall(ask),
        InboxCommand::ToolsDone { call } => Command::ToolsDone { call },
        InboxCommand::Settle { call, attempt, end } => Command::Settle(Settle {
            call,
            attempt,
            end,
            evidence,
        }),
        InboxCommand::FoundByOther(found) => Command::FoundByOther(found),
        InboxCommand::KeySettled { key } => Command::KeySettled { key },
    };
    Input {
        command,
        message: Some(message.id),
    }
}
