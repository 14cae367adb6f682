//! What reaches a live run: commands, reports of attempts, questions. Bounded; senders wait.
//!
//! A message that cannot be delivered because the run is no longer live is given back to its
//! sender's caller as "not live"; it is never half taken.

use std::sync::Arc;

use mainstay_ledger::InboxCommand;
use mainstay_machine::{Command, Run};
use mainstay_types::{MessageId, limits};
use tokio::sync::{mpsc, oneshot};

/// Something for a live run.
pub(crate) enum Message {
    /// A command of the engine itself: the end of an attempt or of a look-up.
    Report(Command),
    /// A command that is durable in the inbox.
    Inbox(MessageId, InboxCommand),
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
}

impl Question {
    /// Whether the run can answer it.
    pub(crate) fn is_answered(self, run: &Run) -> bool {
        let Some(head) = run.head() else { return false };
        if head.quarantined.is_some() {
            return true;
        }
        match self {
            Self::Answer => head.lap.outcome.is_some() || head.lap.later.is_some(),
            Self::Outcome => head.lap.outcome.is_some(),
        }
    }
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

    /// Asks and waits; `None` when the run is no longer live.
    pub(crate) async fn ask(&self, question: Question) -> Option<Arc<Run>> {
        let (tell, told) = oneshot::channel();
        if !self.deliver(Message::Tell(question, tell)).await {
            return None;
        }
        told.await.ok()
    }
}
