//! Going down in order: nothing new starts, what is out may end, the rest is found again.
//!
//! Draining loses nothing: whatever is still out at the bound is durable as an attempt in flight,
//! and the next start asks what became of it.

use std::sync::Arc;

use mainstay_types::Millis;

use crate::companion;
use crate::mailbox::Message;
use crate::shared::Shared;

/// What a shutdown left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Runs that go on at the next start.
    pub open_runs: usize,
    /// Attempts and look-ups that were still out at the bound.
    pub out_at_bound: usize,
}

/// Drains within `bound`; an append that is under way is waited for, whatever it takes.
pub(crate) async fn drain(shared: &Arc<Shared>, bound: Millis) -> ShutdownReport {
    shared.stop();
    let timer = shared.ports.timers.sleep(bound);
    tokio::select! {
        biased;
        () = ended_by_themselves(shared) => {}
        () = timer => {}
    }
    let out_at_bound = shared.out();
    abandon(shared).await;
    // Whoever comes next need not wait for the lease to end.
    drop(shared.ledger.lease(shared.worker, None).await);
    companion::dismiss(shared).await;
    ShutdownReport {
        open_runs: shared.left_open(),
        out_at_bound,
    }
}

/// Lets go of every run at once; what is out is found again at the next start.
pub(crate) async fn abandon(shared: &Arc<Shared>) {
    shared.stop();
    for mailbox in shared.mailboxes() {
        mailbox.deliver(Message::Abandon).await;
    }
    all_ended(shared).await;
}

async fn ended_by_themselves(shared: &Shared) {
    for mailbox in shared.mailboxes() {
        mailbox.deliver(Message::Drain).await;
    }
    all_ended(shared).await;
}

async fn all_ended(shared: &Shared) {
    loop {
        let ended = shared.ended();
        tokio::pin!(ended);
        // Registered before looking, so that an end in between is not missed.
        ended.as_mut().enable();
        if shared.live_count() == 0 {
            return;
        }
        ended.await;
    }
}
