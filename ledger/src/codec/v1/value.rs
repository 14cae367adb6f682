//! Wire structs of index values.
//!
//! Released structs are frozen: a change is a new format byte.

use bincode::{Decode, Encode};
use mainstay_machine::{
    Alert, AskCompensate, AskRaise, AskSettle, EffectEntry, EntryState, FoundByOther, SettleEnd,
    Summary,
};

use super::call::FailureV1;
use super::effect::EffectKeyV1;
use super::orphan::AskOrphanV1;
use super::run::{BudgetV1, ClassRefV1};
use super::tools::AskToolV1;
use super::wire::{Blob, Text, Wire, frozen};
use super::words::{AlertKindV1, OutcomeKindV1, RulingV1, RunStateV1};
use crate::check::Head;
use crate::codec::DecodeError;
use crate::codec::start::Start;
use crate::inbox::{InboxCommand, InboxMessage};
use crate::record::Chain;
use crate::wait::{Waiter, Waiters};

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
    Compensated,
}

impl Wire<EntryState> for EntryStateV1 {
    fn wire(domain: &EntryState) -> Self {
        match domain {
            EntryState::Open => Self::Open,
            EntryState::InDoubt => Self::InDoubt,
            EntryState::Applied(result) => Self::Applied(Wire::wire(result)),
            EntryState::PartlyApplied => Self::PartlyApplied,
            EntryState::NotApplied => Self::NotApplied,
            EntryState::Compensated => Self::Compensated,
        }
    }

    fn domain(self) -> Result<EntryState, DecodeError> {
        Ok(match self {
            Self::Open => EntryState::Open,
            Self::InDoubt => EntryState::InDoubt,
            Self::Applied(result) => EntryState::Applied(result.domain()?),
            Self::PartlyApplied => EntryState::PartlyApplied,
            Self::NotApplied => EntryState::NotApplied,
            Self::Compensated => EntryState::Compensated,
        })
    }
}

frozen! {
    StartV1 = Start { tenant: String, start_key: String, run: [u8; 16], input: [u8; 32] }
}

/// A row before it said why a run waits. Only read: `v2` is what is written.
#[derive(Decode)]
pub(in crate::codec) struct SummaryV1 {
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

impl SummaryV1 {
    pub(in crate::codec) fn domain(self) -> Result<Summary, DecodeError> {
        Ok(Summary {
            run: self.run.domain()?,
            class: self.class.domain()?,
            tenant: self.tenant.domain()?,
            start_key: self.start_key.domain()?,
            state: self.state.domain()?,
            lap: self.lap.domain()?,
            outcome: self.outcome.domain()?,
            in_doubt: self.in_doubt.domain()?,
            started_at: self.started_at.domain()?,
            ended_at: self.ended_at.domain()?,
            reason: None,
        })
    }
}

frozen! {
    AlertV1 = Alert {
        at: i64,
        run: [u8; 16],
        tenant: String,
        class: ClassRefV1,
        lap: u32,
        kind: AlertKindV1,
        call: Option<String>,
        key: Option<EffectKeyV1>,
        reason: String,
    }
}

/// Who waits for a key, with the key in full.
#[derive(Encode, Decode)]
pub(in crate::codec) struct WaitersV1 {
    pub(in crate::codec) key: EffectKeyV1,
    pub(in crate::codec) waiters: Vec<WaiterV1>,
}

frozen! { WaiterV1 = Waiter { run: [u8; 16], version: u64 } }

impl Wire<Waiters> for Vec<WaiterV1> {
    fn wire(domain: &Waiters) -> Self {
        domain.list().iter().map(Wire::wire).collect()
    }

    fn domain(self) -> Result<Waiters, DecodeError> {
        let list: Result<_, _> = self.into_iter().map(Wire::domain).collect();
        list.map(Waiters::from_list)
    }
}

frozen! { InboxMessageV1 = InboxMessage { id: [u8; 16], command: InboxCommandV1 } }

#[derive(Encode, Decode)]
pub(super) enum InboxCommandV1 {
    Cancel {
        by: Text,
        why: Text,
    },
    Terminate {
        by: Text,
        why: Text,
    },
    Continue {
        from: u32,
        by: Text,
        why: Text,
    },
    Settle {
        call: u32,
        attempt: u32,
        end: SettleEndV1,
    },
    KeySettled {
        key: EffectKeyV1,
    },
    Raise {
        lap: u32,
        after: u32,
        more: BudgetV1,
        by: Text,
        why: Text,
    },
    SettleByHand(AskSettleV1),
    ToolCall(AskToolV1),
    ToolsDone {
        call: u32,
    },
    Compensate(AskCompensateV1),
    Orphan(AskOrphanV1),
    FoundByOther(FoundByOtherV1),
}

frozen! {
    FoundByOtherV1 = FoundByOther {
        key: EffectKeyV1,
        fingerprint: [u8; 32],
        result: Blob,
        run: [u8; 16],
        call: u32,
        attempt: u32,
    }
}

frozen! { AskCompensateV1 = AskCompensate { call: u32, after: u32, by: Text, why: Text } }

frozen! {
    AskSettleV1 = AskSettle {
        call: u32,
        attempt: u32,
        ruling: RulingV1,
        result: Blob,
        by: Text,
        why: Text,
    }
}

impl Wire<InboxCommand> for InboxCommandV1 {
    fn wire(domain: &InboxCommand) -> Self {
        match domain {
            InboxCommand::Cancel { by, why } => Self::Cancel {
                by: Wire::wire(by),
                why: Wire::wire(why),
            },
            InboxCommand::Terminate { by, why } => Self::Terminate {
                by: Wire::wire(by),
                why: Wire::wire(why),
            },
            InboxCommand::Continue { from, by, why } => Self::Continue {
                from: Wire::wire(from),
                by: Wire::wire(by),
                why: Wire::wire(why),
            },
            InboxCommand::Settle { call, attempt, end } => Self::Settle {
                call: Wire::wire(call),
                attempt: Wire::wire(attempt),
                end: Wire::wire(end),
            },
            InboxCommand::KeySettled { key } => Self::KeySettled {
                key: Wire::wire(key),
            },
            InboxCommand::Raise(ask) => Self::Raise {
                lap: Wire::wire(&ask.lap),
                after: Wire::wire(&ask.after),
                more: Wire::wire(&ask.more),
                by: Wire::wire(&ask.by),
                why: Wire::wire(&ask.why),
            },
            InboxCommand::SettleByHand(ask) => Self::SettleByHand(Wire::wire(ask)),
            InboxCommand::Compensate(ask) => Self::Compensate(Wire::wire(ask)),
            InboxCommand::ToolCall(ask) => Self::ToolCall(Wire::wire(&**ask)),
            InboxCommand::ToolsDone { call } => Self::ToolsDone {
                call: Wire::wire(call),
            },
            InboxCommand::Orphan(ask) => Self::Orphan(Wire::wire(ask)),
            InboxCommand::FoundByOther(found) => Self::FoundByOther(Wire::wire(&**found)),
        }
    }

    fn domain(self) -> Result<InboxCommand, DecodeError> {
        Ok(match self {
            Self::Cancel { by, why } => InboxCommand::Cancel {
                by: by.domain()?,
                why: why.domain()?,
            },
            Self::Terminate { by, why } => InboxCommand::Terminate {
                by: by.domain()?,
                why: why.domain()?,
            },
            Self::Continue { from, by, why } => InboxCommand::Continue {
                from: from.domain()?,
                by: by.domain()?,
                why: why.domain()?,
            },
            Self::Settle { call, attempt, end } => InboxCommand::Settle {
                call: call.domain()?,
                attempt: attempt.domain()?,
                end: end.domain()?,
            },
            Self::KeySettled { key } => InboxCommand::KeySettled { key: key.domain()? },
            Self::Raise {
                lap,
                after,
                more,
                by,
                why,
            } => InboxCommand::Raise(AskRaise {
                lap: lap.domain()?,
                after: after.domain()?,
                more: more.domain()?,
                by: by.domain()?,
                why: why.domain()?,
            }),
            Self::SettleByHand(ask) => InboxCommand::SettleByHand(ask.domain()?),
            Self::Compensate(ask) => InboxCommand::Compensate(ask.domain()?),
            Self::ToolCall(ask) => InboxCommand::ToolCall(Box::new(ask.domain()?)),
            Self::ToolsDone { call } => InboxCommand::ToolsDone {
                call: call.domain()?,
            },
            Self::Orphan(ask) => InboxCommand::Orphan(ask.domain()?),
            Self::FoundByOther(found) => InboxCommand::FoundByOther(Box::new(found.domain()?)),
        })
    }
}

#[derive(Encode, Decode)]
pub(super) enum SettleEndV1 {
    Answered {
        result: Blob,
        cost: Option<u64>,
        client_retries: u32,
    },
    Failed(FailureV1),
}

impl Wire<SettleEnd> for SettleEndV1 {
    fn wire(domain: &SettleEnd) -> Self {
        match domain {
            SettleEnd::Answered {
                result,
                cost,
                client_retries,
            } => Self::Answered {
                result: Wire::wire(result),
                cost: Wire::wire(cost),
                client_retries: *client_retries,
            },
            SettleEnd::Failed(failure) => Self::Failed(Wire::wire(failure)),
        }
    }

    fn domain(self) -> Result<SettleEnd, DecodeError> {
        Ok(match self {
            Self::Answered {
                result,
                cost,
                client_retries,
            } => SettleEnd::Answered {
                result: result.domain()?,
                cost: cost.domain()?,
                client_retries,
            },
            Self::Failed(failure) => SettleEnd::Failed(failure.domain()?),
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
