//! Code of a dependency that panics.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::AdapterPanic,
    name: "adapter_panic",
    about: "The adapter panics before anything leaves.",
    place: Where::Request(Of::Any),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::Panic,
    }),
};
