//! `kill -9`: what was written is there, synced or not.
//!
//! Source: mission A25, fewer workers; cases F09, F10.

use mainstay_sim::ledger::Death;

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Killed,
    name: "killed",
    about: "The process is killed at a commit; the next one begins `ms` later.",
    place: Where::Commit,
    ms: Some(0..=9000),
    act: Act::Dies(Death::Kill),
};
