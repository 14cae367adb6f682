//! A model in the storm: what it is offered, what it asks for, and the laws of what it may open.
//!
//! It asks for anything at any time, under new ids and old ones, with this request or that. It only
//! says truly what it was told: of that its second orders are made.

use mainstay_graph::{Node, NodeKind, TaskClass, Tool};
use mainstay_machine::{
    AskSettle, AskTool, Call, Command, EffectStatus, Phase, Prepared, Ruling, Run, ToolCalled,
    ToolMade, ToolsAsked, by_hand,
};
use mainstay_types::{CallId, Digest, NodeId, NodeName, Payload};
use proptest::prelude::*;

use super::draw::{Blow, Part, node, parts};
use super::storm::THEIRS;
use crate::scenario::build;
use crate::scenario::fair::Receiver;
use crate::scenario::world::World;

/// What is offered: a read and two writes, which may be of one effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    parts: [Part; 4],
    calls_max: u32,
    per_run_max: u32,
    one_effect: bool,
}

pub(crate) fn offers() -> impl Strategy<Value = Offer> {
    let parts = [parts(), parts(), parts(), parts()];
    (parts, 1_u32..9, 1_u32..5, any::<bool>()).prop_map(
        |(parts, calls_max, per_run_max, one_effect)| Offer {
            parts,
            calls_max,
            per_run_max,
            one_effect,
        },
    )
}

/// Adds the tools, and a call that offers them.
pub(crate) fn offer(class: &mut TaskClass, offer: Offer) {
    const KINDS: [u8; 3] = [0, 5, 6];
    let first = class.nodes.len();
    let [asked, parts @ ..] = offer.parts;
    for (kind, part) in KINDS.into_iter().zip(parts) {
        let part = Part {
            kind,
            needs: 0,
            ..part
        };
        let mut tool = node(class, part);
        tool.tool = Some(Tool {
            about: "does it".to_owned(),
            per_run_max: offer.per_run_max,
            arguments: build::bare().input,
        });
        class.nodes.push(tool);
    }
    if offer.one_effect {
        let theirs = class.nodes[first + 1].effect().cloned();
        if let (NodeKind::Write { effect, .. }, Some(theirs)) =
            (&mut class.nodes[first + 2].kind, theirs)
        {
            *effect = theirs;
        }
    }
    let of_graph = 1_u8.unbounded_shl(u32::try_from(first).expect("few"));
    let part = Part {
        kind: 0,
        needs: asked.needs & of_graph.wrapping_sub(1),
        ..asked
    };
    let tools =
        (first..first + KINDS.len()).map(|place| NodeId(u16::try_from(place).expect("few")));
    let offering = Node {
        kind: NodeKind::Tools {
            tools: tools.collect(),
            calls_max: offer.calls_max,
        },
        name: NodeName::new("tools").expect("a valid name"),
        ..node(class, part)
    };
    class.nodes.push(offering);
}

/// What the model does next, if it may ask at all.
pub(crate) fn asks(run: &Run, blow: Blow) -> Option<Command> {
    let open = |asked: &&ToolsAsked| !asked.done;
    let mut offers = run.calls().with_items();
    let (tools, asked) =
        offers.find_map(|(id, call)| Some((id, call.asked.as_ref().filter(open)?)))?;
    if blow.how & 15 == 0 {
        return Some(Command::ToolsDone { call: tools });
    }
    let offered = run.class().node(run.calls().get(tools)?.node).offers();
    let tool = offered[usize::from(blow.whom) % offered.len()];
    let known = asked.calls.get(usize::from(blow.whom >> 4) % 8);
    let id = match known.filter(|_| blow.how >> 4 & 3 == 0) {
        Some((id, _)) => id.clone(),
        None => format!("m{}", asked.calls.len()),
    };
    let told = asked.calls.iter().enumerate().filter(|(at, (_, call))| {
        let said = blow.how >> (8 + at % 16) & 1 == 0;
        let call = run.calls().get(*call);
        said && call.is_some_and(|call| matches!(call.phase, Phase::Settled { .. }))
    });
    Some(Command::ToolCall(Box::new(AskTool {
        tools,
        id,
        tool,
        prepared: wanted(run, tool, blow),
        told: told.map(|(_, (id, _))| id.clone()).collect(),
    })))
}

/// One of two requests, most often the first.
fn wanted(run: &Run, tool: NodeId, blow: Blow) -> Prepared {
    let text = match blow.how >> 6 & 3 {
        0 => "\"lamp\"",
        _ => "\"desk\"",
    };
    Prepared {
        request: Payload::from(text),
        fingerprint: Digest::of(text.as_bytes()),
        business_id: business_id(run, tool),
    }
}

fn business_id(run: &Run, tool: NodeId) -> Option<mainstay_types::BusinessId> {
    let effect = run.class().node(tool).effect()?;
    (effect.scope == mainstay_graph::ScopeKind::Business)
        .then(|| mainstay_types::BusinessId::new("PR-1").expect("a valid id"))
}

/// A person says truly what became of an effect that nobody else knows.
pub(crate) fn settles(world: &World, receiver: &Receiver, blow: Blow) -> Option<Command> {
    let unknown = |call: &Call| {
        let status = call.effect.as_ref().map(|effect| &effect.status);
        matches!(
            status,
            Some(EffectStatus::InDoubt(_) | EffectStatus::PartlyApplied)
        )
    };
    let calls: Vec<(CallId, &Call)> = world
        .run
        .calls()
        .iter()
        .filter(|(_, call)| unknown(call))
        .collect();
    let &(id, call) = calls.get(usize::from(blow.whom) % calls.len().max(1))?;
    let made = call.attempts.iter().map(|made| made.no).chain([THEIRS]);
    let mut landed = made.map(|no| receiver.has_landed((id, no)));
    Some(Command::SettleByHand(AskSettle {
        call: id,
        attempt: by_hand::newest(call),
        ruling: match landed.any(|landed| landed) {
            true => Ruling::Applied,
            false => Ruling::NotApplied,
        },
        result: Payload::from("\"seen\""),
        by: "ann".to_owned(),
        why: "the receiver's books".to_owned(),
    }))
}

/// What a model's call may open, before it is recorded. Source: mission D3, D4.
#[track_caller]
pub(crate) fn check(run: &Run, called: &ToolCalled, receiver: &Receiver) {
    let asked = run
        .calls()
        .get(called.tools)
        .and_then(|call| call.asked.as_ref());
    let asked = asked.expect("it offers tools");
    assert!(
        !asked.done && asked.call(&called.id).is_none(),
        "{called:?}"
    );
    let made: Vec<(CallId, &Call)> = asked
        .made()
        .filter_map(|id| Some((id, run.calls().get(id)?)))
        .collect();
    match &called.made {
        ToolMade::Joined(id) => {
            let last = made
                .iter()
                .rev()
                .find(|(_, call)| of_one(run, call, joined(run, *id)));
            assert_eq!(
                last.map(|last| last.0),
                Some(*id),
                "an intent before the last"
            );
        }
        ToolMade::New { node, slot, .. } if run.class().node(*node).effect().is_some() => {
            let told = |id: CallId| {
                let now = called.told.iter().any(|told| asked.call(told) == Some(id));
                now || asked.told.contains(&id)
            };
            for &(id, call) in made.iter().filter(|(_, call)| of_one(run, call, *node)) {
                match call.slot < *slot {
                    true => assert!(
                        told(id) || is_not_applied(id, call, receiver),
                        "a second intent before the first was told: {called:?}"
                    ),
                    false => assert!(
                        is_not_applied(id, call, receiver),
                        "a slot again that may be in the world: {called:?}"
                    ),
                }
            }
        }
        ToolMade::New { .. } => {}
    }
}

fn joined(run: &Run, id: CallId) -> NodeId {
    run.calls().get(id).expect("it was made").node
}

/// Whether a call is of the effect that the tool has.
fn of_one(run: &Run, call: &Call, tool: NodeId) -> bool {
    let name = |node| run.class().node(node).effect().map(|effect| &effect.name);
    call.node == tool || name(tool).is_some() && name(call.node) == name(tool)
}

fn is_not_applied(id: CallId, call: &Call, receiver: &Receiver) -> bool {
    let may_land = |made: &mainstay_machine::Attempt| {
        receiver.has_landed((id, made.no)) || receiver.is_coming((id, made.no))
    };
    let theirs = receiver.has_landed((id, THEIRS));
    matches!(call.phase, Phase::Failed { .. }) && !theirs && !call.attempts.iter().any(may_land)
}
