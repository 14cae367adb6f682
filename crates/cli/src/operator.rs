//! Whom a command asks: the process that holds the store, or the store itself when nobody does.
//!
//! Both answer through the same code, so a command never knows which it was; and a store that is
//! held is never opened beside its holder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_runtime::{Engine, EngineBuilder, system};
use mainstay_socket::{Ask, Asker, Client, Failure, Reply, answer, place};
use mainstay_types::{Code, Millis};
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::error::CliError;

/// How long a store that was opened for one command may take to let go of what is under way.
const SHUTDOWN: Millis = Millis::from_secs(5);

/// A store is not made by looking; another command may hold it for a moment.
const WAIT: Millis = Millis::new(500);

/// Whoever answers for a store.
pub(crate) trait Operator {
    /// Asks once; a command that was taken is durable.
    fn ask(&mut self, ask: &Ask) -> Result<Reply, CliError>;

    /// Whether a process holds the store and drives its runs.
    fn is_served(&self) -> bool;
}

/// Finds whoever answers for the store in `folder`.
///
/// `STORE_LOCKED` when a process holds it that cannot be asked, `STORE_MISSING` when it is not
/// there, or is no folder.
pub(crate) fn reach(folder: &Path) -> Result<Box<dyn Operator>, CliError> {
    is_folder(folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::outside(format!("cannot begin: {error}"), "free some memory"))?;
    let failure = match socket(folder, &runtime) {
        Ok(Some(client)) => return Ok(Box::new(Served { client, runtime })),
        Ok(None) => Failure::new(Code::SocketFailed, "nobody listens there"),
        // One that has just ended answers nothing either: only the store's lock tells.
        Err(failure) if is_no_answer(&failure) => failure,
        // A process that answers is the holder: the store is not tried beside it.
        Err(failure) => return Err(failure.into()),
    };
    match SledLedger::open(folder, OpenOptions::default().wait(WAIT)) {
        Ok(ledger) => free(ledger, runtime),
        Err(error @ LedgerError::Locked { .. }) => match socket(folder, &runtime) {
            // It had just begun.
            Ok(Some(client)) => Ok(Box::new(Served { client, runtime })),
            Ok(None) | Err(_) => Err(locked(folder, error, &failure)),
        },
        // The store is there and may not be touched: its holder's word says more than the system's.
        Err(_) if failure.code == Code::SocketForbidden => Err(failure.into()),
        Err(error) => Err(Failure::from(error).into()),
    }
}

/// `STORE_MISSING` when something else is in the store's place: the system's words for that tell of
/// rights and of sockets, not of a path that is wrong. What is not there is told by who opens it.
pub(crate) fn is_folder(store: &Path) -> Result<(), CliError> {
    let what = match fs::metadata(store) {
        Ok(found) if !found.is_dir() => "that is no folder",
        Err(error) if error.kind() == ErrorKind::NotADirectory => "a part of it is no folder",
        Ok(_) | Err(_) => return Ok(()),
    };
    let message = format!("there is no store in {}: {what}", store.display());
    let hint = "check --store: it takes the folder of a store, not a file in it";
    Err(CliError::new(Code::StoreMissing, message, hint))
}

fn is_no_answer(failure: &Failure) -> bool {
    [Code::SocketForbidden, Code::SocketFailed].contains(&failure.code)
}

fn socket(folder: &Path, runtime: &Runtime) -> Result<Option<Client>, Failure> {
    match place::find(folder)? {
        Some(path) => runtime.block_on(Client::connect(&path)),
        None => Ok(None),
    }
}

/// The holder alone does not say of what, nor why it was not asked.
fn locked(folder: &Path, error: LedgerError, why_not: &Failure) -> CliError {
    let held = Failure::from(error).message;
    let store = folder.display();
    let message = format!(
        "{held} [{store}]\nits local socket cannot be asked: {}",
        why_not.message
    );
    let hint = "wait until that process has ended; one that has just begun can be asked in a \
                moment, one of an older version or without a socket cannot";
    CliError::new(Code::StoreLocked, message, hint)
}

/// A process that holds the store.
struct Served {
    client: Client,
    runtime: Runtime,
}

impl Operator for Served {
    fn ask(&mut self, ask: &Ask) -> Result<Reply, CliError> {
        Ok(self.runtime.block_on(self.client.ask(ask))?)
    }

    fn is_served(&self) -> bool {
        true
    }
}

/// A store that nobody holds but this command, with an engine that drives nothing.
struct Free {
    engine: Option<Engine>,
    runtime: Runtime,
}

fn free(ledger: SledLedger, runtime: Runtime) -> Result<Box<dyn Operator>, CliError> {
    let engine = runtime.block_on(async {
        let builder = EngineBuilder::new(Arc::new(ledger), system::ports());
        builder.operator().start().await
    });
    match engine {
        Ok(engine) => Ok(Box::new(Free {
            engine: Some(engine),
            runtime,
        })),
        Err(error) => Err(Failure::from(error).into()),
    }
}

impl Operator for Free {
    fn ask(&mut self, ask: &Ask) -> Result<Reply, CliError> {
        let engine = self.engine.as_ref().expect("there until it is dropped");
        let answered = answer(engine, ask, Asker::own());
        Ok(self.runtime.block_on(answered)?)
    }

    fn is_served(&self) -> bool {
        false
    }
}

/// Whatever a command left under way ends before the store is closed.
impl Drop for Free {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.runtime.block_on(engine.shutdown(SHUTDOWN));
        }
    }
}

/// An answer as what a table needs of it; fields that a newer version adds are passed over.
pub(crate) fn read<'a, T: Deserialize<'a>>(reply: &'a Reply) -> Result<T, CliError> {
    serde_json::from_str(&reply.body).map_err(|error| {
        let message = format!("the answer has not the form that this version knows: {error}");
        Failure::new(Code::SocketProtocol, message).into()
    })
}
