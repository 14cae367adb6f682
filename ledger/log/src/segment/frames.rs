//! Frames in order: for replay, for verifying, for making anything again that was lost.
//!
//! Every frame is proven before it is handed out, and its number follows the one before. Frames
//! that begin a segment say nothing and are passed over.

use std::sync::Arc;

use super::archive::Archive;
use super::frame::BEGIN_BYTES;
use super::reader::{Bad, Frame, FrameReader};
use super::segments::Segment;
use super::{LogError, Place};

/// Frames in order; see [`Archive::frames`].
#[derive(Debug)]
pub(crate) struct Frames<'a> {
    archive: &'a Archive,
    at: Place,
    /// The number of the next frame, once one was read.
    expected: Option<u64>,
    /// The segment that is read.
    current: Option<(Arc<Segment>, FrameReader)>,
    failed: bool,
}

impl<'a> Frames<'a> {
    pub(super) const fn new(archive: &'a Archive, from: Place) -> Self {
        Self {
            archive,
            at: from,
            expected: None,
            current: None,
            failed: false,
        }
    }

    fn advance(&mut self) -> Result<Option<Frame>, LogError> {
        loop {
            let (segment, mut reader) = self.current()?;
            let end = segment.end().offset;
            if self.at.offset == 0 {
                self.at.offset = BEGIN_BYTES;
                self.expected = Some(segment.begin.first.saturating_add(1));
            }
            if self.at.offset < end {
                reader.end_at(end);
                let frame = self.read(&mut reader)?;
                self.current = Some((segment, reader));
                return Ok(Some(frame));
            }
            let goes_on = self.archive.segment(self.at.segment.next());
            let grew = end < segment.end().offset;
            self.current = Some((segment, reader));
            match goes_on {
                _ if end < self.at.offset => return Err(self.not_here()),
                // It may have got its last frames just before the next one began.
                Some(_) if grew => {}
                Some(next) => {
                    self.at = Place {
                        segment: next.no(),
                        offset: 0,
                    };
                    self.current = None;
                }
                None => return Ok(None),
            }
        }
    }

    /// The segment that is read, and its reader, taken out.
    fn current(&mut self) -> Result<(Arc<Segment>, FrameReader), LogError> {
        if let Some(current) = self.current.take() {
            return Ok(current);
        }
        let segment = self.archive.segment(self.at.segment);
        let segment = segment.ok_or_else(|| self.not_here())?;
        let reader = segment.reader()?;
        Ok((segment, reader))
    }

    fn read(&mut self, reader: &mut FrameReader) -> Result<Frame, LogError> {
        let frame = match reader.frame(u64::from(self.at.offset), self.expected)? {
            Ok((claim, bytes)) => Frame::new(self.at, claim, bytes),
            Err(Bad::Zeros) => return Err(LogError::damaged(self.at, "nothing is written here")),
            Err(Bad::Broken(detail)) => return Err(LogError::damaged(self.at, detail)),
        };
        self.expected = Some(frame.number.saturating_add(1));
        self.at = frame.next;
        Ok(frame)
    }

    fn not_here(&self) -> LogError {
        let detail = format!("no frame begins here: {}", self.archive.extent());
        LogError::damaged(self.at, detail)
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.advance();
        self.failed = next.is_err();
        next.transpose()
    }
}
