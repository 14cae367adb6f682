//! The ledger port on an open store.
//!
//! Commits go through the one committer; reads happen in the caller's thread. Nothing here writes.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use mainstay_ledger::knock::Knocker;
use mainstay_ledger::{
    CommitRequest, Driving, Enqueued, InboxCommand, InboxMessage, Knocks, Ledger, LedgerError,
    Loaded, Mark, Page, Recorded, RunFilter, Snapshot, StoredAlert, StoredClass, Verdict,
};
use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId, limits,
};
use parking_lot::Mutex;

use crate::commit::Shared;
use crate::commit::queue::{Reply, Wish};
use crate::exchange::Progress;
use crate::fault;
use crate::files::{Lock, Marks, StoreId};
use crate::heads::Heads;
use crate::look::Looked;
use crate::open::{self, OpenOptions, Opened};
use crate::read::Reader;
use crate::retention::{Sweep, Sweeper, Sweeping};
use crate::run_row::RunRow;
use crate::standing::{Health, Lag};
use crate::table::TableFactory;

/// An open store on disk: a log of what happened, and beside it how things stand in a table of the
/// engine that `F` makes. One process at a time holds it; dropping it closes it.
///
/// Commits are durable when they return: in the log, and synced to the disk. Reads run in the
/// calling thread (they take microseconds, or as long as the disk when something is not cached) and
/// return nothing that a loss of power could take back.
///
/// What [`Ledger::commit`] says of errors, here: a request whose stored keys cannot be read fails
/// its call; of that request and those after it nothing was written.
pub struct LogLedger<F> {
    /// `None` only while the store is being closed.
    open: Option<Open>,
    shared: Arc<Shared>,
    reader: Reader,
    knocker: Arc<Knocker>,
    heads: Arc<Mutex<Heads>>,
    marks: Arc<Marks>,
    id: StoreId,
    folder: PathBuf,
    options: OpenOptions,
    factory: PhantomData<F>,
}

struct Open {
    committer: JoinHandle<()>,
    sweeping: Sweeping,
    lock: Lock,
}

impl<F> std::fmt::Debug for LogLedger<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogLedger")
            .field("appends", &self.shared.progress.appends())
            .field("syncs", &self.shared.progress.syncs())
            .finish_non_exhaustive()
    }
}

impl<F: TableFactory + Default + 'static> LogLedger<F> {
    /// Opens the store in `folder`, or makes one there. Blocks until it is open; while another
    /// process holds it, for up to `options.wait`.
    ///
    /// `Locked` names who holds it then; `Missing` when there is none and none is to be made;
    /// `Version` leaves it as it is; `Damaged` says what to do. A table that is not what was
    /// written is moved aside and made anew from the log.
    pub fn open(folder: impl AsRef<Path>, options: OpenOptions) -> Result<Self, LedgerError> {
        let opened = Self::open_erasing(folder.as_ref(), options, &mut |_, _| {});
        opened.map(|(store, _)| store)
    }

    /// Opens a store that is there, for tools that only look. Makes nothing.
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Self::open(folder, OpenOptions::default())
    }

    /// The same as `open`; says how many segments were written anew to end an erasure.
    pub(crate) fn open_erasing(
        folder: &Path,
        options: OpenOptions,
        progress: &mut Progress<'_>,
    ) -> Result<(Self, u64), LedgerError> {
        let opened = open::open(folder, &options, Arc::new(F::default()), progress)?;
        let rewritten = opened.rewritten;
        Ok((Self::begin(folder, options, opened)?, rewritten))
    }
}

impl<F> LogLedger<F> {
    pub(crate) fn begin(
        folder: &Path,
        options: OpenOptions,
        opened: Opened,
    ) -> Result<Self, LedgerError> {
        let Opened {
            shared,
            reader,
            knocker,
            heads,
            marks,
            lock,
            store,
            erased,
            rewritten: _,
        } = opened;
        let committer = shared.spawn(folder)?;
        let memory = options.settings.run_memory;
        let sweeper = Sweeper::new(Arc::clone(&shared), reader.clone(), memory);
        let sweeping = Sweeping::begin(sweeper, folder)?;
        let ledger = Self {
            open: Some(Open {
                committer,
                sweeping,
                lock,
            }),
            shared,
            reader,
            knocker,
            heads,
            marks,
            id: store,
            folder: folder.to_owned(),
            options,
            factory: PhantomData,
        };
        if !erased.is_empty() {
            ledger.shared.sweep(Sweep::EndErasing(erased))?;
        }
        Ok(ledger)
    }

    /// The store's identity.
    #[must_use]
    pub const fn id(&self) -> StoreId {
        self.id
    }

    /// Why the table was made anew from the log when the store was opened, when it was.
    #[must_use]
    pub fn made_anew(&self) -> Option<&str> {
        self.reader.standing.made_anew()
    }

    /// How far the table is behind what was acknowledged, with the bounds at which callers wait.
    #[must_use]
    pub fn lag(&self) -> Lag {
        self.reader.standing.lag()
    }

    /// How the table is.
    #[must_use]
    pub fn health(&self) -> Health {
        self.reader.standing.health()
    }

    pub(crate) const fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Where it lies, and how it was opened.
    pub(crate) fn place(&self) -> (PathBuf, OpenOptions) {
        (self.folder.clone(), self.options.clone())
    }

    /// How often the disk was synced for commits since opening. For measurements.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.shared.progress.syncs()
    }

    /// Closes the store: what waits is committed, how things stand is brought up to date in the
    /// table, then the files and the lock are released.
    ///
    /// Dropping does the same without telling. `Poisoned` when the store had failed.
    pub fn close(mut self) -> Result<(), LedgerError> {
        self.shut()
    }

    fn shut(&mut self) -> Result<(), LedgerError> {
        let Some(Open {
            committer,
            sweeping,
            lock,
        }) = self.open.take()
        else {
            return Ok(());
        };
        // It asks the committer, which therefore ends after it.
        drop(sweeping);
        self.shared.queue.close();
        if let Err(panic) = committer.join() {
            let text = fault::panic_text(&*panic);
            self.shared
                .progress
                .poison(format!("the committer panicked while ending: {text}"));
        }
        self.marks.clean();
        let closed = self.reader.standing.close();
        if closed.is_err() {
            // Its files may still be held; whoever asks for the store must be told by whom.
            std::mem::forget(lock);
        }
        self.shared.progress.check()?;
        closed
    }

    async fn read<T>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.shared.progress.check()?;
        read(&self.reader)
    }
}

impl<F> Drop for LogLedger<F> {
    fn drop(&mut self) {
        // Nobody is left to tell; `close` tells.
        let _ = self.shut();
    }
}

impl<F: Send + Sync> Ledger for LogLedger<F> {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        assert!(
            requests.len() <= limits::COMMIT_GROUP_MAX,
            "a group beyond its bound"
        );
        let (reply, answer) = Reply::new();
        Box::pin(async move {
            let looked = Looked::of(&self.reader.standing, &requests)?;
            let wish = Wish::Commit(requests, Arc::new(looked), reply);
            self.shared.ask(wish, answer).await
        })
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        let (reply, answer) = Reply::new();
        let bytes = command.payload_bytes();
        if !command.fits() {
            return Box::pin(std::future::ready(Err(LedgerError::TooLarge {
                run,
                bytes,
            })));
        }
        Box::pin(async move {
            let is_known = self.heads.lock().get(run).is_some();
            let looked = Looked::of_command(&self.reader.standing, (run, is_known), message)?;
            let message = InboxMessage {
                id: message,
                command,
            };
            let wish = Wish::Enqueue(run, message, Arc::new(looked), reply);
            self.shared.ask(wish, answer).await
        })
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.load(run)))
    }

    fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> BoxFuture<'_, Result<Option<Page<Recorded>>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.history(run, after)))
    }

    fn keep(&self, run: RunId, snapshot: Snapshot) {
        let row = self.heads.lock().get(run).cloned();
        let row = row.map_or_else(|| self.reader.row(run), |row| Ok(Some(RunRow::clone(&row))));
        // What cannot be read is told to whoever loads it.
        if let Ok(Some(row)) = row {
            self.reader.keep(run, &row, &snapshot);
        }
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.driven(cursor)))
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.driving(run)))
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.inbox(run)))
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.wakes(cursor)))
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.inboxes(cursor)))
    }

    /// Does nothing: one process at a time holds a store, so that whoever drove a run in an earlier
    /// one is gone, and nobody else can ask meanwhile. `lease_until` is always `None`.
    fn lease(
        &self,
        _worker: WorkerId,
        _until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(std::future::ready(self.shared.progress.check()))
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.summary(run)))
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.alerts(after)))
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.runs(&filter, cursor)))
    }

    fn effect(
        &self,
        key: EffectKey,
    ) -> BoxFuture<'_, Result<Option<(EffectEntry, u64)>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.effect(&key)))
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.start_key(&tenant, &key)))
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        Box::pin(self.read(move |reader| reader.class(&name, version)))
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        Box::pin(self.read(Reader::classes))
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        Box::pin(self.read(Reader::newest_time))
    }

    fn knocks(&self) -> Knocks {
        self.knocker.subscribe()
    }

    fn mark(&self, run: RunId) -> Mark {
        self.marks.mark(run)
    }

    fn aborted(&self) -> BoxFuture<'_, Result<Vec<(RunId, u32)>, LedgerError>> {
        Box::pin(std::future::ready(Ok(self.marks.aborted())))
    }

    fn appends(&self) -> u64 {
        self.shared.progress.appends()
    }
}
