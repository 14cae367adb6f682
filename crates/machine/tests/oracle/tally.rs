//! What many runs came to, in numbers and seeds.
//!
//! It counts; what the numbers have to be is said by the tests.

use std::collections::BTreeMap;
use std::fmt;

use mainstay_types::Timestamp;

use super::bent::Bent;
use super::course::courses;
use super::draw::Draw;
use super::drive::{Driven, drive};
use super::place::Compared;
use super::search::{Verdict, Wants, verdict};
use crate::scenario::world::ORIGIN;

/// Less room than this, in thousandths of what the hard path is expected to need, is little.
const LITTLE_ROOM: u64 = 1_500;

/// Fewer runs than this have no shares worth judging.
const ENOUGH: u64 = 500;

/// Prints for a person.
#[expect(
    clippy::disallowed_macros,
    reason = "the measured shares are what a test tells"
)]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

/// What runs came to, beside what an oracle would have made of them.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    pub(crate) runs: u64,
    /// Seeds whose caller was told nothing by `answer_by`.
    pub(crate) late: Vec<u64>,
    /// Runs for which the oracle finds a schedule that completes them, and those completed.
    feasible: u64,
    completed: u64,
    /// Seeds that the oracle completes and the driver did not.
    missed: Vec<u64>,
    /// Feasible and completed ones of those with little room.
    tight: (u64, u64),
    /// The same for the hard path alone, however the rest ends.
    hard: (u64, u64),
    gave_up: u64,
    /// Completed ones for which the oracle finds nothing.
    unforeseen: u64,
    told: BTreeMap<String, u64>,
}

impl Shares {
    /// Whether they say something.
    pub(crate) const fn are_enough(&self) -> bool {
        ENOUGH <= self.runs
    }

    /// Of those an oracle completes.
    pub(crate) fn completed_permille(&self) -> u64 {
        permille(self.completed, self.feasible)
    }

    /// Of all completed runs, those for which the oracle finds nothing.
    pub(crate) fn unforeseen_permille(&self) -> u64 {
        let foreseen = self.completed;
        permille(self.unforeseen, foreseen + self.unforeseen)
    }

    /// Of all runs, those an oracle completes.
    pub(crate) fn feasible_permille(&self) -> u64 {
        permille(self.feasible, self.runs)
    }

    /// Drives a draw and asks the oracle about it.
    pub(crate) fn take(&mut self, draw: &Draw, bent: Option<Bent>) -> Driven {
        let (driven, courses) = (drive(draw, bent), courses(draw));
        self.runs += 1;
        *self.told.entry(format!("{:?}", driven.told)).or_default() += 1;
        let answer_by: Timestamp = ORIGIN + draw.class.times.answer_by;
        if answer_by < driven.told_at {
            self.late.push(draw.seed);
        }
        let completed = u64::from(driven.is_completed());
        let all = verdict(draw, &courses, Wants::Completed);
        if all == Verdict::Found {
            self.feasible += 1;
            self.completed += completed;
            self.missed.extend((completed == 0).then_some(draw.seed));
            if draw.room < LITTLE_ROOM {
                self.tight = (self.tight.0 + 1, self.tight.1 + completed);
            }
        }
        self.gave_up += u64::from(all == Verdict::GaveUp);
        self.unforeseen += u64::from(all != Verdict::Found) * completed;
        if verdict(draw, &courses, Wants::HardPath) == Verdict::Found {
            let has_path = u64::from(driven.has_hard_path());
            self.hard = (self.hard.0 + 1, self.hard.1 + has_path);
        }
        driven
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, late) = (self.runs, self.late.len());
        writeln!(f, "{runs} runs, {late} answered late: {:?}", self.told)?;
        let mut line = |what, (all, some)| {
            let share = permille(some, all);
            let (percent, tenth) = (share / 10, share % 10);
            writeln!(f, "{what}: {some} of {all}, {percent}.{tenth} %")
        };
        line(
            "completed, of those an oracle completes",
            (self.feasible, self.completed),
        )?;
        line("of these with little room", self.tight)?;
        line(
            "with a hard path, of those an oracle finds one for",
            self.hard,
        )?;
        let missed = &self.missed[..self.missed.len().min(10)];
        let (gave_up, unforeseen) = (self.gave_up, self.unforeseen);
        writeln!(
            f,
            "the oracle gave up on {gave_up} and did not foresee {unforeseen}"
        )?;
        write!(f, "first missed: {missed:?}")
    }
}

/// What soft calls did to hard paths, by seed.
#[derive(Debug, Default)]
pub(crate) struct Places {
    compared: u64,
    pub(crate) lost: Vec<u64>,
    pub(crate) late: Vec<u64>,
    pub(crate) displaced: Vec<u64>,
}

impl Places {
    pub(crate) fn take(&mut self, seed: u64, compared: Option<Compared>) {
        let Some(compared) = compared else {
            return;
        };
        self.compared += 1;
        for (is, seeds) in [
            (compared.is_lost, &mut self.lost),
            (compared.is_late, &mut self.late),
            (compared.is_displaced, &mut self.displaced),
        ] {
            seeds.extend(is.then_some(seed));
        }
    }

    pub(crate) fn permille(&self, seeds: &[u64]) -> u64 {
        permille(u64::try_from(seeds.len()).expect("few"), self.compared)
    }

    /// Whether their shares say something.
    pub(crate) const fn are_enough(&self) -> bool {
        ENOUGH <= self.compared
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lost, late, displaced) = (self.lost.len(), self.late.len(), self.displaced.len());
        write!(
            f,
            "{} hard paths beside soft calls: {late} late, ",
            self.compared
        )?;
        write!(
            f,
            "of which {displaced} not only because a soft attempt was out, and "
        )?;
        write!(f, "{lost} lost: {:?}", self.lost)
    }
}

/// Cut, never rounded up; nothing of nothing.
fn permille(some: u64, all: u64) -> u64 {
    (1_000 * some).checked_div(all).unwrap_or(0)
}
