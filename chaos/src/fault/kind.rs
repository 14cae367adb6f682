//! The names of faults.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::act::{Act, Of, Where};
use super::kinds;

/// What goes wrong. Each has a file of its own below `fault/kinds/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It takes `ms` longer than usual.
    Slow,
    /// It is told 429, with a Retry-After of `ms`.
    RateLimited,
    /// It is told that there is too much to do.
    Overloaded,
    /// Of the requests within `ms` from `at_ms` every second one is told 429.
    SmallQuota,
    /// Of the requests within `ms` from `at_ms` every second one waits `ms` longer for its turn.
    FewerWorkers,
    /// It is told that this cannot be done, now or later.
    GoneForGood,
    /// Its reply does not keep the schema.
    WrongShape,
    /// Its reply is there in part only, in a shape that is allowed.
    PartialReply,
    /// Its reply was right some time ago, in a shape that is allowed.
    StaleReply,
    /// The connection is refused: nothing leaves.
    Refused,
    /// The connection breaks; nothing was done, and nobody knows.
    BrokenOff,
    /// It is lost on the way: nothing is done, no reply comes.
    Unanswered,
    /// The adapter panics before anything leaves.
    AdapterPanic,
    /// It is done, and its reply never comes.
    ReplyLost,
    /// It is done, and the connection breaks.
    DoneAndBrokenOff,
    /// It is done up to `ms` after it was sent, within the bound of its receiver; no reply comes.
    DoneLate,
    /// It reaches the receiver twice.
    DoneTwice,
    /// A part of it is done, and no reply comes.
    DoneInPart,
    /// The receiver cannot tell what became of the request.
    LookUpBlind,
    /// The receiver is still at it.
    StillAtIt,
    /// Asking what became of it fails.
    LookUpFails,
    /// Asking what became of it is never answered.
    LookUpUnanswered,
    /// There is no room for events for `ms`.
    DiskFull,
    /// Writes fail for `ms`, before anything of them is on the disk.
    DiskErrors,
    /// Each sync takes a tenth of `ms` longer, for `ms`.
    SlowSync,
    /// The next sync fails: nobody knows what is on the disk, and the process has to die.
    FailedSync,
    /// The process is killed at a commit; the next one begins `ms` later.
    Killed,
    /// The machine loses its power at a commit; the next process begins `ms` later.
    PowerLoss,
    /// The process stands still for `ms`.
    Stalled,
    /// The process stands still for `ms`; another takes its runs over, and then both go on.
    Usurped,
    /// The wall clock jumps forward by `ms`.
    ClockForward,
    /// The wall clock jumps back by `ms`.
    ClockBack,
    /// Somebody cancels a run.
    Canceled,
    /// Somebody starts the same run again, under its key.
    StartedAgain,
}

impl Kind {
    /// All kinds.
    #[must_use]
    pub fn all() -> Vec<Self> {
        kinds::ALL.iter().map(|named| named.kind).collect()
    }

    /// What is known of it.
    #[must_use]
    pub fn named(self) -> &'static Named {
        static ALL: [Named; kinds::ALL.len()] = kinds::ALL;
        &ALL[self as usize]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().name)
    }
}

/// A kind of fault: its name, where it happens, how long it may last.
pub struct Named {
    /// The kind.
    pub kind: Kind,
    /// Its name, in files and reports.
    pub name: &'static str,
    /// What happens, in one sentence.
    pub about: &'static str,
    pub(crate) place: Where,
    /// How long it lasts when it is drawn, in ms; `None`: it has no length.
    pub ms: Option<RangeInclusive<u64>>,
    pub(crate) act: Act,
}

impl Named {
    /// Which fields a fault of this kind has, beside its kind.
    #[must_use]
    pub const fn place(&self) -> &'static str {
        match self.place {
            Where::Request(_) | Where::LookUp => "dependency, nth, perhaps times",
            Where::RequestsDuring(_) => "dependency, at_ms, ms",
            Where::Commit => "nth, moment, perhaps ms",
            Where::Moment => "at_ms, perhaps ms",
            Where::During => "at_ms, ms",
        }
    }

    /// Which dependencies it befalls; `None`: it befalls none.
    pub(crate) const fn of(&self) -> Option<Of> {
        match self.place {
            Where::Request(of) | Where::RequestsDuring(of) => Some(of),
            Where::LookUp => Some(Of::AskableWrites),
            Where::Commit | Where::Moment | Where::During => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_kind_stands_in_its_place_under_its_own_name() {
        let mut names = BTreeSet::new();
        for (place, named) in kinds::ALL.iter().enumerate() {
            assert_eq!(named.kind as usize, place, "{}", named.name);
            assert_eq!(named.kind.named().name, named.name);
            let written = serde_json::to_value(named.kind).expect("a name");
            assert_eq!(written, named.name);
            names.insert(named.name);
        }
        assert_eq!(names.len(), kinds::ALL.len());
    }
}
