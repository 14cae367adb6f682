//! Who waits for whom: the applier for work, a flush and a replay for the applier.
//!
//! Everything is said under one lock, so that nobody misses what he waits for; nobody waits for
//! ever for a table that keeps failing.

use std::time::{Duration, Instant};

use mainstay_ledger::LedgerError;
use parking_lot::MutexGuard;

use crate::overlay::Layer;
use crate::segment::Place;
use crate::table::TableError;

use super::{Health, Pressure, Shared};

/// What is said between the applier and those who wait for it.
#[derive(Debug, Default)]
pub(super) struct Signal {
    /// Layers up to this number are to be applied at once.
    wanted: u64,
    /// Layers up to this number are in the table, durably.
    done: u64,
    stop: bool,
    pub(super) health: Health,
    /// How often the table could not be written.
    failures: u64,
    /// Up to where in the log the table has everything, durably.
    pub(super) place: Option<Place>,
}

impl Signal {
    pub(super) fn at(place: Option<Place>) -> Self {
        Self {
            place,
            ..Self::default()
        }
    }
}

/// What the applier has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Freeze the active layer and apply it.
    Apply,
    /// See whether layers are kept for nobody any more.
    Release,
    /// End.
    Stop,
}

/// How often it is looked whether layers in the table are still kept for someone.
const RELEASE_GLANCE: Duration = Duration::from_millis(20);

/// How often a flush sees the table fail before it gives up.
const FLUSH_FAILURES: u64 = 2;

impl Shared {
    /// What the applier does next; waits until there is something.
    pub(super) fn next_work(&self) -> Work {
        let mut signal = self.signal.lock();
        loop {
            if signal.stop {
                return Work::Stop;
            }
            let (due, keeps) = {
                let overlay = self.overlay.read();
                (
                    self.due(overlay.active(), signal.wanted),
                    overlay.keeps_applied(),
                )
            };
            let wait = match (due, keeps) {
                (Some(Duration::ZERO), _) => return Work::Apply,
                (Some(due), true) => Some(due.min(RELEASE_GLANCE)),
                (None, true) => Some(RELEASE_GLANCE),
                (due, false) => due,
            };
            match wait {
                Some(wait) => {
                    let timed_out = self.work.wait_for(&mut signal, wait).timed_out();
                    if timed_out && keeps {
                        return Work::Release;
                    }
                }
                None => self.work.wait(&mut signal),
            }
        }
    }

    /// In how long the active layer has to be applied; `None` while it has nothing.
    fn due(&self, active: &Layer, wanted: u64) -> Option<Duration> {
        let begun = active.begun?;
        if self.is_large(active) || active.number <= wanted {
            return Some(Duration::ZERO);
        }
        let age = self.settings.freeze_age.to_duration();
        Some(age.saturating_sub(begun.elapsed()))
    }

    /// The table has everything up to this layer, durably.
    pub(super) fn applied(&self, number: u64, place: Option<Place>) {
        self.overlay.write().mark_applied(number);
        self.release();
        let mut signal = self.signal.lock();
        signal.done = number;
        signal.place = place;
        signal.health = Health::Well;
        self.done.notify_all();
    }

    /// The table could not be written; waits before it is tried again. `false`: it is not.
    pub(super) fn failed(&self, detail: &str, wait: Duration) -> bool {
        // Age makes pressure, too, and nobody else may be writing.
        self.measure(&self.overlay.read());
        let mut signal = self.signal.lock();
        signal.health = Health::Failing(detail.to_owned());
        signal.failures += 1;
        self.done.notify_all();
        let until = Instant::now() + wait;
        while !signal.stop && !self.work.wait_until(&mut signal, until).timed_out() {}
        !signal.stop
    }

    /// Waits until everything that was written before is in the table.
    pub(crate) fn flush(&self) -> Result<(), LedgerError> {
        let wanted = self.overlay.read().newest();
        let mut signal = self.signal.lock();
        signal.wanted = signal.wanted.max(wanted);
        self.work.notify_all();
        self.wait_done(&mut signal, |signal| wanted <= signal.done)
    }

    /// Waits while memory is full of what is not in the table.
    pub(crate) fn wait_for_room(&self) -> Result<(), LedgerError> {
        if self.pressure() == Pressure::Calm {
            return Ok(());
        }
        let mut signal = self.signal.lock();
        self.wait_done(&mut signal, |_| self.pressure() == Pressure::Calm)
    }

    /// Waits until `is_done`; an error when the table keeps failing or takes too long.
    fn wait_done(
        &self,
        signal: &mut MutexGuard<'_, Signal>,
        is_done: impl Fn(&Signal) -> bool,
    ) -> Result<(), LedgerError> {
        let limit = self.settings.flush.to_duration();
        let (mut until, mut done) = (Instant::now() + limit, signal.done);
        let failures = signal.failures;
        while !is_done(signal) {
            match &signal.health {
                Health::Damaged(detail) => {
                    return Err(self.error(TableError::Damaged(detail.clone())));
                }
                Health::Failing(detail) if failures + FLUSH_FAILURES <= signal.failures => {
                    return Err(self.error(TableError::Io(detail.clone())));
                }
                Health::Failing(_) | Health::Well => {}
            }
            if self.done.wait_until(signal, until).timed_out() {
                let detail = format!("it did not take what waits within {}", self.settings.flush);
                return Err(self.error(TableError::Io(detail)));
            }
            // As long as it gets on, one waits.
            if done < signal.done {
                (until, done) = (Instant::now() + limit, signal.done);
            }
        }
        Ok(())
    }

    /// Ends the applier after what it does at this moment.
    pub(crate) fn stop(&self) {
        self.signal.lock().stop = true;
        self.work.notify_all();
    }
}
