//! Checks with several threads at once.
//!
//! They assert what must hold in every order, and start all threads from one barrier.

use std::sync::Barrier;
use std::thread;

use mainstay_types::Seq;

use super::{Bench, block_on, committed};
use crate::Ledger;
use crate::commit::{CommitRequest, HeldKey, Verdict};
use crate::sample;

pub(super) const THREADS: u32 = 8;
const APPENDS: u64 = 20;

pub(super) fn commit(ledger: &dyn Ledger, request: impl Into<CommitRequest>) -> Verdict {
    let verdicts = block_on(ledger.commit(vec![request.into()]));
    verdicts.expect("a ledger that commits").remove(0)
}

/// What each of the threads gets from `work`, which begins in all of them at once.
pub(super) fn at_once<T: Send>(work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(usize::try_from(THREADS).expect("a few threads"));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|n| {
                let (work, barrier) = (&work, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    work(n)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .collect()
    })
}

pub(super) fn commits_of_many_threads_are_all_kept(bench: &mut Bench<'_>) {
    let ledger = bench.ledger();
    at_once(|n| {
        assert_eq!(commit(ledger, sample::start_part(n)), committed([1]));
        for seq in 1..APPENDS {
            assert_eq!(
                commit(ledger, sample::next_part(n, seq)),
                committed([seq + 1])
            );
        }
    });
    assert_eq!(bench.ledger().appends(), u64::from(THREADS) * APPENDS);
    bench.reopen();
    for n in 0..THREADS {
        assert_eq!(bench.seq(n), Seq(APPENDS));
    }
}

pub(super) fn of_many_threads_starting_with_one_key_exactly_one_gets_it(bench: &mut Bench<'_>) {
    let ledger = bench.ledger();
    let verdicts = at_once(|n| {
        let start = sample::start_part(n).with(sample::take_start_key("k", "same"));
        commit(ledger, start)
    });
    let winners: Vec<u32> = (0..THREADS)
        .zip(&verdicts)
        .filter_map(|(n, verdict)| (*verdict == committed([1])).then_some(n))
        .collect();
    let [winner] = winners[..] else {
        panic!("not one winner: {verdicts:?}")
    };
    for (n, verdict) in (0..THREADS).zip(verdicts).filter(|(n, _)| *n != winner) {
        let Verdict::KeyHeld(HeldKey::Start { run, .. }) = verdict else {
            panic!("thread {n}: {verdict:?}")
        };
        assert_eq!(run, sample::run(winner));
    }
    bench.reopen();
    let there: Vec<u32> = (0..THREADS).filter(|n| bench.load(*n).is_some()).collect();
    assert_eq!(there, [winner]);
}
