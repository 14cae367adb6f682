//! One turn of a run: commands in, everything that can go at once, one append.
//!
//! Decided on scratch; only a committed append makes it the state, and only then does anything
//! leave. A refused command changes nothing and does not spoil the turn.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_ledger::{Drive, Op, Part, Stamped};
use mainstay_machine::{
    Abandoned, Action, Alert, Call, Command, EffectEntry, Evidence, Run, Summary, alert, effect,
    view,
};
use mainstay_types::{
    CallId, ClassName, Code, Corrupt, Digest, EffectKey, Failure, FailureKind, MessageId, Payload,
    Refusal, RunId, Sent, Seq, Timestamp, limits,
};

use crate::handing::Handed;
use crate::observe::notes::Notes;
use crate::outgoing::bounded;
use crate::part::effect_call;
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
    pub(crate) held: Vec<Held>,
    /// What the ledger says now under keys whose results were taken from other runs.
    pub(crate) seen: BTreeMap<EffectKey, Option<EffectEntry>>,
}

/// A key that another run holds.
pub(crate) struct Held {
    /// As it stands.
    pub(crate) entry: EffectEntry,
    /// How often it has changed.
    pub(crate) version: u64,
    /// When that run cannot go on by itself: what is known of its requests.
    pub(crate) abandoned: Option<Abandoned>,
    /// That run is not there any more: nobody takes what is learned for it.
    pub(crate) is_gone: bool,
}

impl Memo {
    /// The ledger says that another run holds a key; what it said of that key before is over.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held.retain(|other| other.entry.key != held.entry.key);
        self.held.push(held);
    }
}

/// The scratch of a turn.
pub(crate) struct Turn<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) registered: Option<&'a Registered>,
    pub(crate) id: RunId,
    pub(crate) run: &'a mut Run,
    pub(crate) now: Timestamp,
    pub(crate) draining: bool,
    pub(crate) made: &'a mut BTreeMap<CallId, Command>,
    pub(crate) held: &'a [Held],
    pub(crate) seen: &'a BTreeMap<EffectKey, Option<EffectEntry>>,
    /// Keys to be looked at before the result is put together.
    pub(crate) wants: Vec<EffectKey>,
    /// What is learned here and is another run's to know.
    pub(crate) handed: Vec<Handed>,
    pub(crate) events: Vec<Stamped>,
    pub(crate) notes: Notes,
    pub(crate) touched: BTreeSet<CallId>,
    pub(crate) acks: Vec<MessageId>,
    pub(crate) alerts: Vec<Alert>,
    pub(crate) drive: Option<Drive>,
    pub(crate) summary_before: Option<Summary>,
    pub(crate) expected_seq: Seq,
    /// Why the run does not begin.
    pub(crate) refused: Option<Refusal>,
}

/// Where a turn takes place.
pub(crate) struct Env<'a> {
    pub(crate) shared: &'a Shared,
    /// The class's code; without it no code runs and nothing new starts.
    pub(crate) registered: Option<&'a Registered>,
    pub(crate) id: RunId,
    pub(crate) draining: bool,
    /// The ledger has the run as parked, though it is in memory again.
    pub(crate) parked: bool,
}

/// What a turn wants to append.
pub(crate) struct Scratch {
    pub(crate) part: Part,
    pub(crate) is_empty: bool,
    /// What to tell once the part is durable.
    pub(crate) notes: Notes,
    /// Why the run does not begin; nothing is appended then.
    pub(crate) refused: Option<Refusal>,
    /// Keys to be looked at first; nothing is appended then.
    pub(crate) wants: Vec<EffectKey>,
    /// What is to be in other runs' inboxes before this is appended.
    pub(crate) handed: Vec<Handed>,
}

impl Scratch {
    /// A part that no turn decided on, with nothing to tell; `taken` waits no more.
    pub(crate) fn bare(mut part: Part, taken: &[Input]) -> Self {
        let messages = taken.iter().filter_map(|input| input.message);
        part.ops.extend(messages.map(Op::InboxAck));
        Self {
            part,
            is_empty: false,
            notes: Notes::default(),
            refused: None,
            wants: Vec::new(),
            handed: Vec::new(),
        }
    }
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
            seen: &memo.seen,
            wants: Vec::new(),
            handed: Vec::new(),
            events: Vec::new(),
            notes: Notes::default(),
            touched: BTreeSet::new(),
            acks: Vec::new(),
            alerts: Vec::new(),
            drive: env.parked.then_some(Drive::Driven {
                worker: env.shared.worker,
            }),
            summary_before,
            expected_seq,
            refused: None,
        }
    }

    /// Takes the inputs, then everything that follows at once.
    pub(crate) fn run(mut self, inputs: &[Input]) -> Result<Scratch, Poison> {
        for input in inputs {
            if let Err(refusal) = self.hear(input)? {
                tracing::debug!(code = %refusal.code, "a command was refused");
                self.refused = self.run.head().is_none().then_some(refusal);
            }
            self.acks.extend(input.message);
        }
        while self.events.len() < limits::APPEND_EVENTS_MAX / 2 && self.advance()? {}
        Ok(self.finish())
    }

    /// Takes the inputs and one command more, and nothing that follows from them; the inputs are
    /// only acknowledged when they are not to be told.
    pub(crate) fn stop(
        mut self,
        inputs: &[Input],
        are_told: bool,
        command: Command,
    ) -> Result<Scratch, Poison> {
        for input in inputs {
            if are_told && let Err(refusal) = self.hear(input)? {
                tracing::debug!(code = %refusal.code, "a command was refused");
            }
            self.acks.extend(input.message);
        }
        if let Err(refusal) = self.take(command)? {
            tracing::debug!(code = %refusal.code, "a command was refused");
        }
        Ok(self.finish())
    }

    fn hear(&mut self, input: &Input) -> Result<Result<bool, Refusal>, Corrupt> {
        let command = self.in_view_of_held(input.command.clone());
        command.map_or(Ok(Ok(false)), |command| self.take(command))
    }

    /// Decides and applies one command.
    fn take(&mut self, command: Command) -> Result<Result<bool, Refusal>, Corrupt> {
        let events = match self.shared.core.decide(self.run, command, self.now) {
            Ok(events) => events,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let changed = !events.is_empty();
        for event in events {
            self.notes.take(self.run, &event);
            self.shared.core.apply(self.run, &event)?;
            self.touched.extend(effect_call(&event));
            self.alerts.extend(alert::of(self.run, &event, self.now));
            self.drive = self.drive_of(&event).or(self.drive);
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
            let Some(registered) = self.registered else {
                return Ok(false);
            };
            let code = || user_code::prepare(registered, self.run, call);
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
                let (run, kind) = (self.id, failure.kind);
                tracing::warn!(%run, %call, %kind, "the class's code made no value");
            }
            Command::Assembled {
                result: Err(failure),
            } => {
                let (run, kind) = (self.id, failure.kind);
                tracing::warn!(%run, %kind, "the class's code made no result");
            }
            Command::Start(_)
            | Command::TakeOver { .. }
            | Command::Prepared { .. }
            | Command::Listed { .. }
            | Command::Computed { .. }
            | Command::Authorize { .. }
            | Command::Settle(_)
            | Command::SettleHeld { .. }
            | Command::FoundByOther(_)
            | Command::LookedUp(_)
            | Command::KeyHeld { .. }
            | Command::KeySettled { .. }
            | Command::Assembled { result: Ok(_) }
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
            | Command::Quarantine { .. } => {}
        }
    }

    fn assemble(&mut self) -> Result<bool, Poison> {
        let Some(registered) = self.registered else {
            return Ok(false);
        };
        self.wants = self.unseen();
        if !self.wants.is_empty() {
            return Ok(false);
        }
        if let Some(undone) = self.undone_elsewhere() {
            return Ok(self.follow(undone)?);
        }
        let code = || user_code::assemble(registered, self.run);
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
            .and_then(|key| self.held_under(&key));
        Some(match held {
            Some(held) => Command::KeyHeld {
                call,
                entry: Box::new(held.entry.clone()),
                abandoned: held.abandoned,
            },
            None => Command::Authorize {
                call,
                rung: wanted.rung,
                evidence: self.seen(wanted),
            },
        })
    }
}

impl Turn<'_> {
    /// What was seen of such attempts.
    fn seen(&self, call: &Call) -> Evidence {
        let watch = self
            .registered
            .and_then(|code| code.watch(call.node, call.rung));
        Evidence {
            predicted: watch.and_then(|watch| watch.took(self.now)),
            predicted_cost: watch.and_then(|watch| watch.cost(self.now)),
            ..Evidence::default()
        }
    }
}

/// The digest that tells one start from another under the same key.
pub(crate) fn input_digest(class: &ClassName, input: &Payload) -> Digest {
    let mut bytes = class.as_str().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(input.as_bytes());
    Digest::of(&bytes)
}
