//! Faults as data: what goes wrong, where, for how long.
//!
//! A fault says nothing of seeds or of engines. It is drawn, written down, read from a file,
//! left out and made smaller in one and the same form; what it does is said by its kind's own file
//! below `kinds/`.

mod act;
mod kind;
mod kinds;
mod problem;

pub(crate) use act::{Act, Of, Where};
pub use kind::{Kind, Named};
pub use problem::FaultProblem;

use serde::{Deserialize, Serialize};

/// One fault. Which of its fields have a meaning depends on its kind: see [`Named::place`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub kind: Kind,
    /// The dependency it befalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency: Option<String>,
    /// The request, look-up or group of commits it befalls, counted from 1 as they come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// How many in a row; 1 when it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// When it begins, in ms since the world began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// How long, in ms: the delay, the window, the absence or the jump, as its kind says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// For a death: how far the group of commits had come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<Stage>,
}

/// How far a group of commits had come when its process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing of it was on the disk.
    Before,
    /// It was written and not synced.
    Written,
    /// It was synced, and nobody had been told.
    Synced,
}

impl Fault {
    /// A fault of `kind` with nothing else said.
    #[must_use]
    pub const fn of(kind: Kind) -> Self {
        Self {
            kind,
            dependency: None,
            nth: None,
            times: None,
            at_ms: None,
            ms: None,
            moment: None,
        }
    }

    /// How long, in ms.
    pub(crate) fn length(&self) -> u64 {
        self.ms.unwrap_or_default()
    }

    /// Whether the `nth` one is among those that it befalls.
    pub(crate) fn is_at(&self, nth: u64) -> bool {
        let first = self.nth.unwrap_or(1);
        let times = self.times.unwrap_or(1);
        first <= nth && nth < first.saturating_add(times)
    }

    /// Whether `ms` since the beginning lies in its window.
    pub(crate) fn is_during(&self, ms: u64) -> bool {
        let from = self.at_ms.unwrap_or_default();
        from <= ms && ms < from.saturating_add(self.length())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(dependency) = &self.dependency {
            write!(f, " of {dependency}")?;
        }
        if let Some(nth) = self.nth {
            write!(f, " #{nth}")?;
        }
        if let Some(times) = self.times.filter(|times| 1 < *times) {
            write!(f, " x{times}")?;
        }
        if let Some(moment) = self.moment {
            let moment = match moment {
                Stage::Before => "before",
                Stage::Written => "written",
                Stage::Synced => "synced",
            };
            write!(f, " {moment}")?;
        }
        if let Some(at) = self.at_ms {
            write!(f, " at {at} ms")?;
        }
        if let Some(ms) = self.ms {
            write!(f, " for {ms} ms")?;
        }
        Ok(())
    }
}
