//! Checks of what is written, by whom and in which order.
//!
//! They speak about sequence, epoch and wholeness only; keys have their own file.

use mainstay_machine::{EntryState, Event, RunState};
use mainstay_types::{CallId, Digest, Epoch, Payload, Rung, Seq, limits};

use super::{Bench, committed};
use crate::commit::{CommitRequest, Op, Part, Stamped, Verdict};
use crate::sample;

fn stale(n: u32, seq: u64, epoch: u32) -> Verdict {
    Verdict::Stale {
        run: sample::run(n),
        seq: Seq(seq),
        epoch: Epoch(epoch),
    }
}

fn take_over(expected_seq: u64, epoch: u32) -> Part {
    let events = sample::stamped(60_000, [Event::LeaseTaken(sample::taken(epoch))]);
    Part {
        epoch: Epoch(epoch),
        events,
        ..sample::next_part(1, expected_seq)
    }
}

pub(super) fn a_commit_is_there_after_reopening(bench: &mut Bench<'_>) {
    // Those two have a place of their own in a log; other checks write them there.
    let elsewhere = |event: &Event| matches!(event, Event::RunStarted(_) | Event::LeaseTaken(_));
    let every = sample::events()
        .into_iter()
        .filter(|event| !elsewhere(event));
    let every = sample::stamped(7, every);
    let expected: Vec<Event> = every.iter().map(|stamped| stamped.event.clone()).collect();
    assert_eq!(bench.commit(sample::start_part(1)), committed([1]));
    let part = Part {
        events: every,
        ..sample::next_part(1, 1)
    };
    let last = 1 + u64::try_from(expected.len()).expect("a count fits");
    assert_eq!(bench.commit(part), committed([last]));
    bench.reopen();
    let loaded = bench.load(1).expect("the run is there");
    assert!(loaded.inbox.is_empty());
    assert_eq!(
        loaded.events[1..]
            .iter()
            .map(|e| &e.event)
            .collect::<Vec<_>>(),
        { expected.iter().collect::<Vec<_>>() }
    );
    for (seq, recorded) in (1..).map(Seq).zip(&loaded.events) {
        assert_eq!((recorded.seq, recorded.epoch), (seq, Epoch(1)));
    }
    assert_eq!(loaded.events[1].at, sample::at(7));
}

pub(super) fn a_new_run_begins_with_its_start_in_epoch_one(bench: &mut Bench<'_>) {
    let start = sample::start_part(1);
    let refused = [
        Part {
            expected_seq: Seq(1),
            ..start.clone()
        },
        Part {
            epoch: Epoch(2),
            ..start.clone()
        },
        Part {
            events: Vec::new(),
            ..start.clone()
        },
        sample::next_part(1, 0),
        take_over(0, 1),
    ];
    for part in refused {
        assert_eq!(bench.commit(part), stale(1, 0, 0));
    }
    assert!(bench.load(1).is_none());
    assert_eq!(bench.commit(start), committed([1]));
}

pub(super) fn a_stale_sequence_is_refused_and_writes_nothing(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    bench.must(sample::next_part(1, 1));
    for expected in [0, 1, 3, u64::MAX] {
        let part = sample::next_part(1, expected).with(sample::driven_by(1));
        assert_eq!(bench.commit(part), stale(1, 2, 1), "expected {expected}");
    }
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(2));
    assert!(bench.driven(None).rows.is_empty());
    assert_eq!(bench.commit(sample::next_part(1, 2)), committed([3]));
}

pub(super) fn an_old_or_skipped_epoch_is_refused(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    bench.must(take_over(1, 2));
    for epoch in [0, 1, 3, 4] {
        let part = Part {
            epoch: Epoch(epoch),
            ..sample::next_part(1, 2)
        };
        assert_eq!(bench.commit(part), stale(1, 2, 2), "epoch {epoch}");
    }
    for epoch in [1, 2, 4] {
        assert_eq!(
            bench.commit(take_over(2, epoch)),
            stale(1, 2, 2),
            "taken with {epoch}"
        );
    }
    assert_eq!(bench.commit(take_over(2, 3)), committed([3]));
}

pub(super) fn a_take_over_must_begin_with_lease_taken(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let without = Part {
        epoch: Epoch(2),
        ..sample::next_part(1, 1)
    };
    assert_eq!(bench.commit(without.clone()), stale(1, 1, 1));
    let nothing = Part {
        events: Vec::new(),
        ..without.clone()
    };
    assert_eq!(bench.commit(nothing), stale(1, 1, 1));
    let mut late = without;
    late.events.push(Stamped {
        at: sample::at(1),
        event: Event::LeaseTaken(sample::taken(2)),
    });
    assert_eq!(bench.commit(late), stale(1, 1, 1));
    // The event names the epoch it takes: another one in it is another take-over.
    let mut other = take_over(1, 3);
    other.epoch = Epoch(2);
    assert_eq!(bench.commit(other), stale(1, 1, 1));
    assert_eq!(bench.commit(take_over(1, 2)), committed([2]));
}

pub(super) fn a_lease_of_another_epoch_is_no_ordinary_append(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    bench.must(take_over(1, 2));
    for epoch in [0, 1, 2, 3, 4, u32::MAX] {
        let mut own = take_over(2, epoch);
        own.epoch = Epoch(2);
        assert_eq!(
            bench.commit(own),
            stale(1, 2, 2),
            "a lease of epoch {epoch}"
        );
        let mut late = sample::next_part(1, 2);
        late.epoch = Epoch(2);
        late.events.extend(take_over(2, epoch).events);
        assert_eq!(bench.commit(late), stale(1, 2, 2), "a late one of {epoch}");
    }
    let mut twice = take_over(2, 3);
    twice.events.extend(take_over(2, 3).events);
    assert_eq!(bench.commit(twice), stale(1, 2, 2));
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(2));
    assert_eq!(bench.commit(take_over(2, 3)), committed([3]));
}

pub(super) fn a_run_begins_once(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let again = Part {
        expected_seq: Seq(1),
        ..sample::start_part(1)
    };
    for epoch in [1, 2] {
        let part = Part {
            epoch: Epoch(epoch),
            ..again.clone()
        };
        assert_eq!(bench.commit(part), stale(1, 1, 1), "in epoch {epoch}");
    }
    let mut late = sample::next_part(1, 1);
    late.events.extend(again.events);
    assert_eq!(bench.commit(late), stale(1, 1, 1));
    let mut twice = sample::start_part(2);
    twice.events.extend(sample::start_part(2).events);
    assert_eq!(bench.commit(twice), stale(2, 0, 0));
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(1));
    assert!(bench.load(2).is_none());
    assert_eq!(bench.commit(sample::next_part(1, 1)), committed([2]));
}

pub(super) fn after_a_take_over_the_old_owner_is_refused(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    bench.must(take_over(1, 2));
    bench.reopen();
    assert_eq!(bench.commit(sample::next_part(1, 2)), stale(1, 2, 2));
    let part = Part {
        epoch: Epoch(2),
        ..sample::next_part(1, 2)
    };
    assert_eq!(bench.commit(part), committed([3]));
    let epochs: Vec<Epoch> = bench
        .load(1)
        .expect("there")
        .events
        .iter()
        .map(|e| e.epoch)
        .collect();
    assert_eq!(epochs, [Epoch(1), Epoch(2), Epoch(2)]);
}

pub(super) fn a_request_is_written_as_a_whole_or_not_at_all(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let key = sample::effect_key("PR-7", 0);
    let first = sample::next_part(1, 1)
        .with(sample::driven_by(1))
        .with(Op::Summary(sample::summary(1, RunState::Running)))
        .with(sample::effect(sample::entry(key, 1, 4, EntryState::Open)))
        .with(sample::take_start_key("mtg-4711", "a"))
        .with(sample::store_class("meeting-analysis", 3));
    let whole = |second: Part| CommitRequest {
        parts: vec![first.clone(), second],
    };
    assert_eq!(bench.commit(whole(sample::next_part(2, 3))), stale(2, 0, 0));
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(1));
    assert!(bench.driven(None).rows.is_empty());
    assert!(bench.runs(Default::default(), None).rows.is_empty());
    assert!(
        super::block_on(bench.ledger().classes())
            .expect("readable")
            .is_empty()
    );
    // Neither of the two keys may have been taken, or this would be refused.
    assert_eq!(
        bench.commit(whole(sample::start_part(2))),
        committed([2, 1])
    );
    bench.reopen();
    assert_eq!((bench.seq(1), bench.seq(2)), (Seq(2), Seq(1)));
    assert_eq!(bench.driven_ids(), [sample::run(1)]);
    assert_eq!(bench.runs(Default::default(), None).rows.len(), 1);
}

pub(super) fn requests_of_one_group_see_each_other_in_order(bench: &mut Bench<'_>) {
    let group = vec![
        sample::start_part(1).into(),
        sample::next_part(1, 1).into(),
        take_over(2, 2).into(),
        sample::next_part(1, 3).into(),
        Part {
            epoch: Epoch(2),
            ..sample::next_part(1, 3)
        }
        .into(),
    ];
    let verdicts = bench.group(group);
    let expected = [
        committed([1]),
        committed([2]),
        committed([3]),
        stale(1, 3, 2),
        committed([4]),
    ];
    assert_eq!(verdicts, expected);
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(4));
}

pub(super) fn a_refused_request_leaves_the_rest_of_its_group_alone(bench: &mut Bench<'_>) {
    let group = vec![
        sample::start_part(1).into(),
        sample::next_part(2, 5).into(),
        sample::start_part(2).into(),
    ];
    assert_eq!(
        bench.group(group),
        [committed([1]), stale(2, 0, 0), committed([1])]
    );
    bench.reopen();
    assert_eq!((bench.seq(1), bench.seq(2)), (Seq(1), Seq(1)));
}

pub(super) fn a_run_twice_in_one_request_is_stale(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let parts = vec![sample::next_part(1, 1), sample::next_part(1, 2)];
    assert_eq!(bench.commit(CommitRequest { parts }), stale(1, 1, 1));
    assert_eq!(bench.seq(1), Seq(1));
}

pub(super) fn a_commit_of_nothing_changes_nothing(bench: &mut Bench<'_>) {
    assert!(bench.group(Vec::new()).is_empty());
    assert_eq!(
        bench.commit(CommitRequest { parts: Vec::new() }),
        committed([])
    );
    bench.must(sample::start_part(1));
    let nothing = Part {
        events: Vec::new(),
        ..sample::next_part(1, 1)
    };
    assert_eq!(bench.commit(nothing.clone()), committed([1]));
    let beside = Part {
        expected_seq: Seq(7),
        ..nothing.clone()
    };
    assert_eq!(bench.commit(beside), stale(1, 1, 1));
    assert_eq!(
        bench.commit(nothing.with(sample::driven_by(1))),
        committed([1])
    );
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(1));
    assert_eq!(bench.driven_ids(), [sample::run(1)]);
}

pub(super) fn two_hundred_events_of_one_append_come_back_in_order(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let events: Vec<Event> = (0..200)
        .map(|n| Event::CallSkipped { call: CallId(n) })
        .collect();
    let part = Part {
        events: sample::stamped(5, events.clone()),
        ..sample::next_part(1, 1)
    };
    assert_eq!(bench.commit(part), committed([201]));
    bench.reopen();
    assert_eq!(bench.events(1)[1..], events);
    assert_eq!(bench.commit(sample::next_part(1, 201)), committed([202]));
}

pub(super) fn payloads_of_one_and_four_mebibytes_come_back_whole(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    // Bytes that differ from piece to piece, so that a swapped piece is seen.
    let bytes = |len: usize| -> Vec<u8> {
        Digest::of(b"seed")
            .as_bytes()
            .iter()
            .copied()
            .cycle()
            .zip(0u32..)
            .take(len)
            .map(|(byte, n)| byte ^ n.to_le_bytes()[1] ^ n.to_le_bytes()[2])
            .collect()
    };
    let settled = |len| Event::CallSettled {
        call: CallId(1),
        rung: Rung(0),
        result: Payload::new(bytes(len)),
    };
    let events = [settled(1 << 20), settled(limits::PAYLOAD_BYTES_MAX)];
    for (seq, event) in (1..).zip(&events) {
        let part = Part {
            events: sample::stamped(5, [event.clone()]),
            ..sample::next_part(1, seq)
        };
        assert_eq!(bench.commit(part), committed([seq + 1]));
    }
    bench.reopen();
    assert!(bench.events(1)[1..] == events, "the payloads differ");
}

pub(super) fn an_event_larger_than_a_record_is_answered_full(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let item = mainstay_machine::Prepared {
        request: Payload::new(vec![b' '; limits::PAYLOAD_BYTES_MAX]),
        fingerprint: Digest::of(b""),
        business_id: None,
    };
    let items = vec![item; limits::RECORD_BYTES_MAX / limits::PAYLOAD_BYTES_MAX];
    let listed = Event::ListRecorded {
        call: CallId(0),
        items,
    };
    let part = Part {
        events: sample::stamped(5, [listed]),
        ..sample::next_part(1, 1)
    };
    assert_eq!(bench.commit(part), Verdict::Full);
    assert_eq!(bench.commit(sample::next_part(1, 1)), committed([2]));
}

pub(super) fn appends_are_counted_by_parts_that_write_events(bench: &mut Bench<'_>) {
    assert_eq!(bench.ledger().appends(), 0);
    bench.must(CommitRequest {
        parts: vec![sample::start_part(1), sample::start_part(2)],
    });
    assert_eq!(bench.ledger().appends(), 2);
    bench.must(
        Part {
            events: Vec::new(),
            ..sample::next_part(1, 1)
        }
        .with(sample::driven_by(1)),
    );
    bench.commit(sample::next_part(1, 9));
    assert_eq!(bench.ledger().appends(), 2);
    let events = sample::stamped(5, (0..3).map(|n| Event::CallSkipped { call: CallId(n) }));
    bench.must(Part {
        events,
        ..sample::next_part(1, 1)
    });
    assert_eq!(bench.ledger().appends(), 3);
}
