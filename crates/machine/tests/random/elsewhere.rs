//! Other runs in the storm: one takes a key of this run's over, is answered under a key that this
//! one has taken over, or has undone what this one took its value from.

use mainstay_machine::{
    Call, Command, EffectEntry, EffectStatus, EntryState, Event, FoundByOther, effect,
};
use mainstay_types::{AttemptNo, CallId, Payload, Reason, RunId};

use super::draw::Blow;
use super::storm::THEIRS;
use crate::scenario::fair::Receiver;
use crate::scenario::world::{Held, World};

/// A call whose key another run takes over, and what that run has under it from then on.
pub(crate) fn loses(world: &World, blow: Blow) -> Option<(String, Held)> {
    let was_taken = |id: CallId| world.log.iter().any(|stamped| stamped.event.takes_over(id));
    let may_be_lost = |id: CallId, call: &Call| {
        let effect = call.effect.as_ref();
        let is_open = effect.is_some_and(|effect| {
            let status = &effect.status;
            effect.key.is_shared()
                && matches!(status, EffectStatus::Dispatched | EffectStatus::InDoubt(_))
        });
        // What a model asks for again has the same key under another path.
        let is_tool = world.run.class().node(call.node).tool.is_some();
        is_open && !is_tool && !call.is_undo() && !was_taken(id)
    };
    let calls = world.run.calls().iter();
    let open = calls.filter(|&(id, call)| may_be_lost(id, call));
    let id = pick(&open.map(|(id, _)| id).collect::<Vec<_>>(), blow)?;
    let held = Held {
        state: match blow.how >> 2 & 3 {
            0 => EntryState::Open,
            1 => EntryState::InDoubt,
            2 => EntryState::Applied(Payload::from("\"theirs\"")),
            _ => EntryState::Compensated,
        },
        same_request: true,
        abandoned: None,
        has_landed: false,
    };
    Some((world.run.path(id), held))
}

/// What the run hears of another one: an answer to a request that it has taken over, which is in
/// the world; or that the value of a call was undone where it was done.
pub(crate) fn told(world: &World, receiver: &Receiver, blow: Blow) -> Option<(Command, CallId)> {
    let calls = || world.run.calls().iter();
    let answered = calls().filter(|&(id, _)| receiver.has_landed((id, THEIRS)));
    let adopted = calls().filter(|(_, call)| {
        let is_tool = world.run.class().node(call.node).tool.is_some();
        effect::is_adopted(call) && !is_tool && !call.is_undo()
    });
    let ids: Vec<CallId> = answered.chain(adopted).map(|(id, _)| id).collect();
    let id = pick(&ids, blow)?;
    let entry = entry(world, id, EntryState::Compensated)?;
    let command = match receiver.has_landed((id, THEIRS)) {
        true => Command::FoundByOther(Box::new(FoundByOther {
            key: entry.key,
            fingerprint: entry.fingerprint,
            result: Payload::from("\"late\""),
            run: RunId::from_bytes([9; 16]),
            call: CallId(0),
            attempt: AttemptNo(1),
        })),
        false => Command::KeyHeld {
            call: id,
            entry: Box::new(entry),
            abandoned: None,
        },
    };
    Some((command, id))
}

fn entry(world: &World, id: CallId, state: EntryState) -> Option<EffectEntry> {
    let held = Held {
        state,
        same_request: true,
        abandoned: None,
        has_landed: false,
    };
    world.entry(id, &held)
}

fn pick(ids: &[CallId], blow: Blow) -> Option<CallId> {
    ids.get(usize::from(blow.whom) % ids.len().max(1)).copied()
}

/// What undoes an effect takes nothing from others.
pub(crate) fn check(world: &World, event: &Event) {
    let call = event.call().and_then(|id| world.run.calls().get(id));
    let is_undo = call.is_some_and(Call::is_undo);
    let takes_over = event.call().is_some_and(|id| event.takes_over(id));
    let adopted = Reason::AdoptedFromOtherRun;
    let adopts = matches!(event, Event::EffectApplied { reason, .. } if *reason == adopted);
    let is_taken = takes_over || adopts;
    assert!(
        !(is_undo && is_taken),
        "an undo of another effect: {event:?}"
    );
}
