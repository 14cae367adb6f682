//! What the measuring came to, as one line of JSON.
//!
//! It counts and never judges.

use std::path::Path;

use mainstay::ledger::Lag;
use serde::{Deserialize, Serialize};

use super::kinds::Kind;

/// One kind of answer, and how late it was.
pub(super) type Answered = (Kind, u64);

/// How late answers were, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// How many answers.
    pub answers: usize,
    /// Half of them were no later.
    pub p50_ms: u64,
    /// 99 of 100.
    pub p99_ms: u64,
    /// 999 of 1000.
    pub p999_ms: u64,
    /// The latest.
    pub max_ms: u64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// All answers of the clock.
    pub all: Lateness,
    /// Those that hand the run off, at `answer_by`.
    pub handed_off: Lateness,
    /// Those that say "later", at `answer_by`.
    pub later: Lateness,
    /// Those without a soft value, which are given as soon as no attempt may go on.
    pub degraded: Lateness,
    /// Answers of providers, in time.
    pub in_time: u64,
    /// Starts that were refused because such runs were seen to be too slow.
    pub refused: u64,
    /// Runs that ended a second, the load's included.
    pub runs_per_s: u64,
    /// Of a thousandth of all processors' time, how much this process used.
    pub busy_per_mille: u64,
    /// The table's part of that, in thousandths of one processor.
    pub applier_per_mille: u64,
    /// How far the table was behind, in thousandths of where ordinary commits wait: on average.
    pub lag_per_mille: u64,
    /// The same, at its worst.
    pub lag_per_mille_max: u64,
}

/// How far the table is behind, in thousandths of what comes first of rows, bytes and age.
pub(super) fn share(lag: Lag) -> u64 {
    let of = |is: usize, bound: usize| u64::try_from(is * 1_000 / bound.max(1)).unwrap_or(u64::MAX);
    let age = lag.age.get() * 1_000 / lag.age_bound.get().max(1);
    of(lag.rows, lag.rows_bound)
        .max(of(lag.bytes, lag.bytes_bound))
        .max(age)
}

/// Of the answers that are meant.
pub(super) fn lateness(answers: &[Answered], is_meant: impl Fn(Kind) -> bool) -> Lateness {
    let meant = answers.iter().filter(|(kind, _)| is_meant(*kind));
    let mut late: Vec<u64> = meant.map(|&(_, late)| late).collect();
    late.sort_unstable();
    // The first that so many of a thousand are no later than.
    let at = |per_mille: usize| {
        let place = (late.len() * per_mille).div_ceil(1_000).saturating_sub(1);
        late.get(place).copied().unwrap_or(0)
    };
    Lateness {
        answers: late.len(),
        p50_ms: at(500),
        p99_ms: at(990),
        p999_ms: at(999),
        max_ms: at(1_000),
    }
}

/// What this process has used of its processors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    pub(super) all_ms: u64,
    pub(super) applier_ms: u64,
}

impl Busy {
    /// As the system tells it; nothing where it does not.
    pub(super) fn now() -> Self {
        let threads = std::fs::read_dir("/proc/self/task");
        let threads = threads.into_iter().flatten().flatten();
        let applier = threads.map(|thread| thread.path().join("stat"));
        let applier = applier.filter_map(|stat| used_ms(&stat, "mainstay-apply"));
        Self {
            all_ms: used_ms(Path::new("/proc/self/stat"), "").unwrap_or(0),
            applier_ms: applier.sum(),
        }
    }

    pub(super) const fn since(self, before: Self) -> Self {
        Self {
            all_ms: self.all_ms.saturating_sub(before.all_ms),
            applier_ms: self.applier_ms.saturating_sub(before.applier_ms),
        }
    }
}

/// What a thread or process used for itself and in the system, when its name begins so. A tick of
/// these files is 10 ms on every Linux.
fn used_ms(stat: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(stat).ok()?;
    let (before, after) = text.rsplit_once(") ")?;
    let (_, own) = before.split_once('(')?;
    let ticks = after.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    own.starts_with(name).then_some(ticks * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_answers_that_are_meant_and_never_below_their_share() {
        let mut answers: Vec<Answered> = (1..=1_000).map(|late| (Kind::Later, late)).collect();
        answers.push((Kind::InTime, 7_000));
        let all = lateness(&answers, |kind| kind != Kind::InTime);
        let expected = Lateness {
            answers: 1_000,
            p50_ms: 500,
            p99_ms: 990,
            p999_ms: 999,
            max_ms: 1_000,
        };
        assert_eq!(all, expected);
        assert_eq!(
            lateness(&answers, |kind| kind == Kind::Degraded),
            Lateness::default()
        );
    }
}
