//! A segment's file as opening finds it.
//!
//! Nothing in it is believed before it proves itself. Of a sealed segment only the first frame and
//! the last bytes are read; all of it when its footer does not prove itself.

use std::path::PathBuf;
use std::sync::Arc;

use super::LogError;
use super::footer::Footer;
use super::frame::Owner;
use super::reader::{Bad, FrameReader};
use super::scan::{self, Begin, Scanned};
use super::segments::{Parts, Segment, rebuild};
use crate::files::DiskFile;

/// A segment's file, before anything in it is believed.
pub(super) struct Found {
    pub(super) owner: Owner,
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn DiskFile>,
}

impl Found {
    pub(super) fn reader(&self) -> Result<FrameReader, LogError> {
        FrameReader::new(self.owner, &self.path, Arc::clone(&self.file))
    }

    /// How a segment begins that has to.
    pub(super) fn begin(&self) -> Result<Begin, LogError> {
        let begin = scan::begin(&mut self.reader()?.narrow())?;
        begin.map_err(|bad| {
            let detail = match bad {
                Bad::Zeros => "nothing is written where it begins".to_owned(),
                Bad::Broken(detail) => detail,
            };
            LogError::damaged_in(self.owner.segment, detail)
        })
    }

    pub(super) fn footer(&self) -> Result<Option<Footer>, LogError> {
        Footer::read(&*self.file, self.owner)
            .map_err(|error| LogError::io("reading", &self.path, &error))
    }

    /// A segment that gets no more frames: it ends where the next one says.
    pub(super) fn sealed(self, begin: Begin, next: Begin) -> Result<Segment, LogError> {
        let (end, after) = (next.previous_end, next.first);
        let footer = self.footer()?.filter(|footer| {
            (footer.sums.first, footer.sums.end, footer.sums.next) == (begin.first, end, after)
        });
        if let Some(footer) = footer {
            return Ok(Segment::sealed(self.parts(begin)?, footer));
        }
        let index = rebuild(&mut self.reader()?, begin, (end, after))?;
        Ok(Segment::in_memory(self.parts(begin)?, index, end, after))
    }

    /// The segment that goes on being written.
    pub(super) fn written(self, begin: Begin, scanned: Scanned) -> Result<Segment, LogError> {
        let (end, next) = (scanned.end, scanned.next);
        Ok(Segment::in_memory(
            self.parts(begin)?,
            scanned.index,
            end,
            next,
        ))
    }

    fn parts(self, begin: Begin) -> Result<Parts, LogError> {
        let bytes = self.reader()?.file_bytes();
        Ok(Parts {
            owner: self.owner,
            path: self.path,
            file: self.file,
            bytes: u32::try_from(bytes).expect("the reader refuses larger files"),
            begin,
        })
    }
}
