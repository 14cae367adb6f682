//! Verifying: all of a segment is read, whether anyone asks for it or not.
//!
//! It finds what a reader would find only years later. It changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::footer::{self, Footer};
use super::frame::Owner;
use super::reader::FrameReader;
use super::segments::{Parts, Segment, rebuild};
use super::trailer::TRAILER_BYTES;
use super::{LogError, salvage, scan};
use crate::files::{Disk, StoreId};

/// Proves every published frame of a segment, and its footer against them.
pub(super) fn check(segment: &Segment) -> Result<(), LogError> {
    let (sums, known) = segment.known();
    let mut reader = segment.reader()?;
    reader.end_at(sums.end);
    let index = rebuild(&mut reader, segment.begin, (sums.end, sums.next))?;
    let Some(known) = known else {
        return Ok(());
    };
    let expected = footer::encode(segment.owner, &index, sums);
    let io = |error| LogError::io("reading", &segment.path, &error);
    let file_bytes = segment.file.bytes().map_err(io)?;
    let trailer_at = file_bytes.saturating_sub(expected.trailer.len() as u64);
    let parts = [
        (u64::from(sums.end), &expected.blocks[..]),
        (trailer_at, &expected.trailer[..]),
    ];
    for (at, bytes) in parts {
        let mut found = vec![0; bytes.len()];
        let read = match segment.file.read_at(&mut found, at) {
            // A file that was cut short.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => false,
            read => read.map(|()| true).map_err(io)?,
        };
        if !read || found != bytes {
            let detail = "its footer does not say what its frames say; it is made again from them \
                          when it is read";
            return Err(segment.damaged_at(sums.end, detail));
        }
    }
    if known.sums != expected.footer.sums {
        let detail = "what is known of its footer is not what is written";
        return Err(segment.damaged_at(sums.end, detail));
    }
    Ok(())
}

/// The footers that do not say what their segments' frames say, without anything being opened for
/// writing. A segment that a crash left without one is made one when the log is opened.
pub(crate) fn bad_footers(
    disk: &dyn Disk,
    (folder, store): (&Path, StoreId),
) -> Result<Vec<(PathBuf, String)>, LogError> {
    let mut bad = Vec::new();
    for (segment, path) in salvage::files(disk, folder)? {
        let io = |error| LogError::io("reading", &path, &error);
        let file = disk.open(&path).map_err(io)?;
        let owner = Owner { store, segment };
        let mut reader = FrameReader::new(owner, &path, Arc::clone(&file))?.narrow();
        // How a segment begins that does not begin is told where frames are read.
        let Ok(begin) = scan::begin(&mut reader)? else {
            continue;
        };
        let bytes = reader.file_bytes();
        match Footer::read(&*file, owner).map_err(io)? {
            Some(footer) => {
                let parts = Parts {
                    owner,
                    path: path.clone(),
                    file,
                    bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                    begin,
                };
                match check(&Segment::sealed(parts, footer)) {
                    Ok(()) => {}
                    Err(LogError::Damaged { detail, .. }) => bad.push((path, detail)),
                    Err(error) => return Err(error),
                }
            }
            None => {
                let last = usize::try_from(bytes.min(TRAILER_BYTES as u64)).unwrap_or(0);
                let mut trailer = vec![0; last];
                file.read_at(&mut trailer, bytes - last as u64)
                    .map_err(io)?;
                if trailer.iter().any(|byte| *byte != 0) {
                    let detail =
                        "its footer does not prove itself; it is made again from its frames";
                    bad.push((path, detail.to_owned()));
                }
            }
        }
    }
    Ok(bad)
}
