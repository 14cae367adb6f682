//! What is done to which store: how many deaths, of which kind, and what else in each life.
//!
//! All of it is drawn from the campaign's seed; it must never look at what happened.

use std::time::Duration;

use mainstay_fault_disk::Dice;
use serde::{Deserialize, Serialize};

use super::Options;
use super::report::Skipped;

/// What is done to processes beside killing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// The power goes with the process: of what was not synced any part may be gone.
    Power,
    /// The disk has no room left, and has some again.
    FullDisk,
    /// The process is stopped for seconds, and goes on.
    Pause,
    /// The wall clock jumps, forward or back.
    Clock,
    /// Another process wants the same store.
    Rival,
    /// Somebody cancels a run.
    Cancel,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Power,
        Self::FullDisk,
        Self::Pause,
        Self::Clock,
        Self::Rival,
        Self::Cancel,
    ];

    /// Its name, for example `full_disk`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::FullDisk => "full_disk",
            Self::Pause => "pause",
            Self::Clock => "clock",
            Self::Rival => "rival",
            Self::Cancel => "cancel",
        }
    }
}

/// What a store stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// An ordinary folder.
    Folder,
    /// A folder of which the shim tells everything that is done to it.
    Told,
    /// A small volume of its own.
    Volume,
}

/// What is done to one store.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeriesPlan {
    pub(super) no: usize,
    pub(super) ground: Ground,
    pub(super) deaths: u32,
}

/// Deaths of one store: enough for runs to live through many, few enough for a store to be read.
const DEATHS: u32 = 20;
/// Each loss of power costs an image of the store.
const POWER_DEATHS: u32 = 8;
/// Each is after the disk was full.
const VOLUME_DEATHS: u32 = 2;
/// One death in so many is a loss of power.
const POWER_ONE_IN: u32 = 5;
/// One death in so many comes after the disk was full.
const FULL_ONE_IN: u32 = 40;

/// The stores of a campaign; what of it is left out, and why.
pub(super) fn series(options: &Options) -> (Vec<SeriesPlan>, Vec<Skipped>) {
    let wants = |trouble: Trouble| !options.without.contains(&trouble);
    let share = |trouble: Trouble, one_in: u32, least: u32| match wants(trouble) {
        true => (options.kills / one_in).max(least).min(options.kills),
        false => 0,
    };
    let full = share(Trouble::FullDisk, FULL_ONE_IN, VOLUME_DEATHS);
    let power = share(Trouble::Power, POWER_ONE_IN, 1).min(options.kills - full);
    let plain = options.kills - full - power;
    let mut all = Vec::new();
    for (ground, deaths, each) in [
        (Ground::Volume, full, VOLUME_DEATHS),
        (Ground::Told, power, POWER_DEATHS),
        (Ground::Folder, plain, DEATHS),
    ] {
        let mut left = deaths;
        while 0 < left {
            let deaths = left.min(each);
            left -= deaths;
            all.push(SeriesPlan {
                no: all.len(),
                ground,
                deaths,
            });
        }
    }
    let skipped = options.without.iter().map(|trouble| Skipped {
        what: trouble.as_str().to_owned(),
        why: "it was left out".to_owned(),
    });
    (all, skipped.collect())
}

/// Something that is done in a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It is stopped so long.
    Pause(Duration),
    /// Its wall clock is so many ms later from now on.
    Jump(i64),
    /// Another process wants its store.
    Rival,
    /// Its volume gets full.
    Fill,
    /// Its volume has room again.
    Room,
    /// It is killed.
    Kill,
}

/// When a life's acts are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The start of the process.
    Start,
    /// The moment at which its engine had started.
    Open,
}

/// What is done in one life, in order; the last act is its death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LifePlan {
    pub(super) from: From,
    pub(super) acts: Vec<(Duration, Act)>,
}

/// One life in so many percent dies while it opens its store.
const OPENING_PERCENT: u64 = 20;
/// It dies within this time then.
const OPENING_MS: u64 = 60;
/// Every other life dies within this time after it has opened.
const LIFE_MS: u64 = 700;
/// How long a process is stopped, at most.
const PAUSE_MS: u64 = 3_000;
/// How far a clock jumps, at most.
const JUMP_MS: u64 = 30_000;

impl LifePlan {
    pub(super) fn draw(dice: &Dice, ground: Ground, without: &[Trouble]) -> Self {
        let ms = Duration::from_millis;
        if ground == Ground::Volume {
            return Self::on_a_volume(dice);
        }
        if dice.percent(OPENING_PERCENT) {
            return Self {
                from: From::Start,
                acts: vec![(ms(dice.below(OPENING_MS)), Act::Kill)],
            };
        }
        let end = dice.below(LIFE_MS);
        let mut acts = Vec::new();
        let mut may = |trouble: Trouble, percent: u64, act: Act| {
            if dice.percent(percent) && !without.contains(&trouble) {
                acts.push((ms(dice.below(end + 1)), act));
            }
        };
        let pause = ms(500 + dice.below(PAUSE_MS - 500));
        may(Trouble::Pause, 4, Act::Pause(pause));
        let ahead = i64::try_from(dice.below(JUMP_MS)).unwrap_or(0);
        may(Trouble::Clock, 6, Act::Jump(ahead));
        may(Trouble::Clock, 6, Act::Jump(-ahead));
        if ground == Ground::Folder {
            may(Trouble::Rival, 5, Act::Rival);
        }
        acts.sort_by_key(|(at, _)| *at);
        acts.push((ms(end), Act::Kill));
        Self {
            from: From::Open,
            acts,
        }
    }

    fn on_a_volume(dice: &Dice) -> Self {
        let ms = Duration::from_millis;
        let full = 200 + dice.below(400);
        let room = full + 1_000 + dice.below(500);
        Self {
            from: From::Open,
            acts: vec![
                (ms(full), Act::Fill),
                (ms(room), Act::Room),
                (ms(room + 300 + dice.below(300)), Act::Kill),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kills: u32, without: &[Trouble]) -> Options {
        Options {
            program: "worker".into(),
            arguments: Vec::new(),
            folder: "stores".into(),
            kills,
            seed: 1,
            without: without.to_vec(),
            without_syncs: false,
        }
    }

    #[test]
    fn there_are_as_many_deaths_as_are_wanted_whatever_is_left_out() {
        for kills in [1, 2, 5, 39, 100, 1_000] {
            for without in [
                &[][..],
                &[Trouble::Power],
                &[Trouble::FullDisk],
                &Trouble::ALL,
            ] {
                let (series, skipped) = series(&options(kills, without));
                let deaths: u32 = series.iter().map(|one| one.deaths).sum();
                assert_eq!(deaths, kills, "{without:?}");
                assert_eq!(skipped.len(), without.len());
                let stands = |ground| series.iter().any(|one| one.ground == ground);
                assert!(!stands(Ground::Told) || !without.contains(&Trouble::Power));
                assert!(!stands(Ground::Volume) || !without.contains(&Trouble::FullDisk));
            }
        }
    }

    #[test]
    fn every_life_ends_with_its_death_and_has_nothing_that_is_left_out() {
        let dice = Dice::of(7, "lives");
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            let ground = *dice.one(&[Ground::Folder, Ground::Told, Ground::Volume]);
            let life = LifePlan::draw(&dice, ground, &[Trouble::Pause]);
            assert!(life.acts.is_sorted_by_key(|(at, _)| *at), "{life:?}");
            let (last, before) = life.acts.split_last().expect("a death");
            assert_eq!(last.1, Act::Kill);
            for (_, act) in before {
                assert!(!matches!(act, Act::Kill | Act::Pause(_)), "{life:?}");
                seen.insert(format!("{ground:?} {act:?}").replace(char::is_numeric, ""));
            }
        }
        assert!(
            !seen.iter().any(|seen| seen.starts_with("Told Rival")),
            "{seen:?}"
        );
        assert!(
            seen.contains("Volume Fill") && seen.contains("Folder Rival"),
            "{seen:?}"
        );
    }
}
