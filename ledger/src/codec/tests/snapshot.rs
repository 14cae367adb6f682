//! A state reads back as it was, is as large as what is open, and is read as nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{Event, Run, RunParts, SNAPSHOT_SCHEMA, apply};
use mainstay_types::{Digest, Payload, Seq, Timestamp, limits};
use proptest::prelude::*;

use crate::codec::snapshot::encode_parts;
use crate::codec::{DecodeError, KeptState, Kind, arbitrary, decode_snapshot, encode_snapshot};
use crate::commit::Stamped;
use crate::sample;
use crate::snapshot::Snapshot;

fn kept(parts: &RunParts, last_at: Timestamp) -> Snapshot {
    encode_parts(parts.lend(), last_at).expect("it is not too large")
}

fn sample() -> Snapshot {
    kept(&sample::state(), sample::at(70_000))
}

proptest! {
    #[test]
    fn a_state_reads_back_as_it_was(parts in arbitrary::parts(), last_at: i64) {
        let last_at = Timestamp::from_millis(last_at);
        let snapshot = kept(&parts, last_at);
        for (digest, payload) in &snapshot.payloads {
            prop_assert!(limits::SNAPSHOT_INLINE_BYTES_MAX < payload.len());
            prop_assert_eq!(*digest, payload.digest());
        }
        let read = decode_snapshot(&snapshot);
        prop_assert_eq!(&read, &Ok(KeptState { parts, last_at }));
        let again = kept(&read.expect("just compared").parts, last_at);
        prop_assert_eq!(again, snapshot);
    }

    #[test]
    fn a_state_cut_short_or_continued_is_refused(parts in arbitrary::parts(), by in 1usize..9) {
        let whole = kept(&parts, sample::at(0));
        let mut short = whole.clone();
        short.state.truncate(whole.state.len() - by.min(whole.state.len()));
        prop_assert!(decode_snapshot(&short).is_err());
        let mut long = whole;
        long.state.resize(long.state.len() + by, 0);
        prop_assert!(decode_snapshot(&long).is_err());
    }

    #[test]
    fn any_bytes_are_read_as_a_state_without_a_panic(state: Vec<u8>, seq: u64) {
        let (seq, schema, payloads) = (Seq(seq), SNAPSHOT_SCHEMA, Vec::new());
        let _ = decode_snapshot(&Snapshot { seq, schema, state, payloads });
    }

    #[test]
    fn a_state_with_a_changed_byte_is_read_without_a_panic(at: prop::sample::Index, to: u8) {
        let mut snapshot = sample();
        let at = at.index(snapshot.state.len());
        snapshot.state[at] = to;
        let _ = decode_snapshot(&snapshot);
    }
}

#[test]
fn a_payload_that_is_there_twice_is_kept_once_and_not_in_the_state() {
    let snapshot = sample();
    let digests: Vec<Digest> = snapshot
        .payloads
        .iter()
        .map(|(digest, _)| *digest)
        .collect();
    let mut wanted = ['a', 'b', 'r'].map(|letter| sample::large_payload(letter).digest());
    wanted.sort();
    assert_eq!(
        digests, wanted,
        "three requests each of `a` and `b`, one result"
    );
    let large = limits::SNAPSHOT_INLINE_BYTES_MAX;
    assert!(snapshot.state.len() < 5 * large, "{}", snapshot.state.len());
}

#[test]
fn a_payload_is_shared_with_the_state_it_was_taken_from() {
    let parts = sample::state();
    let result = parts
        .head
        .lap
        .outcome
        .as_ref()
        .and_then(|end| end.result.clone());
    let result = result.expect("the sample has one");
    let snapshot = kept(&parts, sample::at(0));
    let mut payloads = snapshot.payloads.iter();
    assert!(payloads.any(|(_, kept)| std::ptr::eq(kept.as_bytes(), result.as_bytes())));
}

#[test]
fn a_state_of_another_schema_is_not_read() {
    let mut newer = sample();
    newer.schema = SNAPSHOT_SCHEMA + 1;
    let error = decode_snapshot(&newer).expect_err("nobody knows it yet");
    assert!(matches!(error, DecodeError::Newer { .. }), "{error}");
    let mut older = sample();
    older.schema = SNAPSHOT_SCHEMA - 1;
    let error = decode_snapshot(&older).expect_err("it is folded instead");
    assert!(matches!(error, DecodeError::Form { .. }), "{error}");
}

#[test]
fn a_state_at_another_event_or_without_its_payloads_is_not_read() {
    let refused = |change: &dyn Fn(&mut Snapshot)| {
        let mut snapshot = sample();
        change(&mut snapshot);
        decode_snapshot(&snapshot)
            .expect_err("it must not pass")
            .to_string()
    };
    let elsewhere = refused(&|snapshot| snapshot.seq = snapshot.seq.next());
    assert!(elsewhere.contains("not at 4712"), "{elsewhere}");
    let missing = refused(&|snapshot| drop(snapshot.payloads.pop()));
    assert!(missing.contains("is not there"), "{missing}");
    let another = refused(&|snapshot| snapshot.payloads[0].1 = Payload::from("\"another\""));
    assert!(another.contains("is another one"), "{another}");
}

#[test]
fn a_state_beyond_its_bound_is_not_kept() {
    let mut parts = sample::state();
    let quarter = limits::SNAPSHOT_STATE_BYTES_MAX / (4 * limits::SNAPSHOT_INLINE_BYTES_MAX);
    let mut result = parts.calls[6].clone();
    let small = Payload::new(vec![b'1'; limits::SNAPSHOT_INLINE_BYTES_MAX]);
    if let Some(prepared) = &mut result.prepared {
        prepared.request = small;
    }
    parts.calls = vec![result; 4 * quarter];
    assert_eq!(encode_parts(parts.lend(), sample::at(0)), None);
    parts.calls.truncate(2 * quarter);
    assert!(encode_parts(parts.lend(), sample::at(0)).is_some());
}

fn golden(what: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    folder.join(format!("snapshot-{SNAPSHOT_SCHEMA}{what}.txt"))
}

/// The logs that states are made of.
fn logs() -> [Vec<Stamped>; 7] {
    [
        sample::story(1),
        sample::short_story(2),
        sample::repaired_story(3),
        sample::asked_story(4),
        sample::undone_story(5),
        sample::taken_story(6),
        sample::orphaned_story(7),
    ]
}

fn class_of(log: &[Stamped]) -> TaskClass {
    let Event::RunStarted(started) = &log[0].event else {
        panic!("a log begins with its run");
    };
    match started.class.name.as_str() {
        "shop" => sample::shop(),
        "returns" => sample::returns(),
        "late" => sample::late(),
        name => sample::class(name, 3),
    }
}

/// The states that a log makes, each with the newest time in it.
fn states(log: &[Stamped]) -> Vec<(Run, Timestamp)> {
    let mut run = Run::unborn(Arc::new(class_of(log)));
    let mut newest = Timestamp::from_millis(i64::MIN);
    let after = log.iter().enumerate().map(|(at, stamped)| {
        let applied = apply(&mut run, &stamped.event);
        applied.unwrap_or_else(|corrupt| panic!("event {at}: {corrupt}"));
        newest = newest.max(stamped.at);
        (run.clone(), newest)
    });
    after.collect()
}

#[test]
fn the_sample_logs_have_every_kind_of_event() {
    let events = logs().concat();
    for kind in Kind::ALL {
        let is_there = events
            .iter()
            .any(|stamped| Kind::of(&stamped.event) == *kind);
        assert!(is_there, "{}", kind.name());
    }
}

#[test]
fn a_snapshot_and_the_events_after_it_make_the_state_that_all_events_make() {
    for log in logs() {
        let states = states(&log);
        let last = &states.last().expect("the log has events").0;
        for (at, (state, newest)) in (1..).zip(&states) {
            let snapshot = encode_snapshot(state, *newest).expect("it has started");
            let kept = decode_snapshot(&snapshot).expect("it was just written");
            assert_eq!(kept.last_at, *newest);
            let class = Arc::clone(state.class());
            let mut run = Run::from_parts(class, kept.parts).expect("they are of this class");
            assert_eq!(run, *state, "event {at}");
            for stamped in &log[at..] {
                apply(&mut run, &stamped.event).expect("it was applied before");
            }
            assert_eq!(run, *last, "from event {at}");
        }
    }
}

#[test]
fn events_make_the_states_they_made_when_the_schema_number_was_given() {
    let path = golden("-stories");
    let frozen = fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; a new schema needs its golden file",
            path.display()
        )
    });
    assert_eq!(
        frozen,
        stories_now(),
        "an event makes another state: raise mainstay_machine::SNAPSHOT_SCHEMA"
    );
}

/// After each event of the sample logs: its name, and the digest of the state.
fn stories_now() -> String {
    let lines = logs().into_iter().flat_map(|log| {
        let states = states(&log);
        log.into_iter()
            .zip(states)
            .map(|(stamped, (state, newest))| {
                let snapshot = encode_snapshot(&state, newest).expect("it has started");
                let digest = Digest::of(&snapshot.state);
                format!("{} {digest}\n", stamped.event.name())
            })
    });
    lines.collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What this build makes of the sample: the state, then the digests it refers to.
fn now() -> String {
    let snapshot = sample();
    let digests = snapshot
        .payloads
        .iter()
        .map(|(digest, _)| digest.to_string());
    let lines = std::iter::once(hex(&snapshot.state)).chain(digests);
    lines.map(|line| line + "\n").collect()
}

#[test]
fn the_state_has_the_shape_its_schema_number_says() {
    let path = golden("");
    let frozen = fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; a new schema needs its golden file",
            path.display()
        )
    });
    assert_eq!(
        frozen,
        now(),
        "the state's shape has changed: raise mainstay_machine::SNAPSHOT_SCHEMA"
    );
}

#[test]
#[ignore = "writes the golden states when they are missing, for a new schema"]
fn missing_golden_states_are_written() {
    for (path, text) in [(golden(""), now()), (golden("-stories"), stories_now())] {
        if !path.exists() {
            fs::write(path, text).expect("the file can be written");
        }
    }
}
