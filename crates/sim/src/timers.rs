//! Timers in virtual time: who is due first wakes first; who is due together wakes in the order
//! the sleeps were made.
//!
//! They follow the monotonic side of the clock, so a jump of the wall neither fires nor delays
//! one. They must never let time pass by themselves: somebody advances them.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use mainstay_types::{BoxFuture, Clock, Millis, Timers};

use crate::clock::VirtualClock;
use crate::lock::lock;

/// A handle on virtual timers; clones share the sleeps.
#[derive(Clone, Debug)]
pub struct VirtualTimers {
    clock: VirtualClock,
    sleeps: Arc<Mutex<Sleeps>>,
}

/// When a sleep is due, and the how-manieth it is.
type Key = (Millis, u64);

#[derive(Debug, Default)]
struct Sleeps {
    made: u64,
    /// Who has not been woken yet; `None` before the first poll.
    waiting: BTreeMap<Key, Option<Waker>>,
}

impl VirtualTimers {
    /// Timers that move `clock`.
    #[must_use]
    pub fn new(clock: VirtualClock) -> Self {
        Self {
            clock,
            sleeps: Arc::default(),
        }
    }

    /// The clock they move.
    #[must_use]
    pub const fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// How many sleeps have neither ended nor been dropped.
    #[must_use]
    pub fn waiting(&self) -> usize {
        lock(&self.sleeps).waiting.len()
    }

    /// When the next sleep is due, on the monotonic clock.
    #[must_use]
    pub fn next_due(&self) -> Option<Millis> {
        lock(&self.sleeps)
            .waiting
            .keys()
            .next()
            .map(|&(due, _)| due)
    }

    /// Lets `by` pass and ends every sleep that is due by then, each at its own moment, in order.
    ///
    /// What they wake runs afterwards, when somebody polls it, and then sees the end of `by`. Where
    /// sleepers sleep again inside of `by`, use [`crate::Executor::run_for`].
    pub fn advance(&self, by: Millis) {
        self.advance_to(self.clock.monotonic() + by);
    }

    /// Lets time pass until the next sleep ends; `false` when nobody sleeps.
    pub fn advance_to_next(&self) -> bool {
        let Some(due) = self.next_due() else {
            return false;
        };
        self.advance_to(due);
        true
    }

    /// Lets time pass until the monotonic moment `to`, see [`VirtualTimers::advance`].
    pub fn advance_to(&self, to: Millis) {
        while let Some((due, waker)) = self.take_due(to) {
            self.clock.move_to(due);
            // Outside of the lock: a waker is somebody else's code.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        self.clock.move_to(to);
    }

    fn take_due(&self, by: Millis) -> Option<(Millis, Option<Waker>)> {
        let mut sleeps = lock(&self.sleeps);
        let first = sleeps.waiting.first_entry()?;
        let due = first.key().0;
        (due <= by).then(|| (due, first.remove()))
    }
}

impl Timers for VirtualTimers {
    /// Counts from this call, not from the first poll, like the port says.
    fn sleep(&self, length: Millis) -> BoxFuture<'static, ()> {
        let mut sleeps = lock(&self.sleeps);
        let key = (self.clock.monotonic() + length, sleeps.made);
        sleeps.made += 1;
        sleeps.waiting.insert(key, None);
        Box::pin(Sleep {
            key,
            sleeps: Arc::clone(&self.sleeps),
        })
    }
}

struct Sleep {
    key: Key,
    sleeps: Arc<Mutex<Sleeps>>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match lock(&self.sleeps).waiting.get_mut(&self.key) {
            None => Poll::Ready(()),
            Some(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        // Taken out first and dropped outside of the lock: it may own somebody else's future.
        let waker = lock(&self.sleeps).waiting.remove(&self.key);
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use mainstay_types::Timestamp;

    use super::*;

    /// Writes its number down when it is woken.
    struct Mark(u32, Arc<Mutex<Vec<(u32, Millis)>>>, VirtualClock);

    impl Wake for Mark {
        fn wake(self: Arc<Self>) {
            lock(&self.1).push((self.0, self.2.monotonic()));
        }
    }

    fn timers() -> VirtualTimers {
        VirtualTimers::new(VirtualClock::new(Timestamp::from_millis(0)))
    }

    fn poll(sleep: &mut BoxFuture<'static, ()>, waker: &Waker) -> bool {
        sleep
            .as_mut()
            .poll(&mut Context::from_waker(waker))
            .is_ready()
    }

    #[test]
    fn sleeps_end_by_due_time_and_then_in_the_order_they_were_made() {
        let timers = timers();
        let woken = Arc::default();
        let mut sleeps: Vec<_> = [30, 10, 20, 10]
            .into_iter()
            .zip(0..)
            .map(|(ms, number)| {
                let mark = Mark(number, Arc::clone(&woken), timers.clock().clone());
                let mut sleep = timers.sleep(Millis::new(ms));
                assert!(!poll(&mut sleep, &Arc::new(mark).into()));
                sleep
            })
            .collect();
        timers.advance(Millis::new(20));
        let at = Millis::new;
        assert_eq!(*lock(&woken), [(1, at(10)), (3, at(10)), (2, at(20))]);
        let ended: Vec<_> = sleeps.iter_mut().map(|s| poll(s, Waker::noop())).collect();
        assert_eq!(ended, [false, true, true, true]);
        assert_eq!((timers.waiting(), timers.next_due()), (1, Some(at(30))));
    }

    #[test]
    fn a_dropped_sleep_is_gone_and_wakes_nobody() {
        let timers = timers();
        let woken = Arc::default();
        let mut sleep = timers.sleep(Millis::new(5));
        let mark = Mark(1, Arc::clone(&woken), timers.clock().clone());
        assert!(!poll(&mut sleep, &Arc::new(mark).into()));
        drop(sleep);
        assert_eq!((timers.waiting(), timers.advance_to_next()), (0, false));
        timers.advance(Millis::new(50));
        assert!(lock(&woken).is_empty());
    }

    #[test]
    fn a_sleep_counts_from_its_making_and_zero_is_over_at_once_after_advancing() {
        let timers = timers();
        let mut unpolled = timers.sleep(Millis::new(10));
        timers.advance(Millis::new(9));
        let mut none = timers.sleep(Millis::ZERO);
        assert!(!poll(&mut unpolled, Waker::noop()));
        timers.advance(Millis::new(1));
        assert!(poll(&mut unpolled, Waker::noop()) && poll(&mut none, Waker::noop()));
    }

    #[test]
    fn a_jump_of_the_wall_neither_fires_nor_delays_a_sleep() {
        let timers = timers();
        let mut sleep = timers.sleep(Millis::from_mins(10));
        timers.clock().jump_forward(Millis::from_hours(2));
        timers.advance(Millis::from_mins(9));
        assert!(!poll(&mut sleep, Waker::noop()));
        timers.clock().jump_back(Millis::from_hours(5));
        timers.advance(Millis::from_mins(1));
        assert!(poll(&mut sleep, Waker::noop()));
    }
}
