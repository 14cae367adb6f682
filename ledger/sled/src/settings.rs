//! How sled is set up. The bounds that follow from it are in `limits`; here they are tied to it.
//!
//! The values are rules R2 and R4 of the storage design: with sled's own defaults a page can
//! outgrow a quarter of a segment, and such pages go to files that nobody syncs.

use std::path::Path;

use mainstay_types::limits::{COMMIT_ROOM_BYTES_MIN, SLED_SYNC_BYTES_MAX, SLED_VALUE_BYTES_MAX};

/// The number of the stored format. 2 added parked runs, which a reader of 1 would never wake.
pub(crate) const FORMAT: u32 = 2;

/// The oldest format that is read; opening makes it the current one. A store with a number beyond
/// these two is not touched.
pub(crate) const FORMAT_OLDEST: u32 = 1;

/// sled's segment size in bytes.
pub(crate) const SEGMENT_BYTES: usize = 8 << 20;

/// sled's page cache in bytes; its own default is a GiB.
const CACHE_BYTES: u64 = 64 << 20;

/// How often sled's own thread writes and cleans up, in milliseconds. Without it sled never
/// reclaims space. Durability does not depend on it.
///
/// Its cleaner moves up to a segment whenever it likes, beside what the committer bounds. The tests
/// in this crate count what the committer writes, so there it does not come round.
const FLUSH_EVERY_MS: u64 = if cfg!(test) { 3_600_000 } else { 100 };

const _: () = assert!(SLED_VALUE_BYTES_MAX <= SEGMENT_BYTES / 128);
const _: () = assert!(SLED_SYNC_BYTES_MAX < SEGMENT_BYTES);
const _: () = assert!(4 * (SEGMENT_BYTES as u64) <= COMMIT_ROOM_BYTES_MIN);

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
