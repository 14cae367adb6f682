//! How things stand: the table, and above it in memory what is acknowledged and not in it yet.
//!
//! Everybody reads both as one; only the applier writes the table. Whatever is wrong with the table
//! is told, and it is made anew from the log when the store is opened next: it is never the only
//! copy of anything, and nothing here writes the log.

mod reads;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;

use mainstay_ledger::LedgerError;
use parking_lot::Mutex;

use crate::applier::{self, Applier, Checkpoint, Opened, Shared, Slot};
use crate::fault::io_error;
use crate::keys::Key;
use crate::segment::Place;
use crate::table::TableFactory;

#[cfg(any(test, feature = "conformance"))]
pub use crate::applier::Bounds;
pub use crate::applier::{Health, LAG_METRIC, Lag, Pressure, Site, StandingSettings};
pub use crate::overlay::Change;
pub use reads::LookUp;
#[cfg(any(test, feature = "conformance"))]
pub use reads::StandingRow;

/// How things stand.
#[derive(Debug)]
pub struct Standing {
    shared: Arc<Shared>,
    applier: Mutex<Option<JoinHandle<()>>>,
    /// Why the table was made anew at opening, when it was.
    anew: Option<String>,
}

impl Standing {
    /// Opens the table at `site`, and says up to where in the log it has everything.
    ///
    /// No place: it has nothing, and the whole log has to be replayed. So it is when there was no
    /// table, and when there was one that was not what was written: then it was emptied, and
    /// [`Standing::made_anew`] says why. `Io` when the system refuses.
    pub fn open(
        site: Site,
        factory: Arc<dyn TableFactory>,
        settings: StandingSettings,
    ) -> Result<(Self, Option<Place>), LedgerError> {
        applier::describe();
        let opened = applier::open(&site, &factory)?;
        let place = opened.checkpoint.place;
        Ok((Self::begin(site, factory, settings, opened)?, place))
    }

    /// Empties the table; the whole log has to be replayed. For a table whose place the log does
    /// not have any more, and for one that is found damaged while the log is replayed.
    pub fn start_over(self, why: impl Into<String>) -> Result<Self, LedgerError> {
        self.stop();
        let (site, factory) = (self.shared.site.clone(), Arc::clone(&self.shared.factory));
        if let Some(table) = self.shared.take_table() {
            // It is emptied, whatever state it is in.
            let _ = table.close();
        }
        let settings = self.shared.settings;
        let opened = applier::open_anew(&site, &factory, why.into())?;
        Self::begin(site, factory, settings, opened)
    }

    fn begin(
        site: Site,
        factory: Arc<dyn TableFactory>,
        settings: StandingSettings,
        opened: Opened,
    ) -> Result<Self, LedgerError> {
        let Opened {
            table,
            checkpoint,
            anew,
        } = opened;
        let folder = site.folder.clone();
        let slot = Slot::new(table);
        let shared = Shared::new(site, factory, settings, (slot, checkpoint.place));
        // Without a place it was made just now.
        if checkpoint.place.is_none() {
            shared.begin_empty();
        }
        let shared = Arc::new(shared);
        let applier = spawn(&shared, checkpoint);
        let applier =
            applier.map_err(|error| io_error("starting the applier of", &folder, &error))?;
        Ok(Self {
            shared,
            applier: Mutex::new(Some(applier)),
            anew,
        })
    }

    /// Why the table was emptied at opening, when it was.
    #[must_use]
    pub fn made_anew(&self) -> Option<&str> {
        self.anew.as_deref()
    }

    /// Takes changes of a frame that is read from the log at open, after those of the frames before
    /// it; `end` is where the log goes on. Waits while memory is full.
    ///
    /// `Damaged` when the table is; then [`Standing::start_over`].
    pub fn replay(&self, changes: Vec<Change>, end: Place) -> Result<(), LedgerError> {
        self.shared.check()?;
        self.shared.wait_for_room()?;
        self.shared.write_again(changes, end);
        Ok(())
    }

    /// Takes changes that are durable in the log; they are visible from now on. `end` is where the
    /// log ends with them. Called in the order of the log.
    pub fn write(&self, changes: Vec<Change>, end: Place) {
        self.shared.write(changes, Some(end));
    }

    /// Takes the value of a row that is not in the log: it is kept like any other, and may be lost.
    pub fn hint(&self, key: Key, value: Option<Arc<[u8]>>) {
        let fresh = false;
        self.shared.write(vec![Change { key, value, fresh }], None);
    }

    /// Who has to wait because memory is full of what is not in the table.
    #[must_use]
    pub fn pressure(&self) -> Pressure {
        self.shared.pressure()
    }

    /// Has this called, without any lock, whenever the pressure has fallen to `Calm`, and when the
    /// table is found damaged. Only the first call sets it.
    pub fn on_calm(&self, call: Box<dyn Fn() + Send + Sync>) {
        self.shared.on_calm(call);
    }

    /// How far the table lags behind, with its bounds.
    #[must_use]
    pub fn lag(&self) -> Lag {
        self.shared.lag()
    }

    /// How the table is.
    #[must_use]
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Whether the table takes nothing now: its disk is full, or the system refuses something.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.shared.is_failing()
    }

    /// `Damaged` once the table is: nothing is applied to it any more, so that who writes on fills
    /// memory.
    pub fn check(&self) -> Result<(), LedgerError> {
        self.shared.check()
    }

    /// Up to where in the log the table has everything, durably. What lies before may leave the log
    /// when nothing lives in it.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.shared.place()
    }

    /// Waits until everything that was written before is in the table, durably.
    ///
    /// `Io` when it fails or takes longer than the settings say; nothing is lost then, and the
    /// applier goes on trying. `Damaged` when the table is.
    pub fn flush(&self) -> Result<(), LedgerError> {
        self.shared.flush()
    }

    /// Brings the table up to date, ends the applier and lets go of the table's files. Later calls
    /// do nothing.
    ///
    /// What the table could not take is in the log and no error. `Io` when its files may still be
    /// held.
    pub fn close(&self) -> Result<(), LedgerError> {
        // A table that fails or is damaged is brought up to date by the next open.
        let _ = self.shared.flush();
        self.stop();
        let closed = self.shared.take_table().map(|table| table.close());
        closed
            .unwrap_or(Ok(()))
            .map_err(|error| self.shared.error(error))
    }

    fn stop(&self) {
        self.shared.stop();
        if let Some(applier) = self.applier.lock().take() {
            // It guards itself, and says on its own what went wrong.
            let _ = applier.join();
        }
    }
}

/// Nothing is brought up to date: the log has it.
impl Drop for Standing {
    fn drop(&mut self) {
        self.stop();
        if let Some(table) = self.shared.take_table() {
            // Nobody is left to tell.
            let _ = table.close();
        }
    }
}

fn spawn(shared: &Arc<Shared>, checkpoint: Checkpoint) -> std::io::Result<JoinHandle<()>> {
    Applier::spawn(Arc::clone(shared), checkpoint)
}
