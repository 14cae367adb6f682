//! Enumerations on the wire: their variants are numbered by position.
//!
//! A variant is only ever appended. `golden/registry.txt` is the frozen copy of all positions.

use bincode::{Decode, Encode};
use mainstay_graph::{OnFailure, OnLate};
use mainstay_machine::{AlertKind, OutcomeKind, Ruling, RunState, Seen, Verdict};
use mainstay_types::{FailureKind, Sent};

use super::wire::Wire;
use crate::codec::DecodeError;

macro_rules! words {
    ($($wire:ident = $domain:ident { $($variant:ident),* $(,)? })*) => {
        $(
            #[derive(Clone, Copy, Encode, Decode)]
            pub(in crate::codec) enum $wire { $($variant),* }

            impl Wire<$domain> for $wire {
                fn wire(domain: &$domain) -> Self {
                    match domain { $($domain::$variant => Self::$variant,)* }
                }

                fn domain(self) -> Result<$domain, DecodeError> {
                    Ok(match self { $(Self::$variant => $domain::$variant,)* })
                }
            }
        )*

        /// Every enumeration of this file and its variants in order.
        #[cfg(test)]
        pub(in crate::codec) const ENUMS: &[(&str, &[&str])] =
            &[$((stringify!($wire), &[$(stringify!($variant)),*]),)*];
    };
}

words! {
    FailureKindV1 = FailureKind {
        InvalidInput, Unauthorized, RateLimited, Overloaded, TransientTransport,
        PermanentProvider, ResultInvalid, EffectUnknown, DeadlineExhausted, Canceled,
    }
    SentV1 = Sent { NotSent, MaybeSent, Answered }
    OnFailureV1 = OnFailure { HandOff, Fail }
    OutcomeKindV1 = OutcomeKind {
        Completed, Degraded, HandedOff, Failed, Canceled, Terminated, Rejected,
    }
    VerdictV1 = Verdict { Admitted, Later, Rejected }
    RunStateV1 = RunState {
        Running, Ended, Closed, Quarantined, Waiting, WaitingForCode, Paused,
    }
    AlertKindV1 = AlertKind {
        HandedOff, InDoubt, EndedLate, PartlyApplied, Quarantined, Addendum, CompensationFailed,
        LateResult, OrphanOverdue,
    }
    RulingV1 = Ruling { Applied, NotApplied }
    OnLateV1 = OnLate { Drop, Keep, Review }
    SeenV1 = Seen { Canceled, CompletedLate, Failed, StillRunning }
}
