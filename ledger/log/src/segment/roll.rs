//! From one segment to the next: when a frame does not fit any more, or when somebody wants the one
//! that is written sealed.
//!
//! The old segment is durable before the new one begins, and the new one has begun durably before
//! the old one gets its footer. Without room nothing changes, and the next try is made anew.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::footer;
use super::frame::{self, BEGIN_BYTES, FrameHead, Owner};
use super::index::MemoryIndex;
use super::log::Active;
use super::scan::Begin;
use super::segments::{Parts, Segment, file_name};
use super::tender::Prepared;
use super::{Log, LogError};
use crate::files::is_full;

/// Segments that are made for one large frame have a size that is a multiple of this.
const PAGE_BYTES: u64 = 4_096;

impl Log {
    /// Begins the next segment, with room for `least` bytes of frames and footer.
    pub(super) fn begin_next(&mut self, least: u64) -> Result<(), LogError> {
        let usual = self.settings.bytes_of(self.active.segment.no().next());
        self.begin_sized(size(least, usual))
    }

    /// Begins the next segment, with a file of about so many bytes: at least, and when it is made.
    pub(super) fn begin_sized(&mut self, sized: (u32, u32)) -> Result<(), LogError> {
        assert!(
            self.published + 1 == self.next,
            "a frame is not published, and its segment ends"
        );
        if self.synced < self.published {
            self.sync()?;
        }
        let segment = self.active.segment.no().next();
        let path = self.folder.join(file_name(segment));
        let prepared = self.take(sized, &path)?;
        let owner = Owner {
            store: self.store,
            segment,
        };
        let begin = Begin {
            first: self.next,
            previous_end: self.active.end,
        };
        let parts = Parts {
            owner,
            path,
            file: prepared.file,
            bytes: prepared.bytes,
            begin,
        };
        if let Err(error) = write_begin(&parts) {
            return Err(self.undo_begin(&parts, &error));
        }
        let begun = Arc::new(begun(parts));
        self.archive.add(Arc::clone(&begun));
        let before = std::mem::replace(&mut self.active, Active::new(begun));
        self.next = self.next.saturating_add(1);
        self.synced = begin.first;
        self.published = begin.first;
        self.note();
        self.sync_note();
        // Only now: a footer says that the next segment has begun.
        self.tender.shared.seal(before.segment);
        self.check()
    }

    /// A file for the next segment; when the disk has no room, the ballast is given up for a short
    /// one.
    fn take(&self, (least, bytes): (u32, u32), path: &Path) -> Result<Prepared, LogError> {
        let tender = &self.tender.shared;
        let full = match tender.take((least, bytes), path) {
            Ok(prepared) => return Ok(prepared),
            Err(error) if is_full(&error) => error,
            Err(error) => return Err(LogError::io("making", path, &error)),
        };
        self.room.set(None);
        tender.give_up_ballast();
        let short = self.settings.short_bytes.min(bytes).max(least);
        tender.take((least, short), path).map_err(|error| {
            if is_full(&error) {
                let detail = format!("the next segment of the log: {full}");
                LogError::Full { detail }
            } else {
                LogError::io("making", path, &error)
            }
        })
    }

    /// A segment that did not begin is none: its file goes, or nobody knows what stands there.
    fn undo_begin(&mut self, parts: &Parts, error: &io::Error) -> LogError {
        self.room.set(None);
        let told = LogError::io("beginning", &parts.path, error);
        if is_full(error) && self.disk.remove(&parts.path).is_ok() {
            let detail = told.to_string();
            return LogError::Full { detail };
        }
        self.poisoned(&told)
    }
}

/// How large a file must and should be for so many bytes of frames and footer.
pub(super) fn size(least: u64, usual: u32) -> (u32, u32) {
    let least = (u64::from(BEGIN_BYTES) + footer::FIXED_BYTES + least).next_multiple_of(PAGE_BYTES);
    let least = u32::try_from(least).expect("a frame is far below 4 GiB");
    (least, usual.max(least))
}

/// Writes the frame that begins a segment, durably.
pub(super) fn write_begin(parts: &Parts) -> io::Result<()> {
    let head = FrameHead {
        owner: parts.owner,
        begins: true,
        number: parts.begin.first,
        lag: 0,
    };
    let frame = frame::begin(head, parts.begin.previous_end);
    parts.file.write_at(&frame, 0)?;
    parts.file.sync_data()
}

/// A segment that has begun and holds nothing else yet.
pub(super) fn begun(parts: Parts) -> Segment {
    let index = MemoryIndex::new(parts.owner.segment);
    let next = parts.begin.first.saturating_add(1);
    Segment::in_memory(parts, index, BEGIN_BYTES, next)
}
