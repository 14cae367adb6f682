//! What is written, as a function of its place: no two places hold the same bytes.
//!
//! A writer and a checker that never met must agree on all of it, so nothing here draws from
//! anything but its arguments.

use mainstay::types::{
    CallId, ClassVersion, EffectKey, EffectName, MessageId, Millis, Payload, Position, RunId,
    Scope, Seq, StartKey, Timestamp, WorkerId,
};
use mainstay_ledger::sample;
use mainstay_machine::{
    Alert, AlertKind, AttemptEnd, AttemptStarted, ClassRef, EffectEntry, EntryState, Event,
    LapTimes, LeaseTaken, OutcomeKind, RunStarted, RunState, SettleEnd, Summary,
};
use serde::{Deserialize, Serialize};

/// The moment that all others follow: far ahead, so that nothing of it expires by any clock.
const BASE_MS: i64 = 4_000_000_000_000;
/// A prime, so that no two pages of one payload are equal.
const PATTERN_BYTES: usize = 1_009;

/// A moment `ms` after the first.
#[must_use]
pub fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(BASE_MS) + Millis::new(ms)
}

/// The id of run `n`; ids sort as their numbers.
#[must_use]
pub fn run_id(n: u32) -> RunId {
    RunId::from_bytes(uuid(u64::from(n), n))
}

/// The number of a run with an id from here.
#[must_use]
pub fn number_of(run: RunId) -> u32 {
    let bytes = run.as_bytes();
    u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]])
}

/// The id of the `n`-th message from outside of a run.
#[must_use]
pub fn message_id(run: u32, n: u32) -> MessageId {
    MessageId::from_bytes(uuid(u64::from(run) << 8, n | 1 << 31))
}

/// The worker that drives runs in this epoch.
#[must_use]
pub fn worker(epoch: u32) -> WorkerId {
    WorkerId::from_bytes(uuid(0, epoch))
}

fn uuid(ms: u64, n: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&at(ms).as_millis().to_be_bytes()[2..]);
    (bytes[6], bytes[8]) = (0x70, 0x80);
    bytes[12..].copy_from_slice(&n.to_be_bytes());
    bytes
}

/// JSON text of `len` bytes (at least 50) that is found nowhere else: `place` is in each 1 KiB.
#[must_use]
pub fn payload(place: (u32, u64, u32), len: usize) -> Payload {
    let (run, seq, item) = place;
    let mut drawn = (u64::from(run) << 40) ^ (seq << 8) ^ u64::from(item);
    let mut pattern = format!("{run}/{seq}/{item}:").into_bytes();
    while pattern.len() < PATTERN_BYTES {
        drawn = drawn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        pattern.extend(format!("{:08x}", drawn >> 32).bytes());
    }
    pattern.truncate(PATTERN_BYTES);
    let inside = len.max(50) - 2;
    let mut bytes = Vec::with_capacity(inside + 2);
    bytes.push(b'"');
    while bytes.len() <= inside {
        let more = pattern.len().min(inside + 1 - bytes.len());
        bytes.extend_from_slice(&pattern[..more]);
    }
    bytes.push(b'"');
    Payload::new(bytes)
}

/// A key under which an effect is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Whose: a run's number, or [`SHARED`].
    pub owner: u32,
    /// The how-manieth.
    pub item: u32,
}

/// The owner of keys that several runs want.
pub const SHARED: u32 = u32::MAX;
/// The owner of keys that nobody ever takes.
pub const NOBODY: u32 = u32::MAX - 1;

impl Key {
    /// As the ledger takes it.
    #[must_use]
    pub fn effect_key(self) -> EffectKey {
        EffectKey {
            tenant: sample::tenant("acme"),
            effect: EffectName::new("ticket").expect("a plain name"),
            scope: Scope::Business(
                mainstay::types::BusinessId::new(format!("b-{}", self.owner)).expect("a plain id"),
            ),
            position: Position::Item(self.item),
        }
    }

    /// The start key of the same numbers.
    #[must_use]
    pub fn start_key(self) -> StartKey {
        sample::start_key(&format!("s-{}-{}", self.owner, self.item))
    }
}

/// The class of a version.
#[must_use]
pub fn class_ref(version: u32) -> ClassRef {
    sample::class_ref("ordeal", version)
}

/// How an effect entry stands, without its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stand {
    /// Nothing is known yet.
    Open,
    /// Nobody knows.
    InDoubt,
    /// Done, with an answer of so many bytes.
    Applied(usize),
    /// Not done; another may take it.
    NotApplied,
}

/// The entry of `key` as `call` of run `n` writes it at its event `seq`.
#[must_use]
pub fn entry(key: Key, n: u32, seq: u64, stand: Stand) -> EffectEntry {
    let state = match stand {
        Stand::Open => EntryState::Open,
        Stand::InDoubt => EntryState::InDoubt,
        Stand::Applied(bytes) => EntryState::Applied(payload((n, seq, 7), bytes)),
        Stand::NotApplied => EntryState::NotApplied,
    };
    EffectEntry {
        key: key.effect_key(),
        run: run_id(n),
        call: CallId(key.item),
        fingerprint: mainstay::types::Digest::of(&key.item.to_le_bytes()),
        state,
        at: moment(n, seq),
    }
}

/// When run `n` decided its event `seq`: within two days of each other, so that nothing expires by
/// the store's own time either.
#[must_use]
pub fn moment(n: u32, seq: u64) -> Timestamp {
    at(u64::from(n % 10_000_000) * 16 + seq)
}

/// An event without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happened {
    /// The run begins, with an input of so many bytes.
    Started(usize),
    /// Another worker goes on, in this epoch.
    Leased(u32),
    /// A call has a result of so many bytes.
    Settled(usize),
    /// A write is about to be made.
    Intended(Key),
    /// A request leaves.
    Attempted,
    /// Its answer is there.
    Answered,
    /// A call is left out.
    Skipped,
    /// The run owes nothing any more.
    Closed,
}

/// The event `seq` of run `n`.
#[must_use]
pub fn event(n: u32, seq: u64, happened: Happened) -> Event {
    let call = CallId(u32::try_from(seq).unwrap_or(u32::MAX));
    match happened {
        Happened::Started(bytes) => Event::RunStarted(Box::new(started(n, bytes))),
        Happened::Leased(epoch) => Event::LeaseTaken(LeaseTaken {
            epoch: mainstay::types::Epoch(epoch),
            worker: worker(epoch),
            at: moment(n, seq),
            downtime: Millis::from_secs(1),
            extended: Millis::ZERO,
        }),
        Happened::Settled(bytes) => Event::CallSettled {
            call,
            rung: mainstay::types::Rung(0),
            result: payload((n, seq, 0), bytes),
        },
        Happened::Intended(key) => Event::EffectIntended {
            call: CallId(key.item),
            key: key.effect_key(),
        },
        Happened::Attempted => Event::AttemptStarted(AttemptStarted {
            call,
            attempt: mainstay::types::AttemptNo(1),
            rung: mainstay::types::Rung(0),
            at: moment(n, seq),
            timeout: Millis::from_secs(3),
            cost: mainstay::types::CostUnits::units(2),
            retry_tokens: mainstay::types::Tokens::new(0),
        }),
        Happened::Answered => Event::AttemptSettled {
            call,
            attempt: mainstay::types::AttemptNo(1),
            end: AttemptEnd::Answered,
            cost: mainstay::types::CostUnits::units(2),
            client_retries: 0,
        },
        Happened::Skipped => Event::CallSkipped { call },
        Happened::Closed => Event::RunClosed,
    }
}

fn started(n: u32, bytes: usize) -> RunStarted {
    let begun = moment(n, 1);
    RunStarted {
        run: run_id(n),
        class: class_ref(1),
        start_key: None,
        at: begun,
        times: LapTimes {
            answer_by: begun + Millis::from_secs(12),
            work_by: begun + Millis::from_secs(11),
            expires_at: Some(begun + Millis::from_days(7)),
            doubt_until: begun + Millis::from_hours(24),
        },
        worker: worker(1),
        ..sample::started(n, payload((n, 1, 1), bytes))
    }
}

/// The row of run `n` once its event `seq` is there.
#[must_use]
pub fn summary(n: u32, seq: u64, closed: bool) -> Summary {
    let state = if closed {
        RunState::Closed
    } else {
        RunState::Running
    };
    Summary {
        run: run_id(n),
        class: class_ref(1 + n % 2),
        // The key that a run takes if it takes one: a key is forgotten by what its run says.
        start_key: Some(Key { owner: n, item: 1 }.start_key()),
        outcome: closed.then_some(OutcomeKind::Completed),
        in_doubt: u32::try_from(seq % 3).expect("below three"),
        started_at: moment(n, 1),
        ended_at: closed.then(|| moment(n, seq)),
        ..sample::summary(n, state)
    }
}

/// What run `n` alerts of at its event `seq`; no other alert has its reason.
#[must_use]
pub fn alert(n: u32, seq: u64) -> Alert {
    Alert {
        at: moment(n, seq),
        run: run_id(n),
        class: class_ref(1),
        kind: AlertKind::HandedOff,
        key: None,
        reason: format!("ALERT_{n}_{seq}"),
        ..sample::alert(n)
    }
}

/// The state of run `n` after its event `seq`, as somebody may keep it.
#[must_use]
pub fn snapshot(n: u32, seq: u64, bytes: usize) -> mainstay_ledger::Snapshot {
    let held = payload((n, seq, 3), bytes);
    let shared = payload((n, 0, 4), 3_000);
    let mut payloads = vec![(shared.digest(), shared)];
    payloads.sort_by_key(|(digest, _)| *digest);
    mainstay_ledger::Snapshot {
        seq: Seq(seq),
        schema: 1,
        state: held.as_bytes().to_vec(),
        payloads,
    }
}

/// The `n`-th command from outside for a run: mostly an answer of so many bytes.
#[must_use]
pub fn command(run: u32, n: u32, bytes: usize) -> mainstay_ledger::InboxCommand {
    if bytes == 0 {
        return mainstay_ledger::InboxCommand::Cancel {
            by: format!("person {n}"),
            why: format!("of run {run}"),
        };
    }
    mainstay_ledger::InboxCommand::Settle {
        call: CallId(n),
        attempt: mainstay::types::AttemptNo(1),
        end: SettleEnd::Answered {
            result: payload((run, u64::from(n), 5), bytes),
            cost: None,
            client_retries: 0,
        },
    }
}

/// The version of a class as its reader names it.
#[must_use]
pub const fn class_version(version: u32) -> ClassVersion {
    ClassVersion(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_has_its_length_is_json_and_no_other_place_has_it() {
        for len in [50, 51, 1_008, 1_009, 1_010, 70_000] {
            let made = payload((3, 4, 0), len);
            assert_eq!(made.len(), len);
            assert!(serde_json::from_slice::<String>(made.as_bytes()).is_ok());
            assert!(made != payload((3, 5, 0), len) && made != payload((4, 4, 0), len));
        }
        let pages = payload((1, 1, 0), 40_960);
        let pages: std::collections::BTreeSet<_> = pages.as_bytes().chunks(4_096).collect();
        assert_eq!(pages.len(), 10);
    }

    #[test]
    fn a_run_is_found_by_its_number_and_sorts_by_it() {
        assert_eq!(number_of(run_id(70_123)), 70_123);
        assert!(run_id(9) < run_id(10) && run_id(10) < run_id(4_000_000_000));
    }
}
