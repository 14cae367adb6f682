//! Wire structs of the events about calls and their attempts.
//!
//! Released structs are frozen: a change is a new version in a folder of its own.

use bincode::{Decode, Encode};
use mainstay_machine::{AttemptEnd, AttemptStarted, Event, Prepared};
use mainstay_types::Failure;

use super::wire::{Blob, ReasonV1, Text, Wire, WireEvent, frozen, frozen_event};
use super::words::{FailureKindV1, SentV1};
use crate::codec::DecodeError;

frozen! {
    PreparedV1 = Prepared { request: Blob, fingerprint: [u8; 32], business_id: Option<String> }
}

frozen_event! { CallPreparedV1 = CallPrepared { call: u32, prepared: PreparedV1 } }
frozen_event! { ListRecordedV1 = ListRecorded { call: u32, items: Vec<PreparedV1> } }
frozen_event! { CallSettledV1 = CallSettled { call: u32, rung: u8, result: Blob } }
frozen_event! {
    CallRescheduledV1 = CallRescheduled { call: u32, rung: u8, not_before: i64, reason: ReasonV1 }
}
frozen_event! { CallOmittedV1 = CallOmitted { call: u32, reason: ReasonV1 } }
frozen_event! { CallSkippedV1 = CallSkipped { call: u32 } }
frozen_event! {
    CodeFailedV1 = CodeFailed { call: Option<u32>, kind: FailureKindV1, message: Text }
}
frozen_event! { CallFailedV1 = CallFailed { call: u32, kind: FailureKindV1, reason: ReasonV1 } }

frozen! {
    AttemptStartedV1 = AttemptStarted {
        call: u32,
        attempt: u32,
        rung: u8,
        at: i64,
        timeout: u64,
        cost: u64,
        retry_tokens: u32,
    }
}

impl WireEvent for AttemptStartedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::AttemptStarted(started) = event else {
            return None;
        };
        Some(Self::wire(started))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::AttemptStarted(self.domain()?))
    }
}

frozen! {
    FailureV1 = Failure {
        kind: FailureKindV1,
        sent: SentV1,
        provider_code: Option<Text>,
        message: Option<Text>,
        retry_after: Option<u64>,
        client_retries: u32,
        cost: Option<u64>,
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) enum AttemptEndV1 {
    Answered,
    Failed(FailureV1),
}

impl Wire<AttemptEnd> for AttemptEndV1 {
    fn wire(domain: &AttemptEnd) -> Self {
        match domain {
            AttemptEnd::Answered => Self::Answered,
            AttemptEnd::Failed(failure) => Self::Failed(Wire::wire(failure)),
        }
    }

    fn domain(self) -> Result<AttemptEnd, DecodeError> {
        Ok(match self {
            Self::Answered => AttemptEnd::Answered,
            Self::Failed(failure) => AttemptEnd::Failed(failure.domain()?),
        })
    }
}

frozen_event! {
    AttemptSettledV1 = AttemptSettled {
        call: u32,
        attempt: u32,
        end: AttemptEndV1,
        cost: u64,
        client_retries: u32,
    }
}
frozen_event! { AttemptInterruptedV1 = AttemptInterrupted { call: u32, attempt: u32, cost: u64 } }

/// Only read: version 2 has what a client library retried.
#[derive(Encode, Decode)]
pub(in crate::codec) struct LateResultV1 {
    pub(in crate::codec) call: u32,
    pub(in crate::codec) attempt: u32,
    pub(in crate::codec) cost: u64,
}
