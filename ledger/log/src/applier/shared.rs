//! What the applier, those who write and those who read have in common.
//!
//! Order of locks: slot, then signal, then overlay. A batch is applied, and a table replaced, only
//! under the slot's write lock; whoever holds its read lock sees the table after a batch, whole,
//! and every generation that is not in it yet in the overlay. Callbacks are called without a lock.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use mainstay_ledger::LedgerError;
use mainstay_types::limits::BUCKET_ROWS_KNOWN_MAX;
use parking_lot::{Condvar, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::files::{Disk, StoreId};
use crate::overlay::{Change, Layer, Load, Overlay};
use crate::proof::{BUCKETED, Bucket, Buckets, Held};
use crate::segment::Place;
use crate::table::{StoredChange, Table, TableError, TableFactory, TableLimits};

use super::pressure::{Lag, Pressure, level};
use super::seen::Seen;
use super::waits::Signal;
use super::{Slot, StandingSettings, marker};

/// Where a table belongs.
#[derive(Clone, Debug)]
pub struct Site {
    /// The folder that is the table's own.
    pub folder: PathBuf,
    /// The store it belongs to.
    pub store: StoreId,
    /// The disk for what lies beside it.
    pub disk: Arc<dyn Disk>,
}

/// How the table is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// It takes what comes.
    #[default]
    Well,
    /// It could not be written, and is tried again and again; rows wait in memory and in the log.
    Failing(String),
    /// It is not what was written. It is made anew from the log when the store is opened next.
    Damaged(String),
}

pub(crate) struct Shared {
    pub(crate) site: Site,
    pub(crate) factory: Arc<dyn TableFactory>,
    pub(crate) limits: TableLimits,
    pub(crate) settings: StandingSettings,
    /// What is known of the table's buckets without reading. Its lock is the innermost.
    pub(crate) known: Mutex<Buckets>,
    /// What the table got since it was empty, while the log is replayed into it.
    seen: Mutex<Option<Seen>>,
    pub(super) overlay: RwLock<Overlay>,
    slot: RwLock<Slot>,
    pub(super) signal: Mutex<Signal>,
    /// For the applier: there may be work.
    pub(super) work: Condvar,
    /// For those who wait for it: something was done, or failed.
    pub(super) done: Condvar,
    pressure: AtomicU8,
    damaged: AtomicBool,
    calm: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("site", &self.site)
            .field("slot", &self.slot)
            .field("signal", &self.signal)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(
        site: Site,
        factory: Arc<dyn TableFactory>,
        settings: StandingSettings,
        (slot, place): (Slot, Option<Place>),
    ) -> Self {
        assert!(
            settings.rows.is_ordered() && settings.bytes.is_ordered(),
            "bounds of memory that cannot be reached one after the other"
        );
        let limits = factory.limits();
        let settings = settings.in_order();
        Self {
            site,
            factory,
            limits,
            settings,
            known: Mutex::new(Buckets::new(BUCKET_ROWS_KNOWN_MAX)),
            seen: Mutex::new(None),
            overlay: RwLock::new(Overlay::new()),
            slot: RwLock::new(slot),
            signal: Mutex::new(Signal::at(place)),
            work: Condvar::new(),
            done: Condvar::new(),
            pressure: AtomicU8::new(0),
            damaged: AtomicBool::new(false),
            calm: OnceLock::new(),
        }
    }

    /// The table is empty: all of its buckets are known, and so is what it gets from now on.
    pub(crate) fn begin_empty(&self) {
        let mut known = self.known.lock();
        for kind in BUCKETED {
            known.put(Held::new(Bucket::root(kind), Vec::new()));
        }
        *self.seen.lock() = Some(Seen::new());
    }

    /// Which of `changes` set a row that neither memory nor the table has, as far as that is known
    /// without reading.
    fn absent(&self, changes: &[Change]) -> Vec<bool> {
        let mut absent = vec![false; changes.len()];
        if self.seen.lock().is_none() {
            return absent;
        }
        {
            // Memory first: what leaves it after this was seen before.
            let overlay = self.overlay.read();
            for (absent, change) in absent.iter_mut().zip(changes) {
                *absent = change.value.is_some() && overlay.row(&change.key).is_none();
            }
        }
        if let Some(seen) = &*self.seen.lock() {
            for (absent, change) in absent.iter_mut().zip(changes) {
                *absent = *absent && !seen.may_have(&change.key);
            }
        }
        absent
    }

    /// The table is about to get these.
    pub(super) fn see(&self, changes: &[StoredChange]) {
        if let Some(seen) = &mut *self.seen.lock() {
            changes.iter().for_each(|(key, _)| seen.add(key));
        }
    }

    /// The layers, to be read.
    pub(crate) fn overlay(&self) -> RwLockReadGuard<'_, Overlay> {
        self.overlay.read()
    }

    /// The table, to be read.
    pub(crate) fn slot(&self) -> RwLockReadGuard<'_, Slot> {
        self.slot.read()
    }

    /// The table, to be changed.
    pub(super) fn slot_mut(&self) -> RwLockWriteGuard<'_, Slot> {
        self.slot.write()
    }

    /// Takes what was acknowledged; `end` is where the log ends with it.
    pub(crate) fn write(&self, changes: Vec<Change>, end: Option<Place>) {
        // Whoever writes has replayed, and says what is fresh.
        if let Some(seen) = self.seen.lock().take() {
            drop(seen);
        }
        self.change(|overlay| overlay.write(changes, end));
    }

    /// Takes what is read from the log at open.
    pub(crate) fn write_again(&self, changes: Vec<Change>, end: Place) {
        let absent = self.absent(&changes);
        let empty = self.seen.lock().is_some();
        self.change(|overlay| overlay.write_again(changes, (&absent, empty), end));
    }

    fn change(&self, change: impl FnOnce(&mut Overlay) -> bool) {
        let rouse = {
            let mut overlay = self.overlay.write();
            let was_due = self.is_large(overlay.active());
            let was_idle = change(&mut overlay);
            self.measure(&overlay);
            was_idle || (!was_due && self.is_large(overlay.active()))
        };
        if rouse {
            // Under the lock, or the applier could miss it between looking and sleeping.
            let _signal = self.signal.lock();
            self.work.notify_one();
        }
    }

    pub(super) fn is_large(&self, active: &Layer) -> bool {
        self.settings.freeze_rows <= active.rows() || self.settings.freeze_bytes <= active.bytes()
    }

    /// Sets the pressure; whether it has fallen to calm. The caller holds the overlay's lock.
    pub(super) fn measure(&self, overlay: &Overlay) -> bool {
        let before = self.pressure();
        let now = level(before, overlay.load(Instant::now()), &self.settings);
        self.pressure.store(now as u8, Ordering::Relaxed);
        now == Pressure::Calm && before != Pressure::Calm
    }

    pub(crate) fn pressure(&self) -> Pressure {
        match self.pressure.load(Ordering::Relaxed) {
            0 => Pressure::Calm,
            1 => Pressure::High,
            _ => Pressure::Full,
        }
    }

    pub(crate) fn lag(&self) -> Lag {
        Lag::of(self.load(), &self.settings)
    }

    pub(crate) fn load(&self) -> Load {
        self.overlay.read().load(Instant::now())
    }

    /// Calls this whenever the pressure has fallen to calm, and once the table is damaged.
    pub(crate) fn on_calm(&self, call: Box<dyn Fn() + Send + Sync>) {
        // Whoever set one first keeps it: there is one committer.
        let _ = self.calm.set(call);
    }

    fn call_calm(&self) {
        if let Some(call) = self.calm.get() {
            call();
        }
    }

    pub(super) fn freeze(&self) -> Option<Arc<Layer>> {
        self.overlay.write().freeze()
    }

    /// Lets layers go that nobody needs any more.
    pub(super) fn release(&self) {
        let (released, calm) = {
            let mut overlay = self.overlay.write();
            let released = overlay.release(self.settings.bytes.full);
            (released, self.measure(&overlay))
        };
        drop(released);
        if calm {
            self.call_calm();
        }
    }

    /// The table is not what was written: nothing is applied any more, and the next open makes it
    /// anew.
    pub(crate) fn damaged(&self, detail: &str) {
        if self.damaged.swap(true, Ordering::AcqRel) {
            return;
        }
        marker::put(&self.site, detail);
        let mut signal = self.signal.lock();
        signal.health = Health::Damaged(detail.to_owned());
        self.work.notify_all();
        self.done.notify_all();
        drop(signal);
        self.call_calm();
    }

    /// `Damaged` once the table is.
    pub(crate) fn check(&self) -> Result<(), LedgerError> {
        if !self.damaged.load(Ordering::Acquire) {
            return Ok(());
        }
        match self.health() {
            Health::Damaged(detail) => Err(self.error(TableError::Damaged(detail))),
            // It is being written down at this moment.
            Health::Well | Health::Failing(_) => {
                Err(self.error(TableError::damaged("it does not add up")))
            }
        }
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Acquire)
    }

    pub(crate) fn health(&self) -> Health {
        self.signal.lock().health.clone()
    }

    /// Whether the newest try to apply something failed, or nothing is tried any more.
    pub(crate) fn is_failing(&self) -> bool {
        match self.signal.lock().health {
            Health::Failing(_) | Health::Damaged(_) => true,
            Health::Well => false,
        }
    }

    /// Up to where in the log the table has everything, durably.
    pub(crate) fn place(&self) -> Option<Place> {
        self.signal.lock().place
    }

    /// What someone who read is told.
    pub(crate) fn error(&self, error: TableError) -> LedgerError {
        let folder = self.site.folder.display();
        match error {
            TableError::Damaged(detail) => LedgerError::Damaged {
                detail: format!("the table in {folder}: {detail}"),
                way_out: "close the store and open it again: the table holds nothing that is not \
                    in the log, and is made anew from it"
                    .to_owned(),
            },
            TableError::Io(detail) | TableError::Unsynced(detail) => LedgerError::Io {
                detail: format!("the table in {folder}: {detail}"),
            },
        }
    }

    /// Takes the table out, to be closed.
    pub(crate) fn take_table(&self) -> Option<Box<dyn Table>> {
        self.slot.write().take()
    }
}
