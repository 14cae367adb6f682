//! The thread of the sweeper: a round now and then, until the store is closed.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use mainstay_ledger::LedgerError;
use mainstay_types::limits;
use parking_lot::{Condvar, Mutex};

use super::Sweeper;
use crate::fault::io_error;

const PAUSE: Duration = Duration::from_millis(limits::SWEEP_MS);

/// The running thread; dropping it ends it after what it is doing.
pub(crate) struct Sweeping {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Sweeping {
    pub(crate) fn begin(mut sweeper: Sweeper, folder: &Path) -> Result<Self, LedgerError> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("mainstay-sweep".to_owned())
            .spawn(move || {
                let (stop, told) = &*stopped;
                let mut stop = stop.lock();
                while !*stop {
                    let _ = told.wait_for(&mut stop, PAUSE);
                    if *stop {
                        return;
                    }
                    parking_lot::MutexGuard::unlocked(&mut stop, || {
                        sweeper.round();
                    });
                }
            })
            .map_err(|error| io_error("starting the sweeper of", folder, &error))?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Sweeping {
    fn drop(&mut self) {
        let (stop, told) = &*self.stop;
        *stop.lock() = true;
        told.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has nothing to hand over.
            let _ = thread.join();
        }
    }
}
