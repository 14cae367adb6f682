//! What all live runs of an engine share.
//!
//! Nothing here belongs to one run; a live run never reaches another but through the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mainstay_ledger::{Ledger, LedgerError};
use mainstay_machine::{Core, Evidence};
use mainstay_types::{Code, Millis, Refusal, RunId, Timestamp, WorkerId, limits};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::bell::Bell;
use crate::companion::Companions;
use crate::error::EngineError;
use crate::mailbox::Mailbox;
use crate::not_driven::NotDriven;
use crate::pace::Pace;
use crate::ports::Ports;
use crate::registry::Registry;
use crate::time::EngineTime;

/// The engine's shared state.
pub(crate) struct Shared {
    pub(crate) core: Arc<dyn Core>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) ports: Ports,
    pub(crate) time: EngineTime,
    pub(crate) registry: Registry,
    pub(crate) worker: WorkerId,
    /// The newest time in the ledger when it was opened: until then a process was alive.
    pub(crate) last_time: Option<Timestamp>,
    /// Control attempts have a pool of their own.
    pub(crate) control: Arc<Semaphore>,
    /// Those about requests that were sent before their run came into memory: a part of the pool,
    /// and a line.
    pub(crate) control_crowd: Arc<Semaphore>,
    pub(crate) pace: Pace,
    pub(crate) companions: Companions,
    /// Where to tell the keeper that there is something to look at.
    pub(crate) keeper: Bell,
    /// Ends with the engine: its keeper stops then.
    pub(crate) stopped: CancellationToken,
    /// Whether it drives runs; an engine for operators only asks and shows.
    pub(crate) drives: bool,
    /// Runs that were being executed when the last processes aborted, and how often in a row.
    aborts: Mutex<BTreeMap<RunId, u32>>,
    /// Until when this worker has said that it lives.
    lease: Mutex<Option<Timestamp>>,
    live: Mutex<BTreeMap<RunId, Mailbox>>,
    not_driven: Mutex<BTreeMap<RunId, NotDriven>>,
    stopping: AtomicBool,
    /// Attempts and look-ups that are out.
    out: AtomicUsize,
    ended: Notify,
    /// Runs that were let go during a shutdown and are not over.
    left_open: AtomicUsize,
    pub(crate) runs_max: usize,
    pub(crate) recovery_max: usize,
}

/// What an engine is made of.
pub(crate) struct Parts {
    pub(crate) core: Arc<dyn Core>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) ports: Ports,
    pub(crate) registry: Registry,
    pub(crate) last_time: Option<Timestamp>,
    pub(crate) runs_max: usize,
    pub(crate) recovery_max: usize,
    pub(crate) drives: bool,
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let time = EngineTime::begin(Arc::clone(&parts.ports.clock), parts.last_time);
        let worker = parts.ports.ids.worker_id(time.now());
        Arc::new(Self {
            core: parts.core,
            ledger: parts.ledger,
            time,
            registry: parts.registry,
            worker,
            last_time: parts.last_time,
            control: Arc::new(Semaphore::new(limits::CONTROL_IN_FLIGHT_MAX)),
            control_crowd: Arc::new(Semaphore::new(limits::LOOKUP_CROWD_IN_FLIGHT_MAX)),
            pace: Pace::default(),
            companions: Companions::default(),
            keeper: Bell::default(),
            stopped: CancellationToken::new(),
            drives: parts.drives,
            aborts: Mutex::default(),
            lease: Mutex::default(),
            live: Mutex::new(BTreeMap::new()),
            not_driven: Mutex::new(BTreeMap::new()),
            stopping: AtomicBool::new(false),
            out: AtomicUsize::new(0),
            ended: Notify::new(),
            left_open: AtomicUsize::new(0),
            runs_max: parts.runs_max,
            recovery_max: parts.recovery_max,
            ports: parts.ports,
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.time.now()
    }

    /// The volatile facts for one decision.
    pub(crate) fn evidence(&self) -> Evidence {
        let draw = u32::try_from(self.ports.rng.next_u64() >> 32).unwrap_or(u32::MAX);
        Evidence {
            draw,
            ..Evidence::default()
        }
    }

    pub(crate) fn mailbox(&self, run: RunId) -> Option<Mailbox> {
        self.live.lock().get(&run).cloned()
    }

    pub(crate) fn mailboxes(&self) -> Vec<Mailbox> {
        self.live.lock().values().cloned().collect()
    }

    pub(crate) fn live_count(&self) -> usize {
        self.live.lock().len()
    }

    /// How long nobody could have driven a run whose last event was written at `last_at`: until
    /// this engine was there, from when a process was last alive.
    pub(crate) fn downtime(&self, last_at: Timestamp) -> Millis {
        let alive = self.last_time.map_or(last_at, |last| last.max(last_at));
        self.time.opened_at().since(alive)
    }

    /// Says in the ledger that this worker lives, when that is not said for long enough.
    ///
    /// Before the first append of a run, so that no other worker takes it for abandoned.
    pub(crate) async fn hold_lease(&self) -> Result<(), LedgerError> {
        let now = self.now();
        let third = Millis::new(limits::LEASE_MS / 3);
        let is_held = self
            .lease
            .lock()
            .is_some_and(|until| now + third + third < until);
        if is_held {
            return Ok(());
        }
        let until = now + Millis::new(limits::LEASE_MS);
        self.ledger.lease(self.worker, Some(until)).await?;
        *self.lease.lock() = Some(until);
        Ok(())
    }

    /// When the lease has to be renewed while something is driven.
    pub(crate) fn lease_due(&self) -> Option<Timestamp> {
        let third = Millis::new(limits::LEASE_MS / 3);
        let until = (*self.lease.lock())?;
        Some(until.minus(third + third))
    }

    /// Remembers which runs were being executed when processes aborted.
    pub(crate) fn note_aborts(&self, aborts: Vec<(RunId, u32)>) {
        self.aborts.lock().extend(aborts);
    }

    /// At how many aborts in a row the run was being executed.
    pub(crate) fn aborts(&self, run: RunId) -> u32 {
        self.aborts.lock().get(&run).copied().unwrap_or(0)
    }

    /// The run has been dealt with.
    pub(crate) fn forget_aborts(&self, run: RunId) {
        self.aborts.lock().remove(&run);
    }

    /// Whether there is room for a run that was driven before.
    pub(crate) fn has_room(&self) -> bool {
        self.live_count() < self.recovery_max
    }

    /// Takes a place for a run that exists; `false` when it has one.
    pub(crate) fn claim(&self, run: RunId, mailbox: Mailbox) -> Result<bool, Refusal> {
        let mut live = self.live.lock();
        if self.is_stopping() {
            return Err(Refusal::new(Code::EngineStopping));
        }
        if live.contains_key(&run) {
            return Ok(false);
        }
        live.insert(run, mailbox);
        Ok(true)
    }

    /// A run that stays has a new mailbox.
    pub(crate) fn move_mailbox(&self, run: RunId, mailbox: Mailbox) {
        self.live.lock().insert(run, mailbox);
    }

    /// Takes a place for a new run.
    pub(crate) fn admit(&self, run: RunId, mailbox: Mailbox) -> Result<(), EngineError> {
        // Under the lock: whoever stops the engine then finds this run's mailbox, or refuses it.
        let mut live = self.live.lock();
        if self.is_stopping() {
            return Err(Refusal::new(Code::EngineStopping).into());
        }
        if self.runs_max <= live.len() {
            let refusal = Refusal::new(Code::EngineFull)
                .with("live", live.len())
                .with("limit", self.runs_max);
            let retry_after = Some(Millis::new(limits::RETRY_AFTER_MS_DEFAULT));
            return Err(EngineError::Refused {
                refusal,
                retry_after,
            });
        }
        live.insert(run, mailbox);
        Ok(())
    }

    /// The run is no longer live; `open` when it goes on at the next start.
    pub(crate) fn retire(&self, run: RunId, open: bool) {
        if open && self.is_stopping() {
            self.left_open.fetch_add(1, Ordering::SeqCst);
        }
        self.live.lock().remove(&run);
        self.ended.notify_waiters();
        self.keeper.nudge();
    }

    pub(crate) fn left_open(&self) -> usize {
        self.left_open.load(Ordering::SeqCst)
    }

    /// Completes when a run has ended after this was called and first polled.
    pub(crate) fn ended(&self) -> tokio::sync::futures::Notified<'_> {
        self.ended.notified()
    }

    pub(crate) fn stop(&self) {
        let _live = self.live.lock();
        self.stopping.store(true, Ordering::SeqCst);
        self.stopped.cancel();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    pub(crate) fn note_not_driven(&self, entry: NotDriven) {
        self.not_driven.lock().insert(entry.run, entry);
    }

    pub(crate) fn not_driven(&self) -> Vec<NotDriven> {
        self.not_driven.lock().values().cloned().collect()
    }

    /// The run is driven again, or nothing has to be.
    pub(crate) fn forget_not_driven(&self, run: RunId) {
        self.not_driven.lock().remove(&run);
    }

    pub(crate) fn not_driven_run(&self, run: RunId) -> Option<NotDriven> {
        self.not_driven.lock().get(&run).cloned()
    }

    pub(crate) fn out(&self) -> usize {
        self.out.load(Ordering::SeqCst)
    }

    /// Counts something that is out until the guard is dropped.
    pub(crate) fn count_out(self: &Arc<Self>) -> OutGuard {
        self.out.fetch_add(1, Ordering::SeqCst);
        OutGuard(Arc::clone(self))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stopped.cancel();
    }
}

/// Counts one attempt or look-up that is out.
pub(crate) struct OutGuard(Arc<Shared>);

impl Drop for OutGuard {
    fn drop(&mut self) {
        self.0.out.fetch_sub(1, Ordering::SeqCst);
    }
}
