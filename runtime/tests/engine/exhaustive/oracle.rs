//! What is wrong with a world: where the run, the ledger's entries and the receiver disagree.
//!
//! The receiver's own list of what it did is the truth; nothing here looks at how the engine came
//! to believe something else.

use mainstay_ledger::Ledger;
use mainstay_machine::{Call, EffectStatus, EntryState, OutcomeKind, Phase, Run};
use mainstay_types::RunId;

use crate::world::World;

/// What the receiver did under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Did {
    whole: usize,
    parts: usize,
}

const NOTHING: Did = Did { whole: 0, parts: 0 };
const ONCE: Did = Did { whole: 1, parts: 0 };
const IN_PART: Did = Did { whole: 0, parts: 1 };

fn did(world: &World, key: &str) -> Did {
    let effects = world.outside.effects();
    let same = effects.iter().filter(|effect| effect.key == key);
    let (parts, whole): (Vec<_>, Vec<_>) = same.partition(|effect| effect.is_part);
    Did {
        whole: whole.len(),
        parts: parts.len(),
    }
}

/// Every contradiction there is; a run that has ended has none.
pub(crate) fn contradictions(world: &World, id: RunId) -> Vec<String> {
    let run = world.state(id);
    let mut found = Vec::new();
    let mut known = 0;
    for (call_id, call) in run.calls().iter() {
        let Some(effect) = &call.effect else { continue };
        let key = effect.key.to_string();
        let did = did(world, &key);
        known += did.whole + did.parts;
        let says = effect.status.as_str();
        let path = run.path(call_id);
        if believed(&effect.status) != Some(did) {
            found.push(format!("{path} is {says}, the receiver has {did:?}"));
        }
        found.extend(entry(world, call, did).map(|wrong| format!("{path}: {wrong}")));
        found.extend(value(world, call, did).map(|wrong| format!("{path}: {wrong}")));
    }
    let made = world.outside.effects().len();
    if known != made {
        found.push(format!(
            "the receiver has {made} effects, the run knows {known}"
        ));
    }
    found.extend(outcome(&run, known));
    found
}

/// What the receiver did if the run is right; `None` for what is not known, which no end has.
const fn believed(status: &EffectStatus) -> Option<Did> {
    match status {
        EffectStatus::Intended | EffectStatus::Absent(_) => Some(NOTHING),
        EffectStatus::Applied(_) | EffectStatus::Compensated => Some(ONCE),
        EffectStatus::PartlyApplied => Some(IN_PART),
        EffectStatus::Dispatched | EffectStatus::InDoubt(_) => None,
    }
}

/// What is wrong with the entry that other runs read.
fn entry(world: &World, call: &Call, did: Did) -> Option<String> {
    let key = call.effect.as_ref()?.key.clone();
    let read = world.ledger.inner().effect(key);
    let entry = world.executor().block_on(read).expect("it can be read");
    let (is_right, said) = match entry.map(|(entry, _)| entry.state) {
        None => (did == NOTHING, "not there"),
        Some(EntryState::NotApplied) => (did == NOTHING, "not applied"),
        Some(EntryState::Applied(_)) => (did == ONCE, "applied"),
        // Nobody asks for that here.
        Some(EntryState::Compensated) => (false, "undone"),
        Some(EntryState::PartlyApplied) => (did == IN_PART, "applied in part"),
        // It would keep the key from every other run for ever.
        Some(EntryState::Open) => (false, "open"),
        Some(EntryState::InDoubt) => (false, "in doubt"),
    };
    (!is_right).then(|| format!("its entry is {said}, the receiver has {did:?}"))
}

/// What is wrong with the value of a call: it is what the receiver made.
fn value(world: &World, call: &Call, did: Did) -> Option<String> {
    let key = call.effect.as_ref()?.key.to_string();
    let made = world.outside.effects();
    let ticket = made.iter().find(|effect| effect.key == key);
    match (&call.phase, ticket) {
        (Phase::Settled { result, .. }, Some(ticket)) if did == ONCE => {
            let text = String::from_utf8_lossy(result.as_bytes());
            let wanted = format!("\"{}\"", ticket.ticket);
            (!text.contains(&wanted)).then(|| format!("its value is {text}, not {wanted}"))
        }
        (Phase::Settled { .. }, _) if did == NOTHING => {
            Some("it has a value, and nothing was made".to_owned())
        }
        (_, _) => None,
    }
}

/// What is wrong with what the caller was told.
fn outcome(run: &Run, known: usize) -> Option<String> {
    let head = run.head()?;
    let Some(outcome) = &head.lap.outcome else {
        return Some("it has no outcome".to_owned());
    };
    let is_whole = outcome.kind == OutcomeKind::Completed;
    if !head.closed {
        return Some("it owes something".to_owned());
    }
    (is_whole && known != 3).then(|| format!("it is completed with {known} of 3 effects"))
}
