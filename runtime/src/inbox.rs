//! Inbox commands as commands of the core.
//!
//! Each is acknowledged in the append of what it caused, also when that is nothing.

use mainstay_ledger::{InboxCommand, InboxMessage};
use mainstay_machine::Command;

use crate::turn::Input;

/// The turn input of a waiting inbox message.
pub(crate) fn input(message: InboxMessage) -> Input {
    let command = match message.command {
        InboxCommand::Cancel { by, why } => Command::Cancel { by, why },
    };
    Input {
        command,
        message: Some(message.id),
    }
}
