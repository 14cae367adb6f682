//! The fault model: `faults.toml`, read and checked.
//!
//! It must never hold a number that the file does not have: whoever doubts the experiment reads one
//! page.

use std::time::Duration;

use serde::Deserialize;

const TEXT: &str = include_str!("faults.toml");

/// Sends and calls again beyond this would be a storm and no assumption.
const AGAIN_MAX: u32 = 10;

/// More sessions at once measure the machine.
const AT_ONCE_MAX: u32 = 1_024;

/// The longest of all times, in milliseconds; longer ones are typing errors.
const TIME_MS_MAX: u64 = 60_000;

/// What goes wrong, and how often. `faults.toml` says of each number what it is and why so.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Slow spells of the tool.
    pub spell: Spell,
    /// What may become of an order that is sent.
    pub send: Way,
    /// What may become of a question.
    pub look_up: Way,
    /// The HTTP client, the inner layer that retries.
    pub client: Client,
    /// The model, the outer one.
    pub model: Model,
    /// The purchase tool.
    pub receiver: Times,
    /// How much is under way at once.
    pub load: Load,
}

/// Slow spells.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spell {
    /// Share of sessions that lie in one.
    pub share_of_sessions: f64,
}

/// What may become of a request on its way and back.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Probability that it never arrives.
    pub lost: f64,
    /// Probability that one that arrived is answered too late.
    pub late: f64,
    /// The same in a slow spell.
    pub late_in_slow_spell: f64,
}

/// The HTTP client.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// How long it waits, in milliseconds.
    pub timeout_ms: u64,
    /// How often it sends the same again.
    pub resends_max: u32,
    /// How long after it was allowed to an order may leave, in milliseconds.
    pub send_window_ms: u64,
}

/// The model.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Probability that it calls again after an error.
    pub calls_again: f64,
    /// How often at most, for one order.
    pub calls_again_max: u32,
    /// Probability that it changes the memo then.
    pub changes_memo: f64,
    /// Probability that the same is really wanted once more.
    pub wants_second: f64,
    /// Probability that it calls again although it was told that the order is done.
    pub calls_again_after_done: f64,
}

/// The purchase tool.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// How long it works on an order, in milliseconds.
    pub work_ms: u64,
    /// How long after its arrival an order may be executed, in milliseconds.
    pub bound_ms: u64,
}

/// How much is under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Sessions.
    pub sessions_at_once: u32,
}

/// Why a fault model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultsError {
    /// It is no TOML, or lacks a key, or has one that nobody knows.
    #[error("the fault model cannot be read: {0}")]
    Unreadable(String),
    /// A number that makes no sense.
    #[error("{key} is {value}: it must be {bounds}")]
    OutOfBounds {
        /// Which number.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        bounds: String,
    },
}

impl Faults {
    /// The faults of the experiment, from the file that is built in.
    ///
    /// # Panics
    ///
    /// Never in a build whose tests pass: the file is one of its sources.
    #[must_use]
    pub fn of_the_experiment() -> Self {
        Self::parse(TEXT).expect("the file that is built in is valid")
    }

    /// Reads and checks a fault model.
    pub fn parse(text: &str) -> Result<Self, FaultsError> {
        let faults: Self =
            toml::from_str(text).map_err(|error| FaultsError::Unreadable(error.to_string()))?;
        faults.check_probabilities()?;
        faults.check_counts()?;
        faults.check_times()?;
        Ok(faults)
    }

    fn check_probabilities(&self) -> Result<(), FaultsError> {
        let Self {
            send,
            look_up,
            model,
            ..
        } = self;
        let all = [
            ("spell.share_of_sessions", self.spell.share_of_sessions),
            ("send.lost", send.lost),
            ("send.late", send.late),
            ("send.late_in_slow_spell", send.late_in_slow_spell),
            ("look_up.lost", look_up.lost),
            ("look_up.late", look_up.late),
            ("look_up.late_in_slow_spell", look_up.late_in_slow_spell),
            ("model.calls_again", model.calls_again),
            ("model.changes_memo", model.changes_memo),
            ("model.wants_second", model.wants_second),
            ("model.calls_again_after_done", model.calls_again_after_done),
        ];
        let wrong = all
            .into_iter()
            .find(|(_, value)| !(0.0..=1.0).contains(value));
        wrong.map_or(Ok(()), |(key, value)| {
            Err(out_of_bounds(key, value, "from 0 to 1"))
        })
    }

    fn check_counts(&self) -> Result<(), FaultsError> {
        let again = format!("at most {AGAIN_MAX}");
        if AGAIN_MAX < self.client.resends_max {
            let value = self.client.resends_max;
            return Err(out_of_bounds("client.resends_max", value, again));
        }
        if AGAIN_MAX < self.model.calls_again_max {
            let value = self.model.calls_again_max;
            return Err(out_of_bounds("model.calls_again_max", value, again));
        }
        let at_once = self.load.sessions_at_once;
        if !(1..=AT_ONCE_MAX).contains(&at_once) {
            let bounds = format!("from 1 to {AT_ONCE_MAX}");
            return Err(out_of_bounds("load.sessions_at_once", at_once, bounds));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), FaultsError> {
        let (timeout, bound) = (self.client.timeout_ms, self.receiver.bound_ms);
        if !(10..=TIME_MS_MAX).contains(&timeout) {
            let bounds = format!("from 10 to {TIME_MS_MAX}");
            return Err(out_of_bounds("client.timeout_ms", timeout, bounds));
        }
        if TIME_MS_MAX < self.client.send_window_ms {
            let (value, bounds) = (self.client.send_window_ms, format!("at most {TIME_MS_MAX}"));
            return Err(out_of_bounds("client.send_window_ms", value, bounds));
        }
        // A reply that is late comes within the bound; it needs room behind the timeout.
        if !(2 * timeout..=TIME_MS_MAX).contains(&bound) {
            let bounds = format!("from 2 * client.timeout_ms to {TIME_MS_MAX}");
            return Err(out_of_bounds("receiver.bound_ms", bound, bounds));
        }
        // Otherwise what is drawn to be in time would not be.
        if timeout < 5 * self.receiver.work_ms {
            let (value, bounds) = (self.receiver.work_ms, "at most a fifth of the timeout");
            return Err(out_of_bounds("receiver.work_ms", value, bounds));
        }
        Ok(())
    }

    /// How long the client waits for a reply.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.client.timeout_ms)
    }

    /// How long the receiver works on an order.
    #[must_use]
    pub fn work(&self) -> Duration {
        Duration::from_millis(self.receiver.work_ms)
    }

    /// How long after its arrival an order may be executed.
    #[must_use]
    pub fn bound(&self) -> Duration {
        Duration::from_millis(self.receiver.bound_ms)
    }

    /// How long after an order was allowed to leave nothing of it lands any more.
    #[must_use]
    pub fn horizon(&self) -> Duration {
        Duration::from_millis(self.client.send_window_ms) + self.timeout() + self.bound()
    }
}

fn out_of_bounds(
    key: &'static str,
    value: impl std::fmt::Display,
    bounds: impl Into<String>,
) -> FaultsError {
    FaultsError::OutOfBounds {
        key,
        value: value.to_string(),
        bounds: bounds.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str, instead: &str) -> String {
        assert_eq!(TEXT.matches(line).count(), 1, "{line}");
        let text = TEXT.replace(line, instead);
        Faults::parse(&text).expect_err("refused").to_string()
    }

    #[test]
    fn the_file_says_what_the_source_says() {
        let faults = Faults::of_the_experiment();
        assert_eq!(faults.spell.share_of_sessions, 0.05);
        assert_eq!(
            faults.send,
            Way {
                lost: 0.04,
                late: 0.04,
                late_in_slow_spell: 0.70
            }
        );
        assert_eq!(faults.look_up, faults.send);
        assert_eq!(faults.horizon(), Duration::from_millis(20 + 50 + 200));
    }

    #[test]
    fn numbers_that_make_no_sense_are_named_with_their_bounds() {
        for (line, instead, said) in [
            (
                "wants_second = 0.026",
                "wants_second = 2.6",
                "model.wants_second is 2.6: it must be from 0 to 1",
            ),
            (
                "changes_memo = 0.4",
                "changes_memo = nan",
                "model.changes_memo is NaN: it must be from 0 to 1",
            ),
            (
                "resends_max = 2",
                "resends_max = 11",
                "client.resends_max is 11: it must be at most 10",
            ),
            (
                "sessions_at_once = 64",
                "sessions_at_once = 0",
                "load.sessions_at_once is 0: it must be from 1 to 1024",
            ),
            (
                "timeout_ms = 50",
                "timeout_ms = 150",
                "receiver.bound_ms is 200: it must be from 2 * client.timeout_ms to 60000",
            ),
            (
                "work_ms = 2",
                "work_ms = 11",
                "receiver.work_ms is 11: it must be at most a fifth of the timeout",
            ),
        ] {
            assert_eq!(refused(line, instead), said);
        }
    }

    #[test]
    fn a_key_that_is_missing_or_unknown_is_refused() {
        assert!(refused("calls_again_max = 1", "").contains("calls_again_max"));
        assert!(refused("work_ms = 2", "work_ms = 2\nspeed = 3").contains("speed"));
        assert!(refused("resends_max = 2", "resends_max = -2").contains("resends_max"));
    }
}
