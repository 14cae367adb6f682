//! Values for tests: small, fixed, one of every kind of event.
//!
//! The golden files are made from them, so a sample is never edited, only added to. Nothing here
//! is reached by production code.

mod class;
mod commands;
mod events;
mod orphan;
mod shop;
mod state;
mod story;
mod undo;

pub use class::class;
pub use commands::commands;
pub use events::events;
pub use orphan::{late, orphaned_story};
pub use shop::{asked_story, shop};
pub use state::{large_payload, state};
pub use story::{repaired_story, short_story, story};
pub use undo::{returns, taken_story, undone_story};

use std::sync::Arc;

use mainstay_graph::{Budget, OnFailure};
use mainstay_machine::{
    Alert, AlertKind, ClassRef, EffectEntry, EntryState, Event, LapTimes, LeaseTaken, OutcomeKind,
    RunStarted, RunState, Summary,
};
use mainstay_types::{
    BusinessId, CallId, ClassName, ClassVersion, CostUnits, Digest, EffectKey, EffectName, Epoch,
    LapNo, MessageId, Millis, Payload, Position, RunId, Scope, Seq, StartKey, Tenant, Timestamp,
    Tokens, WorkerId, limits,
};

use crate::commit::{CommitRequest, Op, Part, Stamped};
use crate::drive::Drive;

/// A moment `ms` after the one all samples begin at.
#[must_use]
pub fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(1_796_000_000_000) + Millis::new(ms)
}

/// The id of the `n`-th sample run: UUID version 7, started at `at(n)`.
#[must_use]
pub fn run(n: u32) -> RunId {
    RunId::from_bytes(uuid(at(u64::from(n)), n))
}

/// The id of the `n`-th sample worker.
#[must_use]
pub fn worker(n: u32) -> WorkerId {
    WorkerId::from_bytes(uuid(at(0), n))
}

/// The id of the `n`-th sample message.
#[must_use]
pub fn message(n: u32) -> MessageId {
    MessageId::from_bytes(uuid(at(0), n))
}

fn uuid(at: Timestamp, n: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&at.as_millis().to_be_bytes()[2..]);
    (bytes[6], bytes[8]) = (0x70, 0x80);
    bytes[12..].copy_from_slice(&n.to_be_bytes());
    bytes
}

/// A tenant of this name.
#[must_use]
pub fn tenant(name: &str) -> Tenant {
    Tenant::new(name).expect("a sample name is valid")
}

/// A start key of this text.
#[must_use]
pub fn start_key(text: &str) -> StartKey {
    StartKey::new(text).expect("a sample key is valid")
}

/// A reference to the sample class of this name and version.
#[must_use]
pub fn class_ref(name: &str, version: u32) -> ClassRef {
    ClassRef {
        name: ClassName::new(name).expect("a sample name is valid"),
        version: ClassVersion(version),
        fingerprint: Digest::of(name.as_bytes()),
    }
}

/// The first event of the `n`-th sample run, with this input.
#[must_use]
pub fn started(n: u32, input: Payload) -> RunStarted {
    let begun = at(u64::from(n));
    RunStarted {
        run: run(n),
        class: class_ref("meeting-analysis", 3),
        tenant: tenant("acme"),
        start_key: Some(start_key("mtg-4711")),
        input,
        at: begun,
        lap: LapNo(1),
        times: LapTimes {
            answer_by: begun + Millis::from_secs(12),
            work_by: begun + Millis::new(11_600),
            expires_at: Some(begun + Millis::from_days(7)),
            doubt_until: begun + Millis::from_hours(24),
        },
        budget: Budget {
            retry_tokens: Tokens::new(4),
            concurrency_tokens: Tokens::new(5),
            cost_units: CostUnits::units(18),
        },
        on_failure: OnFailure::HandOff,
        worker: worker(1),
        traceparent: None,
    }
}

/// A take-over with this epoch.
#[must_use]
pub fn taken(epoch: u32) -> LeaseTaken {
    LeaseTaken {
        epoch: Epoch(epoch),
        worker: worker(epoch),
        at: at(60_000),
        downtime: Millis::from_secs(48),
        extended: Millis::from_secs(48),
    }
}

/// A business-scoped effect key, which any run of the tenant may want.
#[must_use]
pub fn effect_key(id: &str, item: u32) -> EffectKey {
    EffectKey {
        tenant: tenant("acme"),
        effect: EffectName::new("ticket").expect("a sample name is valid"),
        scope: Scope::Business(BusinessId::new(id).expect("a sample id is valid")),
        position: Position::Item(item),
    }
}

/// The entry of `key` as the `n`-th sample run and this call would write it.
#[must_use]
pub fn entry(key: EffectKey, n: u32, call: u32, state: EntryState) -> EffectEntry {
    EffectEntry {
        key,
        run: run(n),
        call: CallId(call),
        fingerprint: Digest::of(b"request"),
        state,
        at: at(70),
    }
}

/// The row of the `n`-th sample run in this state.
#[must_use]
pub fn summary(n: u32, state: RunState) -> Summary {
    let open = [
        RunState::Running,
        RunState::Waiting,
        RunState::WaitingForCode,
    ];
    let ended = !open.contains(&state);
    Summary {
        run: run(n),
        class: class_ref("meeting-analysis", 3),
        tenant: tenant("acme"),
        start_key: Some(start_key("mtg-4711")),
        state,
        lap: LapNo(1),
        outcome: ended.then_some(OutcomeKind::Degraded),
        in_doubt: 2,
        started_at: at(u64::from(n)),
        ended_at: ended.then(|| at(9_000)),
        reason: None,
    }
}

/// An alert of the `n`-th sample run, about a write in doubt.
#[must_use]
pub fn alert(n: u32) -> Alert {
    Alert {
        at: at(u64::from(n)),
        run: run(n),
        tenant: tenant("acme"),
        class: class_ref("meeting-analysis", 3),
        lap: LapNo(2),
        kind: AlertKind::InDoubt,
        call: Some("ticket_write/4".to_owned()),
        key: Some(effect_key("mtg-4711", 4)),
        reason: "ANSWER_TIME_REACHED".to_owned(),
    }
}

/// The operation that writes `entry`, to be kept for 400 days.
#[must_use]
pub fn effect(entry: EffectEntry) -> Op {
    let memory = Millis::new(limits::KEY_MEMORY_MS_DEFAULT);
    Op::Effect {
        entry,
        memory,
        over: None,
    }
}

/// The operation by which the `n`-th sample worker drives the run.
#[must_use]
pub fn driven_by(n: u32) -> Op {
    Op::Drive(Drive::Driven { worker: worker(n) })
}

/// The operation that parks the run until `at(ms)`.
#[must_use]
pub fn parked_until(ms: u64) -> Op {
    Op::Drive(Drive::Parked {
        wake_at: Some(at(ms)),
    })
}

/// Events decided at `at(ms)`.
#[must_use]
pub fn stamped(ms: u64, events: impl IntoIterator<Item = Event>) -> Vec<Stamped> {
    events
        .into_iter()
        .map(|event| Stamped { at: at(ms), event })
        .collect()
}

/// What starts the `n`-th sample run: its first event and nothing else.
#[must_use]
pub fn start_part(n: u32) -> Part {
    let event = Event::RunStarted(Box::new(started(n, Payload::from("{}"))));
    let events = stamped(u64::from(n), [event]);
    Part {
        run: run(n),
        expected_seq: Seq(0),
        epoch: Epoch(1),
        events,
        ops: Vec::new(),
    }
}

/// What appends one event to the `n`-th sample run after `expected_seq`, in epoch 1.
#[must_use]
pub fn next_part(n: u32, expected_seq: u64) -> Part {
    let events = stamped(
        expected_seq.saturating_add(100),
        [Event::CallSkipped { call: CallId(0) }],
    );
    Part {
        run: run(n),
        expected_seq: Seq(expected_seq),
        epoch: Epoch(1),
        events,
        ops: Vec::new(),
    }
}

impl Part {
    /// The part with one more operation.
    #[must_use]
    pub fn with(mut self, op: Op) -> Self {
        self.ops.push(op);
        self
    }
}

impl From<Part> for CommitRequest {
    fn from(part: Part) -> Self {
        Self { parts: vec![part] }
    }
}

/// The operation that takes a start key for an input of this text.
#[must_use]
pub fn take_start_key(key: &str, input: &str) -> Op {
    Op::StartKey {
        tenant: tenant("acme"),
        key: start_key(key),
        input: Digest::of(input.as_bytes()),
    }
}

/// The operation that stores the sample class of this name and version.
#[must_use]
pub fn store_class(name: &str, version: u32) -> Op {
    Op::Class(Arc::new(class(name, version)))
}
