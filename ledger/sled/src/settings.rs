//! How sled is set up, and the bounds that follow from it.
//!
//! The values are rules R2 and R4 of the storage design: with sled's own defaults a page can
//! outgrow a quarter of a segment, and such pages go to files that nobody syncs.

use std::path::Path;

use mainstay_types::limits::SLED_VALUE_BYTES_MAX;

/// The number of the stored format. A store with another number is not touched.
pub(crate) const FORMAT: u32 = 1;

/// sled's segment size in bytes.
pub(crate) const SEGMENT_BYTES: usize = 8 << 20;

/// sled's page cache in bytes; its own default is a GiB.
const CACHE_BYTES: u64 = 64 << 20;

/// How often sled's own thread writes and cleans up, in milliseconds. Without it sled never
/// reclaims space. Durability does not depend on it.
const FLUSH_EVERY_MS: u64 = 100;

/// Bytes written between two syncs. Unit: bytes of keys and values. Enforced by: the committer.
/// Beyond: the group ends; pieces of one larger request are written and synced ahead of it.
pub(crate) const SYNC_BYTES_MAX: usize = SEGMENT_BYTES / 2;

/// Free space below which no new run is taken, in bytes. Beyond: `Full`.
pub(crate) const START_ROOM_BYTES: u64 = 128 << 20;

/// Free space below which nothing is taken but inbox commands, in bytes. Beyond: `Full`.
///
/// sled grows by whole segments; it must never meet a full disk, because it keeps that error.
pub(crate) const COMMIT_ROOM_BYTES: u64 = 64 << 20;

/// Heads of runs kept in memory, in two halves. Beyond: the less used half is read again.
pub(crate) const HEADS_MAX: usize = mainstay_types::limits::LIVE_RUNS_MAX * 2;

const _: () = assert!(SLED_VALUE_BYTES_MAX <= SEGMENT_BYTES / 128);
const _: () = assert!(SYNC_BYTES_MAX < SEGMENT_BYTES);
const _: () = assert!(COMMIT_ROOM_BYTES < START_ROOM_BYTES);
const _: () = assert!(4 * (SEGMENT_BYTES as u64) <= COMMIT_ROOM_BYTES);

/// The configuration of sled in `folder`.
pub(crate) fn sled_config(folder: &Path) -> sled::Config {
    sled::Config::new()
        .path(folder)
        .cache_capacity(CACHE_BYTES)
        .segment_size(SEGMENT_BYTES)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .use_compression(false)
        .mode(sled::Mode::LowSpace)
}
