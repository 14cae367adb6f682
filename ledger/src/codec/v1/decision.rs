//! Wire structs of the events that say what was decided, and on which numbers.
//!
//! Released structs are frozen: a change is a new version in a folder of its own.

use bincode::{Decode, Encode};
use mainstay_machine::{Admission, Allowed, Decision, Event, NextAction, Numbers, Refused};

use super::wire::{ReasonV1, Text, Wire, WireEvent, frozen, frozen_event};
use super::words::{FailureKindV1, SentV1, VerdictV1};
use crate::codec::DecodeError;
use crate::codec::v2::CodeV2;

frozen_event! { RepairWantedV1 = RepairWanted { call: u32, of: u32 } }

frozen! {
    AdmissionV1 = Admission {
        verdict: VerdictV1,
        queue: u64,
        path: u64,
        synthesis: u64,
        reconcile: u64,
        deliver: u64,
        left: u64,
        observed: u32,
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) struct AdmissionDecidedV1(AdmissionV1);

impl WireEvent for AdmissionDecidedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::AdmissionDecided(admission) = event else {
            return None;
        };
        Some(Self(Wire::wire(admission)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::AdmissionDecided(self.0.domain()?))
    }
}

frozen! {
    DecisionV1 = Decision {
        call: u32,
        attempt: Option<u32>,
        kind: FailureKindV1,
        sent: Option<SentV1>,
        next: NextActionV1,
        reason: ReasonV1,
        numbers: NumbersV1,
        refused: Option<RefusedV1>,
    }
}

frozen! {
    NumbersV1 = Numbers {
        in_a_row: u32,
        attempts_left: u32,
        allowed: AllowedV1,
        wait: u64,
        wait_max: u64,
        retry_after: Option<u64>,
        predicted: u64,
        left: u64,
    }
}

frozen! {
    AllowedV1 = Allowed {
        run: u32,
        dependency: Option<u32>,
        tenant: Option<u32>,
        global: Option<u32>,
    }
}

frozen! { RefusedV1 = Refused { code: CodeV2, numbers: Vec<NumberV1> } }

#[derive(Encode, Decode)]
pub(in crate::codec) struct NumberV1 {
    name: Text,
    number: i64,
}

impl Wire<(String, i64)> for NumberV1 {
    fn wire((name, number): &(String, i64)) -> Self {
        let (name, number) = (Wire::wire(name), *number);
        Self { name, number }
    }

    fn domain(self) -> Result<(String, i64), DecodeError> {
        Ok((self.name.domain()?, self.number))
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) enum NextActionV1 {
    Retry { at: i64 },
    Repair,
    Fallback { rung: u8 },
    Reconcile,
    Wait,
    Omit,
    Fail,
}

impl Wire<NextAction> for NextActionV1 {
    fn wire(domain: &NextAction) -> Self {
        match domain {
            NextAction::Retry { at } => Self::Retry { at: Wire::wire(at) },
            NextAction::Repair => Self::Repair,
            NextAction::Fallback { rung } => Self::Fallback {
                rung: Wire::wire(rung),
            },
            NextAction::Reconcile => Self::Reconcile,
            NextAction::Wait => Self::Wait,
            NextAction::Omit => Self::Omit,
            NextAction::Fail => Self::Fail,
        }
    }

    fn domain(self) -> Result<NextAction, DecodeError> {
        Ok(match self {
            Self::Retry { at } => NextAction::Retry { at: at.domain()? },
            Self::Repair => NextAction::Repair,
            Self::Fallback { rung } => NextAction::Fallback {
                rung: rung.domain()?,
            },
            Self::Reconcile => NextAction::Reconcile,
            Self::Wait => NextAction::Wait,
            Self::Omit => NextAction::Omit,
            Self::Fail => NextAction::Fail,
        })
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) struct NextDecidedV1(DecisionV1);

impl WireEvent for NextDecidedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::NextDecided(decision) = event else {
            return None;
        };
        Some(Self(Wire::wire(&**decision)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::NextDecided(Box::new(self.0.domain()?)))
    }
}
