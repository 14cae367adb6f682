//! A clock that moves only when it is told to: by the timers, or by a jump of the wall.
//!
//! It must never move by itself, and its monotonic side never goes back.

use std::sync::{Arc, Mutex};

use mainstay_types::{Clock, Millis, Timestamp};

use crate::lock::lock;

/// A handle on a virtual clock; clones show and move the same one.
///
/// Time passes through [`crate::VirtualTimers`], so that no timer is ever passed over. What moves
/// here is the wall alone: an operator, a time service or a virtual machine that was stopped.
#[derive(Clone, Debug)]
pub struct VirtualClock(Arc<Mutex<Hands>>);

#[derive(Debug)]
struct Hands {
    wall: Timestamp,
    monotonic: Millis,
}

impl VirtualClock {
    /// A clock whose wall shows `start` and whose monotonic side shows zero.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Hands {
            wall: start,
            monotonic: Millis::ZERO,
        })))
    }

    /// The wall jumps ahead by `by`; the monotonic side and all timers stay.
    pub fn jump_forward(&self, by: Millis) {
        let mut hands = lock(&self.0);
        hands.wall = hands.wall + by;
    }

    /// The wall jumps back by `by`; the monotonic side and all timers stay.
    pub fn jump_back(&self, by: Millis) {
        let mut hands = lock(&self.0);
        hands.wall = hands.wall.minus(by);
    }

    /// Both sides move on to the monotonic moment `to`; an earlier one changes nothing.
    pub(crate) fn move_to(&self, to: Millis) {
        let mut hands = lock(&self.0);
        let passed = to.less(hands.monotonic);
        hands.monotonic = hands.monotonic + passed;
        hands.wall = hands.wall + passed;
    }
}

impl Clock for VirtualClock {
    fn wall(&self) -> Timestamp {
        lock(&self.0).wall
    }

    fn monotonic(&self) -> Millis {
        lock(&self.0).monotonic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_of_the_wall_leaves_the_monotonic_side_alone() {
        let clock = VirtualClock::new(Timestamp::from_millis(10_000));
        let shown = clock.clone();
        clock.jump_back(Millis::from_hours(1));
        assert_eq!(shown.wall(), Timestamp::from_millis(10_000 - 3_600_000));
        clock.jump_forward(Millis::from_hours(3));
        assert_eq!(shown.wall(), Timestamp::from_millis(10_000 + 7_200_000));
        assert_eq!(shown.monotonic(), Millis::ZERO);
    }

    #[test]
    fn time_that_passes_moves_both_sides_and_never_back() {
        let clock = VirtualClock::new(Timestamp::from_millis(0));
        clock.jump_back(Millis::new(500));
        clock.move_to(Millis::new(70));
        clock.move_to(Millis::new(30));
        assert_eq!(clock.monotonic(), Millis::new(70));
        assert_eq!(clock.wall(), Timestamp::from_millis(-430));
    }
}
