//! The records of one run: from the newest segment that has some, back along what each names as the
//! one before.
//!
//! The newest copy of a record is taken. The walk ends where all is found that was asked for, or
//! where the log begins: what lay before was written forward before it was freed.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_types::{RunId, Seq};

use super::archive::Archive;
use super::entry::{self, Entry, Records};
use super::index::PackAt;
use super::segments::Segment;
use super::{LogError, SegmentNo};

/// Records of one run that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    /// The seq of the first.
    pub first: Seq,
    /// How many.
    pub count: u32,
    /// The records, each with its length in front ([`super::RecordsIter`]).
    pub bytes: Vec<u8>,
}

impl Pack {
    /// The seq of its last record.
    pub(crate) fn last(&self) -> Seq {
        Seq(self
            .first
            .get()
            .saturating_add(u64::from(self.count))
            .saturating_sub(1))
    }
}

/// Which seqs are found, as ranges: the first, and the one after the last.
#[derive(Debug, Default)]
struct Found(BTreeMap<u64, u64>);

impl Found {
    /// Whether all of `from..to` is found.
    fn covers(&self, from: u64, to: u64) -> bool {
        let before = self.0.range(..=from).next_back();
        to <= from || before.is_some_and(|(_, end)| to <= *end)
    }

    fn add(&mut self, mut from: u64, mut to: u64) {
        // Every range that touches the new one becomes part of it.
        while let Some((&first, &end)) = self.0.range(..=to).next_back() {
            if end < from {
                break;
            }
            self.0.remove(&first);
            from = from.min(first);
            to = to.max(end);
        }
        self.0.insert(from, to);
    }
}

/// The packs with records of `run` from `from` on; see [`Archive::records`].
pub(super) fn records(
    archive: &Archive,
    run: RunId,
    (newest, from): (SegmentNo, Seq),
    bytes_max: usize,
) -> Result<Vec<Pack>, LogError> {
    let mut packs = places(archive, run, newest, from)?;
    packs.sort_by_key(|(_, pack)| pack.first);
    let mut read_bytes = 0_usize;
    let mut found = Vec::with_capacity(packs.len());
    for (segment, pack) in &packs {
        if bytes_max <= read_bytes && !found.is_empty() {
            break;
        }
        read_bytes = read_bytes.saturating_add(pack.bytes as usize);
        found.push(read(segment, run, pack)?);
    }
    Ok(found)
}

/// Where these packs lie, in no order.
fn places(
    archive: &Archive,
    run: RunId,
    newest: SegmentNo,
    from: Seq,
) -> Result<Vec<(Arc<Segment>, PackAt)>, LogError> {
    let mut places = Vec::new();
    let mut found = Found::default();
    // The seq after the newest, once a pack was seen that is no copy of an older one.
    let mut top = None;
    let mut next = Some(newest).filter(|newest| *newest != SegmentNo(0));
    while let Some(no) = next {
        let Some(segment) = archive.segment(no) else {
            if no < archive.oldest() {
                break;
            }
            let detail = format!("there is no such segment, and run {run} has records in it");
            return Err(LogError::damaged_in(no, detail));
        };
        let Some(at) = segment.find(run)? else {
            let detail = format!("no records of run {run} are here, and it has some");
            return Err(LogError::damaged_in(no, detail));
        };
        for pack in at.packs.iter().rev() {
            let (first, end) = (pack.first.get(), end_of(pack));
            if !pack.carried {
                top.get_or_insert(end);
            }
            let first = first.max(from.get());
            if first < end && !found.covers(first, end) {
                found.add(first, end);
                places.push((Arc::clone(&segment), *pack));
            }
        }
        if top.is_some_and(|top| found.covers(from.get(), top)) {
            break;
        }
        next = at.prev.filter(|prev| *prev < no);
    }
    Ok(places)
}

fn end_of(pack: &PackAt) -> u64 {
    pack.first.get().saturating_add(u64::from(pack.count))
}

/// Reads the records that lie at a place.
pub(super) fn read(segment: &Segment, run: RunId, pack: &PackAt) -> Result<Pack, LogError> {
    let found = segment.read(pack.offset, pack.bytes)?;
    match entry::parse(&found) {
        Some((
            Entry::Records(Records {
                run: of,
                first,
                count,
                bytes,
                ..
            }),
            length,
        )) if (of, first, count) == (run, pack.first, pack.count) && length == found.len() => {
            Ok(Pack {
                first,
                count,
                bytes: bytes.to_vec(),
            })
        }
        _ => {
            let detail = format!(
                "the records of run {run} from {} on are not here",
                pack.first
            );
            Err(segment.damaged_at(pack.offset, detail))
        }
    }
}
