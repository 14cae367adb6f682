//! A specialist behind HTTP: it reads minutes and answers with their most central sentences.
//!
//! It must never put words into anybody's mouth: each sentence of an answer stands in the minutes,
//! markup left aside. The same minutes give the same answer on every machine.

pub mod program;

mod api;
mod minutes;
mod summary;
mod textrank;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use service_kit::{FaultKind, Faults, Kit, KitOptions, LogError, MemoryLog, ServeError};
use tokio::net::TcpListener;

pub use service_kit::{Entry, Fault, LogPage, Match, Problem, Status};
pub use summary::{Summary, Topic, summarise};

/// The name in `/about`, on stdout and in the pid file.
pub const NAME: &str = "specialist-service";

/// Largest request body, in bytes; beyond it 413.
pub const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The faults this service can do.
pub const FAULTS: &[FaultKind] = &[
    FaultKind::Delay,
    FaultKind::Unavailable,
    FaultKind::RateLimited,
    FaultKind::Down,
    FaultKind::Drop,
];

/// How a service is to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Keeps the request log over restarts; `None` keeps it in memory only.
    pub log: Option<PathBuf>,
    /// The armed faults; keep a clone to arm and clear them while the service runs.
    pub faults: Faults,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            log: None,
            faults: Faults::new(FAULTS),
        }
    }
}

/// The service could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The log file could not be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The listener broke.
    #[error(transparent)]
    Serve(#[from] ServeError),
}

/// A service whose log is open and which does not listen yet.
pub struct Service {
    kit: Kit,
}

impl Service {
    /// Opens the log; blocks for as long as that takes.
    pub fn open(options: Options) -> Result<Service, Error> {
        let log = match &options.log {
            Some(path) => MemoryLog::open(path)?,
            None => MemoryLog::new(),
        };
        let kit_options = KitOptions {
            faults: options.faults,
            log: Arc::new(log),
            describe: api::describe,
            body_bytes_max: BODY_BYTES_MAX,
        };
        Ok(Service {
            kit: Kit::new(kit_options, api::routes()),
        })
    }

    /// Serves until `shutdown` is ready; accepted requests then get 5 s to end.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        Ok(self.kit.serve(listener, shutdown).await?)
    }
}

/// Opens the log and serves until `shutdown` is ready.
pub async fn serve(
    options: Options,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let service = tokio::task::spawn_blocking(|| Service::open(options)).await;
    service
        .expect("open does not panic")?
        .serve(listener, shutdown)
        .await
}
