//! Version 2 of the wire structs that have one.
//!
//! Frozen once released, as `v1` is. What did not change is taken from there.

use bincode::{Decode, Encode};
use mainstay_machine::{StateReason, Summary};

use super::DecodeError;
use super::v1::Wire;
use super::v1::run::ClassRefV1;
use super::v1::wire::frozen;
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
