//! Checks of knocks: what subscribers hear of, once, together and within bounds.
//!
//! A knock is there when the call that caused it returns, so nothing here waits.

use std::collections::BTreeSet;
use std::task::{Context, Poll, Waker};

use mainstay_machine::EntryState;
use mainstay_types::{RunId, limits};

use super::Bench;
use super::reads::{more_than_a_page, start_many};
use crate::commit::{CommitRequest, Op};
use crate::inbox::Enqueued;
use crate::knock::{Knocked, Knocks};
use crate::sample;

fn heard(knocks: &mut Knocks) -> Option<Knocked> {
    let mut context = Context::from_waker(Waker::noop());
    match knocks.poll_next(&mut context) {
        Poll::Ready(knocked) => Some(knocked),
        Poll::Pending => None,
    }
}

fn runs(ids: impl IntoIterator<Item = u32>) -> Option<Knocked> {
    let runs: BTreeSet<RunId> = ids.into_iter().map(sample::run).collect();
    Some(Knocked {
        runs,
        ..Knocked::default()
    })
}

fn alert() -> Option<Knocked> {
    Some(Knocked {
        alerts: true,
        ..Knocked::default()
    })
}

pub(super) fn a_message_knocks_for_its_run_once_it_is_there(bench: &mut Bench<'_>) {
    start_many(bench, 3, sample::driven_by);
    let mut first = bench.ledger().knocks();
    assert_eq!(heard(&mut first), None);
    for (n, message) in [(1, 1), (2, 1), (2, 2)] {
        assert_eq!(bench.enqueue(n, message), Ok(Enqueued::New));
    }
    let mut second = bench.ledger().knocks();
    assert_eq!(heard(&mut first), runs([1, 2]));
    assert_eq!(heard(&mut first), None);
    // Known, refused and unknown ones change nothing.
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::Known));
    assert!(bench.enqueue(9, 1).is_err());
    bench.must(sample::next_part(1, 1).with(Op::InboxAck(sample::message(1))));
    assert_eq!(heard(&mut first), None);
    assert_eq!(bench.enqueue(0, 1), Ok(Enqueued::New));
    assert_eq!(
        (heard(&mut first), heard(&mut second)),
        (runs([0]), runs([0]))
    );
}

pub(super) fn alerts_knock_when_they_are_committed(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let mut knocks = bench.ledger().knocks();
    let alert_at = |seq| sample::next_part(1, seq).with(Op::Alert(sample::alert(1)));
    bench.commit(alert_at(7));
    assert_eq!(heard(&mut knocks), None);
    bench.must(alert_at(1));
    bench.must(alert_at(2));
    assert_eq!(heard(&mut knocks), alert());
    assert_eq!(heard(&mut knocks), None);
}

pub(super) fn a_settled_key_knocks_for_those_who_waited(bench: &mut Bench<'_>) {
    start_many(bench, 3, sample::driven_by);
    let key = sample::effect_key("PR-7", 0);
    let entry = |state| sample::effect(sample::entry(key.clone(), 0, 1, state));
    bench.must(sample::next_part(0, 1).with(entry(EntryState::Open)));
    let wait = |n| {
        sample::next_part(n, 1).with(Op::Wait {
            key: key.clone(),
            version: 1,
        })
    };
    bench.must(CommitRequest {
        parts: vec![wait(1), wait(2)],
    });
    let mut knocks = bench.ledger().knocks();
    bench.must(sample::next_part(0, 2).with(entry(EntryState::InDoubt)));
    assert_eq!(heard(&mut knocks), None);
    bench.must(sample::next_part(0, 3).with(entry(EntryState::NotApplied)));
    assert_eq!(heard(&mut knocks), runs([1, 2]));
}

pub(super) fn knocks_that_nobody_takes_are_bounded(bench: &mut Bench<'_>) {
    let count = more_than_a_page() + 30;
    assert!(limits::KNOCKS_MAX < usize::try_from(count).expect("small"));
    start_many(bench, count, sample::driven_by);
    let mut knocks = bench.ledger().knocks();
    let mut gone = bench.ledger().knocks();
    assert_eq!(bench.enqueue(0, 1), Ok(Enqueued::New));
    assert_eq!(heard(&mut gone), runs([0]));
    drop(gone);
    bench.enqueue_all(1..count);
    let rescan = Knocked {
        rescan: true,
        ..Knocked::default()
    };
    assert_eq!(heard(&mut knocks), Some(rescan));
    assert_eq!(bench.enqueue(0, 2), Ok(Enqueued::New));
    assert_eq!(heard(&mut knocks), runs([0]));
    // And all of them are found without a knock.
    let first = bench.inboxes(None);
    assert!(first.more && first.rows.len() == limits::PAGE_ROWS_MAX);
    let second = bench.inboxes(first.rows.last().copied());
    let found: Vec<RunId> = first.rows.into_iter().chain(second.rows).collect();
    assert!(!second.more);
    assert_eq!(found, (0..count).map(sample::run).collect::<Vec<_>>());
}
