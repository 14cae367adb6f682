//! Tests of the record: it proves itself, its place and what came before it.

use mainstay_machine::Event;
use mainstay_types::{CallId, Epoch, Payload, Rung, Seq};
use proptest::prelude::*;

use super::*;
use crate::check::Head;
use crate::query::open_all;
use crate::sample;

fn sealed(n: u32, seq: u64, chain: Chain) -> (Vec<u8>, Chain) {
    let event = Event::CallSkipped {
        call: CallId(u32::try_from(seq).expect("small")),
    };
    let stamped = Stamped {
        at: sample::at(seq),
        event,
    };
    seal(
        Place {
            run: sample::run(n),
            seq: Seq(seq),
            epoch: Epoch(3),
            chain,
        },
        &stamped,
    )
}

/// Five records of the `n`-th sample run, and where they end.
fn five(n: u32) -> (Vec<Vec<u8>>, Head) {
    let mut chain = Chain::start(sample::run(n));
    let mut records = Vec::new();
    for seq in 1..=5 {
        let (bytes, next) = sealed(n, seq, chain);
        records.push(bytes);
        chain = next;
    }
    (
        records,
        Head {
            seq: Seq(5),
            epoch: Epoch(3),
            chain,
        },
    )
}

fn load(records: &[Vec<u8>], head: Head) -> Result<Vec<Recorded>, LedgerError> {
    open_all(sample::run(1), head, records.iter().map(Vec::as_slice))
}

/// The record with its checksum made right again after `change`.
fn forged(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let (mut bytes, _) = sealed(1, 1, Chain::start(sample::run(1)));
    change(&mut bytes);
    let crc = record_crc(sample::run(1), Seq(1), &bytes);
    bytes[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn refused(bytes: &[u8]) -> String {
    let chain = Chain::start(sample::run(1));
    open(sample::run(1), Seq(1), bytes, chain)
        .expect_err("refused")
        .to_string()
}

#[test]
fn a_record_gives_back_event_time_epoch_and_place() {
    let chain = Chain::start(sample::run(1));
    for event in sample::events() {
        let stamped = Stamped {
            at: sample::at(9),
            event,
        };
        let (bytes, after) = seal(
            Place {
                run: sample::run(1),
                seq: Seq(4),
                epoch: Epoch(2),
                chain,
            },
            &stamped,
        );
        let (recorded, next) = open(sample::run(1), Seq(4), &bytes, chain).expect("whole");
        let Stamped { at, event } = stamped;
        assert_eq!(
            recorded,
            Recorded {
                seq: Seq(4),
                at,
                epoch: Epoch(2),
                event
            }
        );
        assert_eq!(next, after);
    }
}

#[test]
fn every_flipped_bit_of_a_record_is_noticed() {
    let chain = Chain::start(sample::run(1));
    for event in sample::events() {
        let stamped = Stamped {
            at: sample::at(9),
            event,
        };
        let (bytes, _) = seal(
            Place {
                run: sample::run(1),
                seq: Seq(1),
                epoch: Epoch(1),
                chain,
            },
            &stamped,
        );
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let found = open(sample::run(1), Seq(1), &flipped, chain);
            assert!(found.is_err(), "{} bit {bit}", stamped.event.name());
        }
    }
}

#[test]
fn a_record_cut_short_or_continued_is_refused() {
    let chain = Chain::start(sample::run(1));
    let (bytes, _) = sealed(1, 1, chain);
    for length in 0..bytes.len() {
        assert!(
            open(sample::run(1), Seq(1), &bytes[..length], chain).is_err(),
            "{length} bytes"
        );
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(open(sample::run(1), Seq(1), &longer, chain).is_err());
}

#[test]
fn a_record_is_refused_at_another_place_or_in_another_run() {
    let chain = Chain::start(sample::run(1));
    let (bytes, _) = sealed(1, 1, chain);
    for (run, seq) in [(1, 2), (2, 1)] {
        let error = open(sample::run(run), Seq(seq), &bytes, chain).expect_err("elsewhere");
        assert!(
            matches!(error, LedgerError::CorruptRecord { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_missing_swapped_repeated_or_replaced_record_breaks_the_chain() {
    let (records, head) = five(1);
    assert_eq!(load(&records, head).expect("whole").len(), 5);
    let without = |at: usize| {
        let mut records = records.clone();
        records.remove(at);
        records
    };
    for at in 0..5 {
        assert!(load(&without(at), head).is_err(), "record {at} missing");
    }
    let mut swapped = records.clone();
    swapped.swap(1, 2);
    assert!(load(&swapped, head).is_err());
    let mut repeated = records.clone();
    repeated.insert(2, records[1].clone());
    assert!(load(&repeated, head).is_err());
    // Whole in itself and at its place, but after other records: the chain alone can tell.
    for at in 0..5usize {
        let mut replaced = records.clone();
        replaced[at] = sealed(1, at as u64 + 1, Chain::from_u32(7)).0;
        let error = load(&replaced, head).expect_err("replaced");
        let LedgerError::CorruptChain { seq, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(seq, Seq(at as u64 + 1));
    }
}

#[test]
fn records_of_a_run_that_end_before_its_head_are_refused() {
    let (mut records, head) = five(1);
    records.pop();
    let error = load(&records, head).expect_err("cut");
    assert_eq!(error.code(), mainstay_types::Code::CorruptChain);
    assert!(error.to_string().contains("record 4"), "{error}");
}

#[test]
fn what_a_newer_version_wrote_is_refused_and_said_to_be_newer() {
    for (at, value) in [(2, 2), (3, 2), (3, 0x41), (4, 200), (6, 9)] {
        let error = refused(&forged(|bytes| bytes[at] = value));
        assert!(error.contains("newer version"), "byte {at}: {error}");
    }
}

#[test]
fn a_sealed_record_is_refused_as_sealed() {
    let error = refused(&forged(|bytes| bytes[3] |= FLAG_SEALED));
    assert!(
        error.contains("sealed") && error.contains("keys"),
        "{error}"
    );
}

#[test]
fn a_payload_of_four_mebibytes_fits_a_record() {
    let result = Payload::new(vec![b'x'; mainstay_types::limits::PAYLOAD_BYTES_MAX]);
    let event = Event::CallSettled {
        call: CallId(1),
        rung: Rung(0),
        result,
    };
    let stamped = Stamped {
        at: sample::at(0),
        event,
    };
    let chain = Chain::start(sample::run(1));
    let (bytes, _) = seal(
        Place {
            run: sample::run(1),
            seq: Seq(1),
            epoch: Epoch(1),
            chain,
        },
        &stamped,
    );
    let (recorded, _) = open(sample::run(1), Seq(1), &bytes, chain).expect("whole");
    assert_eq!(recorded.event, stamped.event);
}

proptest! {
    #[test]
    fn any_bytes_are_opened_without_a_panic(mut bytes: Vec<u8>, chain: u32) {
        let chain = Chain::from_u32(chain);
        prop_assert!(open(sample::run(1), Seq(1), &bytes, chain).is_err());
        // Past the first bytes, so that the later checks are reached too.
        let (whole, _) = sealed(1, 1, chain);
        bytes.splice(0..0, whole[..HEADER_BYTES].iter().copied());
        let is_wrong = open(sample::run(1), Seq(1), &bytes, chain).is_err();
        // The payload is so short that it is drawn now and then.
        prop_assert!(is_wrong || bytes == whole);
    }
}
