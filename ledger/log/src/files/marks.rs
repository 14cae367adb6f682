//! Which runs' code is being executed right now, where the next process finds it after an abort.
//!
//! `MARKS` holds a header and fixed slots, written in place and never synced: what a process wrote
//! survives its death in the page cache, and a loss of power may forget marks, which is no abort of
//! anybody's code. `ABORTS` holds how many times in a row each run was found marked; it is replaced
//! whole when a store is opened. Closing removes both; a process that only looked, and executed
//! nobody's code, leaves the counts to the next one.
//!
//! Nothing depends on these files but that count: one that is torn, foreign or cannot be written is
//! as good as none, and never keeps a store from opening.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainstay_ledger::Mark;
use mainstay_ledger::mark::Marks as Slots;
use mainstay_types::{RunId, limits};
use parking_lot::Mutex;

use super::disk::{RealDisk, sync_name};
use super::format::StoreId;
use super::put::put;
use crate::fields::Fields;

const MARKS: &str = "MARKS";
const ABORTS: &str = "ABORTS";

const MARKS_TITLE: &[u8; 8] = b"MSMARKS1";
const ABORTS_TITLE: &[u8; 8] = b"MSABORT1";
/// A header or a mark. It divides a page, so that none lies across two.
const SLOT_BYTES: usize = 32;
const CRC_BYTES: usize = 4;

/// How often runs were found marked at ends in a row.
type Counts = BTreeMap<RunId, u32>;

/// The marks of one open store.
#[derive(Debug)]
pub(crate) struct Marks {
    folder: PathBuf,
    /// `None` when the file could not be made: then nothing is marked.
    file: Option<File>,
    whose: Whose,
    free: Mutex<Vec<usize>>,
    /// Whether anything was marked since opening.
    used: AtomicBool,
    aborted: Counts,
}

/// Which store, and which opening of it: a mark of another is never believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Whose {
    store: StoreId,
    opening: u64,
}

impl Marks {
    /// Counts what the last process left marked, and begins with no marks.
    pub(crate) fn open(folder: &Path, store: StoreId) -> Self {
        let (counted, counts) = read_counts(folder, store).unwrap_or_default();
        let left = read_marks(folder, store);
        let (last, aborted) = match &left {
            Some((opening, runs)) if counted < *opening => {
                let count =
                    |run: &RunId| counts.get(run).map_or(1, |count| count.saturating_add(1));
                let counts = runs.iter().map(|run| (*run, count(run))).collect();
                (*opening, counts)
            }
            // A crash came between counting and beginning anew, so they are counted already; or
            // whoever came last only looked, or its marks are lost. Nothing new is known.
            Some(_) | None => (counted, counts.clone()),
        };
        // The counts first: marks that are counted twice would be blamed for one abort too many.
        let kept = (last, &aborted) == (counted, &counts)
            || put(
                &RealDisk,
                &folder.join(ABORTS),
                &counts_to_bytes(store, last, &aborted),
            )
            .is_ok();
        let whose = Whose {
            store,
            opening: last.saturating_add(1),
        };
        Self {
            folder: folder.to_owned(),
            file: kept.then(|| begin(folder, whose)).flatten(),
            whose,
            free: Mutex::new((0..limits::MARKS_MAX).rev().collect()),
            used: AtomicBool::new(false),
            aborted,
        }
    }

    /// Marks `run` until the guard is dropped; nothing when there is no place.
    pub(crate) fn mark(self: &Arc<Self>, run: RunId) -> Mark {
        self.used.store(true, Ordering::Relaxed);
        let slot = self.free.lock().pop();
        let (Some(file), Some(slot)) = (&self.file, slot) else {
            return Mark::none();
        };
        let mark = self.whose.mark(slot, run);
        if file.write_all_at(&mark, place(slot)).is_err() {
            self.free.lock().push(slot);
            return Mark::none();
        }
        Mark::of(Arc::clone(self) as Arc<dyn Slots>, slot)
    }

    /// Runs that were marked at aborts, and at how many in a row.
    pub(crate) fn aborted(&self) -> Vec<(RunId, u32)> {
        self.aborted.iter().map(|(run, n)| (*run, *n)).collect()
    }

    /// Says that the process ends of its own will: nothing is blamed on anybody.
    pub(crate) fn clean(&self) {
        let used = self.used.load(Ordering::Relaxed);
        for name in [Some(MARKS), used.then_some(ABORTS)].into_iter().flatten() {
            // What stays behind is at worst one abort too many in a row.
            let _ = fs::remove_file(self.folder.join(name));
        }
        let _ = sync_name(&self.folder.join(MARKS));
    }
}

impl Slots for Marks {
    fn unmark(&self, slot: usize) {
        let cleared = self
            .file
            .as_ref()
            .is_some_and(|file| file.write_all_at(&[0; SLOT_BYTES], place(slot)).is_ok());
        if cleared {
            self.free.lock().push(slot);
        }
    }
}

impl Whose {
    fn header(self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..8].copy_from_slice(MARKS_TITLE);
        bytes[8..16].copy_from_slice(&self.opening.to_le_bytes());
        seal(self.store, &mut bytes);
        bytes
    }

    fn mark(self, slot: usize, run: RunId) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..16].copy_from_slice(run.as_bytes());
        bytes[16..24].copy_from_slice(&self.opening.to_le_bytes());
        let number = u32::try_from(slot).expect("there are few slots");
        bytes[24..28].copy_from_slice(&number.to_le_bytes());
        seal(self.store, &mut bytes);
        bytes
    }
}

/// Where a slot stands: behind the header.
fn place(slot: usize) -> u64 {
    (SLOT_BYTES * (slot + 1)) as u64
}

/// A fresh file without marks.
fn begin(folder: &Path, whose: Whose) -> Option<File> {
    let mut bytes = vec![0; SLOT_BYTES * (limits::MARKS_MAX + 1)];
    bytes[..SLOT_BYTES].copy_from_slice(&whose.header());
    let path = folder.join(MARKS);
    put(&RealDisk, &path, &bytes).ok()?;
    OpenOptions::new().write(true).open(path).ok()
}

/// The opening that left marks, and the runs it left marked; `None` when there is no such file.
fn read_marks(folder: &Path, store: StoreId) -> Option<(u64, Vec<RunId>)> {
    let bytes = fs::read(folder.join(MARKS)).ok()?;
    let (header, slots) = bytes.split_first_chunk::<SLOT_BYTES>()?;
    let mut fields = Fields(header);
    let title: [u8; 8] = fields.array()?;
    let whose = Whose {
        store,
        opening: fields.u64()?,
    };
    if title != *MARKS_TITLE || whose.header() != *header {
        return None;
    }
    let slots = slots.chunks(SLOT_BYTES).take(limits::MARKS_MAX).enumerate();
    let mut runs: Vec<RunId> = slots
        .filter_map(|(slot, bytes)| {
            let run = RunId::from_bytes(Fields(bytes).array()?);
            (whose.mark(slot, run) == *bytes).then_some(run)
        })
        .collect();
    // A run may be marked more than once at a time; it is one abort all the same.
    runs.sort_unstable();
    runs.dedup();
    Some((whose.opening, runs))
}

fn counts_to_bytes(store: StoreId, counted: u64, counts: &Counts) -> Vec<u8> {
    let mut bytes = ABORTS_TITLE.to_vec();
    bytes.extend_from_slice(&counted.to_le_bytes());
    for (run, count) in counts {
        bytes.extend_from_slice(run.as_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes.extend_from_slice(&[0; CRC_BYTES]);
    seal(store, &mut bytes);
    bytes
}

/// The last opening whose marks are counted, and the counts.
fn read_counts(folder: &Path, store: StoreId) -> Option<(u64, Counts)> {
    let bytes = fs::read(folder.join(ABORTS)).ok()?;
    let (body, _) = bytes.split_last_chunk::<CRC_BYTES>()?;
    let mut fields = Fields(body);
    let (title, counted): ([u8; 8], _) = (fields.array()?, fields.u64()?);
    let mut counts = Counts::new();
    while !fields.is_empty() {
        counts.insert(RunId::from_bytes(fields.array()?), fields.u32()?);
    }
    let whole = title == *ABORTS_TITLE && counts_to_bytes(store, counted, &counts) == bytes;
    whole.then_some((counted, counts))
}

/// Writes a checksum over the store and all before it into the last bytes.
fn seal(store: StoreId, bytes: &mut [u8]) {
    let (body, crc) = bytes
        .split_last_chunk_mut::<CRC_BYTES>()
        .expect("whoever seals leaves room");
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(store.as_bytes());
    hasher.update(body);
    *crc = hasher.finalize().to_le_bytes();
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
