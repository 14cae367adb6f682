//! Erasing: a sealed segment is written anew without some of its entries, and takes the old one's
//! place.
//!
//! Nothing moves: what was erased leaves its room, so every place, number and length that anyone
//! remembers stays true. The new file is whole and durable before it gets the name; a crash leaves
//! the old one or the new one, and never both.

use std::io;
use std::path::Path;

use super::entry::{self, Entries, Entry};
use super::frame::{ALIGN, BEGIN_BYTES, FrameHead, HEADER_BYTES};
use super::reader::{Bad, FrameReader, body_place};
use super::segments::{Parts, Segment, rebuild};
use super::{LogError, Place};
use crate::files::{Disk, is_full};

/// The new file until it is whole; opening takes it away.
const UNFINISHED: &str = "rewritten.new";

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It stays.
    Keep,
    /// Its room is filled with zeros.
    Erase,
}

/// What a rewrite did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// How many entries were erased.
    pub entries: u64,
    /// What they had taken, in bytes.
    pub bytes: u64,
}

/// Where an entry is, and its length.
struct EntryAt {
    offset: u32,
    bytes: u32,
}

/// Writes `old` anew; `None` when nothing in it is condemned, and nothing was done.
pub(super) fn rewrite(
    disk: &dyn Disk,
    old: &Segment,
    mut judge: impl FnMut(&Entry<'_>) -> Verdict,
) -> Result<(Option<Segment>, Rewritten), LogError> {
    let end = old.end().offset;
    let mut condemned = Vec::new();
    each_frame(old, end, |place, (_, frame)| {
        condemn(place, frame, &mut judge, &mut condemned)
    })?;
    let rewritten = Rewritten {
        entries: condemned.len() as u64,
        bytes: condemned.iter().map(|at| u64::from(at.bytes)).sum(),
    };
    if condemned.is_empty() {
        return Ok((None, rewritten));
    }
    let folder = old.path.parent().expect("a segment lies in a folder");
    let beside = folder.join(UNFINISHED);
    let error = |error: io::Error| told(&beside, &error);
    // The size is that of the old file, footer included: the new footer is never larger.
    let bytes = old.file.bytes().map_err(error)?;
    let file = disk.create(&beside, bytes).map_err(|failed| {
        // Half a file would keep the room that someone else could use.
        let _ = disk.remove(&beside);
        error(failed)
    })?;
    let begin = old.read(0, BEGIN_BYTES)?;
    file.write_at(&begin, 0).map_err(error)?;
    each_frame(old, end, |place, frame| {
        let sealed = without(place, frame, &condemned);
        file.write_at(&sealed, u64::from(place.offset))
            .map_err(error)
    })?;
    let parts = Parts {
        owner: old.owner,
        path: old.path.clone(),
        file,
        bytes: old.bytes,
        begin: old.begin,
    };
    let segment = whole(parts, end, old.next())?;
    disk.rename(&beside, &old.path).map_err(error)?;
    Ok((Some(segment), rewritten))
}

/// The rewritten segment with its footer, proven once more by reading it, and durable.
fn whole(parts: Parts, end: u32, next: u64) -> Result<Segment, LogError> {
    let mut reader =
        FrameReader::new(parts.owner, &parts.path, std::sync::Arc::clone(&parts.file))?;
    let index = rebuild(&mut reader, parts.begin, (end, next))?;
    let segment = Segment::in_memory(parts, index, end, next);
    segment.seal()?;
    Ok(segment)
}

/// Every frame of a segment but the one that begins it.
fn each_frame(
    segment: &Segment,
    end: u32,
    mut each: impl FnMut(Place, (FrameHead, &[u8])) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let mut reader = segment.reader()?;
    reader.end_at(end);
    let mut place = Place {
        segment: segment.no(),
        offset: BEGIN_BYTES,
    };
    let mut number = segment.begin.first.saturating_add(1);
    while place.offset < end {
        let (claim, frame) = match reader.frame(u64::from(place.offset), Some(number))? {
            Ok(found) => found,
            Err(Bad::Zeros) => return Err(LogError::damaged(place, "nothing is written here")),
            Err(Bad::Broken(detail)) => return Err(LogError::damaged(place, detail)),
        };
        let head = FrameHead {
            owner: segment.owner,
            begins: claim.begins,
            number: claim.number,
            lag: claim.lag,
        };
        each(place, (head, frame))?;
        let padded = u32::try_from(claim.padded()).expect("a frame is far below 4 GiB");
        place.offset += padded;
        number = number.saturating_add(1);
    }
    Ok(())
}

/// Adds the entries of a frame that are condemned, in order.
fn condemn(
    place: Place,
    frame: &[u8],
    judge: &mut impl FnMut(&Entry<'_>) -> Verdict,
    condemned: &mut Vec<EntryAt>,
) -> Result<(), LogError> {
    let mut entries = Entries::new(&frame[HEADER_BYTES..], body_place(place));
    while let Some(found) = entries.next_placed() {
        let (offset, bytes, entry) = found?;
        match judge(&entry) {
            Verdict::Keep => {}
            Verdict::Erase => condemned.push(EntryAt { offset, bytes }),
        }
    }
    Ok(())
}

/// The frame at a place without those of its entries that are condemned, sealed and padded.
fn without(place: Place, (head, frame): (FrameHead, &[u8]), condemned: &[EntryAt]) -> Vec<u8> {
    let begins = place.offset as usize;
    let ends = begins + frame.len();
    let mut frame = frame.to_vec();
    let first = condemned.partition_point(|at| at.offset < place.offset);
    let here = condemned[first..].iter();
    for at in here.take_while(|at| (at.offset as usize) < ends) {
        let from = at.offset as usize - begins;
        entry::erase(&mut frame[from..from + at.bytes as usize]);
    }
    head.seal(&mut frame);
    let padded = frame.len().next_multiple_of(ALIGN);
    frame.resize(padded, 0);
    frame
}

fn told(path: &Path, error: &io::Error) -> LogError {
    match is_full(error) {
        true => LogError::Full {
            detail: format!("{}: {error}", path.display()),
        },
        false => LogError::io("rewriting", path, error),
    }
}
