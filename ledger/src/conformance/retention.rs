//! Checks of what a ledger may forget, and what it never may.
//!
//! A backend that never forgets passes: forgetting saves room and changes no answer that somebody
//! can still ask for.

use mainstay_machine::{EffectEntry, EntryState, RunState};
use mainstay_types::{Millis, Payload, Seq, Timestamp};

use super::{Bench, committed};
use crate::commit::{HeldKey, Op, Part, Verdict};
use crate::sample;

const MEMORY: Millis = Millis::new(1_000);

/// Longer than anything is remembered that may be forgotten.
fn in_a_century() -> Timestamp {
    sample::at(0) + Millis::from_days(36_525)
}

fn entry(n: u32, state: EntryState, at: Timestamp) -> EffectEntry {
    let key = sample::effect_key("PR-7", 0);
    EffectEntry {
        at,
        ..sample::entry(key, n, 4, state)
    }
}

/// The `n`-th run's next append, which also writes the entry, to be remembered for `MEMORY`.
fn writes(n: u32, seq: u64, entry: EffectEntry) -> Part {
    let memory = MEMORY;
    sample::next_part(n, seq).with(Op::Effect {
        entry,
        memory,
        over: None,
    })
}

fn applied() -> EntryState {
    EntryState::Applied(Payload::from(r#"{"id":"T-1"}"#))
}

/// What is known of the key; `probe` is a run that is not there yet.
fn known(bench: &Bench<'_>, probe: u32) -> Option<EffectEntry> {
    let key = sample::effect_key("PR-7", 0);
    let version = u64::MAX;
    match bench.commit(sample::start_part(probe).with(Op::Wait { key, version })) {
        Verdict::KeyHeld(HeldKey::Effect { entry, .. }) => Some(*entry),
        Verdict::Committed(_) => None,
        other @ (Verdict::Stale { .. }
        | Verdict::KeyHeld(HeldKey::Start { .. })
        | Verdict::Full) => panic!("a wait was answered {other:?}"),
    }
}

pub(super) fn a_key_whose_outcome_is_known_is_remembered_for_its_time(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let entry = entry(1, applied(), sample::at(500));
    bench.must(writes(1, 1, entry.clone()));
    bench.forget(sample::at(1_499));
    assert_eq!(known(bench, 2), Some(entry.clone()));
    let forgets = bench.forget(sample::at(1_500));
    bench.reopen();
    let left = (!forgets).then_some(entry);
    assert_eq!(known(bench, 3), left);
}

pub(super) fn a_key_that_is_settled_again_is_remembered_from_then_on(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    let states = [EntryState::PartlyApplied, EntryState::InDoubt, applied()];
    for (seq, state) in (1..).zip(states) {
        let at = sample::at(1_000 * seq);
        let entry = entry(1, state, at);
        bench.must(writes(1, seq, entry.clone()));
        // By then what was known before would be gone.
        bench.forget(at + Millis::new(999));
        bench.reopen();
        assert_eq!(known(bench, 2), Some(entry));
    }
}

pub(super) fn a_key_that_is_open_or_in_doubt_is_never_forgotten(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1));
    for (seq, state) in [(1, EntryState::Open), (2, EntryState::InDoubt)] {
        let entry = entry(1, state, sample::at(500));
        bench.must(writes(1, seq, entry.clone()));
        bench.forget(in_a_century());
        bench.reopen();
        assert_eq!(known(bench, 2), Some(entry));
    }
}

pub(super) fn an_open_run_and_its_start_key_are_never_forgotten(bench: &mut Bench<'_>) {
    let taken = || sample::take_start_key("2026-11", "{}");
    let summary = Op::Summary(sample::summary(1, RunState::Waiting));
    bench.must(sample::start_part(1).with(taken()).with(summary));
    bench.must(sample::next_part(1, 1));
    bench.forget(in_a_century());
    bench.reopen();
    assert_eq!(bench.seq(1), Seq(2));
    let again = bench.commit(sample::start_part(2).with(taken()));
    let held =
        matches!(again, Verdict::KeyHeld(HeldKey::Start { run, .. }) if run == sample::run(1));
    assert!(held, "{again:?}");
    assert_eq!(bench.commit(sample::next_part(1, 2)), committed([3]));
}
