//! What reaches a live run: commands, reports of attempts, questions. Bounded; senders wait.
//!
//! A message that cannot be delivered because the run is no longer live is given back to its
//! sender's caller as "not live"; it is never half taken.

use std::sync::Arc;

use mainstay_ledger::InboxMessage;
use mainstay_machine::{Command, Run};
use mainstay_types::{MessageId, limits};
use tokio::sync::{mpsc, oneshot};

/// Something for a live run.
pub(crate) enum Message {
    /// A command of the engine itself: the end of an attempt or of a look-up.
    Report(Command),
    /// Commands that are durable in the inbox; those that were taken before change nothing.
    Inbox(Vec<InboxMessage>),
    /// Tell when the run has what is asked for.
    Tell(Question, oneshot::Sender<Arc<Run>>),
    /// Stop starting new things; end when nothing is out.
    Drain,
    /// End now; what is out is found again at the next start.
    Abandon,
}

/// What somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The answer of the newest lap.
    Answer,
    /// The outcome of the newest lap.
    Outcome,
    /// Whatever the run is once it has taken this message.
    Taken(MessageId),
}

impl Question {
    /// Whether the run can answer it. Whether a message was taken is not part of its state: that
    /// is answered by who took it.
    pub(crate) fn is_answered(self, run: &Run) -> bool {
        let Some(head) = run.head() else { return false };
        let stopped = head.quarantined.is_some();
        match self {
            Self::Answer => stopped || head.lap.outcome.is_some() || head.lap.later.is_some(),
            Self::Outcome => stopped || head.lap.outcome.is_some(),
            Self::Taken(_) => false,
        }
    }
}

/// What became of a message that was not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    Taken,
    Full,
    Gone,
}

/// Where to reach a live run.
#[derive(Clone)]
pub(crate) struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// A mailbox and its other end.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Message>) {
        let (sender, receiver) = mpsc::channel(limits::MAILBOX_COMMANDS_MAX);
        (Self(sender), receiver)
    }

    /// Delivers a message, waiting for room. `false` when the run is no longer live.
    pub(crate) async fn deliver(&self, message: Message) -> bool {
        self.0.send(message).await.is_ok()
    }

    /// Delivers a message if there is room at once; else says why not.
    pub(crate) fn offer(&self, message: Message) -> Offered {
        match self.0.try_send(message) {
            Ok(()) => Offered::Taken,
            Err(mpsc::error::TrySendError::Full(_)) => Offered::Full,
            Err(mpsc::error::TrySendError::Closed(_)) => Offered::Gone,
        }
    }

    /// Asks and waits; `None` when the run is no longer live.
    pub(crate) async fn ask(&self, question: Question) -> Option<Arc<Run>> {
        let (tell, told) = oneshot::channel();
        if !self.deliver(Message::Tell(question, tell)).await {
            return None;
        }
        told.await.ok()
    }
}
