//! The same failure again: each repeat in a row lowers the odds of the next attempt.
//!
//! From the second on it doubles what the waits are drawn from and takes half of the attempts that
//! are left, rounded down, so that the last one is never taken by it. Source: mission A8.

use mainstay_types::FailureKind;

/// Failures of a call's current rung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// The kind of the newest failure.
    pub kind: Option<FailureKind>,
    /// How many of that kind came in a row.
    pub length: u32,
    /// Attempts of the rung that are given up for repeats.
    pub forfeited: u32,
}

impl Streak {
    /// After one failure more; `made` of at most `most` attempts of the rung are over.
    #[must_use]
    pub(crate) fn after(self, kind: FailureKind, made: u32, most: u32) -> Self {
        if self.kind != Some(kind) {
            let (kind, length) = (Some(kind), 1);
            return Self {
                kind,
                length,
                ..self
            };
        }
        Self {
            kind: self.kind,
            length: self.length.saturating_add(1),
            forfeited: self.forfeited + self.left(made, most) / 2,
        }
    }

    /// Attempts of the rung that are left.
    #[must_use]
    pub(crate) fn left(self, made: u32, most: u32) -> u32 {
        most.saturating_sub(made.saturating_add(self.forfeited))
    }

    /// How often the first wait's upper end is doubled for repeats.
    #[must_use]
    pub(crate) fn doublings(self) -> u32 {
        self.length.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many attempts a call has when each of them fails in the kind `kinds` says.
    fn made(most: u32, mut kinds: impl FnMut(u32) -> FailureKind) -> u32 {
        let (mut streak, mut made) = (Streak::default(), 0);
        while 0 < streak.left(made, most) {
            made += 1;
            streak = streak.after(kinds(made), made, most);
        }
        made
    }

    #[test]
    fn the_same_failure_in_a_row_halves_what_is_left_and_never_takes_the_last() {
        let same = |_| FailureKind::Overloaded;
        let made: Vec<u32> = [1, 2, 3, 5, 10, 64]
            .iter()
            .map(|&most| made(most, same))
            .collect();
        assert_eq!(made, [1, 2, 3, 4, 5, 7]);
    }

    #[test]
    fn failures_that_differ_take_nothing() {
        let turns = |n: u32| match n % 2 {
            0 => FailureKind::Overloaded,
            _ => FailureKind::RateLimited,
        };
        assert_eq!(made(10, turns), 10);
    }
}
