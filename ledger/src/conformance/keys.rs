//! Checks of keys that one run holds against another.
//!
//! An entry is told by a verdict to who wants it, and read by key by whoever asks: both say the
//! same.

use mainstay_machine::{EffectEntry, EntryState, RunState};
use mainstay_types::{Digest, EffectKey, Millis, Payload, Position, Seq, limits};

use super::{Bench, block_on, committed};
use crate::commit::{CommitRequest, HeldKey, Op, Part, Verdict};
use crate::sample;

fn key() -> EffectKey {
    sample::effect_key("PR-7", 0)
}

fn held(entry: EffectEntry, version: u64) -> Verdict {
    Verdict::KeyHeld(HeldKey::Effect {
        entry: Box::new(entry),
        version,
    })
}

fn held_start(n: u32, input: &str) -> Verdict {
    let input = Digest::of(input.as_bytes());
    Verdict::KeyHeld(HeldKey::Start {
        run: sample::run(n),
        input,
    })
}

/// The `n`-th run's next append, which also wants the entry.
fn wants(n: u32, seq: u64, entry: &EffectEntry) -> Part {
    sample::next_part(n, seq).with(sample::effect(entry.clone()))
}

fn start_two(bench: &Bench<'_>) {
    bench.must(CommitRequest {
        parts: vec![sample::start_part(1), sample::start_part(2)],
    });
}

pub(super) fn of_two_runs_wanting_one_effect_key_in_one_group_the_first_holds_it(
    bench: &mut Bench<'_>,
) {
    start_two(bench);
    let first = sample::entry(key(), 2, 4, EntryState::Open);
    let second = sample::entry(key(), 1, 4, EntryState::Open);
    let group = vec![wants(2, 1, &first).into(), wants(1, 1, &second).into()];
    assert_eq!(bench.group(group), [committed([2]), held(first.clone(), 1)]);
    bench.reopen();
    assert_eq!((bench.seq(1), bench.seq(2)), (Seq(1), Seq(2)));
    assert_eq!(bench.commit(wants(1, 1, &second)), held(first, 1));
}

pub(super) fn an_effect_key_is_held_whatever_its_entry_knows_but_not_applied(
    bench: &mut Bench<'_>,
) {
    start_two(bench);
    let states = [
        EntryState::Open,
        EntryState::InDoubt,
        EntryState::PartlyApplied,
        EntryState::Applied(Payload::from(r#"{"id":"T-1"}"#)),
        EntryState::Compensated,
    ];
    for (seq, state) in (1..).zip(states) {
        let entry = sample::entry(key(), 1, 4, state);
        bench.must(wants(1, seq, &entry));
        bench.reopen();
        let wanted = sample::entry(key(), 2, 4, EntryState::Open);
        assert_eq!(bench.commit(wants(2, 1, &wanted)), held(entry, seq));
    }
}

pub(super) fn an_entry_proven_not_applied_can_be_taken_by_another_run(bench: &mut Bench<'_>) {
    start_two(bench);
    bench.must(wants(1, 1, &sample::entry(key(), 1, 4, EntryState::Open)));
    bench.must(wants(
        1,
        2,
        &sample::entry(key(), 1, 4, EntryState::NotApplied),
    ));
    bench.reopen();
    let taken = sample::entry(key(), 2, 9, EntryState::Open);
    assert_eq!(bench.commit(wants(2, 1, &taken)), committed([2]));
    // From now on it is the other run's, for the first one too.
    let again = sample::entry(key(), 1, 4, EntryState::Open);
    assert_eq!(bench.commit(wants(1, 3, &again)), held(taken, 3));
}

pub(super) fn an_entry_that_nobody_settled_can_be_taken_over_as_it_stands(bench: &mut Bench<'_>) {
    start_two(bench);
    let over = |version| {
        let entry = sample::entry(key(), 2, 4, EntryState::InDoubt);
        let memory = Millis::new(limits::KEY_MEMORY_MS_DEFAULT);
        sample::next_part(2, 1).with(Op::Effect {
            entry,
            memory,
            over: Some(version),
        })
    };
    bench.must(wants(1, 1, &sample::entry(key(), 1, 4, EntryState::Open)));
    let doubt = sample::entry(key(), 1, 4, EntryState::InDoubt);
    bench.must(wants(1, 2, &doubt));
    bench.reopen();
    // Another than was looked at stays as it is.
    assert_eq!(bench.commit(over(1)), held(doubt, 2));
    assert_eq!(bench.commit(over(2)), committed([2]));
    bench.reopen();
    let taken = sample::entry(key(), 2, 4, EntryState::InDoubt);
    let again = sample::entry(key(), 1, 4, EntryState::Open);
    assert_eq!(bench.commit(wants(1, 3, &again)), held(taken, 3));
}

pub(super) fn an_entry_that_is_settled_is_taken_over_by_nobody(bench: &mut Bench<'_>) {
    start_two(bench);
    let states = [
        EntryState::PartlyApplied,
        EntryState::Applied(Payload::from("[]")),
        EntryState::Compensated,
    ];
    for (seq, state) in (1..).zip(states) {
        let entry = sample::entry(key(), 1, 4, state);
        bench.must(wants(1, seq, &entry));
        let wanted = sample::next_part(2, 1).with(Op::Effect {
            entry: sample::entry(key(), 2, 4, EntryState::InDoubt),
            memory: Millis::new(limits::KEY_MEMORY_MS_DEFAULT),
            over: Some(seq),
        });
        assert_eq!(bench.commit(wanted), held(entry, seq));
    }
}

pub(super) fn the_same_run_and_call_may_change_its_entry(bench: &mut Bench<'_>) {
    start_two(bench);
    let applied = EntryState::Applied(Payload::from("[]"));
    bench.must(wants(1, 1, &sample::entry(key(), 1, 4, EntryState::Open)));
    let group = [EntryState::InDoubt, applied.clone()]
        .into_iter()
        .zip(2..)
        .map(|(state, seq)| wants(1, seq, &sample::entry(key(), 1, 4, state)).into());
    assert_eq!(
        bench.group(group.collect()),
        [committed([3]), committed([4])]
    );
    bench.reopen();
    let other = sample::entry(key(), 2, 4, EntryState::Open);
    let now = sample::entry(key(), 1, 4, applied);
    assert_eq!(bench.commit(wants(2, 1, &other)), held(now, 3));
}

pub(super) fn another_call_of_the_same_run_does_not_get_the_key(bench: &mut Bench<'_>) {
    start_two(bench);
    let first = sample::entry(key(), 1, 4, EntryState::Open);
    bench.must(wants(1, 1, &first));
    let second = sample::entry(key(), 1, 5, EntryState::Open);
    assert_eq!(bench.commit(wants(1, 2, &second)), held(first, 1));
}

pub(super) fn effect_keys_are_compared_in_full(bench: &mut Bench<'_>) {
    start_two(bench);
    bench.must(wants(1, 1, &sample::entry(key(), 1, 4, EntryState::Open)));
    let others = [
        EffectKey {
            tenant: sample::tenant("other"),
            ..key()
        },
        EffectKey {
            position: Position::Slot(0),
            ..key()
        },
        sample::effect_key("PR-7", 1),
        sample::effect_key("PR-70", 0),
        sample::effect_key("PR-7 ", 0),
    ];
    for (seq, other) in (1..).zip(others) {
        let entry = sample::entry(other, 2, 4, EntryState::Open);
        assert_eq!(
            bench.commit(wants(2, seq, &entry)),
            committed([seq + 1]),
            "{}",
            entry.key
        );
    }
}

pub(super) fn an_entry_is_read_by_its_key_as_a_verdict_tells_it(bench: &mut Bench<'_>) {
    let read = |bench: &Bench<'_>, key: EffectKey| {
        block_on(bench.ledger().effect(key)).expect("an entry that can be read")
    };
    start_two(bench);
    assert_eq!(read(bench, key()), None);
    let states = [
        EntryState::Open,
        EntryState::InDoubt,
        EntryState::PartlyApplied,
        EntryState::NotApplied,
        EntryState::Applied(Payload::from(r#"{"id":"T-1"}"#)),
    ];
    for (seq, state) in (1..).zip(states) {
        let entry = sample::entry(key(), 1, 4, state);
        bench.must(wants(1, seq, &entry));
        assert_eq!(read(bench, key()), Some((entry.clone(), seq)));
        bench.reopen();
        assert_eq!(read(bench, key()), Some((entry, seq)));
    }
    let other = EffectKey {
        position: Position::Slot(1),
        ..key()
    };
    assert_eq!(read(bench, other), None, "the key of another position");
}

pub(super) fn a_start_key_stands_for_one_run_of_one_tenant(bench: &mut Bench<'_>) {
    let find = |bench: &Bench<'_>, tenant: &str, key: &str| {
        let (tenant, key) = (sample::tenant(tenant), sample::start_key(key));
        block_on(bench.ledger().start_key(tenant, key)).expect("a key that can be read")
    };
    assert_eq!(find(bench, "acme", "k"), None);
    bench.must(sample::start_part(1).with(sample::take_start_key("k", "input")));
    bench.reopen();
    assert_eq!(
        find(bench, "acme", "k"),
        Some((sample::run(1), Digest::of(b"input")))
    );
    assert_eq!(find(bench, "other", "k"), None);
    assert_eq!(find(bench, "acme", "k2"), None);
    for input in ["input", "another input"] {
        let second = sample::start_part(2).with(sample::take_start_key("k", input));
        assert_eq!(bench.commit(second), held_start(1, "input"));
    }
    assert!(bench.load(2).is_none());
    let other_tenant = Op::StartKey {
        tenant: sample::tenant("other"),
        key: sample::start_key("k"),
        input: Digest::of(b"input"),
    };
    assert_eq!(
        bench.commit(sample::start_part(2).with(other_tenant)),
        committed([1])
    );
}

pub(super) fn of_two_runs_starting_with_one_key_in_one_group_the_first_gets_it(
    bench: &mut Bench<'_>,
) {
    let start = |n, input| {
        sample::start_part(n)
            .with(sample::take_start_key("k", input))
            .into()
    };
    let verdicts = bench.group(vec![start(2, "a"), start(1, "b"), start(3, "a")]);
    assert_eq!(
        verdicts,
        [committed([1]), held_start(2, "a"), held_start(2, "a")]
    );
    bench.reopen();
    assert!(bench.load(1).is_none() && bench.load(3).is_none());
    assert_eq!(bench.seq(2), Seq(1));
}

pub(super) fn a_request_sees_the_keys_it_takes_itself(bench: &mut Bench<'_>) {
    start_two(bench);
    let first = sample::entry(key(), 1, 4, EntryState::Open);
    let second = sample::entry(key(), 2, 4, EntryState::Open);
    let parts = vec![wants(1, 1, &first), wants(2, 1, &second)];
    assert_eq!(bench.commit(CommitRequest { parts }), held(first, 1));
    let start = |n| sample::start_part(n).with(sample::take_start_key("k", "a"));
    let parts = vec![start(3), start(4)];
    assert_eq!(bench.commit(CommitRequest { parts }), held_start(3, "a"));
    assert_eq!((bench.seq(1), bench.seq(2)), (Seq(1), Seq(1)));
    assert!(bench.load(3).is_none() && bench.load(4).is_none());
}

pub(super) fn a_held_key_writes_nothing(bench: &mut Bench<'_>) {
    start_two(bench);
    let first = sample::entry(key(), 1, 4, EntryState::Open);
    bench.must(wants(1, 1, &first));
    let free = sample::entry(sample::effect_key("PR-8", 0), 2, 3, EntryState::Open);
    let part = sample::next_part(2, 1)
        .with(sample::effect(free))
        .with(sample::driven_by(1))
        .with(Op::Summary(sample::summary(2, RunState::Running)))
        .with(sample::effect(sample::entry(key(), 2, 4, EntryState::Open)));
    assert_eq!(bench.commit(part), held(first, 1));
    bench.reopen();
    assert_eq!(bench.seq(2), Seq(1));
    assert!(bench.driven(None).rows.is_empty());
    assert!(bench.runs(Default::default(), None).rows.is_empty());
    let own = sample::entry(sample::effect_key("PR-8", 0), 1, 4, EntryState::Open);
    assert_eq!(bench.commit(wants(1, 2, &own)), committed([3]));
}
