//! `OLDEST`: the first segment of the log that is kept.
//!
//! It tells a segment that was freed from one that is missing. It is written before a segment goes,
//! so a segment before it is one whose freeing a crash interrupted. A file that is not there or
//! does not prove itself says nothing, and is made again from what is there.

use std::io;
use std::path::Path;

use super::disk::Disk;
use super::format::StoreId;
use super::put::{put, read_all};
use crate::fields::Fields;
use crate::segment::SegmentNo;

/// Its name in the store's folder.
pub(crate) const OLDEST_FILE: &str = "OLDEST";

const TITLE: &[u8; 8] = b"MSOLDES1";

/// Says, durably, that `segment` is the first one that is kept.
pub(crate) fn write_oldest(
    disk: &dyn Disk,
    folder: &Path,
    store: StoreId,
    segment: SegmentNo,
) -> io::Result<()> {
    put(disk, &folder.join(OLDEST_FILE), &to_bytes(store, segment))
}

/// The first segment that is kept; `None` when nothing proven says so.
pub(crate) fn read_oldest(
    disk: &dyn Disk,
    folder: &Path,
    store: StoreId,
) -> io::Result<Option<SegmentNo>> {
    let bytes = match read_all(disk, &folder.join(OLDEST_FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut fields = Fields(&bytes);
    let segment = fields
        .array::<8>()
        .and_then(|_| fields.u64())
        .map(SegmentNo);
    Ok(segment.filter(|segment| to_bytes(store, *segment) == bytes))
}

fn to_bytes(store: StoreId, segment: SegmentNo) -> Vec<u8> {
    let mut bytes = TITLE.to_vec();
    bytes.extend_from_slice(&segment.0.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(store.as_bytes());
    hasher.update(&bytes);
    bytes.extend_from_slice(&hasher.finalize().to_le_bytes());
    bytes
}
