//! What became known about an attempt whose owner is gone: kept in the run's inbox.
//!
//! An epoch fences appends, not evidence. Only what tells something is kept: that a request may or
//! may not have landed is what its run assumes already.

use std::sync::Arc;

use mainstay_ledger::InboxCommand;
use mainstay_machine::{Command, SettleEnd};
use mainstay_types::{RunId, Sent};

use crate::shared::Shared;

/// Puts the end of an attempt into the inbox of `run`, in a task of its own.
pub(crate) fn keep(shared: &Arc<Shared>, run: RunId, report: &Command) {
    let Command::Settle(settle) = report else {
        return;
    };
    if !tells_something(&settle.end) {
        return;
    }
    let command = InboxCommand::Settle {
        call: settle.call,
        attempt: settle.attempt,
        end: settle.end.clone(),
    };
    let keeper = Arc::clone(shared);
    shared.ports.spawner.spawn(Box::pin(async move {
        let message = keeper.ports.ids.message_id(keeper.now());
        if let Err(error) = keeper.ledger.enqueue(run, message, command).await {
            tracing::error!(%run, code = %error.code(), "evidence about an attempt is lost");
        }
    }));
}

const fn tells_something(end: &SettleEnd) -> bool {
    match end {
        SettleEnd::Answered { .. } => true,
        SettleEnd::Failed(failure) => match failure.sent {
            Sent::NotSent | Sent::Answered => true,
            Sent::MaybeSent => false,
        },
    }
}
