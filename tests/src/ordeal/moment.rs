//! When a writer dies: while it opens its store, under load, while it closes it, or never.
//!
//! It is drawn; where it lands is read from what the writer told.

use std::time::Duration;

use super::fact::Fact;
use mainstay_fault_disk::Dice;

/// How many of a hundred deaths are to be during open.
pub const OPENING_PERCENT: usize = 40;
/// How many are aimed at it while there were enough, and while there were not: some come late.
const AIMED_PERCENT: [u64; 2] = [30, 80];
/// How many of a hundred writers are let live and close their store.
const NEVER_PERCENT: u64 = 6;
/// How many of a hundred die while they close it.
const CLOSING_PERCENT: u64 = 6;
/// How long closing takes, about, at most: it brings the table up to date.
const CLOSING: Duration = Duration::from_millis(60);
/// Answers before a death under load, at most.
const ANSWERS_MAX: u64 = 900;

/// A moment to die at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So long after it begins to open its store.
    Opening(Duration),
    /// So long after so many answers.
    Answered(u64, Duration),
    /// So long after it begins to close its store.
    Closing(Duration),
    /// It closes its store.
    Never,
}

impl Moment {
    /// Draws one; opening takes about as long as `opening`, and of so many deaths so many came
    /// while it lasted.
    #[must_use]
    pub fn drawn(dice: &Dice, opening: Duration, (deaths, of_these): (usize, usize)) -> Self {
        if dice.percent(NEVER_PERCENT) {
            return Self::Never;
        }
        if dice.percent(CLOSING_PERCENT) {
            return Self::Closing(part_of(CLOSING, dice));
        }
        let is_behind = of_these * 100 < OPENING_PERCENT * (deaths + 1);
        if dice.percent(AIMED_PERCENT[usize::from(is_behind)]) {
            return Self::Opening(part_of(opening, dice));
        }
        // Often few: then a generation or a segment has just begun.
        let most = *dice.one(&[30, 200, ANSWERS_MAX]);
        let after = Duration::from_micros(dice.below(1_500));
        Self::Answered(dice.below(most), after)
    }
}

fn part_of(whole: Duration, dice: &Dice) -> Duration {
    let micros = u64::try_from(whole.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(dice.below(micros))
}

/// Where a writer died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Before its store was open.
    Opening,
    /// Later, and before it began to close it.
    Loaded,
    /// While it closed its store.
    Closing,
    /// It did not.
    None,
}

impl Death {
    /// From what it told.
    #[must_use]
    pub fn of(facts: &[Fact]) -> Self {
        let told = |is: fn(&Fact) -> bool| facts.iter().any(is);
        if told(|fact| matches!(fact, Fact::Closed(_))) {
            Self::None
        } else if told(|fact| matches!(fact, Fact::Closing)) {
            Self::Closing
        } else if told(|fact| matches!(fact, Fact::Open(_))) {
            Self::Loaded
        } else {
            Self::Opening
        }
    }
}

/// How long opening takes, from what was seen: the median, and some more so that a death may also
/// come right after it.
#[must_use]
pub fn opening(seen: &mut [u64]) -> Duration {
    seen.sort_unstable();
    let median = seen.get(seen.len() / 2).copied().unwrap_or(20_000);
    Duration::from_micros(median + median / 20)
}
