//! Checks of commands that come from outside a run's owner.
//!
//! They must never get lost, be taken twice, or vanish with a commit that was refused.

use mainstay_types::{Epoch, MessageId, Seq, limits};

use super::{Bench, cancel, committed};
use crate::commit::{Op, Part, Verdict};
use crate::error::LedgerError;
use crate::inbox::{Enqueued, InboxMessage};
use crate::sample;

fn waiting(bench: &Bench<'_>, n: u32) -> Vec<MessageId> {
    bench.inbox(n).iter().map(|message| message.id).collect()
}

fn ack(part: Part, message: u32) -> Part {
    part.with(Op::InboxAck(sample::message(message)))
}

pub(super) fn a_command_waits_until_it_is_acknowledged_with_its_events(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::New));
    bench.reopen();
    let message = InboxMessage {
        id: sample::message(1),
        command: cancel(1),
    };
    assert_eq!(bench.inbox(1), [message]);
    assert_eq!(
        bench.commit(ack(sample::next_part(1, 1), 1)),
        committed([2])
    );
    bench.reopen();
    assert!(bench.inbox(1).is_empty());
}

pub(super) fn a_message_id_is_known_while_it_waits_and_after_its_acknowledgement(
    bench: &mut Bench<'_>,
) {
    bench.must(sample::start_part(1));
    bench.must(sample::start_part(2));
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::New));
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::Known));
    bench.reopen();
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::Known));
    assert_eq!(bench.inbox(1).len(), 1);
    bench.must(ack(sample::next_part(1, 1), 1));
    bench.reopen();
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::Known));
    assert!(bench.inbox(1).is_empty());
    // An id belongs to its run.
    assert_eq!(bench.enqueue(2, 1), Ok(Enqueued::New));
}

pub(super) fn a_refused_commit_acknowledges_nothing(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::New));
    let refused = bench.commit(ack(sample::next_part(1, 9), 1));
    assert!(matches!(refused, Verdict::Stale { .. }), "{refused:?}");
    bench.reopen();
    assert_eq!(waiting(bench, 1), [sample::message(1)]);
}

pub(super) fn a_command_that_caused_no_event_is_acknowledged_in_the_run_s_own_epoch(
    bench: &mut Bench<'_>,
) {
    bench.must(sample::start_part(1));
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::New));
    let quiet = |epoch| {
        let part = Part {
            epoch: Epoch(epoch),
            events: Vec::new(),
            ..sample::next_part(1, 1)
        };
        ack(part, 1)
    };
    for epoch in [0, 2] {
        let refused = bench.commit(quiet(epoch));
        assert!(matches!(refused, Verdict::Stale { .. }), "{refused:?}");
    }
    assert_eq!(waiting(bench, 1), [sample::message(1)]);
    assert_eq!(bench.commit(quiet(1)), committed([1]));
    bench.reopen();
    assert!(bench.inbox(1).is_empty());
    assert_eq!(bench.seq(1), Seq(1));
}

pub(super) fn commands_come_back_in_the_order_of_arrival(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    for message in [5, 2, 9, 1, 7] {
        assert_eq!(bench.enqueue(1, message), Ok(Enqueued::New));
    }
    bench.must(ack(sample::next_part(1, 1), 9));
    bench.reopen();
    assert_eq!(bench.enqueue(1, 3), Ok(Enqueued::New));
    assert_eq!(waiting(bench, 1), [5, 2, 1, 7, 3].map(sample::message));
}

pub(super) fn an_inbox_is_bounded(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let bound = u32::try_from(limits::INBOX_COMMANDS_MAX).expect("the bound is small");
    for message in 0..bound {
        assert_eq!(bench.enqueue(1, message), Ok(Enqueued::New));
    }
    let full = LedgerError::InboxFull {
        run: sample::run(1),
        waiting: limits::INBOX_COMMANDS_MAX,
    };
    assert_eq!(bench.enqueue(1, bound), Err(full));
    // A known one is answered as known: it takes no room.
    assert_eq!(bench.enqueue(1, 0), Ok(Enqueued::Known));
    bench.must(ack(sample::next_part(1, 1), 0));
    assert_eq!(bench.enqueue(1, bound), Ok(Enqueued::New));
    assert_eq!(bench.inbox(1).len(), limits::INBOX_COMMANDS_MAX);
}

pub(super) fn a_command_for_an_unknown_run_is_refused(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(2));
    let unknown = LedgerError::RunUnknown {
        run: sample::run(1),
    };
    assert_eq!(bench.enqueue(1, 1), Err(unknown));
    assert!(bench.load(1).is_none());
    // It was not kept for later either.
    bench.must(sample::start_part(1));
    assert!(bench.inbox(1).is_empty());
    assert_eq!(bench.enqueue(1, 1), Ok(Enqueued::New));
}
