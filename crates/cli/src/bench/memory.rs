//! The most memory this process held since it was last asked to forget, as Linux counts it.
//!
//! Elsewhere, and where the process may not reset the count, it says nothing rather than something
//! that covers more than what was measured.

use std::fs;

/// Starts counting anew; `false` where that cannot be done.
pub(crate) fn forget_peak() -> bool {
    // 5: the peak of the resident set becomes what it is now.
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak in megabytes of 1,000,000 bytes.
pub(crate) fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024.0 / 1e6)
}
