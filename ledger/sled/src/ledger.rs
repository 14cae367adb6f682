//! The ledger port on an open sled store.
//!
//! Commits go through the one committer; reads happen in the caller's thread. Nothing here writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use mainstay_ledger::knock::Knocker;
use mainstay_ledger::{
    CommitRequest, Driving, Enqueued, InboxCommand, InboxMessage, Knocks, Ledger, LedgerError,
    Loaded, Mark, Page, RunFilter, StoredAlert, StoredClass, Verdict,
};
use mainstay_machine::Summary;
use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, MessageId, RunId, StartKey, Tenant,
    Timestamp, WorkerId, limits,
};

use crate::alerts;
use crate::committer::Committer;
use crate::disk::{DataFile, Disk};
use crate::engine;
use crate::fault;
use crate::files::io_error;
use crate::heads::Heads;
use crate::lock::Lock;
use crate::marks::Marks;
use crate::open::{self, OpenOptions, Opened};
use crate::position::Position;
use crate::progress::Progress;
use crate::queue::{Answer, Queue, Reply, Wish};
use crate::read;
use crate::stage;

/// An open store on disk. One process at a time holds it; dropping it closes it.
///
/// Commits are durable when they return: written, and synced to the disk. Reads run in the
/// calling thread (they take microseconds, or as long as the disk when a page is not cached) and
/// return nothing that a loss of power could take back.
///
/// What [`Ledger::commit`] says of errors, here: a request whose stored keys cannot be read fails
/// its call; of that request and those after it nothing was written.
#[derive(Debug)]
pub struct SledLedger {
    /// `None` only while the store is being closed.
    open: Option<Open>,
    queue: Arc<Queue>,
    progress: Arc<Progress>,
    knocker: Arc<Knocker>,
    marks: Arc<Marks>,
}

#[derive(Debug)]
struct Open {
    db: sled::Db,
    committer: JoinHandle<()>,
    sled_folder: PathBuf,
    lock: Lock,
}

impl SledLedger {
    /// Opens the store in `folder`, or makes one there. Blocks until it is open; while another
    /// process holds it, for up to `options.wait`.
    ///
    /// `Locked` names who holds it then; `Missing` when there is none and none is to be made;
    /// `Version` leaves it as it is; `Damaged` says what to do, and sled may have changed its own
    /// files.
    pub fn open(folder: impl AsRef<Path>, options: OpenOptions) -> Result<Self, LedgerError> {
        Self::open_on(folder.as_ref(), options, |data| Box::new(data))
    }

    /// Opens a store that is there, for tools that only look. Makes nothing.
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Self::open(folder, OpenOptions::default())
    }

    /// Opens a store on the disk that `disk` makes of its data file.
    pub(crate) fn open_on(
        folder: &Path,
        options: OpenOptions,
        disk: impl FnOnce(DataFile) -> Box<dyn Disk>,
    ) -> Result<Self, LedgerError> {
        let Opened {
            db,
            data,
            witness,
            position,
            sled_folder,
            marks,
            lock,
        } = open::open(folder, options)?;
        let queue = Queue::new(limits::COMMIT_QUEUE_MAX);
        let progress = Arc::new(Progress::default());
        let knocker = Arc::new(Knocker::default());
        let committer = Committer {
            db: db.clone(),
            disk: disk(data),
            witness,
            position,
            queue: Arc::clone(&queue),
            progress: Arc::clone(&progress),
            knocker: Arc::clone(&knocker),
            heads: Heads::new(limits::SLED_HEADS_MAX),
        };
        let committer = std::thread::Builder::new()
            .name("mainstay-commit".to_owned())
            .spawn(move || committer.run())
            .map_err(|error| io_error("starting the committer of", folder, &error))?;
        let open = Open {
            db,
            committer,
            sled_folder,
            lock,
        };
        Ok(Self {
            open: Some(open),
            queue,
            progress,
            knocker,
            marks,
        })
    }

    /// How often the disk was synced for commits since opening. For measurements.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.progress.syncs()
    }

    /// Closes the store: what waits is committed, then the files and the lock are released.
    ///
    /// Dropping does the same without telling. `Poisoned` when the store had failed.
    pub fn close(mut self) -> Result<(), LedgerError> {
        self.shut()
    }

    fn shut(&mut self) -> Result<(), LedgerError> {
        let Some(Open {
            db,
            committer,
            sled_folder,
            lock,
        }) = self.open.take()
        else {
            return Ok(());
        };
        self.queue.close();
        let ended = committer.join();
        self.marks.clean();
        if !engine::close(db, &sled_folder) {
            // Its files are still held; whoever asks for the store must be told by whom.
            std::mem::forget(lock);
            return Err(LedgerError::Io {
                detail: "sled does not close".to_owned(),
            });
        }
        if let Err(panic) = ended {
            let text = fault::panic_text(&*panic);
            self.progress
                .poison(format!("the committer panicked while ending: {text}"));
        }
        self.progress.check()
    }

    fn db(&self) -> &sled::Db {
        &self
            .open
            .as_ref()
            .expect("only close and drop take it, and they own the ledger")
            .db
    }

    /// Reads, then waits until what was seen is durable.
    async fn read<T>(
        &self,
        read: impl FnOnce(&sled::Tree) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.progress.check()?;
        let seen = fault::guarded(|| read(self.db()));
        self.progress.durable().await?;
        seen
    }

    /// Hands a wish to the committer and waits for its answer.
    async fn ask<T>(&self, wish: Wish, answer: Answer<T>) -> Result<T, LedgerError> {
        self.progress.check()?;
        self.queue
            .push(wish)
            .await
            .map_err(|_| self.progress.gone())?;
        answer.await.unwrap_or_else(|_| Err(self.progress.gone()))
    }
}

impl Drop for SledLedger {
    fn drop(&mut self) {
        // Nobody is left to tell; `close` tells.
        let _ = self.shut();
    }
}

impl Ledger for SledLedger {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        assert!(
            requests.len() <= limits::COMMIT_GROUP_MAX,
            "a group beyond its bound"
        );
        let (reply, answer) = Reply::new();
        Box::pin(self.ask(Wish::Commit(requests, reply), answer))
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
        let message = InboxMessage {
            id: message,
            command,
        };
        Box::pin(self.ask(Wish::Enqueue(run, message, reply), answer))
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        Box::pin(self.read(move |tree| read::load(tree, run)))
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<Driving>, LedgerError>> {
        Box::pin(self.read(move |tree| read::driven(tree, cursor)))
    }

    fn driving(&self, run: RunId) -> BoxFuture<'_, Result<Option<Driving>, LedgerError>> {
        Box::pin(self.read(move |tree| read::driving(tree, run)))
    }

    fn inbox(&self, run: RunId) -> BoxFuture<'_, Result<Vec<InboxMessage>, LedgerError>> {
        Box::pin(self.read(move |tree| read::inbox(tree, run)))
    }

    fn wakes(
        &self,
        cursor: Option<(Timestamp, RunId)>,
    ) -> BoxFuture<'_, Result<Page<(Timestamp, RunId)>, LedgerError>> {
        Box::pin(self.read(move |tree| read::wakes(tree, cursor)))
    }

    fn inboxes(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        Box::pin(self.read(move |tree| read::inboxes(tree, cursor)))
    }

    /// Does nothing: one process at a time holds a store, so that whoever drove a run in an earlier
    /// one is gone, and nobody else can ask meanwhile. `lease_until` is always `None`.
    fn lease(
        &self,
        _worker: WorkerId,
        _until: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(std::future::ready(self.progress.check()))
    }

    fn summary(&self, run: RunId) -> BoxFuture<'_, Result<Option<Summary>, LedgerError>> {
        Box::pin(self.read(move |tree| read::summary(tree, run)))
    }

    fn alerts(&self, after: AlertSeq) -> BoxFuture<'_, Result<Page<StoredAlert>, LedgerError>> {
        Box::pin(self.read(move |tree| alerts::read(tree, after)))
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        Box::pin(self.read(move |tree| read::runs(tree, &filter, cursor)))
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        Box::pin(self.read(move |tree| stage::read_start(tree, &tenant, &key)))
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        Box::pin(self.read(move |tree| read::class(tree, &name, version)))
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        Box::pin(self.read(read::classes))
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        Box::pin(self.read(|tree| Ok(Position::read(tree)?.newest)))
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
        self.progress.appends()
    }
}
