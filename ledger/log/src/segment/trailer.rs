//! The last bytes of a sealed segment: what is in it, in sums, and where its footer begins.
//!
//! | at | bytes | holds (little-endian) |
//! |---|---|---|
//! | 0 | 8 | magic |
//! | 8 | 16 | store |
//! | 24 | 8 | segment |
//! | 32 | 8 + 8 | number of the first frame, and the one after the last |
//! | 48 | 16 | highest run id |
//! | 64 | 8 + 8 | earliest and latest expiry |
//! | 80 | 4 | where the frames end |
//! | 84 | 4 + 4 + 4 | runs, closed ones, pruned ones |
//! | 96 | 4 + 4 | where the table begins, from where the frames end, and its length |
//! | 104 | 4 | length of the filter behind it |
//! | 108 | 4 | crc32 over table and filter |
//! | 112 | 4 | zero |
//! | 116 | 4 | crc32 over all before |
//!
//! Opening reads this and the table, and nothing else of a sealed segment.

use mainstay_types::{RunId, Timestamp};

use super::SegmentNo;
use super::frame::Owner;
use super::index::{MemoryIndex, Standing};
use crate::fields::Fields;

pub(super) const TRAILER_BYTES: usize = 120;

const MAGIC: &[u8; 8] = b"MSLOGFT1";

/// What a trailer says of the whole segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Where the frames end.
    pub(super) end: u32,
    /// The number of the first frame.
    pub(super) first: u64,
    /// The number after the last frame.
    pub(super) next: u64,
    pub(super) runs: u32,
    pub(super) closed: u32,
    pub(super) pruned: u32,
    /// The earliest and the latest expiry of its closed runs.
    pub(super) expires: Option<(Timestamp, Timestamp)>,
    /// The highest run id.
    pub(super) last_run: Option<RunId>,
}

/// Sums up an index; `sums` has where the frames end and their numbers.
pub(super) fn sum(index: &MemoryIndex, sums: Sums) -> Sums {
    index.ended_below(None, usize::MAX).iter().fold(
        Sums {
            runs: small(index.runs().count()),
            last_run: index.last_run(),
            ..sums
        },
        |sums, (_, standing)| sums.with(*standing),
    )
}

impl Sums {
    fn with(self, standing: Standing) -> Self {
        match standing {
            Standing::Silent => self,
            Standing::Pruned => Self {
                pruned: self.pruned + 1,
                ..self
            },
            Standing::Closed { expires_at, .. } => {
                let (first, last) = self.expires.unwrap_or((expires_at, expires_at));
                Self {
                    closed: self.closed + 1,
                    expires: Some((first.min(expires_at), last.max(expires_at))),
                    ..self
                }
            }
        }
    }
}

/// A trailer: the sums, and where the table is that proves the blocks.
pub(super) struct Trailer {
    pub(super) sums: Sums,
    /// From where the frames end.
    pub(super) table_at: u32,
    pub(super) table_bytes: u32,
    /// What follows the table.
    pub(super) filter_bytes: u32,
    /// Over table and filter.
    pub(super) table_crc: u32,
}

impl Trailer {
    /// The last bytes of the file.
    pub(super) fn to_bytes(&self, owner: Owner) -> [u8; TRAILER_BYTES] {
        let sums = &self.sums;
        let mut bytes = Vec::with_capacity(TRAILER_BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(owner.store.as_bytes());
        bytes.extend_from_slice(&owner.segment.0.to_le_bytes());
        bytes.extend_from_slice(&sums.first.to_le_bytes());
        bytes.extend_from_slice(&sums.next.to_le_bytes());
        let last = sums.last_run.unwrap_or(RunId::from_bytes([0; 16]));
        bytes.extend_from_slice(last.as_bytes());
        let (first_expiry, last_expiry) = sums.expires.unwrap_or_default();
        bytes.extend_from_slice(&first_expiry.as_millis().to_le_bytes());
        bytes.extend_from_slice(&last_expiry.as_millis().to_le_bytes());
        let numbers = [
            sums.end,
            sums.runs,
            sums.closed,
            sums.pruned,
            self.table_at,
            self.table_bytes,
            self.filter_bytes,
            self.table_crc,
            0,
        ];
        for number in numbers {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes
            .try_into()
            .expect("the fields above are a trailer's bytes")
    }

    /// The trailer of this segment; `None` when it does not prove itself.
    pub(super) fn parse(owner: Owner, bytes: &[u8; TRAILER_BYTES]) -> Option<Self> {
        let (body, crc) = bytes.split_last_chunk::<4>()?;
        let mut fields = Fields(body);
        let magic: [u8; 8] = fields.array()?;
        let store: [u8; 16] = fields.array()?;
        let segment = SegmentNo(fields.u64()?);
        let ours = magic == *MAGIC && store == *owner.store.as_bytes() && segment == owner.segment;
        if !ours || crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        let (first, next) = (fields.u64()?, fields.u64()?);
        let last_run = RunId::from_bytes(fields.array()?);
        let first_expiry = Timestamp::from_millis(fields.i64()?);
        let last_expiry = Timestamp::from_millis(fields.i64()?);
        let (end, runs) = (fields.u32()?, fields.u32()?);
        let (closed, pruned) = (fields.u32()?, fields.u32()?);
        let sums = Sums {
            end,
            first,
            next,
            runs,
            closed,
            pruned,
            expires: (closed != 0).then_some((first_expiry, last_expiry)),
            last_run: (runs != 0).then_some(last_run),
        };
        Some(Self {
            sums,
            table_at: fields.u32()?,
            table_bytes: fields.u32()?,
            filter_bytes: fields.u32()?,
            table_crc: fields.u32()?,
        })
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a segment is below 4 GiB")
}
