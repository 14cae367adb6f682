//! A search that found a part and does not know it.
//!
//! Source: mission A25, partial retrieval.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::PartialReply,
    name: "partial_reply",
    about: "Its reply is there in part only, in a shape that is allowed.",
    place: Where::Request(Of::CutReads),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::CutReply,
    }),
};
