//! Wire structs of the events about a run, its laps and its owner.
//!
//! Released structs are frozen: a change is a new version in a folder of its own.

use bincode::{Decode, Encode};
use mainstay_graph::Budget;
use mainstay_machine::{ClassRef, Event, LapStarted, LapTimes, LeaseTaken, Raise, RunStarted};

use super::wire::{Blob, ReasonV1, Text, Wire, WireEvent, frozen, frozen_event};
use super::words::{OnFailureV1, OutcomeKindV1};
use crate::codec::DecodeError;

frozen! { ClassRefV1 = ClassRef { name: String, version: u32, fingerprint: [u8; 32] } }

frozen! {
    LapTimesV1 = LapTimes {
        answer_by: i64,
        work_by: i64,
        expires_at: Option<i64>,
        doubt_until: i64,
    }
}

frozen! {
    BudgetV1 = Budget { retry_tokens: u32, concurrency_tokens: u32, cost_units: u64 }
}

frozen! {
    RunStartedV1 = RunStarted {
        run: [u8; 16],
        class: ClassRefV1,
        tenant: String,
        start_key: Option<String>,
        input: Blob,
        at: i64,
        lap: u32,
        times: LapTimesV1,
        budget: BudgetV1,
        on_failure: OnFailureV1,
        worker: [u8; 16],
        traceparent: Option<Text>,
    }
}

impl WireEvent for RunStartedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::RunStarted(started) = event else {
            return None;
        };
        Some(Self::wire(started))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::RunStarted(Box::new(self.domain()?)))
    }
}

frozen! {
    LeaseTakenV1 = LeaseTaken {
        epoch: u32,
        worker: [u8; 16],
        at: i64,
        downtime: u64,
        extended: u64,
    }
}

impl WireEvent for LeaseTakenV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::LeaseTaken(taken) = event else {
            return None;
        };
        Some(Self::wire(taken))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::LeaseTaken(self.domain()?))
    }
}

frozen_event! { CancelRequestedV1 = CancelRequested { by: Text, why: Text } }
frozen_event! { HardPathLostV1 = HardPathLost { call: u32 } }
frozen_event! { AnsweredLaterV1 = AnsweredLater { doubts: Vec<u32>, expected_by: i64 } }
frozen_event! {
    LapEndedV1 = LapEnded {
        outcome: OutcomeKindV1,
        reason: ReasonV1,
        result: Option<Blob>,
        at: i64,
    }
}
frozen_event! { AddendumRecordedV1 = AddendumRecorded { call: u32, reason: ReasonV1 } }
frozen_event! { RunClosedV1 = RunClosed {} }

/// Its message began with a code, most often. Only read: version 2 has the code by itself.
#[derive(Encode, Decode)]
pub(in crate::codec) struct RunQuarantinedV1 {
    pub(in crate::codec) message: Text,
}

frozen_event! { QuarantineLiftedV1 = QuarantineLifted { by: Text, why: Text } }
frozen_event! { RunTerminatedV1 = RunTerminated { by: Text, why: Text } }

frozen! {
    LapStartedV1 = LapStarted {
        lap: u32,
        by: Text,
        why: Text,
        at: i64,
        times: LapTimesV1,
        budget: BudgetV1,
    }
}

frozen! { RaiseV1 = Raise { by: Text, why: Text, at: i64, more: BudgetV1 } }

#[derive(Encode, Decode)]
pub(in crate::codec) struct BudgetRaisedV1(RaiseV1);

impl WireEvent for BudgetRaisedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::BudgetRaised(raised) = event else {
            return None;
        };
        Some(Self(Wire::wire(raised)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::BudgetRaised(self.0.domain()?))
    }
}

impl WireEvent for LapStartedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::LapStarted(started) = event else {
            return None;
        };
        Some(Self::wire(started))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::LapStarted(self.domain()?))
    }
}
