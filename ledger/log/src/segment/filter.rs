//! Which runs a sealed segment may know, in memory: 10 bits a run, wrong in one of a hundred cases.
//!
//! A run that is in the segment is never denied. It spares reading every later segment to learn how
//! an old run rests.

use mainstay_types::RunId;

use crate::fields::Fields;

const BITS_PER_RUN: usize = 10;
const PROBES: u64 = 7;

/// The filter of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter(Vec<u8>);

impl Filter {
    /// A filter that lets these runs pass.
    pub(super) fn of(runs: &[RunId]) -> Self {
        let bytes = (runs.len() * BITS_PER_RUN).div_ceil(8);
        let mut filter = Self(vec![0; bytes]);
        for run in runs {
            for (byte, bit) in probes(*run, bytes) {
                filter.0[byte] |= bit;
            }
        }
        filter
    }

    /// The filter with these bytes.
    pub(super) const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The stored form.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether a run may be among those it was made of.
    pub(super) fn may_have(&self, run: RunId) -> bool {
        probes(run, self.0.len()).all(|(byte, bit)| self.0[byte] & bit != 0)
    }
}

/// The bits that stand for a run; none in an empty filter, which therefore lets everything pass.
fn probes(run: RunId, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    let mut halves = Fields(run.as_bytes());
    let mut half = || halves.u64().expect("an id is two halves");
    let (high, low) = (half(), half());
    let first = mixed(low ^ mixed(high));
    let stride = mixed(first) | 1;
    let bits = bytes as u64 * 8;
    let probes = if bits == 0 { 0 } else { PROBES };
    (0..probes).map(move |n| {
        let bit = first.wrapping_add(stride.wrapping_mul(n)) % bits;
        let byte = usize::try_from(bit / 8).expect("it is below the number of bytes");
        (byte, 1 << (bit % 8))
    })
}

/// Spreads each bit over all: ids of one moment differ in few.
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
