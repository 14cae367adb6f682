//! Wire structs of the events about what a model asks for.
//!
//! Released structs are frozen: a change is a new version in a folder of its own.

use bincode::{Decode, Encode};
use mainstay_machine::{AskTool, Event, ToolCalled, ToolMade};

use super::call::PreparedV1;
use super::wire::{Text, Wire, WireEvent, frozen, frozen_event};
use crate::codec::DecodeError;

frozen! {
    ToolCalledBodyV1 = ToolCalled { tools: u32, id: Text, made: ToolMadeV1, told: Vec<Text> }
}

#[derive(Encode, Decode)]
pub(in crate::codec) enum ToolMadeV1 {
    New {
        node: u16,
        slot: u32,
        prepared: PreparedV1,
    },
    Joined(u32),
}

impl Wire<ToolMade> for ToolMadeV1 {
    fn wire(domain: &ToolMade) -> Self {
        match domain {
            ToolMade::New {
                node,
                slot,
                prepared,
            } => Self::New {
                node: Wire::wire(node),
                slot: *slot,
                prepared: Wire::wire(prepared),
            },
            ToolMade::Joined(call) => Self::Joined(Wire::wire(call)),
        }
    }

    fn domain(self) -> Result<ToolMade, DecodeError> {
        Ok(match self {
            Self::New {
                node,
                slot,
                prepared,
            } => ToolMade::New {
                node: node.domain()?,
                slot,
                prepared: prepared.domain()?,
            },
            Self::Joined(call) => ToolMade::Joined(call.domain()?),
        })
    }
}

#[derive(Encode, Decode)]
pub(in crate::codec) struct ToolCalledV1(ToolCalledBodyV1);

impl WireEvent for ToolCalledV1 {
    fn of(event: &Event) -> Option<Self> {
        let Event::ToolCalled(called) = event else {
            return None;
        };
        Some(Self(Wire::wire(&**called)))
    }

    fn event(self) -> Result<Event, DecodeError> {
        Ok(Event::ToolCalled(Box::new(self.0.domain()?)))
    }
}

frozen_event! { ToolsDoneV1 = ToolsDone { call: u32 } }

frozen! {
    AskToolV1 = AskTool {
        tools: u32,
        id: Text,
        tool: u16,
        prepared: PreparedV1,
        told: Vec<Text>,
    }
}
