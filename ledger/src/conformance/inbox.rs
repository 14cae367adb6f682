//! Checks of commands that come from outside a run's owner.
//!
//! They must never get lost, be taken twice, or vanish with a commit that was refused.

use mainstay_machine::SettleEnd;
use mainstay_types::{AttemptNo, CallId, Epoch, MessageId, Payload, Seq, limits};

use super::{Bench, block_on, cancel, committed};
use crate::commit::{Op, Part, Verdict};
use crate::drive::Drive;
use crate::error::LedgerError;
use crate::inbox::{Enqueued, InboxCommand, InboxMessage};
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

/// Puts a command into the inbox of the first run.
fn put(bench: &Bench<'_>, message: u32, command: InboxCommand) -> Result<Enqueued, LedgerError> {
    let (run, id) = (sample::run(1), sample::message(message));
    block_on(bench.ledger().enqueue(run, id, command))
}

pub(super) fn every_kind_of_command_comes_back_as_it_was(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let commands: Vec<_> = sample::commands().into_iter().map(|(_, c)| c).collect();
    for (message, command) in (0..).zip(&commands) {
        assert_eq!(put(bench, message, command.clone()), Ok(Enqueued::New));
    }
    bench.reopen();
    let inbox = bench.inbox(1).into_iter();
    assert_eq!(inbox.map(|m| m.command).collect::<Vec<_>>(), commands);
}

pub(super) fn the_result_of_a_lost_attempt_comes_back_whole_up_to_its_bound(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let settle = |bytes: usize| InboxCommand::Settle {
        call: CallId(1),
        attempt: AttemptNo(2),
        end: SettleEnd::Answered {
            result: Payload::new((0..bytes).map(|at| at.to_le_bytes()[1]).collect::<Vec<_>>()),
            cost: None,
            client_retries: 0,
        },
    };
    let sizes = [0, 70_000, limits::PAYLOAD_BYTES_MAX];
    for (message, bytes) in (0..).zip(sizes) {
        assert_eq!(put(bench, message, settle(bytes)), Ok(Enqueued::New));
    }
    let bytes = limits::PAYLOAD_BYTES_MAX + 1;
    let refused = LedgerError::TooLarge {
        run: sample::run(1),
        bytes,
    };
    assert_eq!(put(bench, 9, settle(bytes)), Err(refused));
    bench.reopen();
    let inbox = bench.inbox(1).into_iter().map(|message| message.command);
    assert!(inbox.eq(sizes.map(settle)), "the results differ");
    let part = (0..3).fold(sample::next_part(1, 1), ack);
    assert_eq!(bench.commit(part), committed([2]));
    bench.reopen();
    assert!(bench.inbox(1).is_empty());
}

pub(super) fn runs_with_a_waiting_inbox_are_found_however_they_are_driven(bench: &mut Bench<'_>) {
    let drives = [
        sample::driven_by(1),
        sample::parked_until(5),
        Op::Drive(Drive::Parked { wake_at: None }),
        Op::Drive(Drive::Off),
    ];
    for (n, drive) in (1..).zip(drives) {
        bench.must(sample::start_part(n).with(drive));
        assert_eq!(bench.enqueue(n, 1), Ok(Enqueued::New));
        assert_eq!(bench.enqueue(n, 2), Ok(Enqueued::New));
    }
    bench.must(sample::start_part(9));
    bench.reopen();
    let found = |bench: &Bench<'_>, after: Option<u32>| {
        let page = bench.inboxes(after.map(sample::run));
        assert!(!page.more);
        page.rows
    };
    assert_eq!(found(bench, None), [1, 2, 3, 4].map(sample::run));
    assert_eq!(found(bench, Some(2)), [3, 4].map(sample::run));
    bench.must(ack(sample::next_part(2, 1), 2));
    bench.must(ack(ack(sample::next_part(3, 1), 1), 2));
    bench.reopen();
    assert_eq!(found(bench, None), [1, 2, 4].map(sample::run));
    assert!(found(bench, Some(4)).is_empty());
}
