//! How sled is set up, and the bounds that follow from it.
//!
//! With sled's own defaults a page can outgrow a quarter of a segment, and such pages go to files
//! that nobody syncs; a cache can take a GiB; and a log that outruns its syncs by a segment can
//! lose what was synced. What may be written is bounded so that none of that comes near.

use std::path::Path;

use mainstay_ledger_log::table::TableLimits;
use mainstay_types::limits::{
    COMMIT_ROOM_BYTES_MIN, SLED_SYNC_BYTES_MAX, SLED_VALUE_BYTES_MAX, SLED_WRITTEN_MAX,
    TABLE_KEY_BYTES_MAX, TABLE_PIECE_BYTES_MAX, TABLE_WHOLE_BYTES_MAX,
};

/// sled's data file in its folder.
pub(super) const DATA_FILE: &str = "db";
/// sled's settings, written once.
pub(super) const CONF_FILE: &str = "conf";
/// Where sled puts what outgrows a page.
pub(super) const BLOBS_FOLDER: &str = "blobs";

/// sled's segment size in bytes.
pub(super) const SEGMENT_BYTES: usize = 8 << 20;

/// sled's page cache in bytes; its own default is a GiB.
const CACHE_BYTES: u64 = 32 << 20;

/// How often sled's own thread writes and cleans up, in milliseconds. Without it sled never
/// reclaims space. Durability does not depend on it.
///
/// Its cleaner moves up to a segment whenever it likes, beside what we bound. The tests in this
/// crate count what we write, so there it does not come round.
const FLUSH_EVERY_MS: u64 = if cfg!(test) { 3_600_000 } else { 100 };

/// What sled writes for any change: it rewrites a page of up to about 17 values after each 10 or
/// so changes of it, so about the size of one neighbour.
const CHANGE_BYTES: usize = TABLE_WHOLE_BYTES_MAX;

/// What sled writes for a change of a piece, whose neighbours are pieces. Written among their like
/// they take about 100 KiB, removed up to as much (emptied pages are merged); the rest leaves room
/// for what sled's cleaner moves meanwhile, which nobody outside sled can bound.
const PIECE_CHANGE_BYTES: usize = 8 * TABLE_PIECE_BYTES_MAX;

/// How often sled writes a key and its value: measured 2.4 to 4.1 times among their like.
const TIMES_WRITTEN: usize = 4;

const _: () = assert!(SLED_VALUE_BYTES_MAX <= SEGMENT_BYTES / 128);
const _: () = assert!(TABLE_PIECE_BYTES_MAX + 64 <= SLED_VALUE_BYTES_MAX);
const _: () = assert!(SLED_SYNC_BYTES_MAX < SEGMENT_BYTES);
const _: () = assert!(4 * (SEGMENT_BYTES as u64) <= COMMIT_ROOM_BYTES_MIN);

/// Bounds of every table on sled.
pub(super) const LIMITS: TableLimits = TableLimits {
    value_bytes_max: SLED_VALUE_BYTES_MAX,
    sync_bytes_max: SLED_SYNC_BYTES_MAX,
    written_bytes_max: SLED_WRITTEN_MAX,
    change_bytes: CHANGE_BYTES,
    times_written: TIMES_WRITTEN,
    piece_change_bytes: PIECE_CHANGE_BYTES,
};

/// Free space that a batch needs. sled keeps an error for good once its disk was full, so it must
/// never meet one; it takes room in segments, and its cleaner takes one more.
pub(super) const ROOM_BYTES_MIN: u64 = COMMIT_ROOM_BYTES_MIN / 2;

/// The configuration of sled in `folder`.
pub(super) fn config(folder: &Path) -> sled::Config {
    sled::Config::new()
        .path(folder)
        .cache_capacity(CACHE_BYTES)
        .segment_size(SEGMENT_BYTES)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .use_compression(false)
        .mode(sled::Mode::LowSpace)
}

/// Refuses what would make sled's pages too large: a bug of whoever writes.
pub(super) fn assert_bounds(key: &[u8], value: Option<&[u8]>) {
    assert!(
        key.len() <= TABLE_KEY_BYTES_MAX,
        "a key of {} bytes",
        key.len()
    );
    let value = value.map_or(0, <[u8]>::len);
    assert!(value <= SLED_VALUE_BYTES_MAX, "a value of {value} bytes");
}

/// What sled wrote for a change, in bytes, as it is on the whole; not from above.
pub(super) fn written_by(key: &[u8], value: Option<&[u8]>) -> u64 {
    const ROW_BYTES: usize = 64;
    (3 * (ROW_BYTES + key.len() + value.map_or(0, <[u8]>::len))) as u64
}
