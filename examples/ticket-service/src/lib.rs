//! A small ticket system: tickets in SQLite, written under idempotency keys, with a log of every
//! request and with faults on demand, so that it can stand in for a receiver that misbehaves.
//!
//! It must never answer 201 before the ticket is on disk, nor make two tickets for one key while
//! the key is remembered, unless a fault asks for exactly that.

pub mod program;

mod api;
mod in_flight;
mod key;
mod store;
mod ticket;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use service_kit::{FaultKind, Faults, Kit, KitOptions, ServeError};
use tokio::net::TcpListener;

pub use api::{About, TicketPage};
pub use service_kit::{Entry, Fault, LogPage, Match, Problem, Status};
pub use store::StoreError;
pub use ticket::{NewTicket, Ticket};

/// The name in `/about`, on stdout and in the pid file.
pub const NAME: &str = "ticket-service";

/// Largest request body, in bytes; beyond it 413.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// The faults this service can do.
pub const FAULTS: &[FaultKind] = &[
    FaultKind::CommitThenDrop,
    FaultKind::Delay,
    FaultKind::Unavailable,
    FaultKind::RateLimited,
    FaultKind::Down,
    FaultKind::NoDedupe,
    FaultKind::DropBeforeCommit,
    FaultKind::Drop,
];

/// How a service is to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database; made when absent. One service at a time: a second is refused.
    pub db: PathBuf,
    /// How long a key is remembered after its first success. Default 24 h.
    pub key_ttl: Duration,
    /// How long after its arrival a request may still commit, at most. Default and at least 2 s.
    pub bound: Duration,
    /// The armed faults; keep a clone to arm and clear them while the service runs.
    pub faults: Faults,
}

impl Options {
    /// The defaults on this database.
    pub fn new(db: impl Into<PathBuf>) -> Options {
        Options {
            db: db.into(),
            key_ttl: Duration::from_secs(24 * 60 * 60),
            bound: Duration::from_secs(2),
            faults: Faults::new(FAULTS),
        }
    }
}

/// The service could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The listener broke.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// `bound` is shorter than what a commit needs.
    #[error("bound is {given_ms} ms; it must be at least 2000 ms")]
    Bound {
        /// What was asked for, in milliseconds.
        given_ms: u128,
    },
}

/// A service whose database is open and which does not listen yet.
pub struct Service {
    kit: Kit,
}

impl Service {
    /// Opens the database; blocks for as long as that takes.
    pub fn open(options: Options) -> Result<Service, Error> {
        if options.bound < Duration::from_secs(2) {
            return Err(Error::Bound {
                given_ms: options.bound.as_millis(),
            });
        }
        let store = Arc::new(store::Store::open(&options.db)?);
        let routes = api::routes(Arc::clone(&store), &options);
        let kit = Kit::new(
            KitOptions {
                faults: options.faults,
                log: store,
                describe: api::describe,
                body_bytes_max: BODY_BYTES_MAX,
            },
            routes,
        );
        Ok(Service { kit })
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

/// Opens the database and serves until `shutdown` is ready.
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
