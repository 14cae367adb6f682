//! A provider that limits the rate and says when to come back.
//!
//! Source: mission A25, 429.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::{Failure, FailureKind, Millis, Sent};

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::RateLimited,
    name: "rate_limited",
    about: "It is told 429, with a Retry-After of `ms`.",
    place: Where::Request(Of::Any),
    ms: Some(100..=20000),
    act: Act::Request(|fault| Twist {
        delay: Millis::ZERO,
        deed: Deed::Answer(
            Failure::new(FailureKind::RateLimited, Sent::Answered)
                .retry_after(Millis::new(fault.length())),
        ),
    }),
};
