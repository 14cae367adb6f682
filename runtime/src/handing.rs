//! Keys that another run has by now, as a turn sees them: what is learned here of such an effect is
//! that run's to know, and what was taken from there is looked at again before it is used.
//!
//! That a key is another's is said by the commit that would have changed its entry, so a run that
//! has its keys pays nothing for this.

use mainstay_ledger::InboxCommand;
use mainstay_machine::{
    Call, Command, EffectEntry, EntryState, Finding, FoundByOther, Settle, SettleEnd, effect,
};
use mainstay_types::{CallId, Digest, EffectKey, MessageId, RunId};

use crate::turn::{Held, Turn};

/// Something for another run's inbox.
pub(crate) struct Handed {
    pub(crate) to: RunId,
    /// The same however often it is handed over.
    pub(crate) message: MessageId,
    pub(crate) found: FoundByOther,
}

impl Handed {
    fn of(to: RunId, found: FoundByOther) -> Self {
        let message = message_id(&found);
        Self { to, message, found }
    }

    pub(crate) fn command(&self) -> InboxCommand {
        InboxCommand::FoundByOther(Box::new(self.found.clone()))
    }
}

/// Made from the attempt that was answered: a run that is told twice takes it once.
fn message_id(found: &FoundByOther) -> MessageId {
    let mut bytes = found.run.as_bytes().to_vec();
    bytes.extend(found.call.get().to_be_bytes());
    bytes.extend(found.attempt.get().to_be_bytes());
    let digest = Digest::of(&bytes);
    let mut id = [0; 16];
    id.copy_from_slice(&digest.as_bytes()[..16]);
    MessageId::from_bytes(id)
}

impl Held {
    /// Whether this run has it instead: nobody else will ever say what became of it.
    pub(crate) fn falls_back(&self) -> bool {
        let is_open = matches!(self.entry.state, EntryState::Open | EntryState::InDoubt);
        self.is_gone && is_open
    }
}

impl Turn<'_> {
    /// A command as it is where another run turns out to have its key; `None` where it is not this
    /// run's any more.
    pub(crate) fn in_view_of_held(&mut self, command: Command) -> Option<Command> {
        if self.held.is_empty() {
            return Some(command);
        }
        match command {
            Command::LookedUp(mut report) => {
                if let Some(held) = self.held_of(report.call) {
                    report.finding = Finding::Held(Box::new(held.entry.clone()));
                }
                Some(Command::LookedUp(report))
            }
            Command::Settle(report) => Some(self.settled(report)),
            // Whoever asked is told to look again: the key leads to the other run.
            Command::SettleByHand(ask) if self.is_lost(ask.call) => None,
            Command::Compensate(ask) if self.is_lost(ask.call) => None,
            Command::FoundByOther(found) => self.found(found),
            #[rustfmt::skip]
            Command::Start(_) | Command::TakeOver { .. } | Command::Prepared { .. }
            | Command::Listed { .. } | Command::Computed { .. } | Command::Unpreparable { .. }
            | Command::Authorize { .. } | Command::SettleHeld { .. } | Command::SettleByHand(_)
            | Command::Compensate(_) | Command::Orphan(_) | Command::ToolCall(_)
            | Command::ToolsDone { .. } | Command::KeyHeld { .. } | Command::KeySettled { .. }
            | Command::Assembled { .. } | Command::Cancel { .. } | Command::Continue { .. }
            | Command::Raise(_) | Command::Terminate { .. } | Command::Advance
            | Command::Quarantine(_) => Some(command),
        }
    }

    fn held_of(&self, id: CallId) -> Option<&Held> {
        let call = self.run.calls().get(id)?;
        let key = effect::key(self.run, id, call).ok()?;
        self.held_under(&key)
    }

    /// Whether another run has the effect of `id`. An undo is its own run's, whoever has its key.
    fn is_lost(&self, id: CallId) -> bool {
        let call = self.run.calls().get(id);
        let is_undo = call.is_some_and(Call::is_undo);
        let is_lost = |held: &&Held| held.entry.run != self.id && !held.falls_back();
        self.held_of(id).is_some_and(|held| is_lost(&held)) && !is_undo
    }

    /// The end of an attempt. What was answered goes to whoever has the key, before it is recorded
    /// here that this run has it not. Another request is an effect of its own, and is kept.
    fn settled(&mut self, report: Settle) -> Command {
        if !self.is_lost(report.call) {
            return Command::Settle(report);
        }
        let call = self.run.calls().get(report.call);
        let made = call.and_then(|call| call.prepared.as_ref());
        let (Some(held), Some(made)) = (self.held_of(report.call), made) else {
            return Command::Settle(report);
        };
        let (entry, fingerprint) = (held.entry.clone(), made.fingerprint);
        let is_partly_gone = held.is_gone && entry.state == EntryState::PartlyApplied;
        if let SettleEnd::Answered { result, .. } = &report.end
            && !held.is_gone
        {
            let found = FoundByOther {
                key: entry.key.clone(),
                fingerprint,
                result: result.clone(),
                run: self.id,
                call: report.call,
                attempt: report.attempt,
            };
            self.handed.push(Handed::of(entry.run, found));
        }
        match entry.fingerprint == fingerprint && !is_partly_gone {
            true => Command::SettleHeld {
                report,
                entry: Box::new(entry),
            },
            false => Command::Settle(report),
        }
    }

    /// What another run was answered goes on to whoever has the key by now.
    fn found(&mut self, found: Box<FoundByOther>) -> Option<Command> {
        match self.held_under(&found.key) {
            Some(held) if held.falls_back() || held.entry.run == self.id => {
                Some(Command::FoundByOther(found))
            }
            Some(held) if held.is_gone => None,
            Some(held) => {
                let holder = held.entry.run;
                self.handed.push(Handed::of(holder, *found));
                None
            }
            None => Some(Command::FoundByOther(found)),
        }
    }

    /// Keys of values that were taken from other runs, and that nobody has looked at again yet.
    pub(crate) fn unseen(&self) -> Vec<EffectKey> {
        let adopted = self.adopted().map(|(_, key)| key);
        let unseen = adopted.filter(|key| !self.seen.contains_key(key));
        unseen.cloned().collect()
    }

    /// The first such value that was undone since.
    pub(crate) fn undone_elsewhere(&self) -> Option<Command> {
        let undone =
            |entry: &&EffectEntry| entry.state == EntryState::Compensated && entry.run != self.id;
        self.adopted().find_map(|(call, key)| {
            let entry = self.seen.get(key)?.as_ref().filter(undone)?;
            Some(Command::KeyHeld {
                call,
                entry: Box::new(entry.clone()),
                abandoned: None,
            })
        })
    }

    fn adopted(&self) -> impl Iterator<Item = (CallId, &EffectKey)> {
        let calls = self.run.calls().iter();
        let adopted = calls.filter(|(_, call)| effect::is_adopted(call));
        let keys = adopted.filter_map(|(id, call)| Some((id, &call.effect.as_ref()?.key)));
        keys.filter(|(_, key)| key.is_shared())
    }
}
