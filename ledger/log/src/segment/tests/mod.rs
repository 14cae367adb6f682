//! The log against a plain list of what was said: whatever is done to the files, the log says what
//! was acknowledged, or that it cannot.
//!
//! Disks are in memory and the log's thread is off, so that everything happens in one order.

mod between;
mod closed;
mod damage;
mod erase;
mod footers;
mod power;
mod random;
mod records;
mod space;
mod thread;
mod torn;
mod truth;
mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_types::{RunId, Seq, Timestamp};
use proptest::prelude::ProptestConfig;

use super::frame::{ALIGN, HEADER_BYTES};
use super::log::Written;
use super::*;
use crate::files::faults::MemoryDisk;
use crate::files::{Disk, StoreId};
use truth::Truth;

const STORE: StoreId = StoreId::from_bytes([7; 16]);
const FOLDER: &str = "/store";

/// So many cases; failing ones are printed and not kept in a file.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

/// Segments so small that a few frames fill one.
fn small() -> LogSettings {
    LogSettings {
        segment_bytes: 4_096,
        first_bytes: 4_096,
        short_bytes: 1_024,
        ballast_bytes: 0,
        beside: false,
    }
}

fn folder() -> &'static Path {
    Path::new(FOLDER)
}

/// The file of a segment.
fn file(segment: u64) -> PathBuf {
    folder().join("log").join(format!("{segment:010}.log"))
}

fn open_with(disk: &MemoryDisk, settings: LogSettings) -> Result<(Log, Arc<Archive>), LogError> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Log::open(folder(), disk, STORE, settings)
}

fn open(disk: &MemoryDisk) -> Result<(Log, Arc<Archive>), LogError> {
    open_with(disk, small())
}

fn run(n: u8) -> RunId {
    let mut id = [0; 16];
    id[0] = n;
    RunId::from_bytes(id)
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

/// One entry, owned; who is before it in the log is found out when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Records {
        run: RunId,
        first: u64,
        records: Vec<Vec<u8>>,
        carried: bool,
    },
    Row(Vec<u8>, Vec<u8>),
    Gone(Vec<u8>),
    Closed(RunId, i64, Vec<u8>),
    Pruned(RunId),
}

/// Records of a run with these seqs; each record says whose it is.
fn records(n: u8, first: u64, count: u64) -> Said {
    let record = |seq: u64| format!("record {seq} of run {n}").into_bytes();
    Said::Records {
        run: run(n),
        first,
        records: (first..first + count).map(record).collect(),
        carried: false,
    }
}

/// The same as copies of older records.
fn carried(n: u8, first: u64, count: u64) -> Said {
    let mut said = records(n, first, count);
    if let Said::Records { carried, .. } = &mut said {
        *carried = true;
    }
    said
}

fn row(key: &str, value: &str) -> Said {
    Said::Row(key.as_bytes().to_vec(), value.as_bytes().to_vec())
}

fn closed(n: u8, row: &str) -> Said {
    Said::Closed(run(n), i64::from(n) * 10, row.as_bytes().to_vec())
}

impl Said {
    fn run(&self) -> Option<RunId> {
        match self {
            Self::Records { run, .. } | Self::Closed(run, ..) | Self::Pruned(run) => Some(*run),
            Self::Row(..) | Self::Gone(_) => None,
        }
    }
}

/// A log, and what it should say.
struct Told {
    log: Log,
    archive: Arc<Archive>,
    truth: Truth,
    frame: FrameBuilder,
}

impl Told {
    fn new(disk: &MemoryDisk) -> Self {
        Self::with(disk, small(), Truth::default())
    }

    fn with(disk: &MemoryDisk, settings: LogSettings, truth: Truth) -> Self {
        let (log, archive) = open_with(disk, settings).unwrap();
        Self {
            log,
            archive,
            truth,
            frame: FrameBuilder::new(),
        }
    }

    /// Writes a frame without a sync.
    fn append(&mut self, said: &[Said]) -> Result<Written, LogError> {
        let bytes: usize = said.iter().map(bytes_of).sum();
        let segment = self.log.make_room(bytes)?;
        self.frame.clear();
        self.truth.push_all(&mut self.frame, segment, said);
        let written = self.log.append(&mut self.frame, Priority::Ordinary)?;
        assert_eq!(
            written.place.segment, segment,
            "the frame lies where it was said"
        );
        Ok(written)
    }

    /// Writes a frame durably and shows it.
    fn try_say(&mut self, said: &[Said]) -> Result<Place, LogError> {
        let written = self.append(said)?;
        self.log.sync()?;
        self.log.publish(written, &self.frame);
        let segment = written.place.segment;
        self.truth.frames.push((segment, said.to_vec()));
        Ok(written.place)
    }

    fn say(&mut self, said: &[Said]) -> Place {
        self.try_say(said).unwrap()
    }

    /// Says as much of somebody's rows as fills the segment, and begins the next one.
    fn fill(&mut self) -> SegmentNo {
        let before = self.log.end().segment;
        while self.log.end().segment == before {
            self.say(&[row("filling", &"x".repeat(300))]);
        }
        self.log.end().segment
    }

    /// Everything that can be asked is answered as the truth says.
    fn check(&self) {
        self.truth.check(&self.archive);
    }
}

/// Reads all of a segment, its footer too.
fn check_segment(archive: &Archive, segment: SegmentNo) -> Result<(), LogError> {
    check::check(&archive.segment(segment).unwrap())
}

/// The records in packs from a seq on, each once.
fn unpacked(packs: &[Pack], from: u64) -> Vec<(u64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for pack in packs {
        let records = RecordsIter::new(pack.first, &pack.bytes);
        all.extend(records.map(|(seq, record)| (seq.get(), record.to_vec())));
    }
    all.split_off(&from).into_iter().collect()
}

/// All frames of an archive; each is said to end where the next begins.
fn all_frames(archive: &Archive) -> Vec<Vec<Said>> {
    frames_from(archive, None).unwrap()
}

fn frames_from(archive: &Archive, from: Option<Place>) -> Result<Vec<Vec<Said>>, LogError> {
    let mut frames = Vec::new();
    for frame in archive.frames(from) {
        let frame = frame?;
        let said = frame
            .entries()
            .map(|entry| entry.map(|entry| owned(&entry)));
        frames.push(said.collect::<Result<_, _>>()?);
    }
    Ok(frames)
}

fn owned(entry: &Entry<'_>) -> Said {
    match *entry {
        Entry::Records(records) => Said::Records {
            run: records.run,
            first: records.first.get(),
            records: records.iter().map(|(_, record)| record.to_vec()).collect(),
            carried: records.carried,
        },
        Entry::Row { key, value } => Said::Row(key.to_vec(), value.to_vec()),
        Entry::Gone { key } => Said::Gone(key.to_vec()),
        Entry::Closed {
            run,
            expires_at,
            row,
        } => Said::Closed(run, expires_at.as_millis(), row.to_vec()),
        Entry::Pruned { run } => Said::Pruned(run),
    }
}

fn push(frame: &mut FrameBuilder, said: &Said, prev: Option<SegmentNo>) {
    match said {
        Said::Records {
            run,
            first,
            records,
            carried,
        } => {
            let mut bytes = Vec::new();
            for record in records {
                push_record(&mut bytes, record);
            }
            frame.push(&Entry::Records(Records {
                run: *run,
                first: Seq(*first),
                count: u32::try_from(records.len()).unwrap(),
                prev,
                carried: *carried,
                bytes: &bytes,
            }));
        }
        Said::Row(key, value) => frame.push(&Entry::Row { key, value }),
        Said::Gone(key) => frame.push(&Entry::Gone { key }),
        Said::Closed(run, expires, row) => frame.push(&Entry::Closed {
            run: *run,
            expires_at: at(*expires),
            row,
        }),
        Said::Pruned(run) => frame.push(&Entry::Pruned { run: *run }),
    }
}

fn bytes_of(said: &Said) -> usize {
    let mut frame = FrameBuilder::new();
    push(&mut frame, said, None);
    frame.bytes().next_multiple_of(ALIGN) - HEADER_BYTES
}

/// What is in a file.
fn bytes(disk: &MemoryDisk, path: &Path) -> Vec<u8> {
    let files = disk.files();
    let found = files.into_iter().find(|(found, _)| found == path);
    found.expect("the file is there").1
}

/// A copy of a disk with one file changed.
fn changed(disk: &MemoryDisk, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> MemoryDisk {
    let copy = disk.after_kill();
    let mut content = bytes(&copy, path);
    change(&mut content);
    copy.put(path, &content);
    copy
}

/// Refused as damage; says where.
fn damaged<T>(opened: Result<T, LogError>) -> Option<Place> {
    match opened {
        Err(LogError::Damaged { place, .. }) => place,
        Err(other) => panic!("{other:?} is no damage"),
        Ok(_) => panic!("damage was not seen"),
    }
}
