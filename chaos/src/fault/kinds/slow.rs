//! A model, a search or a receiver that takes longer than usual, perhaps longer than its attempt.
//!
//! Source: mission A25, model delay.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Slow,
    name: "slow",
    about: "It takes `ms` longer than usual.",
    place: Where::Request(Of::Any),
    ms: Some(200..=15000),
    act: Act::Request(|fault| Twist {
        delay: Millis::new(fault.length()),
        deed: Deed::Straight,
    }),
};
