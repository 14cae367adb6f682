//! What a frame says, entry by entry. Entries are read where they lie, nothing is copied.
//!
//! | at | bytes | holds (little-endian) |
//! |---|---|---|
//! | 0 | 1 | kind: 1 records, 2 row, 3 gone, 4 closed, 5 pruned, 6 erased |
//! | 1 | 1 | flags: 1 carried (of records) |
//! | 2 | 2 | length of the key (of rows) |
//! | 4 | 4 | length of what follows |
//! | 8 | | records: run 16, first seq 8, count 4, previous segment 8 (0: none), the records |
//! | | | row: key, value. gone: key. closed: run 16, expiry 8, row. pruned: run 16. erased: zeros |
//!
//! The frame's checksum stands for the form of its entries. Bytes of records and rows prove
//! themselves beyond that, to whoever opens them; here nobody knows what they mean.

use mainstay_types::{RunId, Seq, Timestamp};

use super::{LogError, Place, SegmentNo};
use crate::fields::Fields;

pub(super) const ENTRY_HEADER_BYTES: usize = 8;
pub(super) const RECORDS_HEAD_BYTES: usize = 36;
pub(super) const CLOSED_HEAD_BYTES: usize = 24;

pub(super) const KIND_RECORDS: u8 = 1;
pub(super) const KIND_ROW: u8 = 2;
pub(super) const KIND_GONE: u8 = 3;
pub(super) const KIND_CLOSED: u8 = 4;
pub(super) const KIND_PRUNED: u8 = 5;
/// What is left of an entry that was erased: its room. Readers pass over it.
pub(super) const KIND_ERASED: u8 = 6;

pub(super) const FLAG_CARRIED: u8 = 1;

/// One thing that a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    /// Sealed records of one run.
    Records(Records<'a>),
    /// A row has this value from here on.
    Row {
        /// Its key, at most `limits::LOG_KEY_BYTES_MAX` bytes.
        key: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// A row is not there any more.
    Gone {
        /// Its key, at most `limits::LOG_KEY_BYTES_MAX` bytes.
        key: &'a [u8],
    },
    /// A run is closed: its row lives in the archive, until it is opened again or pruned.
    Closed {
        /// The run.
        run: RunId,
        /// When nothing of it has to be kept any more.
        expires_at: Timestamp,
        /// Its row.
        row: &'a [u8],
    },
    /// Nothing of a run is there any more.
    Pruned {
        /// The run.
        run: RunId,
    },
}

/// Records of one run that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Records<'a> {
    /// The run.
    pub run: RunId,
    /// The seq of the first.
    pub first: Seq,
    /// How many.
    pub count: u32,
    /// The newest segment before this entry that has records of the run; the entry's own segment
    /// is fine.
    pub prev: Option<SegmentNo>,
    /// Whether these are copies of older records, written forward.
    pub carried: bool,
    /// The records, each with its length in front ([`push_record`]).
    pub bytes: &'a [u8],
}

impl<'a> Records<'a> {
    /// The records one by one, each with its seq.
    #[must_use]
    pub(crate) const fn iter(&self) -> RecordsIter<'a> {
        RecordsIter {
            seq: self.first,
            rest: self.bytes,
        }
    }
}

/// Records of a pack, in order. It ends early when the bytes do.
#[derive(Clone, Debug)]
pub(crate) struct RecordsIter<'a> {
    seq: Seq,
    rest: &'a [u8],
}

impl<'a> RecordsIter<'a> {
    /// The records in `bytes`, of which the first has this seq.
    #[must_use]
    pub(crate) const fn new(first: Seq, bytes: &'a [u8]) -> Self {
        Self {
            seq: first,
            rest: bytes,
        }
    }
}

impl<'a> Iterator for RecordsIter<'a> {
    type Item = (Seq, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let mut fields = Fields(self.rest);
        let record = fields.counted()?;
        let seq = self.seq;
        self.rest = fields.0;
        self.seq = seq.next();
        Some((seq, record))
    }
}

/// Appends one record to the bytes of an entry, its length in front.
///
/// Panics on a record beyond `limits::RECORD_BYTES_MAX`, which nobody seals.
pub(crate) fn push_record(into: &mut Vec<u8>, record: &[u8]) {
    crate::fields::push_counted(into, record);
}

/// Whether `bytes` are exactly `count` records.
pub(super) fn is_counted(bytes: &[u8], count: u32) -> bool {
    let mut records = RecordsIter::new(Seq(0), bytes);
    let mut found = 0_u32;
    while found < count && records.next().is_some() {
        found += 1;
    }
    found == count && records.rest.is_empty()
}

/// Entries of one frame, in order. After an error there are no more.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a> {
    body: &'a [u8],
    /// Where the next entry is in the body.
    at: usize,
    /// Where the body is.
    place: Place,
}

impl<'a> Entries<'a> {
    pub(super) const fn new(body: &'a [u8], place: Place) -> Self {
        Self { body, at: 0, place }
    }

    /// What follows what was erased; `None` at the end.
    fn skip_erased(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.body.get(self.at..).filter(|rest| !rest.is_empty())?;
            match erased(rest) {
                Some(bytes) => self.at += bytes,
                None => return Some(rest),
            }
        }
    }

    /// The next entry, with its place and length in the segment.
    pub(super) fn next_placed(&mut self) -> Option<Result<(u32, u32, Entry<'a>), LogError>> {
        let rest = self.skip_erased()?;
        let begins = u32::try_from(self.at).expect("a frame is far below 4 GiB");
        let place = Place {
            segment: self.place.segment,
            offset: self.place.offset.saturating_add(begins),
        };
        let Some((entry, bytes)) = parse(rest) else {
            self.at = self.body.len();
            let detail = "an entry has no form that this version knows; a newer version wrote it";
            return Some(Err(LogError::damaged(place, detail)));
        };
        self.at += bytes;
        let bytes = u32::try_from(bytes).expect("a frame is far below 4 GiB");
        Some(Ok((place.offset, bytes, entry)))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.next_placed()?;
        Some(entry.map(|(_, _, entry)| entry))
    }
}

/// Turns an entry, all of it, into one that was erased: of the same length, and nothing in it.
pub(super) fn erase(entry: &mut [u8]) {
    let (header, body) = entry
        .split_first_chunk_mut::<ENTRY_HEADER_BYTES>()
        .expect("an entry has its header");
    header[..4].copy_from_slice(&[KIND_ERASED, 0, 0, 0]);
    body.fill(0);
}

/// The length of the erased entry that `bytes` begin with, when they do.
fn erased(bytes: &[u8]) -> Option<usize> {
    let (header, rest) = bytes.split_first_chunk::<ENTRY_HEADER_BYTES>()?;
    let [kind, 0, 0, 0, len @ ..] = *header else {
        return None;
    };
    let len = usize::try_from(u32::from_le_bytes(len)).ok()?;
    let zeros = rest.get(..len)?.iter().all(|byte| *byte == 0);
    (kind == KIND_ERASED && zeros).then_some(ENTRY_HEADER_BYTES + len)
}

/// The entry that `bytes` begin with, and its length.
pub(super) fn parse(bytes: &[u8]) -> Option<(Entry<'_>, usize)> {
    let (header, rest) = bytes.split_first_chunk::<ENTRY_HEADER_BYTES>()?;
    let [kind, flags, key0, key1, len @ ..] = *header;
    let len = usize::try_from(u32::from_le_bytes(len)).ok()?;
    let body = rest.get(..len)?;
    let key_bytes = usize::from(u16::from_le_bytes([key0, key1]));
    let of_rows = matches!(kind, KIND_ROW | KIND_GONE);
    if (!of_rows && key_bytes != 0) || (kind != KIND_RECORDS && flags != 0) {
        return None;
    }
    let entry = match kind {
        KIND_RECORDS => records(flags, body)?,
        KIND_ROW => {
            let (key, value) = body.split_at_checked(key_bytes)?;
            Entry::Row { key, value }
        }
        KIND_GONE if key_bytes == len => Entry::Gone { key: body },
        KIND_CLOSED => {
            let mut fields = Fields(body);
            Entry::Closed {
                run: RunId::from_bytes(fields.array()?),
                expires_at: Timestamp::from_millis(fields.i64()?),
                row: fields.0,
            }
        }
        KIND_PRUNED => {
            let mut fields = Fields(body);
            let run = RunId::from_bytes(fields.array()?);
            fields.end()?;
            Entry::Pruned { run }
        }
        _ => return None,
    };
    Some((entry, ENTRY_HEADER_BYTES + len))
}

fn records(flags: u8, body: &[u8]) -> Option<Entry<'_>> {
    let mut fields = Fields(body);
    let run = RunId::from_bytes(fields.array()?);
    let (first, count) = (Seq(fields.u64()?), fields.u32()?);
    let prev = fields.u64()?;
    let known = flags & !FLAG_CARRIED == 0;
    let bounded = first.get().checked_add(u64::from(count)).is_some();
    (known && bounded && is_counted(fields.0, count)).then_some(Entry::Records(Records {
        run,
        first,
        count,
        prev: (prev != 0).then_some(SegmentNo(prev)),
        carried: flags & FLAG_CARRIED != 0,
        bytes: fields.0,
    }))
}
