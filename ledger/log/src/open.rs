//! Opening: lock, identity, log, table, replay, in this order.
//!
//! There is one way in, whatever happened before: how things stand is read from the table as far as
//! its checkpoint says, and the log after it is replayed. A table that is not what was written is
//! moved aside and the log is replayed from its start. Nothing here repairs the log.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_ledger::knock::Knocker;
use mainstay_types::{Millis, RunId, limits};
use parking_lot::Mutex;

use crate::birth;
use crate::commit::Shared;
use crate::commit::committer::Committer;
use crate::commit::progress::Progress as CommitProgress;
use crate::commit::queue::Queue;
use crate::exchange::{self, Progress, Unfinished};
use crate::files::{self, Ballast, Disk, Lock, Marks, RealDisk, StoreId};
use crate::heads::Heads;
use crate::inspect;
use crate::keys;
use crate::read::{Reader, Rows};
use crate::retention::condemned;
use crate::segment::{Archive, Entry, Frame, FrameBuilder, Log, LogError, Place, Verdict};
use crate::settings::{FORMAT, Settings};
use crate::standing::{Change, Site, Standing};
use crate::table::TableFactory;

/// The log's folder in a store.
pub(crate) const LOG_FOLDER: &str = "log";
/// The table's folder in a store.
pub(crate) const TABLE_FOLDER: &str = "table";

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Whether a store is made when there is none; otherwise that is `Missing`.
    pub create: bool,
    /// How long to wait for another process that holds the store, for example one that drains
    /// during a rolling restart. Default: not at all. After it, `Locked`.
    pub wait: Millis,
    /// Whether a store may be opened into which an import was cut off, to go on with it; otherwise
    /// that is `Damaged`.
    pub unfinished_import: bool,
    /// How long things are kept, and sizes.
    pub settings: Settings,
}

impl OpenOptions {
    /// Makes a store when there is none; does not wait for one that is held.
    #[must_use]
    pub fn creating() -> Self {
        Self {
            create: true,
            ..Self::default()
        }
    }

    /// Waits for so long while another process holds the store.
    #[must_use]
    pub fn wait(self, wait: Millis) -> Self {
        Self { wait, ..self }
    }

    /// Opens a store also when an import into it was cut off.
    #[must_use]
    pub fn unfinished_import(self) -> Self {
        Self {
            unfinished_import: true,
            ..self
        }
    }

    /// Keeps things for so long, in files of such sizes.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }
}

/// Everything of an open store.
pub(crate) struct Opened {
    pub(crate) shared: Arc<Shared>,
    pub(crate) reader: Reader,
    pub(crate) knocker: Arc<Knocker>,
    pub(crate) heads: Arc<Mutex<Heads>>,
    pub(crate) marks: Arc<Marks>,
    pub(crate) lock: Lock,
    pub(crate) store: StoreId,
    /// Runs whose last traces were taken out of older files just now.
    pub(crate) erased: Vec<RunId>,
    /// How many of these files were written anew.
    pub(crate) rewritten: u64,
}

/// Opens the store in `folder`, with a table that `factory` makes.
pub(crate) fn open(
    folder: &Path,
    options: &OpenOptions,
    factory: Arc<dyn TableFactory>,
    progress: &mut Progress<'_>,
) -> Result<Opened, LedgerError> {
    open_on(folder, options, (factory, Arc::new(RealDisk)), progress)
}

/// Opens the store on a disk that a test may make.
pub(crate) fn open_on(
    folder: &Path,
    options: &OpenOptions,
    (factory, disk): (Arc<dyn TableFactory>, Arc<dyn Disk>),
    progress: &mut Progress<'_>,
) -> Result<Opened, LedgerError> {
    find_folder(&*disk, folder, options)?;
    let lock = Lock::take(folder, options.wait)?;
    let known = files::read_format(&*disk, folder, FORMAT)?;
    let store = identity(&*disk, (folder, known), options)?;
    inspect::remove_copy(folder)?;
    if known.is_some() {
        Ballast::give_up_to_open(folder, &*disk);
    }
    let settings = &options.settings;
    let (mut log, archive) = Log::open(folder, Arc::clone(&disk), store, settings.log)?;
    if known.is_none() {
        // Last of all: with it, a log that is missing is damage.
        files::write_format(&*disk, folder, FORMAT, store)?;
    }
    let site = Site {
        folder: folder.join(TABLE_FOLDER),
        store,
        disk,
    };
    let (standing, place) = Standing::open(site, factory, settings.standing)?;
    let standing = bring_up(standing, place, &archive)?;
    if !options.unfinished_import && Unfinished::of(&standing)?.is_some() {
        return Err(exchange::refused(folder));
    }
    let (standing, erased, rewritten) = end_erasing(standing, (&mut log, &archive), progress)?;
    let was_empty = place.is_none() && known.is_some();
    let why = standing
        .made_anew()
        .or_else(|| was_empty.then_some("there was none, or nothing in it"));
    if let Some(why) = why {
        tracing::warn!(store = %folder.display(), why, "the table was made anew from the log");
    }
    let reader = Reader::new(Arc::new(standing), archive);
    reader.find_snapshots()?;
    let heads = Arc::new(Mutex::new(Heads::new(limits::HEADS_MAX)));
    let knocker = Arc::new(Knocker::default());
    let committer = Committer {
        log,
        reader: reader.clone(),
        heads: Arc::clone(&heads),
        classes: classes(&reader)?,
        settings: settings.clone(),
        progress: Arc::new(CommitProgress::default()),
        knocker: Arc::clone(&knocker),
        newest: reader.newest_time()?,
        frame: FrameBuilder::new(),
    };
    let queue = Queue::new(limits::COMMIT_QUEUE_MAX);
    let calm = Arc::clone(&queue);
    reader.standing.on_calm(Box::new(move || calm.look_again()));
    Ok(Opened {
        shared: Shared::new(committer, queue),
        reader,
        knocker,
        heads,
        marks: Arc::new(Marks::open(folder, store)),
        lock,
        store,
        erased,
        rewritten,
    })
}

/// Makes the folder, or sees that there is a store in it.
fn find_folder(disk: &dyn Disk, folder: &Path, options: &OpenOptions) -> Result<(), LedgerError> {
    if options.create {
        return birth::make_folder(disk, folder);
    }
    match birth::is_store(disk, folder)? {
        true => Ok(()),
        false => Err(missing(folder)),
    }
}

/// Which store it is, by its name, or which one it is going to be. Nothing is made yet.
fn identity(
    disk: &dyn Disk,
    (folder, known): (&Path, Option<StoreId>),
    options: &OpenOptions,
) -> Result<StoreId, LedgerError> {
    if inspect::is_unfinished(folder)? {
        let detail = "a repair was cut off while it put a new log in place";
        return Err(LedgerError::Damaged {
            detail: format!("{}: {detail}", folder.display()),
            way_out: "`mainstay repair --apply` ends it".to_owned(),
        });
    }
    if let Some(store) = known {
        birth::has_log(disk, folder)?;
        return Ok(store);
    }
    let store = birth::newborn(disk, folder)?;
    match options.create {
        true => Ok(store),
        // What was going to be a store is none, and looking makes none.
        false => Err(missing(folder)),
    }
}

fn missing(folder: &Path) -> LedgerError {
    LedgerError::Missing {
        folder: folder.display().to_string(),
    }
}

/// Brings what stands to the end of the log, from `place` on; from its start when the table has
/// nothing that can be used.
fn bring_up(
    standing: Standing,
    place: Option<Place>,
    archive: &Archive,
) -> Result<Standing, LedgerError> {
    let mut standing = standing;
    let mut place = place;
    if let Some(at) = place
        && !archive.has_place(at)?
    {
        standing =
            standing.start_over(format!("the log does not have its place any more: {at}"))?;
        place = None;
    }
    match replay(&standing, archive, place) {
        Err(error @ LedgerError::Damaged { .. }) if place.is_some() => {
            // The log itself is read in full below: when it is what is damaged, that says so.
            let standing = standing.start_over(error.to_string())?;
            replay(&standing, archive, None)?;
            Ok(standing)
        }
        replayed => replayed.map(|()| standing),
    }
}

fn replay(standing: &Standing, archive: &Archive, place: Option<Place>) -> Result<(), LedgerError> {
    for frame in archive.frames(place) {
        let frame = frame?;
        standing.replay(changes_of(&frame)?, frame.next)?;
    }
    Ok(())
}

/// Takes what has to go out of every older segment, and makes the table anew without it: what a
/// former process began, or was asked for just now.
fn end_erasing(
    standing: Standing,
    (log, archive): (&mut Log, &Archive),
    progress: &mut Progress<'_>,
) -> Result<(Standing, Vec<RunId>, u64), LedgerError> {
    let mut runs = HashSet::new();
    for row in Rows::of(&standing, keys::all_erasing()) {
        let (key, _) = row?;
        runs.extend(keys::run_at_end(&key));
    }
    if runs.is_empty() {
        return Ok((standing, Vec::new(), 0));
    }
    let rewritten = match rewrite(&runs, (log, archive), progress) {
        Ok(rewritten) => rewritten,
        // Nothing of it is shown any more; the files follow when there is room.
        Err(LogError::Full { detail }) => {
            tracing::warn!(
                detail,
                "older files still hold what was erased, for want of room"
            );
            return Ok((standing, Vec::new(), 0));
        }
        Err(error) => return Err(error.into()),
    };
    let standing = standing.start_over("a run was erased")?;
    replay(&standing, archive, None)?;
    Ok((standing, runs.into_iter().collect(), rewritten))
}

/// Writes every segment anew that holds something of these runs; says how many.
fn rewrite(
    runs: &HashSet<RunId>,
    (log, archive): (&mut Log, &Archive),
    progress: &mut Progress<'_>,
) -> Result<u64, LogError> {
    let segments = archive.segments();
    let Some(active) = segments.last() else {
        return Ok(0);
    };
    // Only what is sealed is written anew. What is being written ends when it holds some of it.
    let begin = Place {
        segment: active.no,
        offset: 0,
    };
    let mut sealed = segments.len() - 1;
    for frame in archive.frames(Some(begin)) {
        let frame = frame?;
        let mut entries = frame.entries();
        let holds = entries.try_fold(false, |holds, entry| {
            Ok::<_, LogError>(holds || condemned(runs, &entry?) == Verdict::Erase)
        })?;
        if holds {
            log.roll()?;
            sealed += 1;
            break;
        }
    }
    let mut rewritten = 0;
    for (done, segment) in segments.iter().take(sealed).enumerate() {
        let found = archive.rewrite(segment.no, |entry| condemned(runs, entry))?;
        rewritten += u64::from(0 < found.entries);
        progress(done as u64 + 1, sealed as u64);
    }
    Ok(rewritten)
}

/// The rows that a frame changes.
pub(crate) fn changes_of(frame: &Frame) -> Result<Vec<Change>, LedgerError> {
    let mut changes = Vec::new();
    for entry in frame.entries() {
        let (key, value) = match entry? {
            Entry::Row { key, value } => (key.to_vec(), Some(value.into())),
            Entry::Gone { key } => (key.to_vec(), None),
            // From here on its row is in the archive.
            Entry::Closed { run, .. } => (keys::run(run), None),
            Entry::Records(_) | Entry::Pruned { .. } => continue,
        };
        changes.push(Change {
            key,
            value,
            fresh: false,
        });
    }
    Ok(changes)
}

/// The keys of all stored classes.
fn classes(reader: &Reader) -> Result<HashSet<keys::Key>, LedgerError> {
    let classes = reader.classes()?;
    let keys = classes
        .iter()
        .map(|stored| keys::class(&stored.class.name, stored.class.version));
    Ok(keys.collect())
}
