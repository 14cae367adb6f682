//! The index of a sealed segment, behind its frames: blocks sorted by run id, a table of them, and
//! a trailer in the last bytes of the file.
//!
//! A block holds runs: id 16, previous segment 8 (0: none), standing 1 (0 silent, 1 closed, 2
//! pruned), closed entry 4 + 4, expiry 8, packs 4; per pack first seq 8, count 4, offset 4, length
//! 4, carried 1. The table has per block: first run id 16, offset 4, length 4, crc 4; behind it is
//! the filter. Numbers are little-endian.
//!
//! It is a cache: written after the segment is done, and made again from the frames wherever it
//! does not prove itself. Nothing in it is believed without its checksum.

use std::io;

use mainstay_types::{RunId, Seq, Timestamp};

use super::SegmentNo;
use super::filter::Filter;
use super::frame::Owner;
use super::index::{MemoryIndex, PackAt, RunAt, Standing};
use super::trailer::{self, Sums, TRAILER_BYTES, Trailer};
use crate::fields::Fields;
use crate::files::DiskFile;

/// The most one entry of the log adds to a footer: a run of its own and a pack, and its share of
/// table and filter.
pub(super) const ITEM_BYTES_MAX: u64 = (RUN_BYTES + PACK_BYTES + 5) as u64;
/// What a footer takes beyond that.
pub(super) const FIXED_BYTES: u64 = (TRAILER_BYTES + FENCE_BYTES) as u64;

const RUN_BYTES: usize = 45;
const PACK_BYTES: usize = 21;
const FENCE_BYTES: usize = 28;

/// A block ends with the run that makes it this large. It is read whole for one look-up.
const BLOCK_BYTES: usize = 16 << 10;

/// A proven footer: its table and filter are in memory, its blocks are read and proven one by one.
#[derive(Clone, Debug)]
pub(super) struct Footer {
    pub(super) sums: Sums,
    fences: Vec<Fence>,
    filter: Filter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    first: RunId,
    offset: u32,
    bytes: u32,
    crc: u32,
}

/// A block did not prove itself.
#[derive(Debug)]
pub(super) struct Unproven;

/// A footer that is ready to be written.
pub(super) struct Encoded {
    /// Goes where the frames end.
    pub(super) blocks: Vec<u8>,
    /// Goes to the end of the file.
    pub(super) trailer: [u8; TRAILER_BYTES],
    pub(super) footer: Footer,
}

/// The footer of a segment with this index.
pub(super) fn encode(owner: Owner, index: &MemoryIndex, sums: Sums) -> Encoded {
    let mut runs: Vec<RunId> = index.runs().collect();
    runs.sort_unstable();
    let mut blocks = Vec::new();
    let mut fences: Vec<Fence> = Vec::new();
    let mut begins = 0;
    let mut first = runs.first().copied();
    for run in &runs {
        let first_run = *first.get_or_insert(*run);
        if let Some(at) = index.find(*run) {
            push_run(&mut blocks, &at);
        }
        if BLOCK_BYTES <= blocks.len() - begins || Some(run) == runs.last() {
            let block = &blocks[begins..];
            fences.push(Fence {
                first: first_run,
                offset: sums.end + small(begins),
                bytes: small(block.len()),
                crc: crc32fast::hash(block),
            });
            begins = blocks.len();
            first = None;
        }
    }
    let table_at = blocks.len();
    for fence in &fences {
        blocks.extend_from_slice(fence.first.as_bytes());
        for number in [fence.offset, fence.bytes, fence.crc] {
            blocks.extend_from_slice(&number.to_le_bytes());
        }
    }
    let filter = Filter::of(&runs);
    blocks.extend_from_slice(filter.as_bytes());
    let sums = trailer::sum(index, sums);
    let trailer = Trailer {
        sums,
        table_at: small(table_at),
        table_bytes: small(fences.len() * FENCE_BYTES),
        filter_bytes: small(filter.as_bytes().len()),
        table_crc: crc32fast::hash(&blocks[table_at..]),
    };
    Encoded {
        blocks,
        trailer: trailer.to_bytes(owner),
        footer: Footer {
            sums,
            fences,
            filter,
        },
    }
}

impl Footer {
    /// The footer of a file, when there is one of this segment and it proves itself.
    pub(super) fn read(file: &dyn DiskFile, owner: Owner) -> io::Result<Option<Self>> {
        let file_bytes = file.bytes()?;
        let Some(at) = file_bytes.checked_sub(TRAILER_BYTES as u64) else {
            return Ok(None);
        };
        let mut trailer = [0; TRAILER_BYTES];
        file.read_at(&mut trailer, at)?;
        let Some(Trailer {
            sums,
            table_at,
            table_bytes,
            filter_bytes,
            table_crc,
        }) = Trailer::parse(owner, &trailer)
        else {
            return Ok(None);
        };
        // The trailer proved itself, so these are what was written; a file that was cut and grown
        // again may still be shorter.
        let table_at = u64::from(sums.end) + u64::from(table_at);
        let bytes = u64::from(table_bytes) + u64::from(filter_bytes);
        if at < table_at + bytes {
            return Ok(None);
        }
        let mut table = vec![0; table_bytes as usize + filter_bytes as usize];
        file.read_at(&mut table, table_at)?;
        if crc32fast::hash(&table) != table_crc {
            return Ok(None);
        }
        let filter = Filter::from_bytes(table.split_off(table_bytes as usize));
        let fences: Option<Vec<Fence>> = table.chunks(FENCE_BYTES).map(Fence::parse).collect();
        let whole = fences.filter(|fences| {
            let end = |fence: &Fence| u64::from(fence.offset) + u64::from(fence.bytes);
            fences.iter().all(|fence| end(fence) <= table_at)
        });
        Ok(whole.map(|fences| Self {
            sums,
            fences,
            filter,
        }))
    }

    /// All it knows of a run.
    pub(super) fn find(
        &self,
        file: &dyn DiskFile,
        run: RunId,
    ) -> io::Result<Result<Option<RunAt>, Unproven>> {
        let block = self.fences.partition_point(|fence| fence.first <= run);
        let in_range = self.sums.last_run.is_some_and(|last| run <= last);
        let Some(block) = block.checked_sub(1).filter(|_| in_range) else {
            return Ok(Ok(None));
        };
        let runs = self.block(file, block)?;
        Ok(runs.map(|runs| runs.into_iter().find(|at| at.run == run)))
    }

    /// Runs that are closed or pruned here, highest ids below `below` first: those of one block at
    /// least, when there are any.
    pub(super) fn ended_below(
        &self,
        file: &dyn DiskFile,
        below: Option<RunId>,
    ) -> io::Result<Result<Vec<(RunId, Standing)>, Unproven>> {
        let is_below = |run: RunId| below.is_none_or(|below| run < below);
        let blocks = self.fences.partition_point(|fence| is_below(fence.first));
        for block in (0..blocks).rev() {
            let Ok(runs) = self.block(file, block)? else {
                return Ok(Err(Unproven));
            };
            let ended: Vec<_> = runs
                .iter()
                .rev()
                .filter(|at| is_below(at.run) && at.standing != Standing::Silent)
                .map(|at| (at.run, at.standing))
                .collect();
            if !ended.is_empty() {
                return Ok(Ok(ended));
            }
        }
        Ok(Ok(Vec::new()))
    }

    /// Whether a run has to be looked for here.
    pub(super) fn may_have(&self, run: RunId) -> bool {
        self.spans(run) && self.filter.may_have(run)
    }

    /// Whether a run lies between its first and its last.
    fn spans(&self, run: RunId) -> bool {
        let first = self.fences.first().map(|fence| fence.first);
        let ends = first.zip(self.sums.last_run);
        ends.is_some_and(|(first, last)| first <= run && run <= last)
    }

    /// The blocks in which runs from `first` to `last` may lie.
    pub(super) fn blocks_of(&self, first: RunId, last: RunId) -> std::ops::Range<usize> {
        let to = self.fences.partition_point(|fence| fence.first <= last);
        let from = self.fences.partition_point(|fence| fence.first <= first);
        from.saturating_sub(1)..to
    }

    /// The runs of one block, by id.
    pub(super) fn block(
        &self,
        file: &dyn DiskFile,
        block: usize,
    ) -> io::Result<Result<Vec<RunAt>, Unproven>> {
        let Some(fence) = self.fences.get(block) else {
            return Ok(Ok(Vec::new()));
        };
        let mut bytes = vec![0; fence.bytes as usize];
        file.read_at(&mut bytes, u64::from(fence.offset))?;
        if crc32fast::hash(&bytes) != fence.crc {
            return Ok(Err(Unproven));
        }
        let mut fields = Fields(&bytes);
        let mut runs = Vec::new();
        while !fields.is_empty() {
            match parse_run(&mut fields) {
                Some(run) => runs.push(run),
                None => return Ok(Err(Unproven)),
            }
        }
        Ok(Ok(runs))
    }
}

impl Fence {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        Some(Self {
            first: RunId::from_bytes(fields.array()?),
            offset: fields.u32()?,
            bytes: fields.u32()?,
            crc: fields.u32()?,
        })
    }
}

fn push_run(into: &mut Vec<u8>, at: &RunAt) {
    into.extend_from_slice(at.run.as_bytes());
    let prev = at.prev.map_or(0, |prev| prev.0);
    into.extend_from_slice(&prev.to_le_bytes());
    let (standing, offset, bytes, expiry) = match at.standing {
        Standing::Silent => (0_u8, 0, 0, 0),
        Standing::Closed {
            offset,
            bytes,
            expires_at,
        } => (1, offset, bytes, expires_at.as_millis()),
        Standing::Pruned => (2, 0, 0, 0),
    };
    into.push(standing);
    into.extend_from_slice(&offset.to_le_bytes());
    into.extend_from_slice(&bytes.to_le_bytes());
    into.extend_from_slice(&expiry.to_le_bytes());
    into.extend_from_slice(&small(at.packs.len()).to_le_bytes());
    for pack in &at.packs {
        into.extend_from_slice(&pack.first.get().to_le_bytes());
        for number in [pack.count, pack.offset, pack.bytes] {
            into.extend_from_slice(&number.to_le_bytes());
        }
        into.push(u8::from(pack.carried));
    }
}

fn parse_run(fields: &mut Fields<'_>) -> Option<RunAt> {
    let run = RunId::from_bytes(fields.array()?);
    let prev = fields.u64()?;
    let [standing] = fields.array()?;
    let (offset, bytes) = (fields.u32()?, fields.u32()?);
    let expires_at = Timestamp::from_millis(fields.i64()?);
    let standing = match standing {
        0 => Standing::Silent,
        1 => Standing::Closed {
            offset,
            bytes,
            expires_at,
        },
        2 => Standing::Pruned,
        _ => return None,
    };
    let packs = fields.u32()?;
    let packs = (0..packs).map(|_| {
        Some(PackAt {
            first: Seq(fields.u64()?),
            count: fields.u32()?,
            offset: fields.u32()?,
            bytes: fields.u32()?,
            carried: match fields.array()? {
                [0] => false,
                [1] => true,
                _ => return None,
            },
        })
    });
    Some(RunAt {
        run,
        prev: (prev != 0).then_some(SegmentNo(prev)),
        standing,
        packs: packs.collect::<Option<Vec<_>>>()?,
    })
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a segment is below 4 GiB")
}
