//! Who drives the disk: one of those who wait for it, and another one when that one is dropped.

use std::future::{pending, poll_fn};
use std::task::Poll;

use mainstay_types::{Millis, Timers};

use super::{Moment, Shared};

/// The right to drive the disk, given back on drop.
pub(super) struct Lead<'a>(&'a Shared);

impl<'a> Lead<'a> {
    /// `None` while another one has it.
    pub(super) fn take(shared: &'a Shared) -> Option<Self> {
        let mut disk = shared.disk.lock();
        let is_free = !std::mem::replace(&mut disk.is_led, true);
        is_free.then(|| Self(shared))
    }

    /// Drives one group to its end; goes on with one that another driver left behind.
    pub(super) async fn group(&self) {
        let is_under_way = self.0.disk.lock().flight.is_some();
        if !is_under_way {
            // Whoever else asks at this moment is of the same group.
            once_around().await;
        }
        let latency = {
            let mut disk = self.0.disk.lock();
            if disk.flight.is_none() && !disk.begin() {
                return;
            }
            disk.trouble.latency
        };
        self.stand_still_at(Moment::Before).await;
        if !self.0.disk.lock().refuses() {
            self.pass(latency.write).await;
            self.0.disk.lock().write();
        }
        self.stand_still_at(Moment::Written).await;
        self.pass(latency.sync).await;
        let shared = self.0;
        shared.disk.lock().sync(|wish| shared.carry_out(wish));
        self.stand_still_at(Moment::Synced).await;
        self.pass(latency.tell).await;
        self.0.disk.lock().tell();
    }

    /// Waits for ever when the process is to die at this moment of this group.
    async fn stand_still_at(&self, moment: Moment) {
        let is_here = self.0.disk.lock().stops_at(moment);
        if is_here {
            self.0.disk.lock().stands_still = true;
            self.0.reached.notify_one();
            pending().await
        }
    }

    async fn pass(&self, time: Millis) {
        if Millis::ZERO < time {
            self.0.timers.sleep(time).await;
        }
    }
}

/// Lets everybody who can go on do so once.
async fn once_around() {
    let mut has_been = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_been, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.0.disk.lock().is_led = false;
        self.0.moved.notify_waiters();
    }
}
