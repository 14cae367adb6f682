//! Knocks: a hint to engines that something waits for a run, or that there are new alerts.
//!
//! Never needed for correctness: what a knock is about is durable and found by reading. It must
//! neither hold up a commit nor grow without bound, whatever its subscribers do.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use mainstay_types::{RunId, limits};
use parking_lot::Mutex;

/// What came up since the last time, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knocked {
    /// Runs whose inbox got a message. At most `limits::KNOCKS_MAX`.
    pub runs: BTreeSet<RunId>,
    /// Whether there are new alerts.
    pub alerts: bool,
    /// More runs than that were knocked for, and `runs` does not name them: look at
    /// [`Ledger::inboxes`](crate::Ledger::inboxes).
    pub rescan: bool,
}

impl Knocked {
    /// Whether nothing came up.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && !self.alerts && !self.rescan
    }

    /// Adds what came up later.
    pub fn absorb(&mut self, later: &Self) {
        self.alerts |= later.alerts;
        self.rescan |= later.rescan;
        if !self.rescan {
            self.runs.extend(&later.runs);
            self.rescan = limits::KNOCKS_MAX < self.runs.len();
        }
        if self.rescan {
            self.runs.clear();
        }
    }
}

/// One subscription. Knocks that nobody takes are kept together as one.
#[derive(Debug)]
pub struct Knocks(Arc<Mutex<Door>>);

#[derive(Debug, Default)]
struct Door {
    knocked: Knocked,
    waker: Option<Waker>,
}

impl Knocks {
    /// What came up since the last answer; waits until there is something. It waits for ever once
    /// the ledger is gone.
    ///
    /// Cancel-safe: a dropped future has taken nothing.
    pub async fn next(&mut self) -> Knocked {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same by polling.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Knocked> {
        let mut door = self.0.lock();
        if door.knocked.is_empty() {
            match &mut door.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
            return Poll::Pending;
        }
        Poll::Ready(std::mem::take(&mut door.knocked))
    }
}

/// Where a backend knocks: once something is durable, never before.
#[derive(Debug, Default)]
pub struct Knocker(Mutex<Vec<Weak<Mutex<Door>>>>);

impl Knocker {
    /// A new subscription to what comes up from now on.
    #[must_use]
    pub fn subscribe(&self) -> Knocks {
        let door = Arc::default();
        let mut doors = self.0.lock();
        doors.retain(|door| 0 < door.strong_count());
        doors.push(Arc::downgrade(&door));
        Knocks(door)
    }

    /// Tells every subscriber.
    pub fn knock(&self, knocked: &Knocked) {
        if knocked.is_empty() {
            return;
        }
        let mut wakers = Vec::new();
        self.0.lock().retain(|door| {
            let Some(door) = door.upgrade() else {
                return false;
            };
            let mut door = door.lock();
            door.knocked.absorb(knocked);
            wakers.extend(door.waker.take());
            true
        });
        // Outside of the locks: a waker may run its task at once.
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
#[path = "knock_tests.rs"]
mod tests;
