//! A search whose index is behind, and does not say so.
//!
//! Source: mission A25, stale retrieval.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::StaleReply,
    name: "stale_reply",
    about: "Its reply was right some time ago, in a shape that is allowed.",
    place: Where::Request(Of::StaleReads),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::StaleReply,
    }),
};
