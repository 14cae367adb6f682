//! One segment as its readers see it: a file, an index, and how far its frames are published.
//!
//! An index that does not prove itself is made again from the frames; frames that do not prove
//! themselves are damage, and told as such.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_types::RunId;
use parking_lot::RwLock;

use super::footer::{self, Footer, Unproven};
use super::frame::Owner;
use super::index::{Item, MemoryIndex, RunAt, Standing};
use super::reader::{Bad, FrameReader};
use super::scan::{self, Begin};
use super::trailer::{self, Sums};
use super::{LogError, Place, SegmentNo};
use crate::files::DiskFile;

/// How many ended runs are taken out of an index in memory at a time.
const ENDED_MAX: usize = 1_024;

/// A segment that has at least its first frame.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) owner: Owner,
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn DiskFile>,
    /// The size of its file.
    pub(super) bytes: u32,
    pub(super) begin: Begin,
    inner: RwLock<Inner>,
}

#[derive(Debug)]
struct Inner {
    index: Index,
    /// Where its published frames end.
    end: u32,
    /// The number after the last of them.
    next: u64,
}

#[derive(Debug)]
enum Index {
    Memory(MemoryIndex),
    Footer(Footer),
}

/// What a segment is made of.
pub(super) struct Parts {
    pub(super) owner: Owner,
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) bytes: u32,
    pub(super) begin: Begin,
}

impl Segment {
    /// A segment whose index is in memory.
    pub(super) fn in_memory(parts: Parts, index: MemoryIndex, end: u32, next: u64) -> Self {
        let index = Index::Memory(index);
        Self::new(parts, Inner { index, end, next })
    }

    /// A sealed segment with its footer.
    pub(super) fn sealed(parts: Parts, footer: Footer) -> Self {
        let (end, next) = (footer.sums.end, footer.sums.next);
        let index = Index::Footer(footer);
        Self::new(parts, Inner { index, end, next })
    }

    fn new(parts: Parts, inner: Inner) -> Self {
        let Parts {
            owner,
            path,
            file,
            bytes,
            begin,
        } = parts;
        Self {
            owner,
            path,
            file,
            bytes,
            begin,
            inner: RwLock::new(inner),
        }
    }

    pub(super) const fn no(&self) -> SegmentNo {
        self.owner.segment
    }

    /// Where its published frames end.
    pub(super) fn end(&self) -> Place {
        Place {
            segment: self.no(),
            offset: self.inner.read().end,
        }
    }

    /// The number after its last published frame.
    pub(super) fn next(&self) -> u64 {
        self.inner.read().next
    }

    /// How many entries an index in memory holds; 0 for one with a footer.
    pub(super) fn items(&self) -> u64 {
        match &self.inner.read().index {
            Index::Memory(index) => index.items() as u64,
            Index::Footer(_) => 0,
        }
    }

    /// What it is known to be: where its frames end and their numbers, and its footer if it has
    /// one.
    pub(super) fn known(&self) -> (Sums, Option<Footer>) {
        let inner = self.inner.read();
        let footer = match &inner.index {
            Index::Memory(_) => None,
            Index::Footer(footer) => Some(footer.clone()),
        };
        (self.span(&inner), footer)
    }

    /// A reader of its frames.
    pub(super) fn reader(&self) -> Result<FrameReader, LogError> {
        FrameReader::new(self.owner, &self.path, Arc::clone(&self.file))
    }

    /// Makes a frame visible: what it says, where it is, where it ends.
    pub(super) fn publish(&self, offset: u32, items: &[Item], (end, next): (u32, u64)) {
        let mut inner = self.inner.write();
        if let Index::Memory(index) = &mut inner.index {
            index.add_frame(offset, items);
        }
        inner.end = end;
        inner.next = next;
    }

    /// All it knows of a run.
    pub(super) fn find(&self, run: RunId) -> Result<Option<RunAt>, LogError> {
        self.proven(
            |index| Ok(index.find(run)),
            |footer| footer.find(&*self.file, run),
        )
    }

    /// Some runs that are closed or pruned in it, the highest ids below `below` first; none when
    /// there are no more.
    pub(super) fn ended_below(
        &self,
        below: Option<RunId>,
    ) -> Result<Vec<(RunId, Standing)>, LogError> {
        self.proven(
            |index| Ok(index.ended_below(below, ENDED_MAX)),
            |footer| footer.ended_below(&*self.file, below),
        )
    }

    /// All its runs, by id.
    pub(super) fn runs(&self) -> Result<Vec<RunAt>, LogError> {
        let (first, last) = (RunId::from_bytes([0; 16]), RunId::from_bytes([0xff; 16]));
        self.runs_between(first, last)
    }

    /// Whether a run has to be looked for here; costs no reading.
    pub(super) fn may_have(&self, run: RunId) -> bool {
        match &self.inner.read().index {
            Index::Memory(index) => index.has(run),
            Index::Footer(footer) => footer.may_have(run),
        }
    }

    /// No run above this is in it, as far as can be told without reading or counting.
    pub(super) fn ceiling(&self) -> Option<RunId> {
        match &self.inner.read().index {
            Index::Memory(index) => index.runs().next().map(|_| RunId::from_bytes([0xff; 16])),
            Index::Footer(footer) => footer.sums.last_run,
        }
    }

    /// All of an entry whose place an index gave.
    pub(super) fn read(&self, offset: u32, bytes: u32) -> Result<Vec<u8>, LogError> {
        let mut entry = vec![0; bytes as usize];
        match self.file.read_at(&mut entry, u64::from(offset)) {
            Ok(()) => Ok(entry),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.damaged_at(offset, "the file ends within an entry"))
            }
            Err(error) => Err(LogError::io("reading", &self.path, &error)),
        }
    }

    pub(super) fn damaged_at(&self, offset: u32, detail: impl Into<String>) -> LogError {
        let segment = self.no();
        LogError::damaged(Place { segment, offset }, detail)
    }

    /// Its runs from `first` to `last`, by id; a few others may be among them.
    pub(super) fn runs_between(&self, first: RunId, last: RunId) -> Result<Vec<RunAt>, LogError> {
        let of_memory = |index: &MemoryIndex| {
            let within = index.runs().filter(|run| first <= *run && *run <= last);
            let mut runs: Vec<RunId> = within.collect();
            runs.sort_unstable();
            Ok(runs.into_iter().filter_map(|run| index.find(run)).collect())
        };
        self.proven(of_memory, |footer| {
            self.blocks(footer, footer.blocks_of(first, last))
        })
    }

    fn blocks(
        &self,
        footer: &Footer,
        blocks: std::ops::Range<usize>,
    ) -> std::io::Result<Result<Vec<RunAt>, Unproven>> {
        let mut runs = Vec::new();
        for block in blocks {
            match footer.block(&*self.file, block)? {
                Ok(block) => runs.extend(block),
                Err(unproven) => return Ok(Err(unproven)),
            }
        }
        Ok(Ok(runs))
    }

    /// Whether it has its footer.
    pub(super) fn is_sealed(&self) -> bool {
        matches!(self.inner.read().index, Index::Footer(_))
    }

    /// What is in it, in sums, and whether it has its footer.
    pub(super) fn sums(&self) -> (Sums, bool) {
        let inner = self.inner.read();
        match &inner.index {
            Index::Memory(index) => (trailer::sum(index, self.span(&inner)), false),
            Index::Footer(footer) => (footer.sums, true),
        }
    }

    /// Writes its footer and lets go of the index in memory. Only for a segment that gets no more
    /// frames; its frames are durable already, so a failure here loses nothing.
    pub(super) fn seal(&self) -> Result<(), LogError> {
        let io = |error| LogError::io("sealing", &self.path, &error);
        let encoded = {
            let inner = self.inner.read();
            let Index::Memory(index) = &inner.index else {
                return Ok(());
            };
            footer::encode(self.owner, index, self.span(&inner))
        };
        let end = u64::from(encoded.footer.sums.end);
        // What a footer takes is guessed before it is known, so the file may have to grow by a bit.
        let file_bytes = self.file.bytes().map_err(io)?;
        let trailer_at = file_bytes.saturating_sub(encoded.trailer.len() as u64);
        let trailer_at = trailer_at.max(end + encoded.blocks.len() as u64);
        self.file.write_at(&encoded.blocks, end).map_err(io)?;
        self.file
            .write_at(&encoded.trailer, trailer_at)
            .map_err(io)?;
        self.file.sync_data().map_err(io)?;
        self.inner.write().index = Index::Footer(encoded.footer);
        Ok(())
    }

    /// Asks the index, whichever it is. A footer that does not prove itself is replaced by an index
    /// made from the frames, and that is asked.
    fn proven<T>(
        &self,
        of_memory: impl Fn(&MemoryIndex) -> Result<T, Unproven>,
        of_footer: impl Fn(&Footer) -> std::io::Result<Result<T, Unproven>>,
    ) -> Result<T, LogError> {
        let sums = {
            let inner = self.inner.read();
            let footer = match &inner.index {
                Index::Memory(index) => {
                    return of_memory(index).map_err(|Unproven| self.unprovable());
                }
                Index::Footer(footer) => footer,
            };
            match of_footer(footer) {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Unproven)) => footer.sums,
                // A file that was cut short ends within its footer.
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => footer.sums,
                Err(error) => return Err(LogError::io("reading", &self.path, &error)),
            }
        };
        let index = rebuild(&mut self.reader()?, self.begin, (sums.end, sums.next))?;
        let answer = of_memory(&index).map_err(|Unproven| self.unprovable());
        self.inner.write().index = Index::Memory(index);
        answer
    }

    fn unprovable(&self) -> LogError {
        LogError::damaged_in(self.no(), "its index does not prove itself")
    }

    fn span(&self, inner: &Inner) -> Sums {
        Sums {
            end: inner.end,
            first: self.begin.first,
            next: inner.next,
            ..Sums::default()
        }
    }
}

/// The index of a sealed segment, from its frames, which are known to end at `end` with frame
/// `next - 1`. `Damaged` at the first frame that is not there.
pub(super) fn rebuild(
    reader: &mut FrameReader,
    begin: Begin,
    (end, next): (u32, u64),
) -> Result<MemoryIndex, LogError> {
    let scanned = scan::scan(reader)?;
    let place = Place {
        segment: reader.owner.segment,
        offset: scanned.end,
    };
    if scanned.begin != Some(begin) {
        let detail = "its first frame is not what it was when the segment was opened";
        return Err(LogError::damaged(place, detail));
    }
    if (scanned.end, scanned.next) != (end, next) {
        let found = match scanned.bad {
            Bad::Zeros => "nothing is written here".to_owned(),
            Bad::Broken(detail) => detail,
        };
        let detail = format!(
            "{found}; the segment has frames {} to {} and ends at byte {end}",
            begin.first,
            next.saturating_sub(1)
        );
        return Err(LogError::damaged(place, detail));
    }
    Ok(scanned.index)
}

/// The name of a segment's file.
pub(super) fn file_name(segment: SegmentNo) -> String {
    format!("{:010}.log", segment.0)
}

/// The segment that a file of this name is.
pub(super) fn number_of(name: &str) -> Option<SegmentNo> {
    let digits = name.strip_suffix(".log")?;
    let number: u64 = digits.parse().ok().filter(|number| 0 < *number)?;
    let segment = SegmentNo(number);
    (file_name(segment) == name).then_some(segment)
}

/// The folder of the segments.
pub(super) fn folder_of(store: &Path) -> PathBuf {
    store.join("log")
}
