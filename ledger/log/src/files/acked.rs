//! `ACKED`: the newest acknowledged position, outside of the log.
//!
//! It tells a damaged last frame from a torn one: it is written after each sync, so the log never
//! has less than it says. It is not synced itself, except where a segment or the process ends;
//! after a loss of power it may only say less. Two slots on pages of their own are written in
//! turns, so that one that is torn or damaged leaves the other.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use super::format::StoreId;
use super::put::put;
use crate::fields::Fields;
use crate::segment::{Place, SegmentNo};

/// Its name in the store's folder.
pub(crate) const ACKED_FILE: &str = "ACKED";

const TITLE: &[u8; 8] = b"MSACKED1";
/// Where the second slot is: on a page of its own.
const SLOT_AT: usize = 4_096;
const SLOT_BYTES: usize = 48;

/// A position of the log: the number of its newest frame, and where that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acked {
    pub(crate) frame: u64,
    pub(crate) end: Place,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct AckedFile {
    store: StoreId,
    file: Arc<dyn DiskFile>,
    /// How often it was written.
    turn: u64,
}

impl AckedFile {
    /// Writes a durable file that says `acked`.
    pub(crate) fn create(
        disk: &dyn Disk,
        folder: &Path,
        store: StoreId,
        acked: Acked,
    ) -> io::Result<()> {
        let mut bytes = vec![0; 2 * SLOT_AT];
        for turn in [0, 1] {
            let at = place(turn);
            bytes[at..at + SLOT_BYTES].copy_from_slice(&to_bytes(store, turn, acked));
        }
        put(disk, &folder.join(ACKED_FILE), &bytes)
    }

    /// Opens the file and says what it holds: `None` when neither slot proves itself. `NotFound`
    /// when it is not there.
    pub(crate) fn open(
        disk: &dyn Disk,
        folder: &Path,
        store: StoreId,
    ) -> io::Result<(Self, Option<Acked>)> {
        let file = disk.open(&folder.join(ACKED_FILE))?;
        let mut newest: Option<(u64, Acked)> = None;
        for turn in [0, 1] {
            let mut bytes = [0; SLOT_BYTES];
            match file.read_at(&mut bytes, place(turn) as u64) {
                Ok(()) => {}
                // A file that was cut short says as much as one that is not whole.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
                Err(error) => return Err(error),
            }
            let found = parse(store, &bytes).filter(|(found, _)| found % 2 == turn);
            newest = newest.max_by_turn(found);
        }
        let turn = newest.map_or(0, |(turn, _)| turn.saturating_add(1));
        let opened = Self { store, file, turn };
        Ok((opened, newest.map(|(_, acked)| acked)))
    }

    /// Whether a file in `folder`, of whatever store, says that more was acknowledged than how a
    /// log begins. It is not proven: for a folder whose store is not known.
    pub(crate) fn claims(disk: &dyn Disk, folder: &Path) -> io::Result<bool> {
        let file = match disk.open(&folder.join(ACKED_FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        for turn in [0, 1] {
            let mut bytes = [0; SLOT_BYTES];
            if file.read_at(&mut bytes, place(turn) as u64).is_ok()
                && let Some(frame) = Fields(&bytes[16..]).u64()
                && 1 < frame
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Says that everything up to `acked` is durable.
    pub(crate) fn note(&mut self, acked: Acked) -> io::Result<()> {
        let bytes = to_bytes(self.store, self.turn, acked);
        self.file.write_at(&bytes, place(self.turn) as u64)?;
        self.turn = self.turn.saturating_add(1);
        Ok(())
    }

    /// Makes durable what was noted last.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

trait Newest {
    fn max_by_turn(self, other: Self) -> Self;
}

impl Newest for Option<(u64, Acked)> {
    fn max_by_turn(self, other: Self) -> Self {
        match (self, other) {
            (Some(one), Some(other)) if one.0 < other.0 => Some(other),
            (None, other) => other,
            (one, _) => one,
        }
    }
}

fn place(turn: u64) -> usize {
    if turn.is_multiple_of(2) { 0 } else { SLOT_AT }
}

fn to_bytes(store: StoreId, turn: u64, acked: Acked) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    bytes[..8].copy_from_slice(TITLE);
    bytes[8..16].copy_from_slice(&turn.to_le_bytes());
    bytes[16..24].copy_from_slice(&acked.frame.to_le_bytes());
    bytes[24..36].copy_from_slice(&acked.end.to_bytes());
    let crc = crc(store, &bytes[..SLOT_BYTES - 4]);
    bytes[SLOT_BYTES - 4..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn parse(store: StoreId, bytes: &[u8; SLOT_BYTES]) -> Option<(u64, Acked)> {
    let (body, stored) = bytes.split_last_chunk::<4>()?;
    let mut fields = Fields(body);
    let title: [u8; 8] = fields.array()?;
    let turn = fields.u64()?;
    let frame = fields.u64()?;
    let segment = SegmentNo(fields.u64()?);
    let offset = fields.u32()?;
    let whole = title == *TITLE && u32::from_le_bytes(*stored) == crc(store, body);
    let end = Place { segment, offset };
    whole.then_some((turn, Acked { frame, end }))
}

fn crc(store: StoreId, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(store.as_bytes());
    hasher.update(bytes);
    hasher.finalize()
}
