//! A case of a campaign that is a seed, and nothing else.

use std::fmt;
use std::str::FromStr;

use crate::seed::Draw;
use mainstay_fault_disk::Dice;

/// The seed of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeded(pub u64);

impl Seeded {
    /// Draws so many of them.
    #[must_use]
    pub fn many(draw: &Draw, count: u64) -> Vec<Self> {
        let dice = Dice::of(draw.seed(), "cases");
        (0..count).map(|_| Self(dice.below(1 << 48))).collect()
    }
}

impl fmt::Display for Seeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seeded {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seed = text.parse().map_err(|error| format!("{text}: {error}"))?;
        Ok(Self(seed))
    }
}
