//! Reading a segment from its start: its index, where its frames end, and what that end means.
//!
//! Behind the end there are zeros. Anything else is what a crash left of frames that nobody was
//! told of, or damage; a frame further on that is whole tells which. Damage is never cut off.

use super::entry::Entries;
use super::frame::{ALIGN, BEGIN_BYTES, Claim, HEADER_BYTES, may_begin, previous_end};
use super::index::{Item, MemoryIndex};
use super::reader::{Bad, FrameReader, body_place};
use super::{LogError, Place};

/// How much of a tail is looked at at a time, in bytes; a multiple of where frames may begin.
const CHUNK_BYTES: usize = 256 << 10;

const _: () = assert!(CHUNK_BYTES.is_multiple_of(ALIGN));

/// What is in a segment up to its first place without a frame.
#[derive(Debug)]
pub(super) struct Scanned {
    pub(super) index: MemoryIndex,
    /// How it begins; `None` when it has no frame at all.
    pub(super) begin: Option<Begin>,
    /// Where the frames end.
    pub(super) end: u32,
    /// The number after the last frame.
    pub(super) next: u64,
    /// What is there instead of a frame.
    pub(super) bad: Bad,
}

/// What the first frame of a segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    /// Its number.
    pub(super) first: u64,
    /// Where the segment before it ends; 0 when there is none.
    pub(super) previous_end: u32,
}

/// What was written behind the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    Clean,
    /// Something up to here that nobody was told of.
    Torn {
        /// Behind the last byte that is not zero.
        to: u64,
    },
}

/// How the segment begins; the reason when it does not.
pub(super) fn begin(reader: &mut FrameReader) -> Result<Result<Begin, Bad>, LogError> {
    let frame = match reader.frame(0, None)? {
        Ok((claim, frame)) => {
            claim
                .begins
                .then(|| previous_end(frame))
                .flatten()
                .map(|previous_end| Begin {
                    first: claim.number,
                    previous_end,
                })
        }
        Err(bad) => return Ok(Err(bad)),
    };
    Ok(frame.ok_or_else(|| Bad::Broken("its first frame does not begin a segment".to_owned())))
}

/// Reads all frames in order. Fails only when reading does, or when a proven frame has no form.
pub(super) fn scan(reader: &mut FrameReader) -> Result<Scanned, LogError> {
    let segment = reader.owner.segment;
    let mut scanned = Scanned {
        index: MemoryIndex::new(segment),
        begin: None,
        end: 0,
        next: 0,
        bad: Bad::Zeros,
    };
    match begin(reader)? {
        Ok(begin) => {
            scanned.begin = Some(begin);
            scanned.end = BEGIN_BYTES;
            scanned.next = begin.first.saturating_add(1);
        }
        Err(bad) => {
            scanned.bad = bad;
            return Ok(scanned);
        }
    }
    loop {
        let place = Place {
            segment,
            offset: scanned.end,
        };
        let found = reader.frame(u64::from(scanned.end), Some(scanned.next))?;
        let (claim, frame) = match found {
            Ok((claim, _)) if claim.begins => {
                scanned.bad = Bad::Broken("a segment begins inside of another".to_owned());
                return Ok(scanned);
            }
            Ok(found) => found,
            Err(bad) => {
                scanned.bad = bad;
                return Ok(scanned);
            }
        };
        let mut entries = Entries::new(&frame[HEADER_BYTES..], body_place(place));
        while let Some(entry) = entries.next_placed() {
            let (offset, bytes, entry) = entry?;
            if let Some(item) = Item::of(&entry, offset, bytes) {
                scanned.index.add(item);
            }
        }
        scanned.end = after(scanned.end, claim);
        scanned.next = scanned.next.saturating_add(1);
    }
}

/// What lies behind `end`, where frame `next` belongs. `Damaged` when a frame further on proves
/// that frame `next` was durable once, or that the bytes are not what a crash leaves.
pub(super) fn tail(reader: &mut FrameReader, end: u32, next: u64) -> Result<Tail, LogError> {
    let mut at = u64::from(end);
    let mut candidates = Vec::new();
    let mut written_to = None;
    while at < reader.file_bytes() {
        let left = usize::try_from(reader.file_bytes() - at).unwrap_or(CHUNK_BYTES);
        let Some(chunk) = reader.bytes(at, left.min(CHUNK_BYTES))? else {
            break;
        };
        if let Some(last) = chunk.iter().rposition(|byte| *byte != 0) {
            written_to = Some(at + last as u64 + 1);
            let places = chunk.chunks(ALIGN).enumerate();
            let begins = places.filter(|(_, bytes)| may_begin(bytes));
            candidates.extend(begins.map(|(n, _)| at + (n * ALIGN) as u64));
        }
        at += chunk.len() as u64;
    }
    for offset in candidates {
        if let Ok((claim, _)) = reader.frame(offset, None)? {
            refuse(reader, end, next, (offset, claim))?;
        }
    }
    Ok(written_to.map_or(Tail::Clean, |to| Tail::Torn { to }))
}

/// Refuses a whole frame further on, when it cannot be one that was never synced.
fn refuse(
    reader: &FrameReader,
    end: u32,
    next: u64,
    (offset, claim): (u64, Claim),
) -> Result<(), LogError> {
    let place = Place {
        segment: reader.owner.segment,
        offset: end,
    };
    if claim.durable() < next && next < claim.number {
        return Ok(());
    }
    let detail = format!(
        "frame {next} is not here, and frame {} at byte {offset} was written after it",
        claim.number
    );
    Err(LogError::damaged(place, detail))
}

/// Where a frame at `offset` ends.
fn after(offset: u32, claim: Claim) -> u32 {
    u32::try_from(u64::from(offset) + claim.padded()).expect("a frame lies within its file")
}
