//! Wire structs of the events about effects and their keys.
//!
//! Released structs are frozen: a change is a new version in a folder of its own.

use bincode::{Decode, Encode};
use mainstay_machine::{CompensationWanted, Event, SettledByHand};
use mainstay_types::{EffectKey, Position, Scope};

use super::wire::{Blob, ReasonV1, Text, Wire, WireEvent, frozen, frozen_event};
use super::words::RulingV1;
use crate::codec::DecodeError;

frozen! {
    EffectKeyV1 = EffectKey {
        tenant: String,
        effect: String,
        scope: ScopeV1,
        position: PositionV1,
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) enum ScopeV1 {
    Business(String),
    Run { run: [u8; 16], path: String },
}

impl Wire<Scope> for ScopeV1 {
    fn wire(domain: &Scope) -> Self {
        match domain {
            Scope::Business(id) => Self::Business(Wire::wire(id)),
            Scope::Run { run, path } => Self::Run {
                run: Wire::wire(run),
                path: path.clone(),
            },
        }
    }

    fn domain(self) -> Result<Scope, DecodeError> {
        Ok(match self {
            Self::Business(id) => Scope::Business(Wire::domain(id)?),
            Self::Run { run, path } => Scope::Run {
                run: Wire::domain(run)?,
                path,
            },
        })
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) enum PositionV1 {
    Slot(u32),
    Item(u32),
}

impl Wire<Position> for PositionV1 {
    fn wire(domain: &Position) -> Self {
        match domain {
            Position::Slot(number) => Self::Slot(*number),
            Position::Item(place) => Self::Item(*place),
        }
    }

    fn domain(self) -> Result<Position, DecodeError> {
        Ok(match self {
            Self::Slot(number) => Position::Slot(number),
            Self::Item(place) => Position::Item(place),
        })
    }
}

frozen_event! { EffectIntendedV1 = EffectIntended { call: u32, key: EffectKeyV1 } }
frozen_event! { EffectAppliedV1 = EffectApplied { call: u32, result: Blob, reason: ReasonV1 } }
frozen_event! {
    EffectInDoubtV1 = EffectInDoubt {
        call: u32,
        reason: ReasonV1,
        lookup_at: i64,
        absent_after: i64,
    }
}
frozen_event! { EffectAbsentV1 = EffectAbsent { call: u32, reason: ReasonV1 } }
frozen_event! { EffectPartlyAppliedV1 = EffectPartlyApplied { call: u32 } }
frozen_event! {
    ControlSettledV1 = ControlSettled { call: u32, number: u32, reason: ReasonV1, next_at: i64 }
}
frozen_event! {
    KeyTakenOverV1 = KeyTakenOver {
        call: u32,
        holder: [u8; 16],
        sent_at: i64,
        lookup_at: i64,
        absent_after: i64,
    }
}
frozen_event! { KeyAwaitedV1 = KeyAwaited { call: u32, holder: [u8; 16], until: i64 } }

frozen! {
    SettledByHandV1 = SettledByHand {
        call: u32,
        attempt: u32,
        ruling: RulingV1,
        by: Text,
        why: Text,
        at: i64,
    }
}

frozen! {
    CompensationWantedBodyV1 = CompensationWanted {
        call: u32,
        wanted: u32,
        by: Text,
        why: Text,
        at: i64,
        cost: u64,
        retry_tokens: u32,
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) struct CompensationWantedV1(CompensationWantedBodyV1);

impl WireEvent for CompensationWantedV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::CompensationWanted(wanted) = event else {
            return None;
        };
        Some(Self(Wire::wire(&**wanted)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::CompensationWanted(Box::new(self.0.domain()?)))
    }
}

frozen_event! { EffectCompensatedV1 = EffectCompensated { call: u32 } }

#[derive(Encode, Decode)]
pub(in crate::codec) struct EffectSettledByHandV1(SettledByHandV1);

impl WireEvent for EffectSettledByHandV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::EffectSettledByHand(settled) = event else {
            return None;
        };
        Some(Self(Wire::wire(&**settled)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::EffectSettledByHand(Box::new(self.0.domain()?)))
    }
}
