//! How every program of an ordeal opens a store.
//!
//! One place, so that no campaign tests a store that is set up otherwise than it says.

use mainstay::ledger::OpenOptions;

/// The size of a log segment, in bytes: small ones are filled, sealed and used again soon.
pub const SEGMENT_BYTES: &str = "MAINSTAY_SEGMENT_BYTES";

/// Small enough for a few rounds to fill many.
pub const SEGMENT_BYTES_SMALL: u32 = 256 << 10;

/// Makes a store where there is none, with segments of the size in [`SEGMENT_BYTES`].
///
/// # Panics
/// The variable is there and holds no number of bytes.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::creating();
    if let Ok(bytes) = std::env::var(SEGMENT_BYTES) {
        let bytes = bytes
            .parse()
            .unwrap_or_else(|_| panic!("{SEGMENT_BYTES}={bytes}"));
        options.settings.log.segment_bytes = bytes;
    }
    options
}
