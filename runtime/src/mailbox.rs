//! What reaches a live run: commands, reports of attempts, questions. Bounded; senders wait.
//!
//! A message that cannot be delivered because the run is no longer live is given back to its
//! sender's caller as "not live"; it is never half taken.

use std::sync::{Arc, OnceLock};

use mainstay_ledger::InboxMessage;
use mainstay_machine::{Command, Run};
use mainstay_types::{CallId, MessageId, limits};
use tokio::sync::{mpsc, oneshot};

/// Something for a live run.
pub(crate) enum Message {
    /// A command of the engine itself: the end of an attempt or of a look-up.
    Report(Box<Command>),
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
    /// The brief of a call that offers tools; or that its lap ended without it.
    Offers(CallId),
    /// The end of this call, or of its lap.
    Call(CallId),
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
            Self::Offers(call) => {
                let offers = run
                    .calls()
                    .get(call)
                    .is_some_and(|call| call.asked.is_some());
                stopped || offers || head.lap.outcome.is_some()
            }
            Self::Call(call) => {
                let call = run.calls().get(call);
                let is_over = call.is_some_and(|call| call.phase.is_final());
                stopped || is_over || head.lap.outcome.is_some()
            }
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

/// Where to reach a live run, and where to find what it was when it was over.
#[derive(Clone)]
pub(crate) struct Mailbox {
    sender: mpsc::Sender<Message>,
    left: Left,
}

/// What a run was when this process was done with it: whoever started it reads its outcome here
/// and not from the ledger. Empty while it is live, and when the run is not over or too large.
#[derive(Clone, Default)]
pub(crate) struct Left(Arc<OnceLock<Arc<Run>>>);

impl Left {
    /// The run as it was; something may have been recorded of it since.
    pub(crate) fn run(&self) -> Option<Arc<Run>> {
        self.0.get().cloned()
    }
}

impl Mailbox {
    /// A mailbox and its other end.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Message>) {
        let (sender, receiver) = mpsc::channel(limits::MAILBOX_COMMANDS_MAX);
        let left = Left::default();
        (Self { sender, left }, receiver)
    }

    /// Delivers a message, waiting for room. `false` when the run is no longer live.
    pub(crate) async fn deliver(&self, message: Message) -> bool {
        self.sender.send(message).await.is_ok()
    }

    /// Delivers the end of what was out, waiting for room; gives it back when the run is no longer
    /// live.
    pub(crate) async fn report(&self, end: Command) -> Result<(), Box<Command>> {
        match self.sender.send(Message::Report(Box::new(end))).await {
            Ok(()) => Ok(()),
            Err(mpsc::error::SendError(Message::Report(end))) => Err(end),
            Err(mpsc::error::SendError(_)) => unreachable!("what comes back is what was sent"),
        }
    }

    /// Delivers a message if there is room at once; else says why not.
    pub(crate) fn offer(&self, message: Message) -> Offered {
        match self.sender.try_send(message) {
            Ok(()) => Offered::Taken,
            Err(mpsc::error::TrySendError::Full(_)) => Offered::Full,
            Err(mpsc::error::TrySendError::Closed(_)) => Offered::Gone,
        }
    }

    /// Leaves a run that is over to whoever holds this mailbox still.
    pub(crate) fn leave(&self, run: &Arc<Run>) {
        if run.payload_bytes() <= limits::LEFT_BYTES_MAX {
            // It is left once: a mailbox belongs to one stretch of driving.
            let _ = self.left.0.set(Arc::clone(run));
        }
    }

    /// Where the run will be found when it is over.
    pub(crate) fn left(&self) -> Left {
        self.left.clone()
    }

    /// Asks and waits; `None` when the run is no longer live.
    pub(crate) async fn ask(self, question: Question) -> Option<Arc<Run>> {
        let (tell, told) = oneshot::channel();
        if !self.deliver(Message::Tell(question, tell)).await {
            return None;
        }
        self.told(told).await
    }

    async fn told(self, told: oneshot::Receiver<Arc<Run>>) -> Option<Arc<Run>> {
        // A question that reached the mailbox while its run was going away lies there as long as
        // anybody holds this end: it must not be whoever waits for the answer.
        drop(self);
        told.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn a_question_that_falls_into_a_mailbox_nobody_reads_any_more_is_not_waited_for() {
        let (mailbox, receiver) = Mailbox::new();
        let place = mailbox.sender.clone().try_reserve_owned().unwrap();
        drop(receiver);
        let (tell, told) = oneshot::channel();
        drop(place.send(Message::Tell(Question::Outcome, tell)));
        let told = pin!(mailbox.told(told));
        let told = told.poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(told, Poll::Ready(None)));
    }
}
