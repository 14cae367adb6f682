//! A log, written anew from what is left of one: in a folder beside, then put in its place.
//!
//! Frames and segments get new numbers, so rows of runs and records are told where their
//! predecessors lie now. A kill before it is whole leaves the old log where it was; after that, the
//! next repair ends what this one began, and no store opens in between.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::{RunId, limits};

use super::former::Former;
use super::repair::{REPLACED, make, move_into};
use crate::fault::io_error;
use crate::files::{AckedFile, Disk, RealDisk, StoreId, sync_name};
use crate::keys::{self, Key};
use crate::open::TABLE_FOLDER;
use crate::run_row::RunRow;
use crate::segment::{
    self, Entry, Frame, FrameBuilder, Log, LogError, LogSettings, Priority, Records, Salvaged,
    SegmentNo,
};
use crate::table::TableFactory;

/// Where the new log is written until it is whole.
const BESIDE: &str = "repaired.new";
/// The new log when it is whole and durable.
const WHOLE: &str = "repaired";

/// Rows of one frame of corrections.
const HANDFUL: usize = 256;

/// Writes the log of the store in `folder` anew; what it replaces goes to `kept`. Says what else is
/// known to be lost.
pub(super) fn rebuild(
    folder: &Path,
    store: StoreId,
    factory: Arc<dyn TableFactory>,
    kept: &Path,
) -> Result<Vec<String>, LedgerError> {
    let beside = folder.join(BESIDE);
    let whole = folder.join(WHOLE);
    if is_there(&whole)? {
        // A former repair was cut off while it put things in place.
        put_in_place(folder, &whole, kept)?;
        return Ok(Vec::new());
    }
    match std::fs::remove_dir_all(&beside) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io_error("removing", &beside, &error)),
    }
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    disk.make_folder(&beside)
        .map_err(|error| io_error("making", &beside, &error))?;
    let former = Former::open(folder, store, Arc::clone(&factory), &disk)?;
    let (log, _) = Log::open(&beside, Arc::clone(&disk), store, LogSettings::default())?;
    let mut writer = Writer {
        log,
        frame: FrameBuilder::new(),
        newest: HashMap::new(),
        rows: BTreeMap::new(),
        suspects: Suspects::default(),
    };
    let last = segment::salvage(&*disk, (folder, store), &mut |salvaged| match salvaged {
        Salvaged::Hole(hole) => {
            if !former.knows(hole.place) {
                writer.suspects.begin(&writer.rows);
            }
            Ok(())
        }
        Salvaged::Frame(frame) => {
            former.follow(&frame).map_err(told)?;
            writer.copy(&frame)
        }
    })?;
    if acked(&*disk, folder, store)? <= last {
        // What lies behind the end was acknowledged to nobody.
        writer.suspects.forget_pending();
    }
    let mut lost = former.correct(&mut writer)?;
    lost.extend(writer.stop_suspects()?);
    drop(writer);
    former.close();
    // From here on a repair that is cut off is ended by the next one.
    std::fs::rename(&beside, &whole)
        .and_then(|()| sync_name(&whole))
        .map_err(|error| io_error("renaming", &beside, &error))?;
    put_in_place(folder, &whole, kept)?;
    Ok(lost)
}

/// Whether a repair of this store was cut off while it put a finished log in place.
pub(crate) fn is_unfinished(folder: &Path) -> Result<bool, LedgerError> {
    is_there(&folder.join(WHOLE))
}

fn is_there(path: &Path) -> Result<bool, LedgerError> {
    path.try_exists()
        .map_err(|error| io_error("looking for", path, &error))
}

/// Moves the new log in, file by file; what is in its place goes to `kept` first. The acknowledged
/// position goes last: without a log that fits it, no store opens.
fn put_in_place(folder: &Path, whole: &Path, kept: &Path) -> Result<(), LedgerError> {
    if !is_there(kept)? {
        make(kept)?;
    }
    for name in REPLACED {
        if is_there(&whole.join(name))? {
            move_into(&folder.join(name), kept)?;
            move_into(&whole.join(name), folder)?;
        } else if name == TABLE_FOLDER {
            // The new log has none yet.
            move_into(&folder.join(name), kept)?;
        }
    }
    std::fs::remove_dir_all(whole).map_err(|error| io_error("removing", whole, &error))
}

/// The newest frame that is known to have been acknowledged.
fn acked(disk: &dyn Disk, folder: &Path, store: StoreId) -> Result<u64, LedgerError> {
    match AckedFile::open(disk, folder, store) {
        Ok((_, acked)) => Ok(acked.map_or(u64::MAX, |acked| acked.frame)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(u64::MAX),
        Err(error) => Err(io_error(
            "reading the acknowledged position of",
            folder,
            &error,
        )),
    }
}

/// Runs that were open where something is missing, and of which nothing was seen after it: what
/// they did last may be missing too.
#[derive(Default)]
pub(super) struct Suspects {
    pub(super) sure: HashSet<Key>,
    /// Those of a hole behind which nothing was seen yet.
    pending: HashSet<Key>,
}

impl Suspects {
    fn begin(&mut self, rows: &BTreeMap<Key, Arc<[u8]>>) {
        let open = rows.keys().filter(|key| keys::is_run(key));
        self.pending.extend(open.cloned());
    }

    /// A frame follows.
    fn follow(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        self.sure.extend(pending);
    }

    /// Something newer is known of a run, and its records prove that nothing before is missing.
    fn clear(&mut self, key: &[u8]) {
        self.sure.remove(key);
        self.pending.remove(key);
    }

    fn forget_pending(&mut self) {
        self.pending.clear();
    }
}

fn told(error: LedgerError) -> LogError {
    LogError::Io {
        detail: error.to_string(),
    }
}

/// Writes frames anew.
pub(super) struct Writer {
    log: Log,
    frame: FrameBuilder,
    /// The newest segment of the new log with records of a run.
    newest: HashMap<RunId, SegmentNo>,
    /// How things stand by the new log.
    pub(super) rows: BTreeMap<Key, Arc<[u8]>>,
    pub(super) suspects: Suspects,
}

impl Writer {
    fn copy(&mut self, frame: &Frame) -> Result<(), LogError> {
        let bytes = usize::try_from(frame.bytes()).unwrap_or(usize::MAX);
        // Rows of runs may grow by nothing: their numbers have a fixed size.
        let segment = self.log.make_room(bytes)?;
        self.frame.clear();
        self.suspects.follow();
        for entry in frame.entries() {
            self.entry(segment, &entry?);
        }
        self.write()
    }

    fn entry(&mut self, segment: SegmentNo, entry: &Entry<'_>) {
        match *entry {
            Entry::Records(records) => {
                let prev = self.newest.insert(records.run, segment);
                self.frame
                    .push(&Entry::Records(Records { prev, ..records }));
            }
            Entry::Row { key, value } => {
                let run = keys::run_at_end(key).filter(|_| keys::is_run(key));
                let value: Arc<[u8]> = match run {
                    Some(run) => self.moved(run, value).into(),
                    None => value.into(),
                };
                self.suspects.clear(key);
                self.frame.push(&Entry::Row { key, value: &value });
                self.rows.insert(key.to_vec(), value);
            }
            Entry::Gone { key } => {
                self.rows.remove(key);
                self.frame.push(entry);
            }
            Entry::Closed {
                run,
                expires_at,
                row,
            } => {
                let row = self.moved(run, row);
                self.rows.remove(&keys::run(run));
                self.suspects.clear(&keys::run(run));
                self.frame.push(&Entry::Closed {
                    run,
                    expires_at,
                    row: &row,
                });
            }
            Entry::Pruned { run } => {
                self.newest.remove(&run);
                self.frame.push(entry);
            }
        }
    }

    /// A run's row that says where its newest records lie now; one that cannot be read stays as it
    /// is, to be told by whoever reads it.
    pub(super) fn moved(&self, run: RunId, row: &[u8]) -> Vec<u8> {
        let Ok(mut parsed) = RunRow::decode(run, row) else {
            return row.to_vec();
        };
        parsed.newest = self.newest.get(&run).copied().unwrap_or_default();
        parsed.encode(run)
    }

    fn write(&mut self) -> Result<(), LogError> {
        let written = self.log.append(&mut self.frame, Priority::Control)?;
        self.log.sync()?;
        self.log.publish(written, &self.frame);
        Ok(())
    }

    /// Runs of which nobody knows what they did last say that records are missing: whoever loads
    /// one stops it, and a person looks.
    fn stop_suspects(&mut self) -> Result<Vec<String>, LedgerError> {
        self.suspects.follow();
        let sure = std::mem::take(&mut self.suspects.sure);
        let mut lost = Vec::new();
        let mut changes = Vec::new();
        for key in sure {
            let (Some(run), Some(value)) = (keys::run_at_end(&key), self.rows.get(&key)) else {
                continue;
            };
            let Ok(mut row) = RunRow::decode(run, value) else {
                continue;
            };
            row.head.seq = row.head.seq.next();
            lost.push(format!("run {run} stops: what it did last may be missing"));
            changes.push((key, Some(row.encode(run).into())));
        }
        lost.sort();
        self.correct(&changes)?;
        Ok(lost)
    }

    /// Sets and removes rows so that they are as `wanted` says.
    pub(super) fn correct(
        &mut self,
        changes: &[(Key, Option<Arc<[u8]>>)],
    ) -> Result<(), LedgerError> {
        let mut bytes = 0;
        let handfuls = changes.chunk_by(|(key, value), _| {
            bytes += key.len() + value.as_ref().map_or(0, |value| value.len());
            let goes_on = bytes < limits::GROUP_BYTES_MAX;
            if !goes_on {
                bytes = 0;
            }
            goes_on
        });
        for handful in handfuls.flat_map(|handful| handful.chunks(HANDFUL)) {
            let bytes = handful
                .iter()
                .map(|(key, value)| 32 + key.len() + value.as_ref().map_or(0, |value| value.len()));
            let segment = self.log.make_room(bytes.sum())?;
            self.frame.clear();
            for (key, value) in handful {
                match value {
                    Some(value) => self.entry(segment, &Entry::Row { key, value }),
                    None => self.entry(segment, &Entry::Gone { key }),
                }
            }
            self.write()?;
        }
        Ok(())
    }
}
