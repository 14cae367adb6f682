//! What has happened: the port to durable memory, and everything that is the same behind it.
//!
//! Backends implement [`Ledger`]; the engine sees nothing else. Nothing here decides what a run
//! may do, and no backend may know what an event means beyond what is written here.

pub mod check;
pub mod codec;
pub mod commit;
pub mod error;
pub mod inbox;
pub mod memory;
pub mod query;
pub mod record;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod sample;

pub use check::{Head, View, check};
pub use commit::{CommitRequest, HeldKey, Op, Part, Receipt, Stamped, Verdict};
pub use error::LedgerError;
pub use inbox::{Enqueued, InboxCommand, InboxMessage};
pub use memory::MemoryLedger;
pub use query::{Loaded, Page, Recorded, RunFilter, StoredClass};
pub use record::Chain;

use mainstay_types::{BoxFuture, ClassName, ClassVersion, Digest, MessageId, RunId, StartKey};
use mainstay_types::{Tenant, Timestamp};

use mainstay_machine::Summary;

/// Durable memory of all runs. Every method is cancel-safe: a dropped future may still take
/// effect, and the next read tells.
pub trait Ledger: Send + Sync {
    /// Commits each request as a whole or not at all, and says which.
    ///
    /// Durable once it returns `Ok`. Verdicts are in the order of the requests; a request sees what
    /// earlier requests of the same group wrote. At most `limits::COMMIT_GROUP_MAX` requests.
    ///
    /// `Err` means that nothing is known about any of them; each was still committed as a whole or
    /// not at all, and the next read tells. After `Poisoned` the ledger takes nothing more until
    /// it is opened again. Any other error is about stored bytes that these requests had to be
    /// checked against and that could not be read: the ledger goes on and takes other requests.
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>>;

    /// Puts a command into a run's inbox: unfenced (no epoch, no sequence), durable once it
    /// returns. A message id that is known changes nothing. Bound: `limits::INBOX_COMMANDS_MAX`.
    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>>;

    /// A run's events in order and its waiting inbox, verified: checksums, chain, dense sequence.
    /// `None` when there is no such run.
    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>>;

    /// Runs that have to be driven, by id, after `cursor`. At most `limits::PAGE_ROWS_MAX`.
    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>>;

    /// Summaries of runs that pass `filter`, newest first, before `cursor`.
    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>>;

    /// The run that this start key stands for, and the digest of its input.
    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>>;

    /// The stored form of a class.
    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>>;

    /// All stored classes, by name and version. At most `limits::PAGE_ROWS_MAX`.
    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>>;

    /// The newest time in the ledger; engine time never starts before it.
    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>>;

    /// How many appends (parts that wrote events) were committed since opening. For measurements.
    fn appends(&self) -> u64;
}
