//! How a log is cut into files.
//!
//! Stored segments keep the size they were made with; settings are about those still to come.

use mainstay_types::limits;

/// Settings of one log. The defaults are `limits`; tests make them small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Size of a segment in bytes.
    pub segment_bytes: u32,
    /// Size of the first one; each next one is four times as large, up to `segment_bytes`.
    pub first_bytes: u32,
    /// Size of a segment that is made on a full disk.
    pub short_bytes: u32,
    /// Room held back on the volume, in bytes; 0 for none.
    pub ballast_bytes: u64,
    /// Whether segments are prepared and sealed by a thread beside. Without it whoever appends does
    /// it, in a fixed order, so that a test can repeat it.
    pub beside: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            segment_bytes: limits::LOG_SEGMENT_BYTES,
            first_bytes: limits::LOG_SEGMENT_BYTES_FIRST,
            short_bytes: limits::LOG_SEGMENT_BYTES_SHORT,
            ballast_bytes: limits::BALLAST_BYTES,
            beside: true,
        }
    }
}

impl LogSettings {
    /// The size of the segment with this number, when nothing larger has to fit.
    pub(crate) fn bytes_of(&self, segment: super::SegmentNo) -> u32 {
        let doublings = 2 * segment.get().saturating_sub(1).min(15);
        let grown = u64::from(self.first_bytes) << doublings;
        let bytes = grown.min(u64::from(self.segment_bytes));
        u32::try_from(bytes).expect("at most a segment's own size")
    }
}
