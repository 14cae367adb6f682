//! The log: frames in segments, written by one owner, read by everyone through the archive.
//!
//! A frame is one group of requests: all of it is there, or none. What was acknowledged is never
//! cut off, skipped or guessed at; only what nobody was told of may be missing after a crash.

mod archive;
mod builder;
mod check;
mod closed;
mod entry;
mod error;
mod filter;
mod footer;
mod found;
mod frame;
mod frames;
mod index;
mod leave;
mod log;
mod open;
mod reader;
mod rewrite;
mod roll;
mod salvage;
mod scan;
mod segments;
mod settings;
mod tender;
mod trailer;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use archive::{Archive, SegmentInfo};
pub(crate) use builder::FrameBuilder;
pub(crate) use frame::BEGIN_BYTES;

pub(crate) use check::bad_footers;
pub(crate) use entry::{Entry, Records, RecordsIter, push_record};
pub(crate) use error::LogError;
pub(crate) use leave::{Leave, RunIn};
pub(crate) use log::{Log, Priority};
pub(crate) use reader::Frame;
pub(crate) use rewrite::Verdict;
pub(crate) use salvage::{Hole, Missing, Salvaged, salvage};
pub use settings::LogSettings;
pub(crate) use walk::Pack;

use std::fmt;
use std::path::{Path, PathBuf};

/// The file of a segment of the store in `folder`.
pub(crate) fn file_of(folder: &Path, segment: SegmentNo) -> PathBuf {
    segments::folder_of(folder).join(segments::file_name(segment))
}

/// A segment's number, from 1, dense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentNo(pub u64);

impl SegmentNo {
    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for SegmentNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A place in the log: where a frame begins, or where the last one ends. Ordered as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The segment.
    pub segment: SegmentNo,
    /// Bytes from its start.
    pub offset: u32,
}

impl Place {
    /// The stored form.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.segment.0.to_le_bytes());
        bytes[8..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// The place in its stored form.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 12]) -> Self {
        let (segment, offset) = bytes
            .split_first_chunk::<8>()
            .expect("12 bytes are more than 8");
        let mut rest = [0; 4];
        rest.copy_from_slice(offset);
        Self {
            segment: SegmentNo(u64::from_le_bytes(*segment)),
            offset: u32::from_le_bytes(rest),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {} at byte {}", self.segment, self.offset)
    }
}
