//! Wire structs of the events about remote work that no run waits for, and about late answers.
//!
//! Released structs are frozen: a change is a new version in a folder of its own.

use bincode::{Decode, Encode};
use mainstay_machine::{AskOrphan, OrphanWish};

use super::wire::{Blob, Text, Wire, frozen, frozen_event};
use super::words::{OnLateV1, SeenV1};
use crate::codec::DecodeError;

frozen_event! {
    LateValueRecordedV1 = LateValueRecorded {
        call: u32,
        attempt: u32,
        policy: OnLateV1,
        value: Option<Blob>,
    }
}
frozen_event! {
    AttemptOrphanedV1 = AttemptOrphaned { call: u32, attempt: u32, owner: Text, until: i64 }
}
frozen_event! { OrphanObservedV1 = OrphanObserved { call: u32, attempt: u32, seen: SeenV1 } }
frozen_event! {
    OrphanAdoptedV1 = OrphanAdopted { call: u32, attempt: u32, by: Text, why: Text, until: i64 }
}
frozen_event! { OrphanClosedV1 = OrphanClosed { call: u32, attempt: u32, by: Text, why: Text } }

frozen! {
    AskOrphanV1 = AskOrphan {
        call: u32,
        attempt: u32,
        wish: OrphanWishV1,
        after: u32,
        by: Text,
        why: Text,
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) enum OrphanWishV1 {
    Adopt { until: i64 },
    Close,
}

impl Wire<OrphanWish> for OrphanWishV1 {
    fn wire(domain: &OrphanWish) -> Self {
        match domain {
            OrphanWish::Adopt { until } => Self::Adopt {
                until: Wire::wire(until),
            },
            OrphanWish::Close => Self::Close,
        }
    }

    fn domain(self) -> Result<OrphanWish, DecodeError> {
        Ok(match self {
            Self::Adopt { until } => OrphanWish::Adopt {
                until: until.domain()?,
            },
            Self::Close => OrphanWish::Close,
        })
    }
}
