//! What was written and not synced is gone from some request on.

use mainstay_sim::ledger::Death;

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::PowerLoss,
    name: "power_loss",
    about: "The machine loses its power at a commit; the next process begins `ms` later.",
    place: Where::Commit,
    ms: Some(0..=9000),
    act: Act::Dies(Death::PowerLoss),
};
