//! Wire structs of index values.
//!
//! Released structs are frozen: a change is a new format byte.

use bincode::{Decode, Encode};
use mainstay_machine::{EffectEntry, EntryState, Summary};

use super::effect::EffectKeyV1;
use super::run::ClassRefV1;
use super::wire::{Blob, Text, Wire, frozen};
use super::words::{OutcomeKindV1, RunStateV1};
use crate::check::Head;
use crate::codec::DecodeError;
use crate::codec::start::Start;
use crate::inbox::{InboxCommand, InboxMessage};
use crate::record::Chain;

frozen! {
    EffectEntryV1 = EffectEntry {
        key: EffectKeyV1,
        run: [u8; 16],
        call: u32,
        fingerprint: [u8; 32],
        state: EntryStateV1,
        at: i64,
    }
}

/// An entry and how often it has changed.
#[derive(Encode, Decode)]
pub(in crate::codec) struct VersionedEntryV1 {
    pub(in crate::codec) version: u64,
    pub(in crate::codec) entry: EffectEntryV1,
}

#[derive(Encode, Decode)]
pub(super) enum EntryStateV1 {
    Open,
    InDoubt,
    Applied(Blob),
    PartlyApplied,
    NotApplied,
}

impl Wire<EntryState> for EntryStateV1 {
    fn wire(domain: &EntryState) -> Self {
        match domain {
            EntryState::Open => Self::Open,
            EntryState::InDoubt => Self::InDoubt,
            EntryState::Applied(result) => Self::Applied(Wire::wire(result)),
            EntryState::PartlyApplied => Self::PartlyApplied,
            EntryState::NotApplied => Self::NotApplied,
        }
    }

    fn domain(self) -> Result<EntryState, DecodeError> {
        Ok(match self {
            Self::Open => EntryState::Open,
            Self::InDoubt => EntryState::InDoubt,
            Self::Applied(result) => EntryState::Applied(result.domain()?),
            Self::PartlyApplied => EntryState::PartlyApplied,
            Self::NotApplied => EntryState::NotApplied,
        })
    }
}

frozen! {
    StartV1 = Start { tenant: String, start_key: String, run: [u8; 16], input: [u8; 32] }
}

frozen! {
    SummaryV1 = Summary {
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
    }
}

frozen! { InboxMessageV1 = InboxMessage { id: [u8; 16], command: InboxCommandV1 } }

#[derive(Encode, Decode)]
pub(super) enum InboxCommandV1 {
    Cancel { by: Text, why: Text },
}

impl Wire<InboxCommand> for InboxCommandV1 {
    fn wire(domain: &InboxCommand) -> Self {
        match domain {
            InboxCommand::Cancel { by, why } => Self::Cancel {
                by: Wire::wire(by),
                why: Wire::wire(why),
            },
        }
    }

    fn domain(self) -> Result<InboxCommand, DecodeError> {
        Ok(match self {
            Self::Cancel { by, why } => InboxCommand::Cancel {
                by: by.domain()?,
                why: why.domain()?,
            },
        })
    }
}

frozen! { HeadV1 = Head { seq: u64, epoch: u32, chain: u32 } }

impl Wire<Chain> for u32 {
    fn wire(domain: &Chain) -> Self {
        domain.as_u32()
    }

    fn domain(self) -> Result<Chain, DecodeError> {
        Ok(Chain::from_u32(self))
    }
}
