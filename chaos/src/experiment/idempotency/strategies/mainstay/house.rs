//! An engine on a store of its own, in a folder that goes when it is closed.

use std::sync::Arc;

use mainstay_class::{Class, ToolRecord};
use mainstay_dispatch::Millis;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_runtime::{Engine, EngineBuilder, EngineError, system};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio_util::task::TaskTracker;

use super::super::super::faults::Faults;
use super::super::super::strategy::OpenError;
use super::Way;
use super::class::{Purchase, class};
use super::purchase::{Desk, Keyed, Lines, Searched, Times};

/// How long a closing engine waits for what is out.
const CLOSES_WITHIN: Millis = Millis::from_secs(10);

/// Everything that the runs of a strategy share.
pub(super) struct House {
    pub(super) engine: Engine,
    pub(super) class: Class<Purchase, Vec<ToolRecord>>,
    pub(super) lines: Arc<Lines>,
    /// The first error that is none of the tool's: of the store, or of this machine.
    pub(super) failed: Mutex<Option<EngineError>>,
    /// What ends runs that nobody asks anything any more.
    pub(super) endings: TaskTracker,
    _folder: TempDir,
}

impl House {
    pub(super) async fn open(way: Way, faults: &Faults) -> Result<Self, OpenError> {
        // A name that says whose it is, for whoever finds one that a kill has left.
        let folder = tempfile::Builder::new()
            .prefix("mainstay-experiment-")
            .tempdir()?;
        let store = SledLedger::open(folder.path(), OpenOptions::creating())?;
        let lines = Arc::new(Lines::default());
        let times = Times::of(faults);
        let desk = Arc::new(Desk {
            lines: Arc::clone(&lines),
            times,
        });
        let class = match way {
            Way::BusinessId | Way::RunAlone => class(way, &Keyed(desk)),
            Way::Searched => class(way, &Searched(desk)),
        }?;
        let builder = EngineBuilder::new(Arc::new(store), system::ports());
        let engine = builder.register(&class).start().await?;
        Ok(Self {
            engine,
            class,
            lines,
            failed: Mutex::new(None),
            endings: TaskTracker::new(),
            _folder: folder,
        })
    }

    /// Lets the runs end, and stops.
    pub(super) async fn close(house: Arc<Self>) -> Result<(), OpenError> {
        let failed = house.failed.lock().take();
        house.endings.close();
        house.endings.wait().await;
        // With a wrapper still there it stops when that one goes.
        if let Some(house) = Arc::into_inner(house) {
            house.engine.shutdown(CLOSES_WITHIN).await;
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}
