//! Version 2 of the wire structs that have one.
//!
//! Frozen once released, as `v1` is. What did not change is taken from there.

use bincode::{Decode, Encode};
use mainstay_machine::{Event, Quarantine, StateReason, Summary};
use mainstay_types::Code;

use super::DecodeError;
use super::v1::Wire;
use super::v1::run::ClassRefV1;
use super::v1::wire::{Text, WireEvent, frozen, frozen_event};
use super::v1::words::{OutcomeKindV1, RunStateV1};

frozen! {
    SummaryV2 = Summary {
        run: [u8; 16],
        class: ClassRefV1,
        tenant: String,
        start_key: Option<String>,
        state: RunStateV1,
        lap: u32,
        outcome: Option<OutcomeKindV1>,
        in_doubt: u32,
        started_at: i64,
        ended_at: Option<i64>,
        reason: Option<StateReasonV2>,
    }
}

/// A reason by its stable text: among them are all error codes, which grow with every feature.
#[derive(Encode, Decode)]
pub(super) struct StateReasonV2(String);

impl Wire<StateReason> for StateReasonV2 {
    fn wire(domain: &StateReason) -> Self {
        Self(domain.as_str().to_owned())
    }

    fn domain(self) -> Result<StateReason, DecodeError> {
        let reason = StateReason::from_text(&self.0);
        reason.ok_or_else(|| DecodeError::newer(format!("state reason {:?}", self.0)))
    }
}

frozen! { QuarantineV2 = Quarantine { code: CodeV2, message: Text } }

/// A code by its stable text.
#[derive(Encode, Decode)]
pub(super) struct CodeV2(String);

impl Wire<Code> for CodeV2 {
    fn wire(domain: &Code) -> Self {
        Self(domain.as_str().to_owned())
    }

    fn domain(self) -> Result<Code, DecodeError> {
        let code = Code::from_text(&self.0);
        code.ok_or_else(|| DecodeError::newer(format!("code {:?}", self.0)))
    }
}

/// The code by itself, not as the beginning of a text.
#[derive(Encode, Decode)]
pub(super) struct RunQuarantinedV2(QuarantineV2);

impl WireEvent for RunQuarantinedV2 {
    fn of(event: &Event) -> Option<Self> {
        let Event::RunQuarantined(why) = event else {
            return None;
        };
        Some(Self(Wire::wire(why)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::RunQuarantined(self.0.domain()?))
    }
}

frozen_event! {
    LateResultV2 = LateResult { call: u32, attempt: u32, cost: u64, client_retries: u32 }
}

/// For the upcaster: nobody counted what client libraries retried in attempts that were late.
pub(super) const fn late(call: u32, attempt: u32, cost: u64) -> LateResultV2 {
    LateResultV2 {
        call,
        attempt,
        cost,
        client_retries: 0,
    }
}

/// For the upcaster.
pub(super) fn quarantined(code: Code, message: &str) -> RunQuarantinedV2 {
    RunQuarantinedV2(Wire::wire(&Quarantine {
        code,
        message: message.to_owned(),
    }))
}
