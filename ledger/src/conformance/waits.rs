//! Checks of runs that wait for a key another run holds: told exactly once, in the commit that
//! settles it, and never at the cost of that commit.

use mainstay_machine::EntryState;
use mainstay_types::{EffectKey, MessageId, Payload, limits};

use super::concurrent::{at_once, commit};
use super::reads::start_many;
use super::{Bench, committed};
use crate::commit::{CommitRequest, HeldKey, Op, Part, Verdict};
use crate::inbox::{Enqueued, InboxCommand, InboxMessage};
use crate::sample;
use crate::wait::wake_id;

fn key(item: u32) -> EffectKey {
    sample::effect_key("PR-7", item)
}

fn applied() -> EntryState {
    EntryState::Applied(Payload::from(r#"{"id":"T-1"}"#))
}

/// A part of the `n`-th run without events, as it stands after its start.
pub(super) fn quiet(n: u32) -> Part {
    Part {
        events: Vec::new(),
        ..sample::next_part(n, 1)
    }
}

/// The `n`-th run writes the entry of `item` in this state.
pub(super) fn writes(n: u32, item: u32, state: EntryState) -> Op {
    sample::effect(sample::entry(key(item), n, n, state))
}

pub(super) fn waits(item: u32, version: u64) -> Op {
    Op::Wait {
        key: key(item),
        version,
    }
}

/// The message that tells the `n`-th run of the change of `item` to `version`.
pub(super) fn word(n: u32, item: u32, version: u64) -> InboxMessage {
    InboxMessage {
        id: wake_id(&key(item), version, sample::run(n)),
        command: InboxCommand::KeySettled { key: key(item) },
    }
}

/// Runs 0 to `count`, of which the first holds `items` keys.
fn start_held(bench: &Bench<'_>, count: u32, items: u32) {
    start_many(bench, count, sample::driven_by);
    let ops = (0..items).map(|item| writes(0, item, EntryState::Open));
    bench.must(Part {
        ops: ops.collect(),
        ..quiet(0)
    });
}

pub(super) fn those_who_wait_are_told_once_in_the_commit_that_settles(bench: &mut Bench<'_>) {
    for (item, state) in (0..).zip([applied(), EntryState::PartlyApplied, EntryState::NotApplied]) {
        let n = item * 3;
        start_many_from(bench, n);
        bench.must(quiet(n).with(writes(n, item, EntryState::Open)));
        for waiter in [n + 2, n + 1, n + 2] {
            assert_eq!(
                bench.commit(quiet(waiter).with(waits(item, 1))),
                committed([1])
            );
        }
        bench.must(quiet(n).with(writes(n, item, EntryState::InDoubt)));
        bench.reopen();
        assert!(bench.inbox(n + 1).is_empty(), "a doubt settles nothing");
        let settling = vec![
            quiet(n).with(writes(n, item, state.clone())).into(),
            // A later request of the group finds the message already.
            quiet(n + 2)
                .with(Op::InboxAck(word(n + 2, item, 3).id))
                .into(),
        ];
        assert_eq!(bench.group(settling), [committed([1]), committed([1])]);
        assert!(bench.inbox(n).is_empty() && bench.inbox(n + 2).is_empty());
        assert_eq!(bench.inbox(n + 1), [word(n + 1, item, 3)]);
        // Nobody waits any more.
        bench.must(quiet(n).with(writes(n, item, state)));
        bench.reopen();
        assert_eq!(bench.inbox(n + 1), [word(n + 1, item, 3)]);
        assert!(bench.inbox(n + 2).is_empty());
    }
}

fn start_many_from(bench: &Bench<'_>, first: u32) {
    for n in first..first + 3 {
        bench.must(sample::start_part(n));
    }
}

pub(super) fn a_wait_for_an_older_version_is_answered_with_the_entry(bench: &mut Bench<'_>) {
    start_held(bench, 2, 1);
    bench.must(quiet(0).with(writes(0, 0, applied())));
    let held = |state, version| {
        let entry = Box::new(sample::entry(key(0), 0, 0, state));
        Verdict::KeyHeld(HeldKey::Effect { entry, version })
    };
    for version in [0, 1, 3, u64::MAX] {
        let part = sample::next_part(1, 1).with(waits(0, version));
        assert_eq!(bench.commit(part), held(applied(), 2), "version {version}");
    }
    // What an earlier part of the same request changes counts.
    let request = CommitRequest {
        parts: vec![
            quiet(0).with(writes(0, 0, EntryState::PartlyApplied)),
            quiet(1).with(waits(0, 2)),
        ],
    };
    assert_eq!(bench.commit(request), held(EntryState::PartlyApplied, 3));
    let same = CommitRequest {
        parts: vec![
            quiet(0).with(writes(0, 0, EntryState::PartlyApplied)),
            quiet(1).with(waits(0, 3)),
        ],
    };
    assert_eq!(bench.commit(same), committed([1, 1]));
    bench.reopen();
    // It waits for what comes after the change it has seen.
    assert!(bench.inbox(1).is_empty());
    bench.must(quiet(0).with(writes(0, 0, applied())));
    assert_eq!(bench.inbox(1), [word(1, 0, 4)]);
}

pub(super) fn nobody_waits_for_a_key_that_has_no_entry(bench: &mut Bench<'_>) {
    start_held(bench, 2, 0);
    for version in [0, 1] {
        let part = quiet(1).with(waits(0, version));
        assert_eq!(bench.commit(part), committed([1]));
    }
    bench.must(quiet(0).with(writes(0, 0, applied())));
    bench.reopen();
    assert!(bench.inbox(1).is_empty());
}

pub(super) fn a_refused_commit_neither_waits_nor_wakes(bench: &mut Bench<'_>) {
    start_held(bench, 3, 1);
    bench.must(quiet(1).with(waits(0, 1)));
    let stale = |n: u32, op| {
        let part = Part {
            expected_seq: mainstay_types::Seq(9),
            ..quiet(n)
        };
        part.with(op)
    };
    for part in [stale(2, waits(0, 1)), stale(0, writes(0, 0, applied()))] {
        let verdict = bench.commit(part);
        assert!(matches!(verdict, Verdict::Stale { .. }), "{verdict:?}");
    }
    bench.reopen();
    assert!(bench.inbox(1).is_empty());
    bench.must(quiet(0).with(writes(0, 0, applied())));
    assert_eq!(bench.inbox(1), [word(1, 0, 2)]);
    assert!(bench.inbox(2).is_empty());
}

pub(super) fn of_too_many_waiting_runs_the_first_are_told(bench: &mut Bench<'_>) {
    let max = u32::try_from(limits::KEY_WAITERS_MAX).expect("the bound is small");
    start_held(bench, max + 3, 1);
    // From the last to the first, so that order is not that of ids.
    for n in (1..max + 3).rev() {
        assert_eq!(bench.commit(quiet(n).with(waits(0, 1))), committed([1]));
    }
    bench.must(quiet(0).with(writes(0, 0, EntryState::PartlyApplied)));
    bench.reopen();
    bench.must(quiet(0).with(writes(0, 0, applied())));
    for n in 1..max + 3 {
        let told = 2 < n;
        assert_eq!(bench.inbox(n).len(), usize::from(told), "run {n}");
    }
}

pub(super) fn one_commit_wakes_a_bounded_number_and_the_rest_go_on_waiting(bench: &mut Bench<'_>) {
    let waiters = u32::try_from(limits::KEY_WAITERS_MAX).expect("the bound is small");
    let wakes = u32::try_from(limits::KEY_WAKES_MAX).expect("the bound is small");
    let items = wakes / waiters + 2;
    start_held(bench, waiters + 1, items);
    for n in 1..=waiters {
        let ops = (0..items).map(|item| waits(item, 1));
        bench.must(Part {
            ops: ops.collect(),
            ..quiet(n)
        });
    }
    let settle = |state: EntryState| Part {
        ops: (0..items)
            .map(|item| writes(0, item, state.clone()))
            .collect(),
        ..quiet(0)
    };
    bench.must(settle(EntryState::PartlyApplied));
    bench.reopen();
    let told = |bench: &Bench<'_>, n| {
        let inbox = bench.inbox(n).into_iter();
        inbox.map(|message| message.id).collect::<Vec<MessageId>>()
    };
    let first: Vec<MessageId> = (0..wakes / waiters)
        .map(|item| word(1, item, 2).id)
        .collect();
    assert_eq!(told(bench, 1), first);
    bench.must(settle(applied()));
    let rest = (wakes / waiters..items).map(|item| word(waiters, item, 3).id);
    let all: Vec<_> = (0..wakes / waiters)
        .map(|item| word(waiters, item, 2).id)
        .chain(rest)
        .collect();
    assert_eq!(told(bench, waiters), all);
}

pub(super) fn a_full_inbox_does_not_hold_up_the_commit_that_settles(bench: &mut Bench<'_>) {
    start_held(bench, 3, 1);
    let bound = u32::try_from(limits::INBOX_COMMANDS_MAX).expect("the bound is small");
    for message in 0..bound {
        assert_eq!(bench.enqueue(1, message), Ok(Enqueued::New));
    }
    for n in [1, 2] {
        bench.must(quiet(n).with(waits(0, 1)));
    }
    bench.must(quiet(0).with(writes(0, 0, EntryState::PartlyApplied)));
    assert_eq!(bench.inbox(2), [word(2, 0, 2)]);
    assert_eq!(bench.inbox(1).len(), limits::INBOX_COMMANDS_MAX);
    // It waits no more, so room that comes later is not for this.
    bench.must(quiet(1).with(Op::InboxAck(sample::message(0))));
    bench.must(quiet(0).with(writes(0, 0, applied())));
    assert_eq!(bench.inbox(1).len(), limits::INBOX_COMMANDS_MAX - 1);
}

pub(super) fn no_settling_falls_between_looking_and_waiting(bench: &mut Bench<'_>) {
    for item in 0..6 {
        let first = item * 8;
        for n in first..first + 8 {
            bench.must(sample::start_part(n));
        }
        bench.must(quiet(first).with(writes(first, item, EntryState::Open)));
        let ledger = bench.ledger();
        let verdicts = at_once(|thread| match thread {
            0 => commit(ledger, quiet(first).with(writes(first, item, applied()))),
            n => commit(ledger, quiet(first + n).with(waits(item, 1))),
        });
        for (n, verdict) in (first..).zip(verdicts).skip(1) {
            let told = bench.inbox(n);
            match verdict {
                Verdict::Committed(_) => assert_eq!(told, [word(n, item, 2)]),
                Verdict::KeyHeld(HeldKey::Effect { entry, version }) => {
                    assert_eq!((entry.state, version), (applied(), 2));
                    assert!(told.is_empty(), "run {n} was told twice");
                }
                other @ (Verdict::KeyHeld(HeldKey::Start { .. })
                | Verdict::Stale { .. }
                | Verdict::Full) => panic!("{other:?}"),
            }
        }
    }
}
