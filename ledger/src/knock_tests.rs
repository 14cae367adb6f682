//! Tests of a subscription by itself: who is woken, what is kept, what is dropped.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Wake;

use super::*;
use crate::conformance::block_on;
use crate::sample;

#[derive(Default)]
struct Counting(AtomicU32);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn for_run(n: u32) -> Knocked {
    Knocked {
        runs: BTreeSet::from([sample::run(n)]),
        ..Knocked::default()
    }
}

#[test]
fn a_subscriber_that_waits_is_woken_once_and_takes_all_that_came_up() {
    let (knocker, counting) = (Knocker::default(), Arc::new(Counting::default()));
    let waker = Waker::from(Arc::clone(&counting));
    let mut context = Context::from_waker(&waker);
    let mut knocks = knocker.subscribe();
    assert!(knocks.poll_next(&mut context).is_pending());
    knocker.knock(&Knocked::default());
    assert_eq!(counting.0.load(Ordering::Relaxed), 0);
    for n in [2, 1, 2] {
        knocker.knock(&for_run(n));
    }
    assert_eq!(counting.0.load(Ordering::Relaxed), 1);
    let mut both = for_run(1);
    both.absorb(&for_run(2));
    assert_eq!(knocks.poll_next(&mut context), Poll::Ready(both));
    assert!(knocks.poll_next(&mut context).is_pending());
}

#[test]
fn a_future_that_is_dropped_has_taken_nothing() {
    let knocker = Knocker::default();
    let mut knocks = knocker.subscribe();
    {
        let mut next = pin!(knocks.next());
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        knocker.knock(&for_run(1));
    }
    assert_eq!(block_on(knocks.next()), for_run(1));
}

#[test]
fn subscribers_that_are_gone_are_forgotten() {
    let knocker = Knocker::default();
    let stays = knocker.subscribe();
    for _ in 0..100 {
        drop(knocker.subscribe());
    }
    assert!(knocker.0.lock().len() <= 2);
    knocker.knock(&for_run(1));
    assert_eq!(knocker.0.lock().len(), 1);
    drop(stays);
}

#[test]
fn what_came_up_is_absorbed_within_its_bound() {
    let bound = u32::try_from(limits::KNOCKS_MAX).expect("the bound is small");
    let mut all = Knocked::default();
    for n in 0..bound {
        all.absorb(&for_run(n));
    }
    assert_eq!((all.runs.len(), all.rescan), (limits::KNOCKS_MAX, false));
    all.absorb(&for_run(0));
    assert!(!all.rescan, "a run that is known takes no room");
    all.absorb(&for_run(bound));
    assert!(all.rescan && all.runs.is_empty());
    all.absorb(&for_run(1));
    assert!(all.runs.is_empty(), "everything is looked at anyway");
    let mut later = for_run(7);
    later.absorb(&all);
    assert!(later.rescan && later.runs.is_empty());
}
