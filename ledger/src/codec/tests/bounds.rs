//! What a decoder takes before it has seen that it is there: lengths are bounded, whatever they
//! say.

use mainstay_machine::Event;
use mainstay_types::{CallId, Payload, Rung, Seq, limits};

use crate::codec::value::seal_value;
use crate::codec::{
    DecodeError, Kind, decode_event, decode_message, decode_snapshot, decode_waiters, encode_event,
    encode_snapshot,
};
use crate::record::{self, Chain};
use crate::sample;
use crate::snapshot::Snapshot;

/// First bytes of a number in 2, 4, 8 and 16 bytes, and one that begins none.
const MARKERS: [u8; 5] = [251, 252, 253, 254, 255];

/// A length of eight bytes.
fn claim(length: u64) -> Vec<u8> {
    let mut bytes = vec![253];
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes
}

fn payload_of(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_event(event, &mut bytes);
    bytes
}

fn refused(kind: Kind, payload: &[u8]) -> String {
    let read = decode_event(kind.number(), kind.version(), payload);
    read.expect_err("nobody wrote so much").to_string()
}

/// What comes before the first length in a kind that has one, and what the length counts.
fn lengths() -> Vec<(Kind, Vec<u8>, &'static str)> {
    vec![
        (Kind::CallSettled, vec![1, 0], "bytes"),
        (Kind::ListRecorded, vec![1], "items"),
        (Kind::AnsweredLater, vec![], "calls"),
        (Kind::CancelRequested, vec![], "characters"),
        (Kind::EffectIntended, vec![1], "characters"),
        (Kind::CallOmitted, vec![1], "characters"),
    ]
}

#[test]
fn a_length_beyond_the_limit_is_refused_before_memory_is_taken() {
    let beyond = limits::RECORD_BYTES_MAX as u64 + (1 << 20) + 1;
    for (kind, before, what) in lengths() {
        for length in [beyond, 1 << 31, 1 << 60, u64::MAX] {
            let payload = [before.clone(), claim(length)].concat();
            let error = refused(kind, &payload);
            assert!(
                error.contains("LimitExceeded") || error.contains("OutsideUsizeRange"),
                "{length} {what} of {}: {error}",
                kind.name()
            );
        }
    }
}

#[test]
fn a_length_within_the_limit_that_is_not_there_is_refused() {
    for (kind, before, what) in lengths() {
        for length in [100, 10_000] {
            let payload = [before.clone(), claim(length), vec![1; 20]].concat();
            let error = refused(kind, &payload);
            assert!(
                error.contains("UnexpectedEnd"),
                "{length} {what} of {}: {error}",
                kind.name()
            );
        }
    }
}

#[test]
fn a_length_in_the_place_of_any_byte_of_any_event_is_read_without_a_panic() {
    for event in sample::events() {
        let kind = Kind::of(&event);
        let payload = payload_of(&event);
        for at in 0..payload.len() {
            for marker in MARKERS {
                let mut changed = payload.clone();
                changed[at] = marker;
                let _ = decode_event(kind.number(), kind.version(), &changed);
                changed.truncate(at + 1);
                let _ = decode_event(kind.number(), kind.version(), &changed);
            }
        }
    }
}

#[test]
fn a_value_s_lengths_are_bounded_like_an_event_s() {
    let key = b"key";
    let inside = |bytes: &[u8]| seal_value(key, bytes);
    // A message: its id, then the first variant's first text.
    let message = [vec![7; 16], vec![0], claim(1 << 60)].concat();
    let error = decode_message(key, &inside(&message)).expect_err("no such text");
    assert!(error.to_string().contains("LimitExceeded"), "{error}");
    let error = decode_waiters(key, &inside(&claim(1 << 60))).expect_err("no such tenant");
    assert!(error.to_string().contains("LimitExceeded"), "{error}");
}

#[test]
fn a_state_beyond_its_bound_is_refused_before_it_is_decoded() {
    let story = sample::story(1);
    let class = std::sync::Arc::new(sample::class("meeting-analysis", 3));
    let mut run = mainstay_machine::Run::unborn(class);
    mainstay_machine::apply(&mut run, &story[0].event).expect("the first event");
    let good = encode_snapshot(&run, story[0].at).expect("it has started");
    assert!(decode_snapshot(&good).is_ok());
    let bound = limits::SNAPSHOT_STATE_BYTES_MAX;
    for (bytes, said) in [(bound, "bytes are left over"), (bound + 1, "it has")] {
        let mut state = good.state.clone();
        state.resize(bytes, 0);
        let error = decode_snapshot(&Snapshot {
            state,
            ..good.clone()
        });
        let error: DecodeError = error.expect_err("no state of this run has so much");
        assert!(error.to_string().contains(said), "{bytes}: {error}");
    }
}

#[test]
fn a_record_beyond_its_bound_is_refused_before_it_is_read() {
    let run = sample::run(1);
    let bytes = vec![0; limits::RECORD_BYTES_MAX + 1];
    let opened = record::open(run, Seq(1), &bytes, Chain::start(run));
    let error = opened.expect_err("no record has so much").to_string();
    assert!(error.contains("more than a record may have"), "{error}");
}

#[test]
fn the_largest_payload_that_a_call_may_have_is_read() {
    let result = Payload::new(vec![b'1'; limits::PAYLOAD_BYTES_MAX]);
    let (call, rung) = (CallId(1), Rung(0));
    let settled = Event::CallSettled { call, rung, result };
    let kind = Kind::of(&settled);
    let read = decode_event(kind.number(), kind.version(), &payload_of(&settled));
    assert!(read == Ok(settled));
}
