//! What fuzzers call: decoders on any bytes, and what must hold of whatever they read.
//!
//! The targets in the folder `fuzz` and the test that replays their corpora call the same
//! functions. Each panics where something does not hold, and nowhere else; none may skip bytes that
//! a store could hand to a decoder.

use std::sync::Arc;

use mainstay_graph::Budget;
use mainstay_machine::{
    AskCompensate, AskOrphan, AskRaise, AskSettle, Command, FoundByOther, OrphanWish, Quarantine,
    Ruling, Run, apply, decide, pending, view,
};
use mainstay_types::{
    AttemptNo, CallId, Code, CostUnits, Digest, LapNo, Millis, Payload, Seq, Timestamp, Tokens,
    WorkerId,
};

use crate::codec::snapshot::encode_parts;
use crate::codec::value::seal_in;
use crate::codec::{
    DecodeError, KeptState, Kind, decode_alert, decode_class, decode_entry, decode_event,
    decode_head, decode_message, decode_snapshot, decode_start, decode_summary, decode_waiters,
    encode_alert, encode_class, encode_entry, encode_event, encode_head, encode_message,
    encode_snapshot, encode_start, encode_summary, encode_waiters,
};
use crate::commit::Stamped;
use crate::record::{self, Chain, Place};
use crate::sample;
use crate::snapshot::Snapshot;

const KEY: &[u8] = b"fuzzed key";
const SEQ: Seq = Seq(7);

/// A record as it lies in a store; then the same behind a header that proves itself, so that what
/// is inside is read too. A record that opens is the record of its event.
pub fn record(data: &[u8]) {
    let run = sample::run(1);
    let chain = Chain::start(run);
    opens(data);
    if let Some(mended) = record::mended((run, SEQ, chain), data) {
        opens(&mended);
    }
}

fn opens(bytes: &[u8]) {
    let run = sample::run(1);
    let chain = Chain::start(run);
    let _ = record::chain_of(run, SEQ, bytes);
    let Ok((recorded, _)) = record::open(run, SEQ, bytes, chain) else {
        return;
    };
    let (seq, epoch) = (recorded.seq, recorded.epoch);
    let place = Place {
        run,
        seq,
        epoch,
        chain,
    };
    let stamped = Stamped {
        at: recorded.at,
        event: recorded.event.clone(),
    };
    let (sealed, after) = record::seal(place, &stamped);
    let again = record::open(run, SEQ, &sealed, chain);
    assert_eq!(again, Ok((recorded, after)), "a record sealed again");
}

/// The payload of an event: kind and version (two bytes each), then the payload. What it says is
/// said again by its newest version.
pub fn event(data: &[u8]) {
    let Some((head, payload)) = data.split_first_chunk::<4>() else {
        return;
    };
    let kind = u16::from_le_bytes([head[0], head[1]]);
    let version = u16::from_le_bytes([head[2], head[3]]);
    let Ok(event) = decode_event(kind, version, payload) else {
        return;
    };
    let kind = Kind::of(&event);
    let mut bytes = Vec::new();
    encode_event(&event, &mut bytes);
    let again = decode_event(kind.number(), kind.version(), &bytes);
    assert_eq!(again, Ok(event), "an event written again");
}

/// A value of an index: which one and its form (a byte each), then what the form holds.
pub fn value(data: &[u8]) {
    let Some(([which, form], payload)) = data.split_first_chunk::<2>() else {
        return;
    };
    let value = seal_in(*form, KEY, payload);
    match which % 8 {
        0 => read_again(&value, decode_entry, |(entry, n)| {
            encode_entry(KEY, entry, *n)
        }),
        1 => read_again(&value, decode_summary, |row| encode_summary(KEY, row)),
        2 => read_again(&value, decode_start, |start| encode_start(KEY, start)),
        3 => read_again(&value, decode_head, |head| encode_head(KEY, head)),
        4 => read_again(&value, decode_message, |message| {
            encode_message(KEY, message)
        }),
        5 => read_again(&value, decode_alert, |alert| encode_alert(KEY, alert)),
        6 => read_again(&value, decode_waiters, |(key, all)| {
            encode_waiters(KEY, key, all)
        }),
        // Its fingerprint is of the text as it was stored, which need not be today's.
        _ => read_again(
            &value,
            |key, value| decode_class(key, value).map(|stored| stored.class),
            |class| encode_class(KEY, class),
        ),
    }
}

fn read_again<T: PartialEq + std::fmt::Debug>(
    value: &[u8],
    decode: impl Fn(&[u8], &[u8]) -> Result<T, DecodeError>,
    encode: impl Fn(&T) -> Vec<u8>,
) {
    if let Ok(read) = decode(KEY, value) {
        let again = decode(KEY, &encode(&read));
        assert_eq!(again, Ok(read), "a value written again");
    }
}

/// The state of a run, whose payloads are those of the samples. A state that is read can be kept
/// again, and a run that it makes can be looked at, driven and ended without a panic.
pub fn snapshot(data: &[u8]) {
    let payloads = ['a', 'b', 'c', 'd', 'p', 'r'].map(sample::large_payload);
    let mut payloads = payloads.map(|payload| (payload.digest(), payload));
    payloads.sort_by_key(|(digest, _)| *digest);
    let snapshot = Snapshot {
        // The state begins with its number, which is a byte when it is small.
        seq: Seq(data.first().copied().map_or(0, u64::from)),
        schema: mainstay_machine::SNAPSHOT_SCHEMA,
        state: data.to_vec(),
        payloads: payloads.to_vec(),
    };
    let Ok(kept) = decode_snapshot(&snapshot) else {
        return;
    };
    let again = encode_parts(kept.parts.lend(), kept.last_at).expect("it is not larger");
    assert_eq!(
        decode_snapshot(&again).as_ref(),
        Ok(&kept),
        "a state kept again"
    );
    let KeptState { parts, last_at } = kept;
    let class = Arc::new(sample::class("meeting-analysis", 3));
    if let Ok(run) = Run::from_parts(class, parts.clone()) {
        assert_eq!(run.parts().map(|parts| parts.seq), Some(parts.seq));
        goes_on(run, last_at);
    }
}

/// Events in any order, each its kind and length (a byte, then two), then its payload: they make a
/// state or are refused, and the state can be kept.
pub fn story(data: &[u8]) {
    let class = Arc::new(sample::class("meeting-analysis", 3));
    let mut run = Run::unborn(class);
    let mut rest = data;
    while let Some(([kind, low, high], after)) = rest.split_first_chunk::<3>() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
        let (payload, next) = after.split_at(length);
        rest = next;
        let number = u16::from(*kind);
        let Some(kind) = Kind::from_number(number) else {
            continue;
        };
        let Ok(event) = decode_event(number, kind.version(), payload) else {
            continue;
        };
        run.begin();
        match apply(&mut run, &event) {
            Ok(()) => run.keep(),
            Err(_) => run.undo(),
        }
    }
    if let Some(snapshot) = encode_snapshot(&run, sample::at(0)) {
        let kept = decode_snapshot(&snapshot).expect("it was just kept");
        let again = Run::from_parts(Arc::clone(run.class()), kept.parts);
        assert!(again.as_ref() == Ok(&run), "the state that was kept");
        goes_on(run, sample::at(0));
    }
}

/// Everything that asks nothing of the class's code, at the run's own time and long after it.
fn goes_on(run: Run, at: Timestamp) {
    let _ = (view::summary(&run), view::reason(&run), view::notices(&run));
    for now in [at, at + Millis::from_days(400)] {
        let _ = pending(&run, now);
        for command in commands(&run) {
            let mut run = run.clone();
            run.begin();
            let Ok(events) = decide(&run, command, now) else {
                continue;
            };
            // A state that no events make may lead to what does not follow, not to a panic.
            if events.iter().any(|event| apply(&mut run, event).is_err()) {
                continue;
            }
            let _ = (pending(&run, now), view::summary(&run));
        }
    }
}

/// What a person says of the first effect there is.
fn by_hand(run: &Run, ruling: Ruling) -> Command {
    let mut calls = run.calls().iter();
    let wrote = calls.find_map(|(id, call)| call.effect.as_ref().map(|_| (id, call)));
    let newest = wrote.and_then(|(_, call)| call.attempts.last());
    Command::SettleByHand(AskSettle {
        call: wrote.map_or(CallId(0), |(id, _)| id),
        attempt: newest.map_or(AttemptNo(1), |newest| newest.no),
        ruling,
        result: Payload::from("{}"),
        by: "uid 1000".to_owned(),
        why: "fuzzed".to_owned(),
    })
}

/// Somebody wants the first effect undone that there is.
fn compensate(run: &Run) -> Command {
    let mut calls = run.calls().iter();
    let wrote = calls.find(|(_, call)| call.effect.is_some());
    Command::Compensate(AskCompensate {
        call: wrote.map_or(CallId(0), |(id, _)| id),
        after: 0,
        by: "uid 1000".to_owned(),
        why: "fuzzed".to_owned(),
    })
}

/// Another run was answered about the first effect there is.
fn found(run: &Run) -> Command {
    let mut calls = run.calls().iter();
    let wrote = calls.find_map(|(_, call)| Some((call.effect.as_ref()?, call.prepared.as_ref()?)));
    let sample = sample::effect_key("mtg-4711", 4);
    Command::FoundByOther(Box::new(FoundByOther {
        key: wrote.map_or(sample, |(effect, _)| effect.key.clone()),
        fingerprint: wrote.map_or(Digest::of(b""), |(_, made)| made.fingerprint),
        result: Payload::from("{}"),
        run: sample::run(2),
        call: CallId(0),
        attempt: AttemptNo(1),
    }))
}

/// What a person wants of the first orphan there is.
fn orphan(run: &Run, wish: OrphanWish) -> Command {
    let mut orphans = run.calls().iter().flat_map(|(id, call)| {
        let made = call.attempts.iter();
        made.filter_map(move |made| Some((id, made.no, made.orphan()?.adoptions)))
    });
    let (call, attempt, after) = orphans.next().unwrap_or((CallId(0), AttemptNo(1), 0));
    Command::Orphan(AskOrphan {
        call,
        attempt,
        wish,
        after,
        by: "uid 1000".to_owned(),
        why: "fuzzed".to_owned(),
    })
}

fn commands(run: &Run) -> Vec<Command> {
    let (by, why) = (|| "uid 1000".to_owned(), || "fuzzed".to_owned());
    let lap = run.head().map_or(LapNo(1), |head| head.lap.no);
    vec![
        Command::Advance,
        Command::TakeOver {
            worker: WorkerId::from_bytes([9; 16]),
            downtime: Millis::from_secs(48),
        },
        Command::Cancel {
            by: by(),
            why: why(),
        },
        Command::Continue {
            from: lap,
            by: by(),
            why: why(),
        },
        Command::Raise(AskRaise {
            lap,
            after: 0,
            more: Budget {
                retry_tokens: Tokens::new(1),
                concurrency_tokens: Tokens::new(1),
                cost_units: CostUnits::units(1),
            },
            by: by(),
            why: why(),
        }),
        by_hand(run, Ruling::Applied),
        by_hand(run, Ruling::NotApplied),
        compensate(run),
        orphan(
            run,
            OrphanWish::Adopt {
                until: Timestamp::from_millis(i64::MAX),
            },
        ),
        orphan(run, OrphanWish::Close),
        found(run),
        Command::Terminate {
            by: by(),
            why: why(),
        },
        Command::Quarantine(Quarantine {
            code: Code::TurnPanicked,
            message: why(),
        }),
    ]
}

#[cfg(test)]
#[path = "fuzzing_tests.rs"]
mod tests;
