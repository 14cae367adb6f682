//! When an engine was not alive with a disk that answers, and how long that may make callers wait.

use mainstay_types::{Millis, limits};

/// What a process needs to be at it again: it asks a disk that had no room again after
/// `limits::RETRY_AFTER_MS_DEFAULT`, behind a sync that may still be slow; and callers ask again.
const BACK_WITHIN: Millis = Millis::new(2 * limits::RETRY_AFTER_MS_DEFAULT);

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disturbance {
    from: Millis,
    /// `None`: it lasts, or nobody can say.
    until: Option<Millis>,
    /// Which fault of the schedule goes on, when it does.
    fault: Option<usize>,
}

/// All of one world, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disturbances(Vec<Disturbance>);

impl Disturbances {
    /// One that lasts, as where processes die all the time.
    #[cfg(feature = "real")]
    pub(crate) fn all_the_time() -> Self {
        let mut all = Self::default();
        all.for_good(Millis::ZERO);
        all
    }

    /// Something that lasted from here to there.
    pub(crate) fn lasted(&mut self, from: Millis, until: Millis) {
        self.0.push(Disturbance {
            from,
            until: Some(until),
            fault: None,
        });
    }

    /// Nobody can say from here on when an answer is due: the clock is another one.
    pub(crate) fn for_good(&mut self, from: Millis) {
        self.0.push(Disturbance {
            from,
            until: None,
            fault: None,
        });
    }

    /// This fault goes on from here.
    pub(crate) fn begins(&mut self, fault: usize, from: Millis) {
        self.0.push(Disturbance {
            from,
            until: None,
            fault: Some(fault),
        });
    }

    /// This fault, or every one when it is not said, is over.
    pub(crate) fn ends(&mut self, fault: Option<usize>, until: Millis) {
        for one in &mut self.0 {
            if one.fault.is_some() && fault.is_none_or(|fault| one.fault == Some(fault)) {
                one.fault = None;
                one.until = Some(until);
            }
        }
    }

    /// When a caller has to have an answer that is due at `due`: then, or once an engine that was
    /// not there then is back. `None`: nobody can say.
    pub(crate) fn latest(&self, due: Millis) -> Option<Millis> {
        let mut latest = due;
        for one in &self.0 {
            if latest < one.from {
                break;
            }
            latest = latest.max(one.until? + BACK_WITHIN);
        }
        Some(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Millis {
        Millis::from_secs(seconds)
    }

    #[test]
    fn an_answer_is_due_once_an_engine_is_there_to_give_it() {
        let mut all = Disturbances::default();
        assert_eq!(all.latest(s(12)), Some(s(12)));
        all.lasted(s(0), s(4));
        assert_eq!(all.latest(s(12)), Some(s(12)), "it was over long before");
        all.begins(7, s(11));
        assert_eq!(all.latest(s(12)), None, "it goes on");
        all.ends(Some(8), s(15));
        assert_eq!(all.latest(s(12)), None, "another one ended");
        all.ends(Some(7), s(16));
        assert_eq!(all.latest(s(12)), Some(s(18)));
        assert_eq!(all.latest(s(10)), Some(s(10)), "it came after");
        all.lasted(s(17), s(30));
        assert_eq!(all.latest(s(12)), Some(s(32)), "it was not back yet");
    }

    #[test]
    fn after_a_jump_of_the_clock_nobody_can_say() {
        let mut all = Disturbances::default();
        all.for_good(s(5));
        all.ends(None, s(6));
        assert_eq!(all.latest(s(4)), Some(s(4)));
        assert_eq!(all.latest(s(5)), None);
        assert_eq!(all.latest(s(10)), None);
    }
}
