//! A run and the process that drives it: turns, the class's code, the ledger's word on keys, time.
//!
//! It does what the runtime does and no more: a turn takes commands, then everything that follows
//! at once; what has to leave waits for the scenario. Every turn is first refused by the ledger
//! and undone, then made again, so that a failed append is part of every scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{
    Abandoned, Action, AskStart, ClassRef, Command, EffectEntry, EntryState, Event, Evidence,
    Forecast, Run, RunStarted, apply, decide, may_start, pending, start,
};
use mainstay_types::{
    CallId, CostUnits, Digest, Failure, FailureKind, LapNo, Millis, Payload, Refusal, RunId, Sent,
    StartKey, Tenant, Timestamp, WorkerId,
};

use super::code;

/// When every scenario begins.
pub(crate) const ORIGIN: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// More rounds than any turn of a test class needs.
const ROUNDS_MAX: usize = 1_000;

/// What holds outside the run, whoever drives it.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// Items an each's code makes; default 1.
    pub(crate) lists: BTreeMap<String, u32>,
    /// Values local code makes; default `true` for predicates.
    pub(crate) says: BTreeMap<String, String>,
    /// Calls whose code fails.
    pub(crate) broken: BTreeMap<String, FailureKind>,
    /// Keys other runs hold, by the path of the call that wants them.
    pub(crate) held: BTreeMap<String, Held>,
    /// What is known at the start of how long it will take.
    pub(crate) forecast: Forecast,
    /// How long the caller waits at most.
    pub(crate) within: Option<Millis>,
    /// Whether the start has no key.
    pub(crate) keyless: bool,
    /// What attempts of primaries were seen to cost.
    pub(crate) observed_cost: Option<CostUnits>,
    /// Whether the class's code cannot put the result together.
    pub(crate) unassemblable: bool,
    /// Whether this process lacks the class's code.
    pub(crate) code_absent: bool,
    /// Whether the gates let nothing pass.
    pub(crate) gates_closed: bool,
}

/// Another run's entry.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) state: EntryState,
    pub(crate) same_request: bool,
    /// When the other run cannot go on: from when nothing of it can land any more.
    pub(crate) abandoned: Option<Timestamp>,
    /// Whether its request had landed by then.
    pub(crate) has_landed: bool,
}

/// An event with the time of its turn.
#[derive(Clone)]
pub(crate) struct Stamped {
    pub(crate) at: Timestamp,
    pub(crate) event: Event,
}

/// A run and who drives it.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) run: Run,
    pub(crate) now: Timestamp,
    pub(crate) facts: Facts,
    pub(crate) log: Vec<Stamped>,
    /// The log's length after each command: where an append may end.
    pub(crate) cuts: BTreeSet<usize>,
    /// What came from outside, so that it can come again.
    pub(crate) delivered: Vec<Command>,
    /// The refusal of the last command from outside.
    pub(crate) refusal: Option<Refusal>,
    /// Whether each turn is undone and made again.
    pub(crate) rehearse: bool,
    worker: u8,
}

impl World {
    pub(crate) fn new(class: Arc<TaskClass>, facts: Facts) -> Self {
        Self {
            run: Run::unborn(class),
            now: ORIGIN,
            facts,
            log: Vec::new(),
            cuts: BTreeSet::new(),
            delivered: Vec::new(),
            refusal: None,
            rehearse: true,
            worker: 1,
        }
    }

    /// A world whose run has this log, at the moment of its last event.
    pub(crate) fn loaded(class: Arc<TaskClass>, facts: Facts, log: &[Stamped]) -> Self {
        let mut world = Self::new(class, facts);
        for stamped in log {
            apply(&mut world.run, &stamped.event).expect("a log that was written can be read");
            world.now = stamped.at;
        }
        world.log = log.to_vec();
        world.worker = world.run.head().map_or(1, |head| head.worker.as_bytes()[0]);
        world
    }

    /// The run begins.
    pub(crate) fn begin(&mut self) {
        self.turn(Some(self.opening()));
    }

    /// The first command.
    pub(crate) fn opening(&self) -> Command {
        let class = self.run.class();
        let started = RunStarted {
            run: RunId::from_bytes([7; 16]),
            class: ClassRef {
                name: class.name.clone(),
                version: class.version,
                fingerprint: Digest::of(b"class"),
            },
            tenant: Tenant::new("acme").expect("a valid tenant"),
            start_key: (!self.facts.keyless)
                .then(|| StartKey::new("mtg-4711").expect("a valid key")),
            input: Payload::from("{\"minutes\":\"..\"}"),
            at: self.now,
            lap: LapNo(1),
            times: start::lap_times(class, self.now, self.facts.within),
            budget: class.budget,
            on_failure: class.on_failure,
            worker: worker_id(self.worker),
            traceparent: None,
        };
        let forecast = self.facts.forecast.clone();
        Command::Start(Box::new(AskStart { started, forecast }))
    }

    /// Another worker takes the run over, now.
    pub(crate) fn take_over(&mut self) {
        self.worker += 1;
        let last_at = self.log.last().expect("a run that started has events").at;
        self.turn(Some(Command::TakeOver {
            worker: worker_id(self.worker),
            downtime: self.now.since(last_at),
        }));
    }

    /// One turn; returns the events it appended.
    #[track_caller]
    pub(crate) fn turn(&mut self, input: Option<Command>) -> usize {
        let mark = self.log.len();
        if self.rehearse {
            let before = self.run.clone();
            self.scratch(input.clone());
            let first: Vec<Event> = self
                .log
                .drain(mark..)
                .map(|stamped| stamped.event)
                .collect();
            self.run.undo();
            assert!(self.run == before, "undo does not give the earlier state");
            self.cuts.retain(|&cut| cut <= mark);
            self.scratch(input.clone());
            let again = self.log[mark..].iter().map(|stamped| &stamped.event);
            assert!(again.eq(&first), "a turn made again is another turn");
        } else {
            self.scratch(input.clone());
        }
        self.run.keep();
        if self.log[mark..]
            .iter()
            .any(|stamped| is_new_course(&stamped.event))
        {
            // What was asked of the course before is not asked of this one: its message is known.
            self.delivered.retain(is_evidence);
        } else {
            // What was refused is taken out of the inbox as well.
            let refused = self.refusal.is_some();
            let again = |input: &Command| can_come_again(input) && (!refused || is_evidence(input));
            self.delivered.extend(input.filter(again));
        }
        self.check_repeats();
        self.log.len() - mark
    }

    /// A turn on scratch, made again when the ledger says that another run holds a key.
    fn scratch(&mut self, input: Option<Command>) {
        let mark = self.log.len();
        let mut told = BTreeMap::new();
        loop {
            self.run.begin();
            self.refusal = None;
            if let Some(command) = input.clone() {
                self.refusal = self.feed(command).err();
            }
            self.follow(&told);
            let conflict = self.conflict(mark);
            let Some((call, entry)) = conflict else {
                return;
            };
            assert!(
                told.insert(call, entry).is_none(),
                "told twice that a key is held"
            );
            self.run.undo();
            self.log.truncate(mark);
            self.cuts.retain(|&cut| cut <= mark);
        }
    }

    /// Decides and applies one command; delivered again, it must change nothing.
    fn feed(&mut self, command: Command) -> Result<bool, Refusal> {
        let events = decide(&self.run, command.clone(), self.now)?;
        let changed = !events.is_empty();
        for event in events {
            apply(&mut self.run, &event)
                .unwrap_or_else(|corrupt| panic!("{command:?} decided what cannot be: {corrupt}"));
            self.log.push(Stamped {
                at: self.now,
                event,
            });
        }
        self.cuts.insert(self.log.len());
        if command != Command::Advance {
            self.assert_repeat_is_nothing(&command);
        }
        Ok(changed)
    }

    fn assert_repeat_is_nothing(&self, command: &Command) {
        if let Ok(events) = decide(&self.run, command.clone(), self.now) {
            assert!(
                events.is_empty(),
                "delivered twice, {command:?} gives {events:#?}"
            );
        }
    }

    /// Whatever came before, coming now, changes nothing.
    fn check_repeats(&self) {
        for command in self.delivered.iter().rev().take(64) {
            self.assert_repeat_is_nothing(command);
        }
    }

    /// Everything that follows at once.
    fn follow(&mut self, told: &BTreeMap<CallId, EffectEntry>) {
        for _ in 0..ROUNDS_MAX {
            let actions = pending(&self.run, self.now);
            assert_eq!(
                actions,
                pending(&self.run, self.now),
                "pending is not a function"
            );
            let mut moved = false;
            for action in actions {
                moved |= self.act(action, told);
            }
            if !moved {
                return;
            }
        }
        panic!(
            "a turn that does not end: {:#?}",
            pending(&self.run, self.now)
        );
    }

    fn act(&mut self, action: Action, told: &BTreeMap<CallId, EffectEntry>) -> bool {
        let command = match action {
            Action::Advance => Command::Advance,
            Action::Prepare { .. } | Action::Assemble if self.facts.code_absent => return false,
            Action::Prepare { call } => return self.prepare(call),
            Action::Start { .. } if self.facts.gates_closed => return false,
            Action::Start { call, .. } => match told.get(&call) {
                Some(entry) => Command::KeyHeld {
                    call,
                    entry: Box::new(entry.clone()),
                    abandoned: self.abandoned(call, entry),
                },
                None if may_start(&self.run, call, self.now).is_ok() => self.authorize(call),
                None => return false,
            },
            Action::Assemble => Command::Assembled {
                result: code::result(&self.run, &self.facts),
            },
            Action::Attempt { .. } | Action::LookUp { .. } | Action::WakeAt(_) => return false,
        };
        self.feed(command).unwrap_or(false)
    }

    fn has_taken_over(&self, id: CallId) -> bool {
        let is_it = |stamped: &Stamped| stamped.event.takes_over(id);
        self.log.iter().any(is_it)
    }

    /// What is known of a run that has a key and cannot go on with it.
    fn abandoned(&self, call: CallId, entry: &EffectEntry) -> Option<Abandoned> {
        let held = self.facts.held.get(&self.run.path(call))?;
        let landed_by = held.abandoned?;
        Some(Abandoned {
            sent_at: entry.at,
            absent_after: Some(landed_by),
        })
    }

    pub(crate) fn authorize(&self, call: CallId) -> Command {
        let rung = self.run.calls().get(call).expect("a call").rung;
        let evidence = Evidence {
            predicted_cost: self.facts.observed_cost.filter(|_| rung.get() == 0),
            ..Evidence::default()
        };
        Command::Authorize {
            call,
            rung,
            evidence,
        }
    }

    /// Runs the call's code. What the core refuses of it is an error of that code.
    fn prepare(&mut self, call: CallId) -> bool {
        let made = code::made(&self.run, &self.facts, call);
        match self.feed(made) {
            Ok(changed) => changed,
            Err(_) => {
                let failure = Failure::new(FailureKind::InvalidInput, Sent::NotSent);
                self.feed(Command::Unpreparable { call, failure })
                    .unwrap_or(false)
            }
        }
    }

    /// The first attempt of this turn whose key another run holds.
    fn conflict(&self, mark: usize) -> Option<(CallId, EffectEntry)> {
        self.log[mark..].iter().find_map(|stamped| {
            let Event::AttemptStarted(started) = &stamped.event else {
                return None;
            };
            let held = self.facts.held.get(&self.run.path(started.call))?;
            if self.has_taken_over(started.call) {
                return None;
            }
            let call = self.run.calls().get(started.call)?;
            let key = &call.effect.as_ref()?.key;
            if held.state == EntryState::NotApplied || !key.is_shared() {
                return None;
            }
            Some((started.call, self.entry(started.call, held)?))
        })
    }

    /// What another run has under the key of a call.
    pub(crate) fn entry(&self, id: CallId, held: &Held) -> Option<EffectEntry> {
        let call = self.run.calls().get(id)?;
        let made = call.prepared.as_ref()?.fingerprint;
        let other = Digest::of(b"another request");
        Some(EffectEntry {
            key: mainstay_machine::effect::key(&self.run, id, call).ok()?,
            run: RunId::from_bytes([9; 16]),
            call: CallId(0),
            fingerprint: if held.same_request { made } else { other },
            state: held.state.clone(),
            at: ORIGIN,
        })
    }

    /// Lets time pass until `target`, turning at every moment the core asked for.
    pub(crate) fn pass_until(&mut self, target: Timestamp) {
        for _ in 0..ROUNDS_MAX {
            let wake = self.wake().filter(|&wake| wake <= target);
            let next = wake.unwrap_or(target);
            self.assert_quiet_until(next);
            self.now = next;
            self.turn(None);
            if wake.is_none() {
                return;
            }
        }
        panic!("the core asks to be woken without end");
    }

    /// Between now and the next wake nothing becomes due by time alone.
    fn assert_quiet_until(&self, next: Timestamp) {
        let span = self.now.until(next).get();
        for part in [1, span / 2, span.saturating_sub(1)] {
            let between = self.now + mainstay_types::Millis::new(part);
            if self.now < between && between < next {
                let actions = pending(&self.run, between);
                assert!(
                    !actions.contains(&Action::Advance),
                    "due before the moment it named"
                );
            }
        }
    }

    /// When the core wants to look again.
    pub(crate) fn wake(&self) -> Option<Timestamp> {
        pending(&self.run, self.now)
            .into_iter()
            .find_map(|action| match action {
                Action::WakeAt(at) => Some(at),
                Action::Advance
                | Action::Prepare { .. }
                | Action::Start { .. }
                | Action::Attempt { .. }
                | Action::LookUp { .. }
                | Action::Assemble => None,
            })
    }

    /// The call with this path; the newest, where a node only stands for what is asked for later.
    pub(crate) fn find(&self, path: &str) -> Option<CallId> {
        self.run
            .calls()
            .iter()
            .map(|(id, _)| id)
            .filter(|&id| self.run.path(id) == path)
            .last()
    }
}

/// Whether what was asked of the run before is not about it any more.
const fn is_new_course(event: &Event) -> bool {
    matches!(
        event,
        Event::LapStarted(_) | Event::QuarantineLifted { .. } | Event::RunTerminated { .. }
    )
}

const fn is_evidence(command: &Command) -> bool {
    matches!(
        command,
        Command::Settle(_)
            | Command::SettleHeld { .. }
            | Command::FoundByOther(_)
            | Command::LookedUp(_)
    )
}

/// What may be delivered late and twice by an inbox: reports and requests, not turns of the core.
fn can_come_again(command: &Command) -> bool {
    match command {
        Command::Start(_)
        | Command::Settle(_)
        | Command::SettleHeld { .. }
        | Command::FoundByOther(_)
        | Command::LookedUp(_)
        | Command::Cancel { .. }
        | Command::Continue { .. }
        | Command::Raise { .. }
        | Command::SettleByHand(_)
        | Command::Compensate(_)
        | Command::Orphan(_)
        | Command::ToolCall(_)
        | Command::ToolsDone { .. }
        | Command::Terminate { .. }
        | Command::Quarantine { .. } => true,
        Command::TakeOver { .. }
        | Command::Prepared { .. }
        | Command::Listed { .. }
        | Command::Computed { .. }
        | Command::Unpreparable { .. }
        | Command::Authorize { .. }
        | Command::KeyHeld { .. }
        | Command::KeySettled { .. }
        | Command::Assembled { .. }
        | Command::Advance => false,
    }
}

pub(crate) fn worker_id(number: u8) -> WorkerId {
    WorkerId::from_bytes([number; 16])
}
