//! Reading a log that may be hurt: every frame that proves itself, in order, and what lies between.
//!
//! It opens nothing for writing and believes nothing that does not prove itself. What it passes
//! over it names; whoever reads on with it decides what that means.

use std::path::{Path, PathBuf};

use super::footer::Footer;
use super::frame::{ALIGN, BEGIN_BYTES, Owner, may_begin};
use super::reader::{Bad, Frame, FrameReader};
use super::scan;
use super::segments::{file_name, folder_of, number_of};
use super::{LogError, Place, SegmentNo};
use crate::files::{Disk, StoreId, read_oldest};

/// How much is looked through at a time for a frame, in bytes; a multiple of where one may begin.
const CHUNK_BYTES: usize = 256 << 10;

/// What a hurt log holds.
#[derive(Debug)]
pub(crate) enum Salvaged {
    /// A frame that proves itself.
    Frame(Frame),
    /// Something that was written is not there, or is not what was written.
    Hole(Hole),
}

/// What is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where.
    pub(crate) place: Place,
    /// The file that it is about.
    pub(crate) file: PathBuf,
    pub(crate) kind: Missing,
    pub(crate) detail: String,
}

/// What kind of hole it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A whole file, or how one begins.
    Segment,
    /// Frames that were there: their numbers are missing.
    Frames,
    /// Bytes that are no frame. At the end of the log a crash may have left them.
    Bytes,
}

/// The files of a log, oldest first.
pub(crate) fn files(disk: &dyn Disk, store: &Path) -> Result<Vec<(SegmentNo, PathBuf)>, LogError> {
    let folder = folder_of(store);
    let names = disk
        .list(&folder)
        .map_err(|error| LogError::io("listing", &folder, &error))?;
    let mut files: Vec<(SegmentNo, PathBuf)> = names
        .iter()
        .filter_map(|name| Some((number_of(name)?, folder.join(name))))
        .collect();
    files.sort();
    Ok(files)
}

/// Shows everything that can be read of the log of `store`, from its first segment on, and every
/// hole. Says which frame is the last.
pub(crate) fn salvage(
    disk: &dyn Disk,
    (folder, store): (&Path, StoreId),
    each: &mut dyn FnMut(Salvaged) -> Result<(), LogError>,
) -> Result<u64, LogError> {
    let mut walk = Walk {
        disk,
        store,
        next: None,
        each,
    };
    let files = files(disk, folder)?;
    // A segment that was freed is not missing.
    let mut expected = read_oldest(disk, folder, store)
        .map_err(|error| LogError::io("reading the oldest segment of", folder, &error))?;
    for (n, (segment, path)) in files.iter().enumerate() {
        let segment = *segment;
        if let Some(missing) = expected.filter(|expected| *expected < segment) {
            let detail = match segment.0 - missing.0 {
                1 => "the file is missing".to_owned(),
                more => format!("{more} files are missing, up to the one before segment {segment}"),
            };
            walk.hole(Hole {
                place: Place {
                    segment: missing,
                    offset: 0,
                },
                file: path.with_file_name(file_name(missing)),
                kind: Missing::Segment,
                detail,
            })?;
        }
        let next = files.get(n + 1).filter(|(next, _)| *next == segment.next());
        walk.segment(segment, path, next.map(|(_, path)| path.as_path()))?;
        expected = Some(segment.next());
    }
    Ok(walk.next.map_or(0, |next| next - 1))
}

struct Walk<'a> {
    disk: &'a dyn Disk,
    store: StoreId,
    /// The number of the next frame, once one was seen.
    next: Option<u64>,
    each: &'a mut dyn FnMut(Salvaged) -> Result<(), LogError>,
}

impl Walk<'_> {
    fn hole(&mut self, hole: Hole) -> Result<(), LogError> {
        (self.each)(Salvaged::Hole(hole))
    }

    fn reader(&self, segment: SegmentNo, path: &Path) -> Result<FrameReader, LogError> {
        let file = self
            .disk
            .open(path)
            .map_err(|error| LogError::io("opening", path, &error))?;
        let store = self.store;
        FrameReader::new(Owner { store, segment }, path, file)
    }

    /// Where the frames of a segment end, when its successor or its footer says so.
    fn end_of(
        &self,
        (segment, path): (SegmentNo, &Path),
        next: Option<&Path>,
    ) -> Result<Option<u32>, LogError> {
        if let Some(next) = next
            && let Ok(begin) = scan::begin(&mut self.reader(segment.next(), next)?.narrow())?
        {
            return Ok(Some(begin.previous_end));
        }
        let io = |error| LogError::io("reading", path, &error);
        let file = self.disk.open(path).map_err(io)?;
        let store = self.store;
        let footer = Footer::read(&*file, Owner { store, segment }).map_err(io)?;
        Ok(footer.map(|footer| footer.sums.end))
    }

    fn segment(
        &mut self,
        segment: SegmentNo,
        path: &Path,
        next: Option<&Path>,
    ) -> Result<(), LogError> {
        let mut reader = self.reader(segment, path)?;
        if let Some(end) = self.end_of((segment, path), next)?
            && u64::from(end) <= reader.file_bytes()
        {
            reader.end_at(end);
        }
        let mut at = 0;
        match scan::begin(&mut reader)? {
            Ok(begin) => {
                self.follow((segment, path, 0), begin.first)?;
                at = u64::from(BEGIN_BYTES);
            }
            // The newest may have been made and not begun.
            Err(Bad::Zeros) if next.is_none() => {}
            Err(Bad::Zeros) => self.hole(Hole {
                place: Place { segment, offset: 0 },
                file: path.to_owned(),
                kind: Missing::Segment,
                detail: "nothing is written where it begins".to_owned(),
            })?,
            Err(Bad::Broken(detail)) => self.hole(Hole {
                place: Place { segment, offset: 0 },
                file: path.to_owned(),
                kind: Missing::Segment,
                detail,
            })?,
        }
        self.frames(&mut reader, (segment, path, at))
    }

    /// All frames from `at` on; where there is none, the next one that proves itself is looked for.
    fn frames(
        &mut self,
        reader: &mut FrameReader,
        (segment, path, mut at): (SegmentNo, &Path, u64),
    ) -> Result<(), LogError> {
        let mut broken: Option<(u64, String)> = None;
        loop {
            match reader.frame(at, None)? {
                Ok((claim, bytes)) if !claim.begins && self.is_later(claim.number) => {
                    let place = place(segment, at);
                    let frame = Frame::new(place, claim, bytes);
                    broken = None;
                    self.follow((segment, path, at), claim.number)?;
                    at = u64::from(frame.next.offset);
                    (self.each)(Salvaged::Frame(frame))?;
                    continue;
                }
                Ok(_) => {
                    broken.get_or_insert((
                        at,
                        "there is a frame that does not belong here".to_owned(),
                    ));
                }
                Err(Bad::Zeros) => {}
                Err(Bad::Broken(detail)) => {
                    broken.get_or_insert((at, detail));
                }
            }
            match look_for(reader, at + ALIGN as u64)? {
                Some(found) => at = found,
                None => break,
            }
        }
        match broken {
            Some((at, detail)) => self.hole(Hole {
                place: place(segment, at),
                file: path.to_owned(),
                kind: Missing::Bytes,
                detail,
            }),
            None => Ok(()),
        }
    }

    fn is_later(&self, number: u64) -> bool {
        self.next.is_none_or(|next| next <= number)
    }

    /// The frame `number` is here; says which are missing before it.
    fn follow(
        &mut self,
        (segment, path, at): (SegmentNo, &Path, u64),
        number: u64,
    ) -> Result<(), LogError> {
        let expected = self.next.replace(number + 1);
        match expected.filter(|expected| *expected < number) {
            Some(expected) => self.hole(Hole {
                place: place(segment, at),
                file: path.to_owned(),
                kind: Missing::Frames,
                detail: format!("frames {expected} to {} are not here", number - 1),
            }),
            None => Ok(()),
        }
    }
}

fn place(segment: SegmentNo, at: u64) -> Place {
    Place {
        segment,
        offset: u32::try_from(at).unwrap_or(u32::MAX),
    }
}

/// The next place from `from` on at which a frame may begin.
fn look_for(reader: &mut FrameReader, from: u64) -> Result<Option<u64>, LogError> {
    let mut at = from;
    while at < reader.file_bytes() {
        let left = usize::try_from(reader.file_bytes() - at).unwrap_or(CHUNK_BYTES);
        let Some(chunk) = reader.bytes(at, left.min(CHUNK_BYTES))? else {
            return Ok(None);
        };
        if let Some(n) = chunk.chunks(ALIGN).position(may_begin) {
            return Ok(Some(at + (n * ALIGN) as u64));
        }
        at += chunk.len() as u64;
    }
    Ok(None)
}
