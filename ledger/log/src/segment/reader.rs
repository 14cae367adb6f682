//! Reading frames of one segment, through a window that is filled ahead.
//!
//! Nothing is allocated for a length that does not fit in the file, and no body is handed out that
//! its header does not prove.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::Entries;
use super::frame::{Claim, HEADER_BYTES, NoFrame, Owner};
use super::{LogError, Place};
use crate::files::DiskFile;

/// How much is read at a time, in bytes.
const WINDOW_BYTES: usize = 256 << 10;
/// The same for who only wants to see how a segment begins.
const NARROW_BYTES: usize = 4 << 10;

/// One frame that proved itself.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Where it begins.
    pub place: Place,
    /// Where it ends: reading goes on from here.
    pub next: Place,
    pub(super) number: u64,
    bytes: Vec<u8>,
}

impl Frame {
    pub(super) fn new(place: Place, claim: Claim, bytes: &[u8]) -> Self {
        let offset = u64::from(place.offset) + claim.padded();
        Self {
            place,
            next: Place {
                offset: u32::try_from(offset).expect("a frame lies within its file"),
                ..place
            },
            number: claim.number,
            bytes: bytes.to_vec(),
        }
    }

    /// What it says, in order.
    #[must_use]
    pub(crate) fn entries(&self) -> Entries<'_> {
        Entries::new(&self.bytes[HEADER_BYTES..], body_place(self.place))
    }

    /// Its size in the log, in bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> u32 {
        self.next.offset - self.place.offset
    }
}

/// A header's length as an offset.
const HEADER_LEN: u32 = 40;
const _: () = assert!(HEADER_LEN as usize == HEADER_BYTES);

/// Where the entries of a frame begin.
pub(super) fn body_place(place: Place) -> Place {
    Place {
        offset: place.offset + HEADER_LEN,
        ..place
    }
}

/// Why there is no frame at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// Nothing was written here.
    Zeros,
    /// Something that is not the frame that belongs here.
    Broken(String),
}

/// Reads frames of one file.
#[derive(Debug)]
pub(super) struct FrameReader {
    pub(super) owner: Owner,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    file_bytes: u64,
    ahead: usize,
    window: Vec<u8>,
    window_at: u64,
}

impl FrameReader {
    pub(super) fn new(
        owner: Owner,
        path: &Path,
        file: Arc<dyn DiskFile>,
    ) -> Result<Self, LogError> {
        let file_bytes = file
            .bytes()
            .map_err(|error| LogError::io("measuring", path, &error))?;
        if u64::from(u32::MAX) < file_bytes {
            let detail = "its file is larger than any segment";
            return Err(LogError::damaged_in(owner.segment, detail));
        }
        Ok(Self {
            owner,
            path: path.to_owned(),
            file,
            file_bytes,
            ahead: WINDOW_BYTES,
            window: Vec::new(),
            window_at: 0,
        })
    }

    /// Reads little ahead.
    pub(super) fn narrow(self) -> Self {
        Self {
            ahead: NARROW_BYTES,
            ..self
        }
    }

    /// Takes the file to end at `end`, so that nothing is read ahead that may still change. It may
    /// be moved up later.
    pub(super) fn end_at(&mut self, end: u32) {
        self.file_bytes = u64::from(end);
    }

    /// The length of the file, or what it is taken to be.
    pub(super) const fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The frame at `offset`, header and body; with this number, where one is expected.
    pub(super) fn frame(
        &mut self,
        offset: u64,
        expected: Option<u64>,
    ) -> Result<Result<(Claim, &[u8]), Bad>, LogError> {
        let owner = self.owner;
        let Some(header) = self.bytes(offset, HEADER_BYTES)? else {
            // Too little is left for a frame: whatever it is, it is the end.
            return Ok(Err(Bad::Zeros));
        };
        let header = header.first_chunk().expect("as many bytes were asked for");
        let claim = match Claim::read(owner, header) {
            Ok(claim) => claim,
            Err(NoFrame::Zeros) => return Ok(Err(Bad::Zeros)),
            Err(NoFrame::Other(what)) => {
                return Ok(Err(Bad::Broken(format!("there is {what}"))));
            }
        };
        let Some(frame) = self.bytes(offset, HEADER_BYTES + claim.body)? else {
            let detail = "a frame says that it goes on behind the end of the file";
            return Ok(Err(Bad::Broken(detail.to_owned())));
        };
        if !claim.holds(frame) {
            let detail = format!("frame {} does not match its checksum", claim.number);
            return Ok(Err(Bad::Broken(detail)));
        }
        match expected {
            Some(expected) if expected != claim.number => Ok(Err(Bad::Broken(format!(
                "there is frame {}, and frame {expected} belongs here",
                claim.number
            )))),
            Some(_) | None => Ok(Ok((claim, frame))),
        }
    }

    /// `bytes` bytes from `offset` on; `None` when the file ends before.
    pub(super) fn bytes(&mut self, offset: u64, bytes: usize) -> Result<Option<&[u8]>, LogError> {
        if self.file_bytes < offset.saturating_add(bytes as u64) {
            return Ok(None);
        }
        let inside = offset
            .checked_sub(self.window_at)
            .and_then(|from| usize::try_from(from).ok())
            .filter(|from| from.saturating_add(bytes) <= self.window.len());
        let from = match inside {
            Some(from) => from,
            None => {
                self.fill(offset, bytes)
                    .map_err(|error| LogError::io("reading", &self.path, &error))?;
                0
            }
        };
        Ok(Some(&self.window[from..from + bytes]))
    }

    fn fill(&mut self, offset: u64, bytes: usize) -> io::Result<()> {
        let left = usize::try_from(self.file_bytes - offset).unwrap_or(usize::MAX);
        let size = left.min(bytes.max(self.ahead));
        // Nothing in it is true until it is read.
        self.window_at = u64::MAX;
        self.window.resize(size, 0);
        self.file.read_at(&mut self.window, offset)?;
        self.window_at = offset;
        Ok(())
    }
}
