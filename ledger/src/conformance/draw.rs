//! Random choices from a printed seed, for checks over many sequences.
//!
//! `MAINSTAY_SEED` sets the seed; a failure names it.

use std::fmt;

/// Pseudo-random numbers (SplitMix64).
pub(super) struct Draw {
    seed: u64,
    state: u64,
}

impl Draw {
    /// From the seed in the environment, or one of this process.
    pub(super) fn seeded() -> Self {
        let given = std::env::var("MAINSTAY_SEED").ok();
        let given = given.and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| u64::from(std::process::id()));
        println!("MAINSTAY_SEED={seed}");
        Self { seed, state: seed }
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// A small number below `bound`.
    pub(super) fn small(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(u64::from(bound))).expect("below a small bound")
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MAINSTAY_SEED={}", self.seed)
    }
}
