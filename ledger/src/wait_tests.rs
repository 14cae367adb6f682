//! Tests of those who wait: once each, in order, for later changes only.

use std::collections::BTreeSet;

use mainstay_types::Payload;
use proptest::prelude::*;

use super::*;
use crate::sample;

fn run(n: u32) -> RunId {
    sample::run(n)
}

#[test]
fn a_run_waits_once_and_since_it_last_looked() {
    let mut waiters = Waiters::default();
    assert!(waiters.register(run(2), 1) && waiters.register(run(1), 1));
    assert!(!waiters.register(run(2), 1));
    assert!(waiters.register(run(2), 3));
    assert_eq!(waiters.take(3, 9), [run(1)]);
    assert_eq!(waiters.take(4, 0), []);
    assert_eq!(waiters.take(4, 9), [run(2)]);
    assert!(waiters.is_empty());
}

#[test]
fn the_number_of_those_who_wait_is_bounded() {
    let bound = u32::try_from(limits::KEY_WAITERS_MAX).expect("the bound is small");
    let mut waiters = Waiters::default();
    assert!((0..bound).all(|n| waiters.register(run(n), 1)));
    assert!(!waiters.register(run(bound), 1));
    // Those who are known may look again.
    assert!(waiters.register(run(0), 2));
    assert_eq!(waiters.list().len(), limits::KEY_WAITERS_MAX);
}

#[test]
fn only_what_is_known_of_an_effect_settles_its_key() {
    let settled = [
        EntryState::Applied(Payload::from("1")),
        EntryState::PartlyApplied,
        EntryState::NotApplied,
    ];
    assert!(settled.iter().all(is_settled));
    assert!(
        ![EntryState::Open, EntryState::InDoubt]
            .iter()
            .any(is_settled)
    );
}

#[test]
fn word_of_another_key_version_or_run_has_another_id() {
    let keys = [sample::effect_key("a", 1), sample::effect_key("a", 2)];
    let mut ids = BTreeSet::new();
    for key in &keys {
        for version in [1, 2, 12] {
            for n in 0..3 {
                let id = wake_id(key, version, run(n));
                assert_eq!(id, wake_id(key, version, run(n)));
                assert!(ids.insert(id));
                assert_eq!((id.as_bytes()[6] >> 4, id.as_bytes()[8] >> 6), (8, 2));
            }
        }
    }
}

proptest! {
    #[test]
    fn nobody_is_told_twice_or_lost(
        moves in proptest::collection::vec((0u32..6, 0u64..5, any::<bool>()), 0..60),
    ) {
        let (mut waiters, mut told) = (Waiters::default(), 0);
        let mut registered = 0;
        for (n, version, takes) in moves {
            let before = waiters.list().len();
            if takes {
                let taken = waiters.take(version, 2);
                prop_assert!(taken.len() <= 2);
                told += taken.len();
                prop_assert_eq!(before, waiters.list().len() + taken.len());
            } else {
                waiters.register(run(n), version);
                registered += waiters.list().len() - before;
            }
            let runs: BTreeSet<_> = waiters.list().iter().map(|waiter| waiter.run).collect();
            prop_assert_eq!(runs.len(), waiters.list().len());
        }
        prop_assert_eq!(registered, told + waiters.list().len());
    }
}
