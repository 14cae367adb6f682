//! Fewer workers than usual for a while: requests wait in a queue for their turn.
//!
//! Source: mission A25, fewer workers.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::FewerWorkers,
    name: "fewer_workers",
    about: "Of the requests within `ms` from `at_ms` every other one waits `ms` longer.",
    place: Where::RequestsDuring(Of::Any),
    ms: Some(500..=8000),
    act: Act::Request(|fault| Twist {
        delay: Millis::new(fault.length()),
        deed: Deed::Straight,
    }),
};
