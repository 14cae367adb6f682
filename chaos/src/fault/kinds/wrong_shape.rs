//! A model whose reply is none that was asked for.
//!
//! Source: mission A25, schema mismatch.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::WrongShape,
    name: "wrong_shape",
    about: "Its reply does not keep the schema.",
    place: Where::Request(Of::Reads),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::WrongShape,
    }),
};
