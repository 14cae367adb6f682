//! What is done next about a call, with the numbers it was decided on.
//!
//! Recorded beside the event that carries it out, so that a run can be read afterwards without the
//! clock, draw and gates of that moment. It changes no state.

use mainstay_types::{AttemptNo, CallId, Code, FailureKind, Millis, Reason, Rung, Sent, Timestamp};

use crate::event::Event;

/// A decision about a call: after an attempt failed, or when no attempt may start any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which call.
    pub call: CallId,
    /// The newest attempt of the call; `None` when it never had one.
    pub attempt: Option<AttemptNo>,
    /// What failed: `DEADLINE_EXHAUSTED` when nothing did and a limit or the time stopped it.
    pub kind: FailureKind,
    /// Whether the request of the failed attempt may have left; `None` when none failed.
    pub sent: Option<Sent>,
    /// What is done.
    pub next: NextAction,
    /// Why.
    pub reason: Reason,
    /// What it was decided on.
    pub numbers: Numbers,
    /// What refused the next attempt, when something did.
    pub refused: Option<Refused>,
}

impl Decision {
    pub(crate) fn recorded(self) -> Event {
        Event::NextDecided(Box::new(self))
    }
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// The same provider again.
    Retry {
        /// Not before this moment.
        at: Timestamp,
    },
    /// The same provider with a request that says what was wrong with its reply.
    Repair,
    /// The next provider.
    Fallback {
        /// Its rung.
        rung: Rung,
    },
    /// Find out what became of it.
    Reconcile,
    /// Nothing until somebody raises a limit.
    Wait,
    /// The call is left out.
    Omit,
    /// The call has no value in this lap.
    Fail,
}

impl NextAction {
    /// The stable text, for example `give_up`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Retry { .. } => "retry",
            Self::Repair => "repair",
            Self::Fallback { .. } => "fallback",
            Self::Reconcile => "reconcile",
            Self::Wait => "wait",
            Self::Omit => "omit",
            Self::Fail => "fail",
        }
    }
}

/// The numbers of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Failures of this kind in a row on this rung, this one included.
    pub in_a_row: u32,
    /// Attempts the rung still has.
    pub attempts_left: u32,
    /// How many retries each party allows; the least of them holds.
    pub allowed: Allowed,
    /// How long the next attempt waits.
    pub wait: Millis,
    /// What the wait was drawn from.
    pub wait_max: Millis,
    /// What the provider asked to wait.
    pub retry_after: Option<Millis>,
    /// How long an attempt is expected to take.
    pub predicted: Millis,
    /// Time left for attempts of this rung, its reserves taken off.
    pub left: Millis,
}

/// How many retries may follow. Source: mission A8. `None`: that party sets no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// By the run's tokens and its caps.
    pub run: u32,
    /// By what the dependency can take.
    pub dependency: Option<u32>,
    /// By the tenant's quota.
    pub tenant: Option<u32>,
    /// By the share of retries in all attempts of the process.
    pub global: Option<u32>,
}

impl Allowed {
    /// The least of all four.
    #[must_use]
    pub fn least(&self) -> u32 {
        let others = [self.dependency, self.tenant, self.global];
        others.into_iter().flatten().fold(self.run, u32::min)
    }
}

/// A refusal as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its code.
    pub code: Code,
    /// What was compared, by name. Bound: `limits::REFUSED_NUMBERS_MAX`.
    pub numbers: Vec<(String, i64)>,
}

impl Refused {
    pub(crate) fn of(refusal: &mainstay_types::Refusal) -> Self {
        let numbers = refusal.numbers.iter();
        Self {
            code: refusal.code,
            numbers: numbers
                .take(mainstay_types::limits::REFUSED_NUMBERS_MAX)
                .map(|&(name, number)| (name.to_owned(), number))
                .collect(),
        }
    }
}
