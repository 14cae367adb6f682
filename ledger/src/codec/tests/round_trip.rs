//! Every event and value reads back as it was; no other bytes read as anything.

use mainstay_machine::{EntryState, Event, Quarantine};
use mainstay_types::{CallId, Code, Digest, MessageId, Payload, limits};
use proptest::prelude::*;

use crate::codec::arbitrary;
use crate::codec::size::most;
use crate::codec::value::{open_value, seal_value};
use crate::codec::{
    DecodeError, Kind, decode_alert, decode_class, decode_entry, decode_event, decode_head,
    decode_message, decode_start, decode_summary, decode_waiters, encode_alert, encode_entry,
    encode_event, encode_message, encode_summary, encode_waiters, fits,
};
use crate::inbox::InboxMessage;
use crate::record::HEADER_BYTES;
use crate::sample;

fn payload_of(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_event(event, &mut bytes);
    bytes
}

fn read_back(event: &Event, bytes: &[u8]) -> Result<Event, DecodeError> {
    let kind = Kind::of(event);
    decode_event(kind.number(), kind.version(), bytes)
}

proptest! {
    #[test]
    fn an_event_reads_back_as_it_was(event in arbitrary::event()) {
        let bytes = payload_of(&event);
        prop_assert!(HEADER_BYTES + bytes.len() <= most(&event));
        prop_assert_eq!(read_back(&event, &bytes), Ok(event));
    }

    #[test]
    fn a_payload_cut_short_or_continued_is_refused(event in arbitrary::event(), by in 1usize..9) {
        let mut bytes = payload_of(&event);
        let short = bytes.len().saturating_sub(by);
        if short < bytes.len() {
            prop_assert!(read_back(&event, &bytes[..short]).is_err());
        }
        bytes.resize(bytes.len() + by, 0);
        prop_assert!(read_back(&event, &bytes).is_err());
    }

    #[test]
    fn an_entry_reads_back_as_it_was(entry in arbitrary::entry(), version: u64, key: [u8; 18]) {
        let value = encode_entry(&key, &entry, version);
        prop_assert_eq!(decode_entry(&key, &value), Ok((entry, version)));
    }

    #[test]
    fn a_summary_reads_back_as_it_was(summary in arbitrary::summary()) {
        let value = encode_summary(b"key", &summary);
        prop_assert_eq!(decode_summary(b"key", &value), Ok(summary));
    }

    #[test]
    fn an_alert_reads_back_as_it_was(alert in arbitrary::alert()) {
        let value = encode_alert(b"key", &alert);
        prop_assert_eq!(decode_alert(b"key", &value), Ok(alert));
    }

    #[test]
    fn a_command_reads_back_as_it_was(command in arbitrary::command(), id: [u8; 16]) {
        let message = InboxMessage { id: MessageId::from_bytes(id), command };
        let value = encode_message(b"key", &message);
        prop_assert_eq!(decode_message(b"key", &value), Ok(message));
    }

    #[test]
    fn those_who_wait_read_back_as_they_were((key, waiters) in arbitrary::waiters()) {
        let value = encode_waiters(b"key", &key, &waiters);
        prop_assert_eq!(decode_waiters(b"key", &value), Ok((key, waiters)));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(
        kind in 0u16..40, version in 0u16..4, bytes: Vec<u8>,
    ) {
        let _ = decode_event(kind, version, &bytes);
        // Behind a checksum that fits, so that the decoder itself sees the bytes.
        let value = seal_value(b"key", &bytes);
        let _ = decode_entry(b"key", &value);
        let _ = decode_summary(b"key", &value);
        let _ = decode_start(b"key", &value);
        let _ = decode_head(b"key", &value);
        let _ = decode_message(b"key", &value);
        let _ = decode_class(b"key", &value);
        let _ = decode_alert(b"key", &value);
        let _ = decode_waiters(b"key", &value);
        prop_assert!(open_value(b"key", &bytes).is_err() || bytes.first() == Some(&1));
    }
}

#[test]
fn a_value_belongs_to_its_key_and_every_flipped_bit_is_noticed() {
    let entry = sample::entry(sample::effect_key("PR-7", 0), 1, 4, EntryState::Open);
    let value = encode_entry(b"here", &entry, 1);
    assert!(matches!(
        decode_entry(b"elsewhere", &value),
        Err(DecodeError::Checksum { .. })
    ));
    for bit in 0..value.len() * 8 {
        let mut flipped = value.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(decode_entry(b"here", &flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn what_a_newer_version_wrote_is_said_to_be_newer() {
    let newer = |error: DecodeError| matches!(error, DecodeError::Newer { .. });
    assert!(newer(decode_event(999, 1, &[]).expect_err("no such kind")));
    assert!(newer(decode_event(1, 2, &[]).expect_err("no such version")));
    assert!(newer(
        decode_event(27, 3, &[]).expect_err("no such version")
    ));
    assert!(newer(
        decode_event(27, 0, &[]).expect_err("no such version")
    ));
    // An appended variant: an attempt that ended in a way this build does not know.
    assert!(newer(
        decode_event(6, 1, &[1, 1, 9]).expect_err("no such variant")
    ));
    // A reason this build does not know.
    assert!(newer(
        decode_event(10, 1, &[1, 3, b'N', b'E', b'W']).expect_err("no such reason")
    ));
}

#[test]
fn a_text_for_people_is_cut_at_its_bound_between_characters() {
    let message = "é".repeat(limits::TEXT_BYTES_MAX);
    let code = Code::TurnPanicked;
    let event = Event::RunQuarantined(Quarantine { code, message });
    let Ok(Event::RunQuarantined(Quarantine { message, .. })) =
        read_back(&event, &payload_of(&event))
    else {
        panic!("the cut text reads back");
    };
    assert!(message.len() <= limits::TEXT_BYTES_MAX);
    assert!(
        message.starts_with("éé") && message.ends_with("é…"),
        "{message}"
    );
}

#[test]
fn an_event_beyond_a_record_does_not_fit() {
    let item = |bytes: usize| mainstay_machine::Prepared {
        request: Payload::new(vec![b' '; bytes]),
        fingerprint: Digest::of(b""),
        business_id: None,
    };
    let list = |items: usize| Event::ListRecorded {
        call: CallId(0),
        items: vec![item(limits::PAYLOAD_BYTES_MAX); items],
    };
    assert!(fits(&list(15)));
    assert!(!fits(&list(16)));
}
