//! A schedule: the faults of one seed, in the order in which they are drawn.
//!
//! Every number in it comes from the seed; taking one fault away moves no other.

use mainstay_sim::SeededRng;
use mainstay_types::Rng;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, Kind, Stage, Where};
use crate::targets::Targets;

/// Faults of one world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The faults.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
}

/// Fewest faults that are drawn for a seed.
const DRAWN_MIN: u64 = 7;
/// Most faults that are drawn for a seed.
const DRAWN_MAX: u64 = 13;
/// Requests to a dependency among which the befallen one is drawn: most runs ask no more often.
const NTH_MAX: u64 = 3;
/// Groups of commits among which the befallen one is drawn.
const GROUP_MAX: u64 = 14;
/// The time within which moments are drawn, in ms.
const WITHIN_MS: u64 = 4_000;

/// Draws from a stream.
pub(crate) struct Dice(SeededRng);

impl Dice {
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        Self(SeededRng::stream(seed, purpose))
    }

    /// A number below `bound`, 0 when that is 0.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.0.next_u64() % bound.max(1)
    }

    /// A number from `low` to `high`, both included; small ones as often as large ones by their
    /// length in digits, so that 100 ms and 10 s are both drawn.
    fn length(&self, low: u64, high: u64) -> u64 {
        let (least, most) = (low.max(1).ilog2(), high.max(1).ilog2());
        let bits = u64::from(least) + self.below(u64::from(most - least) + 1);
        let (from, to) = (low.max(1 << bits), high.min((2 << bits) - 1));
        from + self.below(to.saturating_sub(from) + 1)
    }

    pub(crate) fn one_of<'a, T>(&self, those: &'a [T]) -> Option<&'a T> {
        let place = self.below(u64::try_from(those.len()).unwrap_or(u64::MAX));
        those.get(usize::try_from(place).unwrap_or(usize::MAX))
    }
}

/// What can be drawn for a class.
#[derive(Clone, Debug)]
pub(crate) struct Menu {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) targets: Targets,
}

impl Menu {
    /// The kinds of `wanted` that can befall anything in `targets`.
    pub(crate) fn of(wanted: &[Kind], targets: &Targets) -> Self {
        let can = |kind: &&Kind| match kind.named().of() {
            None => true,
            Some(of) => !targets.that_are(of).is_empty(),
        };
        Self {
            kinds: wanted.iter().filter(can).copied().collect(),
            targets: targets.clone(),
        }
    }

    /// The schedule of `seed`.
    pub(crate) fn draw(&self, seed: u64) -> Schedule {
        let dice = Dice::new(seed, "schedule");
        let count = DRAWN_MIN + dice.below(DRAWN_MAX - DRAWN_MIN + 1);
        self.drawn(&dice, count)
    }

    /// `count` faults of `seed`.
    pub(crate) fn draw_many(&self, seed: u64, count: u64) -> Schedule {
        self.drawn(&Dice::new(seed, "schedule"), count)
    }

    fn drawn(&self, dice: &Dice, count: u64) -> Schedule {
        let faults = (0..count).filter_map(|_| {
            let kind = *dice.one_of(&self.kinds)?;
            Some(self.fault(kind, dice))
        });
        Schedule {
            faults: faults.collect(),
        }
    }

    fn fault(&self, kind: Kind, dice: &Dice) -> Fault {
        let named = kind.named();
        let dependency = named.of().and_then(|of| {
            let known = self.targets.that_are(of);
            dice.one_of(&known).cloned()
        });
        let length = named
            .ms
            .clone()
            .map(|ms| dice.length(*ms.start(), *ms.end()));
        let mut fault = Fault {
            dependency,
            ms: length,
            ..Fault::of(kind)
        };
        match named.place {
            Where::Request(_) | Where::LookUp => {
                fault.nth = Some(1 + dice.below(NTH_MAX).min(dice.below(NTH_MAX)));
                fault.times = Some(1 + dice.below(3)).filter(|times| 1 < *times);
            }
            // Half of these times begin with the world: many a class asks everything at once.
            Where::RequestsDuring(_) => fault.at_ms = Some(dice.below(2) * dice.below(500)),
            Where::Commit => {
                fault.nth = Some(1 + dice.below(GROUP_MAX));
                let stages = [Stage::Before, Stage::Written, Stage::Synced];
                fault.moment = dice.one_of(&stages).copied();
            }
            Where::Moment | Where::During => fault.at_ms = Some(dice.below(WITHIN_MS)),
        }
        fault
    }
}
