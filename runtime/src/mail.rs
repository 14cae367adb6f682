//! What reaches a live run, and whom it tells: messages become inputs, questions are answered.
//!
//! A message is taken once, however often it is delivered; a question is answered from what is
//! durable, never from the scratch of a turn.

use std::sync::Arc;

use mainstay_ledger::InboxMessage;
use mainstay_machine::Command;
use mainstay_types::{MessageId, Millis, limits};

use crate::doing::Doing;
use crate::inbox;
use crate::live::Live;
use crate::mailbox::{Message, Question};
use crate::turn::Input;

impl Live {
    /// Waits for something to do and takes what is there.
    pub(crate) async fn wait(&mut self) -> Vec<Input> {
        let wait = match self.wake_at {
            _ if std::mem::take(&mut self.no_room) => Millis::new(limits::RETRY_AFTER_MS_DEFAULT),
            Some(at) => self.shared.now().until(at),
            None => Millis::new(limits::ANSWER_MS_MAX),
        };
        // Whoever waits for an answer may go away without a word, and the run may leave then.
        let wait = match self.waiting.is_empty() {
            true => wait,
            false => wait.min(Millis::new(limits::PARK_MS_MIN)),
        };
        let timer = self.shared.ports.timers.sleep(wait);
        let first = tokio::select! {
            biased;
            message = self.receiver.recv() => message,
            () = timer => None,
        };
        let mut inputs = std::mem::take(&mut self.backlog);
        if let Some(message) = first {
            self.take(message, &mut inputs);
        }
        while inputs.len() < limits::TURN_COMMANDS_MAX
            && let Ok(message) = self.receiver.try_recv()
        {
            self.take(message, &mut inputs);
        }
        inputs
    }

    pub(crate) fn take(&mut self, message: Message, inputs: &mut Vec<Input>) {
        match message {
            Message::Report(command) => inputs.push((*command).into()),
            Message::Inbox(messages) => {
                let new = messages.into_iter().filter(|new| !self.is_taken(new.id));
                let new: Vec<InboxMessage> = new.collect();
                for message in new {
                    if inputs.iter().all(|input| input.message != Some(message.id)) {
                        inputs.push(inbox::input(message, self.shared.evidence()));
                    }
                }
            }
            Message::Tell(Question::Taken(id), tell) if self.is_taken(id) => {
                // Whoever asked may be gone.
                drop(tell.send(Arc::clone(&self.run)));
            }
            Message::Tell(question, tell) => {
                // Whoever gave up waiting must not add up over a long run.
                self.waiting.retain(|(_, waits)| !waits.is_closed());
                self.waiting.push((question, tell));
            }
            Message::Drain => self.draining = true,
            Message::Abandon => self.abandoned = true,
        }
    }

    /// Takes a message outside of a wait; the loop looks at it at once.
    pub(crate) fn arrived(&mut self, message: Message) {
        let mut inputs = std::mem::take(&mut self.backlog);
        self.take(message, &mut inputs);
        self.backlog = inputs;
        self.wake_at = Some(self.shared.now());
    }

    fn is_taken(&self, message: MessageId) -> bool {
        self.taken.contains(&message)
    }

    /// What these inputs say to be over is not out any more; the messages among them are taken.
    pub(crate) fn settled(&mut self, inputs: &[Input]) {
        for input in inputs {
            if let Some(done) = doing(&input.command) {
                self.running.remove(&done);
            }
            self.taken.extend(input.message);
        }
        let forget = self.taken.len().saturating_sub(limits::INBOX_COMMANDS_MAX);
        self.taken.drain(..forget);
    }

    /// Tells those who wait for what is there now.
    pub(crate) fn tell(&mut self) {
        let (run, taken) = (&self.run, &self.taken);
        let is_answered = |question: &Question| match question {
            Question::Taken(message) => taken.contains(message),
            Question::Answer | Question::Outcome | Question::Offers(_) | Question::Call(_) => {
                question.is_answered(run)
            }
        };
        if !self
            .waiting
            .iter()
            .any(|(question, _)| is_answered(question))
        {
            return;
        }
        for (question, tell) in std::mem::take(&mut self.waiting) {
            if is_answered(&question) {
                // Whoever asked may be gone.
                drop(tell.send(Arc::clone(&self.run)));
            } else {
                self.waiting.push((question, tell));
            }
        }
    }
}

/// What a report says to be over.
fn doing(command: &Command) -> Option<Doing> {
    match command {
        Command::Settle(report) => Some(Doing::Attempt(report.call, report.attempt)),
        Command::SettleHeld { report, .. } => Some(Doing::Attempt(report.call, report.attempt)),
        Command::LookedUp(report) => Some(Doing::LookUp(report.call, report.number)),
        Command::Start(_)
        | Command::TakeOver { .. }
        | Command::Prepared { .. }
        | Command::Listed { .. }
        | Command::Computed { .. }
        | Command::Unpreparable { .. }
        | Command::Authorize { .. }
        | Command::FoundByOther(_)
        | Command::KeyHeld { .. }
        | Command::KeySettled { .. }
        | Command::Assembled { .. }
        | Command::Cancel { .. }
        | Command::Continue { .. }
        | Command::Raise(_)
        | Command::SettleByHand(_)
        | Command::Compensate(_)
        | Command::Orphan(_)
        | Command::ToolCall(_)
        | Command::ToolsDone { .. }
        | Command::Terminate { .. }
        | Command::Advance
        | Command::Quarantine { .. } => None,
    }
}
