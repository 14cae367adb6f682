//! What makes a run undrivable by this code: a panic, or a state its own events contradict.
//!
//! One such run must never take another, or the engine, with it. Who catches it also says whose
//! code it was, because a person has to look in a different place.

use std::fmt;

use mainstay_dispatch::caught_now;
use mainstay_types::{Code, Corrupt};

/// Why a run cannot be driven on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Poison {
    pub(crate) code: Code,
    pub(crate) detail: String,
}

impl fmt::Display for Poison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl From<Corrupt> for Poison {
    fn from(corrupt: Corrupt) -> Self {
        let detail = format!("event {} cannot follow: {}", corrupt.event, corrupt.detail);
        Self {
            code: Code::CorruptTransition,
            detail,
        }
    }
}

/// Runs `act`; a panic in it is a poison with this code. What `act` was changing by then is not to
/// be trusted any more.
pub(crate) fn caught<T>(code: Code, act: impl FnOnce() -> T) -> Result<T, Poison> {
    caught_now(act).map_err(|detail| Poison { code, detail })
}
