//! How the look-ups of a start are spread: a few at once, the others one after another, each a
//! drawn moment later.
//!
//! A process that dies may leave thousands of writes in doubt, and the next one finds them all in
//! one moment. The pool bounds how many it asks about at once, but says nothing of how many a
//! second, and a receiver that has just come back must not meet them in step. A doubt of a run that
//! was in memory since it was sent is never put in this line: somebody waits for it.

use mainstay_types::{Millis, limits};
use parking_lot::Mutex;

/// Most waits that are left out, as a time: that many look-ups leave at once after a pause.
const BURST: Millis =
    Millis::new(limits::LOOKUP_CROWD_SPACING_MS * limits::LOOKUP_CROWD_BURST as u64);

/// The line of one process.
#[derive(Default)]
pub(crate) struct Pace {
    /// The moment of the next in line, on the monotonic clock.
    next: Mutex<Millis>,
}

impl Pace {
    /// How long the next look-up waits, from `now` on the monotonic clock.
    ///
    /// Any `w` milliseconds see at most `LOOKUP_CROWD_BURST + (w + LOOKUP_CROWD_JITTER_MS) /
    /// LOOKUP_CROWD_SPACING_MS + 1` of them leave.
    pub(crate) fn wait(&self, now: Millis, draw: impl FnOnce() -> u64) -> Millis {
        let place = {
            let mut next = self.next.lock();
            let place = (*next).max(now);
            *next = place + Millis::new(limits::LOOKUP_CROWD_SPACING_MS);
            place
        };
        // The first of a line leave at once: a process with a few doubts is not held up.
        let ahead = place.less(now + BURST);
        if place < now + BURST {
            return Millis::ZERO;
        }
        ahead + Millis::new(draw() % limits::LOOKUP_CROWD_JITTER_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of `many` look-ups leaves that come at these moments.
    fn leave(arrivals: impl Iterator<Item = u64>) -> Vec<u64> {
        let pace = Pace::default();
        let mut seed = 7_u64;
        let leaves = arrivals.map(|at| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            at + pace.wait(Millis::new(at), || seed >> 33).get()
        });
        let mut leaves: Vec<u64> = leaves.collect();
        leaves.sort_unstable();
        leaves
    }

    fn most_within(leaves: &[u64], window: u64) -> u64 {
        let within = leaves
            .iter()
            .enumerate()
            .map(|(nth, at)| leaves[nth..].partition_point(|other| *other < at + window));
        within.max().unwrap_or(0) as u64
    }

    #[test]
    fn a_few_leave_at_once_and_a_crowd_in_line() {
        let few = leave(std::iter::repeat_n(5, limits::LOOKUP_CROWD_BURST));
        assert!(few.iter().all(|at| *at == 5), "{few:?}");
        let crowd = leave(std::iter::repeat_n(5, 10_000));
        for window in [1, 10, 100, 1_000] {
            let bound = limits::LOOKUP_CROWD_BURST as u64
                + (window + limits::LOOKUP_CROWD_JITTER_MS) / limits::LOOKUP_CROWD_SPACING_MS
                + 1;
            let most = most_within(&crowd, window);
            assert!(most <= bound, "{most} within {window} ms, bound {bound}");
        }
        let last = *crowd.last().unwrap();
        let line = 10_000 * limits::LOOKUP_CROWD_SPACING_MS;
        assert!(last <= 5 + line + limits::LOOKUP_CROWD_JITTER_MS, "{last}");
        let gaps: std::collections::BTreeSet<u64> =
            crowd.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(3 < gaps.len(), "they do not go in step: {gaps:?}");
    }

    #[test]
    fn a_pause_is_not_saved_up_beyond_the_burst() {
        let late = std::iter::once(5).chain(std::iter::repeat_n(60_000, 1_000));
        let leaves = leave(late);
        let at_once = leaves.iter().filter(|at| **at == 60_000).count();
        assert_eq!(at_once, limits::LOOKUP_CROWD_BURST);
    }
}
