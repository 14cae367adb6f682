//! An engine over what keeps the runs of a measurement: opened, closed, and nothing left open.
//!
//! The same parts as those of a user's program; the local socket alone is left out.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay_ledger::{Ledger, MemoryLedger};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_runtime::{Engine, EngineBuilder, system};
use mainstay_socket::Failure;
use mainstay_types::Millis;
use tokio::runtime::{self, Runtime};

use super::classes::Numbers;
use super::outside;
use crate::error::CliError;

/// A running engine and what it stands on.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    pub(crate) runtime: Runtime,
    /// How long the store took to open, and then the engine to start.
    pub(crate) took: (Duration, Duration),
    store: Option<Arc<SledLedger>>,
}

impl Opened {
    /// An engine over the store in `folder`, which is made when there is none.
    pub(crate) fn on_disk(folder: &Path, class: &Numbers) -> Result<Self, CliError> {
        let began = Instant::now();
        let store = SledLedger::open(folder, OpenOptions::creating()).map_err(failed)?;
        let took = began.elapsed();
        let store = Arc::new(store);
        Self::over(
            Arc::clone(&store) as Arc<dyn Ledger>,
            Some(store),
            class,
            took,
        )
    }

    /// An engine without a disk.
    pub(crate) fn in_memory(class: &Numbers) -> Result<Self, CliError> {
        Self::over(Arc::new(MemoryLedger::new()), None, class, Duration::ZERO)
    }

    fn over(
        ledger: Arc<dyn Ledger>,
        store: Option<Arc<SledLedger>>,
        class: &Numbers,
        opening: Duration,
    ) -> Result<Self, CliError> {
        let runtime = runtime::Builder::new_multi_thread()
            .enable_time()
            .build()
            .map_err(|error| outside("starting threads", error))?;
        let began = Instant::now();
        let engine = runtime.block_on(async {
            let builder = EngineBuilder::new(ledger, system::ports());
            builder.register(class).start().await
        });
        Ok(Self {
            engine: engine.map_err(failed)?,
            runtime,
            took: (opening, began.elapsed()),
            store,
        })
    }

    /// Lets go of every run at once and closes the store as a program does that ends in order.
    pub(crate) fn close(self) -> Result<(), CliError> {
        let Self {
            engine,
            runtime,
            store,
            ..
        } = self;
        runtime.block_on(engine.shutdown(Millis::ZERO));
        // With its threads goes whatever still held the store.
        drop(runtime);
        match store.and_then(Arc::into_inner) {
            Some(store) => store.close().map_err(failed),
            None => Ok(()),
        }
    }
}

/// An error of the engine or of the ledger, as the other commands tell it.
pub(crate) fn failed(error: impl Into<Failure>) -> CliError {
    error.into().into()
}
