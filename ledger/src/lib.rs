//! What has happened: the port to durable memory, and everything that is the same behind it.
//!
//! Backends implement [`Ledger`]; the engine sees nothing else. Nothing here decides what a run
//! may do, and no backend may know what an event means beyond what is written here.

pub mod alert;
pub mod check;
pub mod codec;
pub mod commit;
pub mod drive;
pub mod error;
pub mod inbox;
pub mod knock;
pub mod layer;
pub mod mark;
pub mod memory;
pub mod query;
pub mod record;
pub mod snapshot;
pub mod wait;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(any(test, feature = "conformance"))]
pub mod sample;

pub use alert::StoredAlert;
pub use check::{Head, View, check};
pub use commit::{CommitRequest, HeldKey, Op, Part, Receipt, Stamped, Verdict};
pub use drive::{Drive, Driving};
pub use error::LedgerError;
pub use inbox::{Enqueued, InboxCommand, InboxMessage};
pub use knock::{Knocked, Knocks};
pub use layer::Layer;
pub use mark::Mark;
pub use memory::MemoryLedger;
pub use query::{Loaded, Page, Recorded, RunFilter, StoredClass};
pub use record::Chain;
pub use snapshot::Snapshot;

use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId,
};

use mainstay_machine::{EffectEntry, Summary};

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
    /// returns. A message id that is known changes nothing. Bounds: `limits::INBOX_COMMANDS_MAX`
    /// (`InboxFull`), and `limits::PAYLOAD_BYTES_MAX` for what it carries (`TooLarge`).
    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>>;

    /// A run as it stands: the newest snapshot that is kept of it, its events after that (all of
    /// them when there is none) and its waiting inbox. Verified: checksums, chain, dense sequence
    /// up to the run's head. `None` when there is no such run.
    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>>;

    /// A page of a run's events after `after`, in order, whatever snapshots there are; verified as
    /// far as it goes. At most `limits::PAGE_EVENTS_MAX` events and `limits::PAGE_EVENT_BYTES_MAX`
    /// bytes of records, but one event at least when there is one. `None` when there is no such
    /// run.
    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>>;

    /// Offers the state of a run, so that the next `load` gives it instead of the events before it.
    ///
    /// A hint: it may be lost at any time, is never an error, changes nothing but what `load`
    /// returns, and replaces what was kept before. Dropped unless its `seq` is the run's newest,
    /// and for a run that does not exist or is closed. Does not block on the store.
    fn keep(&self, run: RunId, snapshot: Snapshot);

    /// Runs that somebody drives, or drove when it ended, by id, after `cursor`. At most
    /// `limits::PAGE_ROWS_MAX`.
    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>>;

    /// Who drives one run, or drove it when it ended; `None` when it is parked or off.
    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>>;

    /// The waiting inbox messages of one run, in the order of arrival.
    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>>;

    /// Parked runs that wake by themselves, in the order of their moments (then ids), after
    /// `cursor`. At most `limits::PAGE_ROWS_MAX`.
    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>>;

    /// Runs with waiting inbox messages, however they are driven, by id, after `cursor`. At most
    /// `limits::PAGE_ROWS_MAX`.
    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>>;

    /// Says that `worker` lives until `until`, or that it gave up its lease (`None`). What the
    /// same worker said before is replaced; nothing else is changed, and no append is refused for
    /// it. A worker that never said so is known to be gone: say it before driving anything.
    fn lease(
        &self,
        worker: WorkerId,
        until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// The row of one run; `None` when there is no such run, or it never had one.
    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>>;

    /// Summaries of runs that pass `filter`, newest first, before `cursor`.
    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>>;

    /// Alerts after `after`, in order and without a gap: a reader that keeps the number of the last
    /// one it handled misses none. At most `limits::PAGE_ROWS_MAX`.
    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>>;

    /// The entry of an effect that other runs could want, and how often it has changed; `None` for
    /// a key that nobody holds or that was forgotten.
    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>>;

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

    /// A subscription to what comes up from now on: a message that entered an inbox, alerts. Each
    /// subscriber is told of everything; what it is told of is durable. A hint only: a knock may be
    /// missed (the process ends), and reading finds all the same.
    fn knocks(&self) -> Knocks;

    /// Marks that some code of `run` is being executed, until the guard is dropped. Costs a few
    /// microseconds, guard and all. Marks nothing when `limits::MARKS_MAX` others live, or in a
    /// ledger that does not outlive its process.
    fn mark(&self, run: RunId) -> Mark;

    /// Runs that were marked when the last process ended without closing the ledger, and at how
    /// many such ends in a row, by id. A run that was not marked at one of them starts from 0
    /// again; closing starts all from 0, unless nothing was marked since opening.
    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>>;

    /// How many appends (parts that wrote events) were committed since opening. For measurements.
    fn appends(&self) -> u64;
}
