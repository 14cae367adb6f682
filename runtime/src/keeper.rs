//! What an engine does beside driving its live runs: it brings runs into memory.
//!
//! Runs that were driven when their process ended, parked runs whose moment has come, runs somebody
//! asked something of, runs that were let go. Nothing depends on one pass: what could not be done
//! is done later, and whoever asks for a run gets it without waiting for its turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use mainstay_ledger::{Knocked, Knocks, LedgerError};
use mainstay_types::{Millis, RunId, Timers, Timestamp, limits};
use tokio_util::sync::CancellationToken;

use crate::mailbox::{Message, Offered};
use crate::shared::Shared;
use crate::take_up::{TakenUp, patiently, take_up};

/// The keeper of one engine. It does not keep its engine alive.
pub(crate) struct Keeper {
    engine: Weak<Shared>,
    stopped: CancellationToken,
    timers: Arc<dyn Timers>,
    /// What others say about the ledger.
    outside: Knocks,
    /// What the engine's own parts say.
    inside: Knocks,
    duties: Duties,
}

/// What is left to do.
#[derive(Default)]
struct Duties {
    /// A pass over the driven runs is under way, from after this one.
    scan: Option<Scan>,
    /// A pass over the waiting inboxes has to be made.
    inboxes: bool,
    /// Runs to look at.
    look: BTreeSet<RunId>,
    /// Runs to look at, from when.
    later: BTreeMap<RunId, Timestamp>,
    /// When what could not be done is tried again.
    again_at: Option<Timestamp>,
    /// When the next parked run wakes.
    wake_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Default)]
struct Scan {
    after: Option<RunId>,
}

impl Keeper {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            engine: Arc::downgrade(shared),
            stopped: shared.stopped.clone(),
            timers: Arc::clone(&shared.ports.timers),
            outside: shared.ledger.knocks(),
            inside: shared.keeper.listen(),
            duties: Duties {
                scan: Some(Scan::default()),
                inboxes: true,
                look: BTreeSet::new(),
                later: BTreeMap::new(),
                again_at: None,
                wake_at: Some(Timestamp::from_millis(i64::MIN)),
            },
        }
    }

    /// The first pass: every driven run of a registered class is taken up, as far as there is
    /// room. Reading that fails for a while is tried again; when it fails for good, so does this.
    pub(crate) async fn first(&mut self, shared: &Arc<Shared>) -> Result<(), LedgerError> {
        shared.note_aborts(patiently(shared, || shared.ledger.aborted()).await?);
        patiently(shared, || shared.hold_lease()).await?;
        let mut tries = 1;
        loop {
            match self.duties.round(shared).await {
                Err(LedgerError::Io { .. }) if tries < limits::RECOVERY_READS_MAX => {
                    let wait = Millis::new(limits::RETRY_AFTER_MS_DEFAULT);
                    self.timers.sleep(wait).await;
                    tries += 1;
                }
                end => return end,
            }
        }
    }

    /// Keeps until the engine stops or is gone.
    pub(crate) async fn keep(mut self) {
        while let Some(wait) = self.next_wait() {
            let timer = self.timers.sleep(wait);
            tokio::select! {
                biased;
                () = self.stopped.cancelled() => return,
                knocked = self.outside.next() => self.duties.note(&knocked),
                knocked = self.inside.next() => self.duties.note(&knocked),
                () = timer => {}
            }
            let Some(shared) = self.engine.upgrade() else {
                return;
            };
            self.work(&shared).await;
        }
    }

    async fn work(&mut self, shared: &Arc<Shared>) {
        if let Some(told) = shared.keeper.take_wake() {
            let known = self.duties.wake_at;
            self.duties.wake_at = Some(known.map_or(told, |known| known.min(told)));
        }
        for run in shared.keeper.take_late() {
            self.duties.put_off(shared, run);
        }
        let held = match shared.live_count() {
            0 => Ok(()),
            _ => shared.hold_lease().await,
        };
        let done = match held {
            Ok(()) => self.duties.round(shared).await,
            Err(error) => Err(error),
        };
        self.duties.again_at = done.err().map(|error| {
            tracing::warn!(code = %error.code(), "runs could not be taken up, trying again");
            shared.now() + Millis::new(limits::RETRY_AFTER_MS_DEFAULT)
        });
    }

    /// How long there is nothing to do; `None` when the engine is gone.
    fn next_wait(&self) -> Option<Millis> {
        let shared = self.engine.upgrade()?;
        let now = shared.now();
        let lease = shared.lease_due().filter(|_| 0 < shared.live_count());
        let scan = self.duties.scan.filter(|_| shared.has_room()).map(|_| now);
        let later = self.duties.later.values().min().copied();
        let moments = [
            self.duties.again_at,
            self.duties.wake_at,
            later,
            lease,
            scan,
        ];
        let next = moments.into_iter().flatten().min();
        Some(next.map_or(Millis::new(limits::ANSWER_MS_MAX), |next| now.until(next)))
    }
}

impl Duties {
    fn note(&mut self, knocked: &Knocked) {
        self.look.extend(&knocked.runs);
        self.inboxes |= knocked.rescan;
    }

    /// Does what can be done now. What fails stays to be done.
    async fn round(&mut self, shared: &Arc<Shared>) -> Result<(), LedgerError> {
        self.scan(shared).await?;
        self.read_inboxes(shared).await?;
        self.look(shared).await?;
        self.wake(shared).await
    }

    /// Goes on with the pass over the driven runs, as long as there is room for them.
    async fn scan(&mut self, shared: &Arc<Shared>) -> Result<(), LedgerError> {
        while let Some(Scan { after }) = self.scan {
            let page = shared.ledger.driven(after).await?;
            for driving in &page.rows {
                if !shared.has_room() {
                    return Ok(());
                }
                self.take(shared, driving.run).await?;
                self.scan = Some(Scan {
                    after: Some(driving.run),
                });
            }
            if !page.more {
                self.scan = None;
            }
        }
        Ok(())
    }

    /// Takes a run up; one that lives elsewhere is looked at again when that may have ended.
    async fn take(&mut self, shared: &Arc<Shared>, run: RunId) -> Result<(), LedgerError> {
        match take_up(shared, run).await? {
            TakenUp::Elsewhere(until) => {
                self.later.insert(run, until);
            }
            TakenUp::Live | TakenUp::NotDriven | TakenUp::Idle | TakenUp::Stopping => {}
        }
        Ok(())
    }

    /// Every run with a waiting message is looked at.
    async fn read_inboxes(&mut self, shared: &Arc<Shared>) -> Result<(), LedgerError> {
        let mut after = None;
        while self.inboxes {
            let page = shared.ledger.inboxes(after).await?;
            self.look.extend(&page.rows);
            after = page.rows.last().copied();
            self.inboxes = page.more;
        }
        Ok(())
    }

    /// Looks at the run after a while.
    fn put_off(&mut self, shared: &Shared, run: RunId) {
        let at = shared.now() + Millis::new(limits::RETRY_AFTER_MS_DEFAULT);
        self.later.insert(run, at);
    }

    /// What waits for a run is brought to it, wherever it is.
    async fn look(&mut self, shared: &Arc<Shared>) -> Result<(), LedgerError> {
        let now = shared.now();
        let due = self.later.iter().filter(|(_, at)| **at <= now);
        self.look.extend(due.map(|(run, _)| *run));
        self.later.retain(|_, at| now < *at);
        while let Some(&run) = self.look.first() {
            match shared.mailbox(run) {
                Some(mailbox) => {
                    let waiting = shared.ledger.inbox(run).await?;
                    if !waiting.is_empty() {
                        match mailbox.offer(Message::Inbox(waiting)) {
                            Offered::Taken => {}
                            // It is leaving, or far behind with its work.
                            Offered::Full | Offered::Gone => self.put_off(shared, run),
                        }
                    }
                }
                None => self.take(shared, run).await?,
            }
            self.look.remove(&run);
        }
        Ok(())
    }

    /// Parked runs whose moment has come.
    async fn wake(&mut self, shared: &Arc<Shared>) -> Result<(), LedgerError> {
        let now = shared.now();
        if self.wake_at.is_none_or(|at| now < at) {
            return Ok(());
        }
        let mut after = None;
        loop {
            let page = shared.ledger.wakes(after).await?;
            for &(at, run) in &page.rows {
                if now < at {
                    self.wake_at = Some(at);
                    return Ok(());
                }
                self.take(shared, run).await?;
                after = Some((at, run));
            }
            if !page.more {
                self.wake_at = None;
                return Ok(());
            }
        }
    }
}
