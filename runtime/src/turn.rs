//! One turn of a run: commands in, everything that can go at once, one append.
//!
//! Decided on scratch; only a committed append makes it the state, and only then does anything
//! leave. A refused command changes nothing and does not spoil the turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_ledger::{Op, Part, Stamped};
use mainstay_machine::{Action, Command, EffectEntry, Event, Run, Summary, effect, view};
use mainstay_types::{
    CallId, ClassName, Code, Corrupt, Digest, Epoch, Failure, FailureKind, MessageId, Payload,
    Refusal, RunId, Sent, Seq, Timestamp, limits,
};

use crate::outgoing::bounded;
use crate::poison::{Poison, caught};
use crate::registry::Registered;
use crate::shared::Shared;
use crate::user_code;

/// Something a turn begins with.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) command: Command,
    /// The inbox message it came from, acknowledged with what it caused.
    pub(crate) message: Option<MessageId>,
}

impl From<Command> for Input {
    fn from(command: Command) -> Self {
        Self {
            command,
            message: None,
        }
    }
}

/// What outlives a refused append, so that the turn that follows it begins where it was.
#[derive(Default)]
pub(crate) struct Memo {
    /// What the class's code made: it runs once per call.
    pub(crate) made: BTreeMap<CallId, Command>,
    /// Keys the ledger said to be held by other runs.
    pub(crate) held: Vec<EffectEntry>,
}

/// The scratch of a turn.
pub(crate) struct Turn<'a> {
    shared: &'a Shared,
    registered: &'a Registered,
    id: RunId,
    run: &'a mut Run,
    now: Timestamp,
    draining: bool,
    made: &'a mut BTreeMap<CallId, Command>,
    held: &'a [EffectEntry],
    events: Vec<Stamped>,
    touched: BTreeSet<CallId>,
    acks: Vec<MessageId>,
    summary_before: Option<Summary>,
    expected_seq: Seq,
}

/// Where a turn takes place.
pub(crate) struct Env<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) registered: &'a Registered,
    pub(crate) id: RunId,
    pub(crate) draining: bool,
}

/// What a turn wants to append.
pub(crate) struct Scratch {
    pub(crate) part: Part,
    pub(crate) is_empty: bool,
}

impl<'a> Turn<'a> {
    pub(crate) fn begin(env: &Env<'a>, run: &'a mut Run, memo: &'a mut Memo) -> Self {
        let (summary_before, expected_seq) = (view::summary(run), run.seq());
        run.begin();
        Self {
            shared: env.shared,
            registered: env.registered,
            id: env.id,
            run,
            now: env.shared.now(),
            draining: env.draining,
            made: &mut memo.made,
            held: &memo.held,
            events: Vec::new(),
            touched: BTreeSet::new(),
            acks: Vec::new(),
            summary_before,
            expected_seq,
        }
    }

    /// Takes the inputs, then everything that follows at once.
    pub(crate) fn run(mut self, inputs: &[Input]) -> Result<Scratch, Poison> {
        for input in inputs {
            if let Err(refusal) = self.take(input.command.clone())? {
                tracing::debug!(%refusal, "a command was refused");
            }
            self.acks.extend(input.message);
        }
        while self.events.len() < limits::APPEND_EVENTS_MAX / 2 && self.advance()? {}
        Ok(self.finish())
    }

    /// Takes one command and nothing that follows from it.
    pub(crate) fn only(mut self, command: Command) -> Result<Scratch, Poison> {
        if let Err(refusal) = self.take(command)? {
            tracing::debug!(%refusal, "a command was refused");
        }
        Ok(self.finish())
    }

    /// Decides and applies one command.
    fn take(&mut self, command: Command) -> Result<Result<bool, Refusal>, Corrupt> {
        let events = match self.shared.core.decide(self.run, command, self.now) {
            Ok(events) => events,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let changed = !events.is_empty();
        for event in events {
            self.shared.core.apply(self.run, &event)?;
            self.touched.extend(effect_call(&event));
            self.events.push(Stamped {
                at: self.now,
                event,
            });
        }
        Ok(Ok(changed))
    }

    /// Does everything that is pending and needs nothing from outside; `false` when nothing is.
    ///
    /// Attempts are authorised last, once no code of the class has anything left to do: their time
    /// counts from here, and the class's code may have taken some.
    fn advance(&mut self) -> Result<bool, Poison> {
        let pending = self.shared.core.pending(self.run, self.now);
        let mut moved = false;
        for &action in &pending {
            moved |= match action {
                Action::Advance => self.follow(Command::Advance)?,
                Action::Prepare { .. } if self.draining => false,
                Action::Prepare { call } => self.prepare(call)?,
                Action::Assemble => self.assemble()?,
                Action::Start { .. }
                | Action::Attempt { .. }
                | Action::LookUp { .. }
                | Action::WakeAt(_) => false,
            };
        }
        if moved || self.draining {
            return Ok(moved);
        }
        for action in pending {
            if let Action::Start { call, .. } = action
                && let Some(command) = self.start(call)
            {
                moved |= self.follow(command)?;
            }
        }
        Ok(moved)
    }

    /// Takes a command of the engine's own; what it may not do now it may do later.
    fn follow(&mut self, command: Command) -> Result<bool, Corrupt> {
        Ok(self.take(command)?.unwrap_or(false))
    }

    /// Runs the call's code, once. What it made and the run cannot take is an error of the class.
    fn prepare(&mut self, call: CallId) -> Result<bool, Poison> {
        if !self.made.contains_key(&call) {
            let code = || user_code::prepare(self.registered, self.run, call);
            let Some(made) = caught(Code::ClassPanicked, code)? else {
                return Ok(false);
            };
            self.warn_of(&made);
            self.made.insert(call, made);
            self.now = self.shared.now();
        }
        let Some(made) = self.made.get(&call).cloned() else {
            return Ok(false);
        };
        let refusal = match self.take(made)? {
            Ok(changed) => return Ok(changed),
            Err(refusal) => refusal,
        };
        let failure = Failure::new(FailureKind::InvalidInput, Sent::NotSent)
            .provider_code(refusal.code.as_str())
            .message(bounded(refusal.to_string()));
        let command = Command::Unpreparable { call, failure };
        self.warn_of(&command);
        Ok(self.follow(command)?)
    }

    /// What the class's own code said is in no event yet, so it is said here.
    fn warn_of(&self, command: &Command) {
        match command {
            Command::Unpreparable { call, failure } => {
                let call = self.run.path(*call);
                tracing::warn!(run = %self.id, %call, %failure, "the class's code made no value");
            }
            Command::Assembled {
                result: Err(failure),
            } => {
                tracing::warn!(run = %self.id, %failure, "the class's code made no result");
            }
            Command::Start(_)
            | Command::TakeOver { .. }
            | Command::Prepared { .. }
            | Command::Listed { .. }
            | Command::Computed { .. }
            | Command::Authorize { .. }
            | Command::Settle(_)
            | Command::LookedUp(_)
            | Command::KeyHeld { .. }
            | Command::Assembled { result: Ok(_) }
            | Command::Cancel { .. }
            | Command::Advance
            | Command::Quarantine { .. } => {}
        }
    }

    fn assemble(&mut self) -> Result<bool, Poison> {
        let code = || user_code::assemble(self.registered, self.run);
        let made = caught(Code::ClassPanicked, code)?;
        self.now = self.shared.now();
        match made {
            Some(command) => {
                self.warn_of(&command);
                Ok(self.follow(command)?)
            }
            None => Ok(false),
        }
    }

    /// `may_start`, then `Authorize`, which asks again with the reservation. A call whose key the
    /// ledger has just said to be held is told so instead.
    fn start(&self, call: CallId) -> Option<Command> {
        self.shared.core.may_start(self.run, call, self.now).ok()?;
        let wanted = self.run.calls().get(call)?;
        let held = (!self.held.is_empty())
            .then(|| effect::key(self.run, call, wanted).ok())
            .flatten()
            .and_then(|key| self.held.iter().find(|entry| entry.key == key));
        Some(match held {
            Some(entry) => Command::KeyHeld {
                call,
                entry: Box::new(entry.clone()),
            },
            None => Command::Authorize { call },
        })
    }

    fn finish(self) -> Scratch {
        let mut ops: Vec<Op> = self.acks.iter().copied().map(Op::InboxAck).collect();
        ops.extend(
            self.events
                .iter()
                .flat_map(|stamped| self.ops_of(&stamped.event)),
        );
        // An entry that another run holds stays as that run has it, whatever is learned here.
        let is_held = |entry: &EffectEntry| self.held.iter().any(|held| held.key == entry.key);
        let touched = self.touched.iter();
        let entries = touched.filter_map(|&id| effect::entry(self.run, id, self.now));
        ops.extend(entries.filter(|entry| !is_held(entry)).map(Op::Effect));
        let summary = view::summary(self.run);
        if summary != self.summary_before {
            ops.extend(summary.map(Op::Summary));
        }
        let head = self.run.head();
        let part = Part {
            run: self.id,
            expected_seq: self.expected_seq,
            epoch: head.map_or(Epoch(1), |head| head.epoch),
            events: self.events,
            ops,
        };
        let is_empty = part.events.is_empty() && part.ops.is_empty();
        Scratch { part, is_empty }
    }

    fn ops_of(&self, event: &Event) -> Vec<Op> {
        if let Event::RunStarted(started) = event {
            let mut ops = vec![Op::Driven(true), Op::Class(Arc::clone(self.run.class()))];
            ops.extend(started.start_key.clone().map(|key| Op::StartKey {
                tenant: started.tenant.clone(),
                key,
                input: input_digest(&started.class.name, &started.input),
            }));
            return ops;
        }
        if matches!(event, Event::RunClosed | Event::RunQuarantined { .. }) {
            return vec![Op::Driven(false)];
        }
        Vec::new()
    }
}

/// The digest that tells one start from another under the same key.
pub(crate) fn input_digest(class: &ClassName, input: &Payload) -> Digest {
    let mut bytes = class.as_str().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(input.as_bytes());
    Digest::of(&bytes)
}

/// The call whose effect an event changes.
fn effect_call(event: &Event) -> Option<CallId> {
    match event {
        Event::EffectIntended { call, .. }
        | Event::EffectApplied { call, .. }
        | Event::EffectInDoubt { call, .. }
        | Event::EffectAbsent { call, .. }
        | Event::EffectPartlyApplied { call } => Some(*call),
        Event::AttemptStarted(started) => Some(started.call),
        Event::RunStarted(_)
        | Event::LeaseTaken(_)
        | Event::CallPrepared { .. }
        | Event::ListRecorded { .. }
        | Event::AttemptSettled { .. }
        | Event::AttemptInterrupted { .. }
        | Event::CallSettled { .. }
        | Event::CallRescheduled { .. }
        | Event::CallOmitted { .. }
        | Event::CallSkipped { .. }
        | Event::CallFailed { .. }
        | Event::ControlSettled { .. }
        | Event::KeyAwaited { .. }
        | Event::LateResult { .. }
        | Event::CancelRequested { .. }
        | Event::HardPathLost { .. }
        | Event::AnsweredLater { .. }
        | Event::LapEnded { .. }
        | Event::AddendumRecorded { .. }
        | Event::RunClosed
        | Event::RunQuarantined { .. } => None,
    }
}
