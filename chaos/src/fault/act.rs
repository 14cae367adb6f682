//! What a kind of fault does, and to what.

use mainstay_sim::VirtualClock;
use mainstay_sim::ledger::{Death, Trouble};
use mainstay_sim::provider::{Sight, Twist};
use mainstay_types::Millis;

use super::Fault;

/// Which dependencies a kind can befall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// All.
    Any,
    /// Those that are read.
    Reads,
    /// Those that are read and whose replies can be cut.
    CutReads,
    /// Those that are read and whose replies can be old ones.
    StaleReads,
    /// Those that are written to.
    Writes,
    /// Those that are written to and do one key once.
    KeyedWrites,
    /// Those that are written to and can be asked.
    AskableWrites,
}

/// Where a kind of fault happens, and so which fields of a fault it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// At a request: `dependency`, `nth`, perhaps `times`.
    Request(Of),
    /// At a look-up: `dependency`, `nth`, perhaps `times`.
    LookUp,
    /// At requests of a time: `dependency`, `at_ms`, `ms`.
    RequestsDuring(Of),
    /// At a group of commits: `nth`, `moment`, `ms`.
    Commit,
    /// At a moment: `at_ms`.
    Moment,
    /// During a time: `at_ms`, `ms`.
    During,
}

/// What it does.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// A request goes another way.
    Request(fn(&Fault) -> Twist),
    /// A look-up sees something else.
    LookUp(fn(&Fault) -> (Millis, Sight)),
    /// The disk is in trouble.
    Disk(fn(&Fault, &mut Trouble)),
    /// The process dies at a commit, and the next one begins `ms` later.
    Dies(Death),
    /// The process stands still for `ms`.
    Stall,
    /// The process stands still for `ms`, and another takes its runs over meanwhile.
    Usurp,
    /// The wall clock jumps by `ms`.
    Clock(fn(&VirtualClock, Millis)),
    /// Somebody cancels a run.
    Cancel,
    /// Somebody starts the same run again.
    StartAgain,
}
