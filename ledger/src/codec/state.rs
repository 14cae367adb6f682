//! Wire structs of a run's state, as snapshots hold it: schema 6.
//!
//! They mirror the state and nothing else. Unlike an event's, this form has one version only: a
//! state of another schema is not read, its events are folded, so a change here is a change of
//! `SNAPSHOT_SCHEMA`. Payloads are kept apart by [`Payloads`]; no struct here is recursive, and no
//! list in one holds elements without bytes.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};
use mainstay_machine::call::{Doubt, Item, Items, Undoes};
use mainstay_machine::caps::{DependencyUse, Uses};
use mainstay_machine::run::{Held, Later};
use mainstay_machine::streak::Streak;
use mainstay_machine::{
    Asked, Attempt, AttemptState, BudgetState, Call, Effect, EffectStatus, Head, Lap, LapOutcome,
    Orphan, Phase, Prepared, Repair, Stand, ToolsAsked,
};
use mainstay_types::{AttemptNo, CallId, Digest, Payload, Reason, limits};

use super::DecodeError;
use super::v1::Wire;
use super::v1::call::FailureV1;
use super::v1::decision::AdmissionV1;
use super::v1::effect::EffectKeyV1;
use super::v1::run::{BudgetV1, ClassRefV1, LapTimesV1, RaiseV1};
use super::v1::wire::{ReasonV1, Text, frozen};
use super::v1::words::{FailureKindV1, OnFailureV1, OutcomeKindV1, SeenV1};
use super::v2::QuarantineV2;

/// Payloads that states refer to, by digest.
pub(super) type Payloads = BTreeMap<Digest, Payload>;

/// A wire value that stands for a `D`, whose larger payloads lie beside it.
pub(super) trait Keep<D>: Sized {
    /// The wire form of `domain`; what it refers to is put into `aside`.
    fn keep(domain: &D, aside: &mut Payloads) -> Self;

    /// The domain value; an error when the domain does not allow it, or `aside` lacks a payload.
    fn back(self, aside: &Payloads) -> Result<D, DecodeError>;
}

/// A wire struct for a domain struct with fields of the same names: first those without payloads,
/// then those that may hold some.
macro_rules! kept {
    (
        $wire:ident = $domain:ident {
            plain { $($plain:ident: $plain_type:ty),* $(,)? }
            kept { $($kept:ident: $kept_type:ty),* $(,)? }
        }
    ) => {
        #[derive(Encode, Decode)]
        pub(super) struct $wire { $($plain: $plain_type,)* $($kept: $kept_type,)* }

        impl Keep<$domain> for $wire {
            fn keep(domain: &$domain, aside: &mut Payloads) -> Self {
                // In full, so that a new field of the state cannot be forgotten here.
                let $domain { $($plain,)* $($kept,)* } = domain;
                Self { $($plain: Wire::wire($plain),)* $($kept: Keep::keep($kept, aside),)* }
            }

            fn back(self, aside: &Payloads) -> Result<$domain, DecodeError> {
                Ok($domain {
                    $($plain: Wire::domain(self.$plain)?,)*
                    $($kept: Keep::back(self.$kept, aside)?,)*
                })
            }
        }
    };
}

impl<D, W: Keep<D>> Keep<Option<D>> for Option<W> {
    fn keep(domain: &Option<D>, aside: &mut Payloads) -> Self {
        domain.as_ref().map(|domain| W::keep(domain, aside))
    }

    fn back(self, aside: &Payloads) -> Result<Option<D>, DecodeError> {
        self.map(|wire| wire.back(aside)).transpose()
    }
}

impl<D, W: Keep<D>> Keep<Vec<D>> for Vec<W> {
    fn keep(domain: &Vec<D>, aside: &mut Payloads) -> Self {
        domain.iter().map(|domain| W::keep(domain, aside)).collect()
    }

    fn back(self, aside: &Payloads) -> Result<Vec<D>, DecodeError> {
        self.into_iter().map(|wire| wire.back(aside)).collect()
    }
}

/// A payload: itself when it is small, else its digest.
#[derive(Encode, Decode)]
pub(super) enum PayloadS1 {
    Here(Vec<u8>),
    Aside([u8; 32]),
}

impl Keep<Payload> for PayloadS1 {
    fn keep(domain: &Payload, aside: &mut Payloads) -> Self {
        if domain.len() <= limits::SNAPSHOT_INLINE_BYTES_MAX {
            return Self::Here(domain.as_bytes().to_vec());
        }
        let digest = domain.digest();
        aside.entry(digest).or_insert_with(|| domain.clone());
        Self::Aside(*digest.as_bytes())
    }

    fn back(self, aside: &Payloads) -> Result<Payload, DecodeError> {
        match self {
            Self::Here(bytes) => Ok(Payload::new(bytes)),
            Self::Aside(digest) => {
                let digest = Digest::from_bytes(digest);
                let there = aside.get(&digest).cloned();
                there.ok_or_else(|| DecodeError::form(format!("payload {digest} is not there")))
            }
        }
    }
}

kept! {
    HeadS1 = Head {
        plain {
            run: [u8; 16],
            class: ClassRefV1,
            tenant: String,
            start_key: Option<String>,
            started_at: i64,
            traceparent: Option<Text>,
            epoch: u32,
            worker: [u8; 16],
            cancel: Option<AskedS1>,
            terminated: Option<AskedS1>,
            closed: bool,
            quarantined: Option<QuarantineV2>,
            held: Vec<HeldS2>,
        }
        kept { input: PayloadS1, lap: LapS1, past: Vec<LapS1> }
    }
}

frozen! { HeldS2 = Held { until: i64, place: Option<u32> } }
frozen! { AskedS1 = Asked { by: Text, why: Text } }

kept! {
    LapS1 = Lap {
        plain {
            no: u32,
            started_at: i64,
            continued: Option<AskedS1>,
            times: LapTimesV1,
            extended: u64,
            admission: Option<AdmissionV1>,
            budget: BudgetStateS1,
            uses: UsesS2,
            raises: Vec<RaiseV1>,
            on_failure: OnFailureV1,
            lost: Option<u32>,
            later: Option<LaterS1>,
            addenda: Vec<AddendumS1>,
        }
        kept { outcome: Option<LapOutcomeS1> }
    }
}

frozen! {
    BudgetStateS1 = BudgetState {
        limits: BudgetV1,
        retry_used: u32,
        in_flight: u32,
        in_flight_peak: u32,
        reserved: u64,
        spent: u64,
        assumed: u64,
    }
}

frozen! {
    UsesS2 = Uses { attempts: u32, branches: u32, dependencies: Vec<DependencyUseS2> }
}

frozen! {
    DependencyUseS2 = DependencyUse {
        retry_used: u32,
        in_flight: u32,
        reserved: u64,
        spent: u64,
    }
}

frozen! { LaterS1 = Later { doubts: Vec<u32>, expected_by: i64 } }

#[derive(Encode, Decode)]
pub(super) struct AddendumS1 {
    call: u32,
    what: ReasonV1,
}

impl Wire<(CallId, Reason)> for AddendumS1 {
    fn wire((call, what): &(CallId, Reason)) -> Self {
        Self {
            call: Wire::wire(call),
            what: Wire::wire(what),
        }
    }

    fn domain(self) -> Result<(CallId, Reason), DecodeError> {
        Ok((self.call.domain()?, self.what.domain()?))
    }
}

kept! {
    LapOutcomeS1 = LapOutcome {
        plain { kind: OutcomeKindV1, reason: ReasonV1, at: i64 }
        kept { result: Option<PayloadS1> }
    }
}

kept! {
    CallS1 = Call {
        plain {
            node: u16,
            item: Option<ItemS1>,
            needs_open: u32,
            rung: u8,
            rung_attempts: u32,
            streak: StreakS2,
            attempts: Vec<AttemptS1>,
            effect: Option<EffectS1>,
            items: Option<ItemsS1>,
            key_holder: Option<[u8; 16]>,
            slot: u32,
            asked: Option<ToolsAskedS4>,
            undoes: Option<UndoesS6>,
        }
        kept {
            phase: PhaseS1,
            prepared: Option<PreparedS1>,
            repair: Option<RepairS2>,
            kept: Option<KeptS5>,
        }
    }
}

frozen! {
    StreakS2 = Streak { kind: Option<FailureKindV1>, length: u32, forfeited: u32 }
}

kept! {
    RepairS2 = Repair {
        plain { of: u32 }
        kept { prepared: Option<PreparedS1> }
    }
}

frozen! { UndoesS6 = Undoes { call: u32, wanted: u32, asked: u32 } }
/// A late answer that is kept.
#[derive(Encode, Decode)]
pub(super) struct KeptS5 {
    of: u32,
    value: PayloadS1,
}

impl Keep<(AttemptNo, Payload)> for KeptS5 {
    fn keep((of, value): &(AttemptNo, Payload), aside: &mut Payloads) -> Self {
        Self {
            of: Wire::wire(of),
            value: Keep::keep(value, aside),
        }
    }

    fn back(self, aside: &Payloads) -> Result<(AttemptNo, Payload), DecodeError> {
        Ok((self.of.domain()?, self.value.back(aside)?))
    }
}

frozen! { ItemS1 = Item { parent: u32, position: u32 } }
#[derive(Encode, Decode)]
pub(super) struct ToolsAskedS4 {
    calls: Vec<ToolCallS4>,
    told: Vec<u32>,
    done: bool,
}

#[derive(Encode, Decode)]
pub(super) struct ToolCallS4 {
    id: Text,
    call: u32,
}

impl Wire<ToolsAsked> for ToolsAskedS4 {
    fn wire(domain: &ToolsAsked) -> Self {
        let ToolsAsked { calls, told, done } = domain;
        let calls = calls.iter().map(|(id, call)| ToolCallS4 {
            id: Wire::wire(id),
            call: Wire::wire(call),
        });
        Self {
            calls: calls.collect(),
            told: told.iter().map(Wire::wire).collect(),
            done: *done,
        }
    }

    fn domain(self) -> Result<ToolsAsked, DecodeError> {
        let calls = self.calls.into_iter();
        let calls = calls.map(|made| Ok((made.id.domain()?, made.call.domain()?)));
        let told = self.told.into_iter().map(Wire::domain);
        Ok(ToolsAsked {
            calls: calls.collect::<Result<_, DecodeError>>()?,
            told: told.collect::<Result<_, DecodeError>>()?,
            done: self.done,
        })
    }
}

frozen! { ItemsS1 = Items { first: u32, count: u32, open: u32 } }

kept! {
    PreparedS1 = Prepared {
        plain { fingerprint: [u8; 32], business_id: Option<String> }
        kept { request: PayloadS1 }
    }
}

#[derive(Encode, Decode)]
pub(super) enum PhaseS1 {
    Waiting,
    Preparing,
    Ready {
        not_before: i64,
    },
    InFlight(u32),
    InDoubt,
    Items,
    Settled {
        result: PayloadS1,
        rung: u8,
    },
    Omitted {
        reason: ReasonV1,
    },
    Skipped,
    Failed {
        kind: FailureKindV1,
        reason: ReasonV1,
    },
}

impl Keep<Phase> for PhaseS1 {
    fn keep(domain: &Phase, aside: &mut Payloads) -> Self {
        match domain {
            Phase::Waiting => Self::Waiting,
            Phase::Preparing => Self::Preparing,
            Phase::Ready { not_before } => Self::Ready {
                not_before: Wire::wire(not_before),
            },
            Phase::InFlight(attempt) => Self::InFlight(Wire::wire(attempt)),
            Phase::InDoubt => Self::InDoubt,
            Phase::Items => Self::Items,
            Phase::Settled { result, rung } => Self::Settled {
                result: Keep::keep(result, aside),
                rung: Wire::wire(rung),
            },
            Phase::Omitted { reason } => Self::Omitted {
                reason: Wire::wire(reason),
            },
            Phase::Skipped => Self::Skipped,
            Phase::Failed { kind, reason } => Self::Failed {
                kind: Wire::wire(kind),
                reason: Wire::wire(reason),
            },
        }
    }

    fn back(self, aside: &Payloads) -> Result<Phase, DecodeError> {
        Ok(match self {
            Self::Waiting => Phase::Waiting,
            Self::Preparing => Phase::Preparing,
            Self::Ready { not_before } => Phase::Ready {
                not_before: not_before.domain()?,
            },
            Self::InFlight(attempt) => Phase::InFlight(attempt.domain()?),
            Self::InDoubt => Phase::InDoubt,
            Self::Items => Phase::Items,
            Self::Settled { result, rung } => Phase::Settled {
                result: result.back(aside)?,
                rung: rung.domain()?,
            },
            Self::Omitted { reason } => Phase::Omitted {
                reason: reason.domain()?,
            },
            Self::Skipped => Phase::Skipped,
            Self::Failed { kind, reason } => Phase::Failed {
                kind: kind.domain()?,
                reason: reason.domain()?,
            },
        })
    }
}

frozen! {
    AttemptS1 = Attempt {
        no: u32,
        rung: u8,
        lap: u32,
        epoch: u32,
        at: i64,
        timeout: u64,
        reserved: u64,
        retry_tokens: u32,
        state: AttemptStateS1,
        orphan: Option<OrphanS5>,
    }
}

#[derive(Encode, Decode)]
pub(super) struct OrphanS5 {
    owner: Text,
    until: i64,
    stand: StandS5,
    adoptions: u32,
}

impl Wire<Box<Orphan>> for OrphanS5 {
    fn wire(domain: &Box<Orphan>) -> Self {
        let Orphan {
            owner,
            until,
            stand,
            adoptions,
        } = &**domain;
        Self {
            owner: Wire::wire(owner),
            until: Wire::wire(until),
            stand: Wire::wire(stand),
            adoptions: *adoptions,
        }
    }

    fn domain(self) -> Result<Box<Orphan>, DecodeError> {
        Ok(Box::new(Orphan {
            owner: self.owner.domain()?,
            until: self.until.domain()?,
            stand: self.stand.domain()?,
            adoptions: self.adoptions,
        }))
    }
}

#[derive(Encode, Decode)]
pub(super) enum StandS5 {
    Left,
    Watched,
    Adopted,
    Overdue,
    Observed(SeenV1),
    Closed,
}

impl Wire<Stand> for StandS5 {
    fn wire(domain: &Stand) -> Self {
        match domain {
            Stand::Left => Self::Left,
            Stand::Watched => Self::Watched,
            Stand::Adopted => Self::Adopted,
            Stand::Overdue => Self::Overdue,
            Stand::Observed(seen) => Self::Observed(Wire::wire(seen)),
            Stand::Closed => Self::Closed,
        }
    }

    fn domain(self) -> Result<Stand, DecodeError> {
        Ok(match self {
            Self::Left => Stand::Left,
            Self::Watched => Stand::Watched,
            Self::Adopted => Stand::Adopted,
            Self::Overdue => Stand::Overdue,
            Self::Observed(seen) => Stand::Observed(seen.domain()?),
            Self::Closed => Stand::Closed,
        })
    }
}

#[derive(Encode, Decode)]
pub(super) enum AttemptStateS1 {
    InFlight,
    Answered { cost: u64 },
    Failed { failure: FailureV1, cost: u64 },
    Interrupted { cost: u64 },
    Late { cost: u64 },
}

impl Wire<AttemptState> for AttemptStateS1 {
    fn wire(domain: &AttemptState) -> Self {
        match domain {
            AttemptState::InFlight => Self::InFlight,
            AttemptState::Answered { cost } => Self::Answered {
                cost: Wire::wire(cost),
            },
            AttemptState::Failed { failure, cost } => Self::Failed {
                failure: Wire::wire(failure),
                cost: Wire::wire(cost),
            },
            AttemptState::Interrupted { cost } => Self::Interrupted {
                cost: Wire::wire(cost),
            },
            AttemptState::Late { cost } => Self::Late {
                cost: Wire::wire(cost),
            },
        }
    }

    fn domain(self) -> Result<AttemptState, DecodeError> {
        Ok(match self {
            Self::InFlight => AttemptState::InFlight,
            Self::Answered { cost } => AttemptState::Answered {
                cost: cost.domain()?,
            },
            Self::Failed { failure, cost } => AttemptState::Failed {
                failure: failure.domain()?,
                cost: cost.domain()?,
            },
            Self::Interrupted { cost } => AttemptState::Interrupted {
                cost: cost.domain()?,
            },
            Self::Late { cost } => AttemptState::Late {
                cost: cost.domain()?,
            },
        })
    }
}

frozen! {
    EffectS1 = Effect {
        key: EffectKeyV1,
        status: EffectStatusS6,
        first_sent_at: Option<i64>,
        lookups: u32,
    }
}

#[derive(Encode, Decode)]
pub(super) enum EffectStatusS6 {
    Intended,
    Dispatched,
    InDoubt(DoubtS6),
    Applied(ReasonV1),
    PartlyApplied,
    Absent(ReasonV1),
    Compensated,
}

impl Wire<EffectStatus> for EffectStatusS6 {
    fn wire(domain: &EffectStatus) -> Self {
        match domain {
            EffectStatus::Intended => Self::Intended,
            EffectStatus::Dispatched => Self::Dispatched,
            EffectStatus::InDoubt(doubt) => Self::InDoubt(Wire::wire(doubt)),
            EffectStatus::Applied(reason) => Self::Applied(Wire::wire(reason)),
            EffectStatus::PartlyApplied => Self::PartlyApplied,
            EffectStatus::Absent(reason) => Self::Absent(Wire::wire(reason)),
            EffectStatus::Compensated => Self::Compensated,
        }
    }

    fn domain(self) -> Result<EffectStatus, DecodeError> {
        Ok(match self {
            Self::Intended => EffectStatus::Intended,
            Self::Dispatched => EffectStatus::Dispatched,
            Self::InDoubt(doubt) => EffectStatus::InDoubt(doubt.domain()?),
            Self::Applied(reason) => EffectStatus::Applied(reason.domain()?),
            Self::PartlyApplied => EffectStatus::PartlyApplied,
            Self::Absent(reason) => EffectStatus::Absent(reason.domain()?),
            Self::Compensated => EffectStatus::Compensated,
        })
    }
}

frozen! {
    DoubtS6 = Doubt {
        reason: ReasonV1,
        lookup_at: i64,
        absent_after: i64,
        asked: u32,
        of_other: bool,
    }
}
