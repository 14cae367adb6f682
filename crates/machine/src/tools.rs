//! Tools: calls that a model asks for, one after the other, until it is done.
//!
//! A model's word opens no second effect: of one effect name one slot is open at a time. A call
//! while what came before is open, or known and not told yet, joins it; a call after the model was
//! told "applied" is a second intent, and after "not applied" it is the same one again. What a
//! model was told is said by whoever talks to it, with the next call.

use mainstay_graph::{NodeKind, SameRequestRule};
use mainstay_types::{CallId, Code, Corrupt, NodeId, Refusal, limits};

use crate::call::{AT_ONCE, Call, EffectStatus, Item, Phase};
use crate::command::AskTool;
use crate::event::{Event, ToolCalled, ToolMade};
use crate::guard;
use crate::run::Run;

/// What a model has asked for in one call that offers tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsAsked {
    /// Each of the model's calls, in order, and the call of the run that is made for it. Bound: the
    /// `calls_max` of the class.
    pub calls: Vec<(ToolCallId, CallId)>,
    /// Calls of the run whose value the model was told.
    pub told: Vec<CallId>,
    /// Whether the model is done: nothing more is asked for.
    pub done: bool,
}

/// The id that a model gave to one of its calls. Bound: `limits::TOOL_CALL_ID_BYTES_MAX`.
pub type ToolCallId = String;

impl ToolsAsked {
    /// The run's call that is made for the model's.
    #[must_use]
    pub fn call(&self, id: &str) -> Option<CallId> {
        let found = self.calls.iter().find(|(known, _)| known == id);
        found.map(|&(_, call)| call)
    }

    /// Every call of the run that was made for the model, once, in order.
    pub fn made(&self) -> impl Iterator<Item = CallId> + '_ {
        let first = |&(at, call): &(usize, CallId)| {
            self.calls[..at].iter().all(|&(_, before)| before != call)
        };
        let calls = self.calls.iter().map(|&(_, call)| call).enumerate();
        calls.filter(first).map(|(_, call)| call)
    }
}

/// Where a call that a model asks for has its place.
enum Place {
    /// It is the same intent as this one.
    Join(CallId),
    /// A call of its own, under the effect's slot of this number.
    New(u32),
}

pub(crate) fn called(run: &Run, ask: AskTool) -> Result<Vec<Event>, Refusal> {
    guard::open(run)?;
    let asked = open(run, ask.tools)?;
    if let Some(call) = asked.call(&ask.id) {
        return repeated(run, call, &ask);
    }
    check(run, asked, &ask)?;
    let made = match place(run, asked, &ask)? {
        Place::Join(call) => ToolMade::Joined(call),
        Place::New(slot) => {
            check_count(run, asked, &ask)?;
            ToolMade::New {
                node: ask.tool,
                slot,
                prepared: ask.prepared,
            }
        }
    };
    // What was never asked for here was told by nobody.
    let mut told = ask.told;
    told.retain(|told| asked.call(told).is_some());
    told.dedup();
    told.truncate(asked.calls.len());
    Ok(vec![Event::ToolCalled(Box::new(ToolCalled {
        tools: ask.tools,
        id: ask.id,
        made,
        told,
    }))])
}

/// What the model has asked for, where it still may ask.
fn open(run: &Run, id: CallId) -> Result<&ToolsAsked, Refusal> {
    let call = guard::call(run, id)?;
    let asked = call.asked.as_ref().filter(|asked| !asked.done);
    match (&call.phase, asked) {
        (Phase::Items, Some(asked)) => Ok(asked),
        (_, Some(_) | None) => Err(guard::not_ready(run, id, call)),
    }
}

/// The same call of the model, delivered again: as it was, or refused.
fn repeated(run: &Run, id: CallId, ask: &AskTool) -> Result<Vec<Event>, Refusal> {
    let call = guard::call(run, id)?;
    let same = call.node == ask.tool && fingerprint_of(call) == Some(&ask.prepared.fingerprint);
    match same {
        true => Ok(Vec::new()),
        false => Err(mismatch(run, id, call)),
    }
}

fn fingerprint_of(call: &Call) -> Option<&mainstay_types::Digest> {
    call.prepared.as_ref().map(|made| &made.fingerprint)
}

/// "The recorded request under this key differs."
fn mismatch(run: &Run, id: CallId, call: &Call) -> Refusal {
    let recorded = call.prepared.as_ref();
    let recorded = recorded.map_or("", |made| {
        std::str::from_utf8(made.request.as_bytes()).unwrap_or("")
    });
    let shown: String = recorded.chars().take(SHOWN_CHARS_MAX).collect();
    Refusal::new(Code::IdempotencyMismatch)
        .about(format!("{}: it was asked for with {shown}", run.path(id)))
}

/// Characters of a recorded request that a refusal shows.
const SHOWN_CHARS_MAX: usize = 200;

fn check(run: &Run, asked: &ToolsAsked, ask: &AskTool) -> Result<(), Refusal> {
    let node = run.class().node(guard::call(run, ask.tools)?.node);
    let NodeKind::Tools { tools, calls_max } = &node.kind else {
        return Err(Refusal::new(Code::CallNotReady).about(node.name.to_string()));
    };
    let invalid = |what: String| Err(Refusal::new(Code::InvalidInput).about(what));
    if !tools.contains(&ask.tool) {
        return invalid(format!("{} offers no such tool", node.name));
    }
    if ask.id.is_empty() || limits::TOOL_CALL_ID_BYTES_MAX < ask.id.len() {
        let max = limits::TOOL_CALL_ID_BYTES_MAX;
        return invalid(format!("the id of a tool call has 1 to {max} bytes"));
    }
    let made = u32::try_from(asked.calls.len()).unwrap_or(u32::MAX);
    let is_full = limits::RUN_CALLS_MAX <= run.calls.len();
    if *calls_max <= made || is_full {
        return Err(Refusal::new(Code::CapReached)
            .with("calls", made)
            .with("cap", *calls_max)
            .about(node.name.to_string()));
    }
    Ok(())
}

/// How many of a tool a run may have: effects, or calls of what changes nothing.
fn check_count(run: &Run, asked: &ToolsAsked, ask: &AskTool) -> Result<(), Refusal> {
    let node = run.class().node(ask.tool);
    let Some(tool) = &node.tool else {
        return Err(Refusal::new(Code::InvalidInput).about(node.name.to_string()));
    };
    let counts = |call: &Call| {
        let not_applied = matches!(call.phase, Phase::Failed { .. }) && node.effect().is_some();
        call.node == ask.tool && !not_applied && !call.is_undone()
    };
    let calls = asked.made().filter_map(|id| run.calls.get(id));
    let count = u32::try_from(calls.filter(|call| counts(call)).count()).unwrap_or(u32::MAX);
    if tool.per_run_max <= count {
        return Err(Refusal::new(Code::CapReached)
            .with("calls", count)
            .with("cap", tool.per_run_max)
            .about(node.name.to_string()));
    }
    Ok(())
}

/// Which intent the model's call is. Source: mission D3, D4; architecture section 6.
fn place(run: &Run, asked: &ToolsAsked, ask: &AskTool) -> Result<Place, Refusal> {
    let Some(effect) = run.class().node(ask.tool).effect() else {
        return Ok(Place::New(1));
    };
    let of_name = |id: &CallId| {
        let node = run.calls.get(*id).map(|call| run.class().node(call.node));
        let its = node.and_then(|node| node.effect());
        its.is_some_and(|its| its.name == effect.name)
    };
    let made: Vec<CallId> = asked.made().filter(of_name).collect();
    let Some((id, call)) = stands_for(run, &made) else {
        return Ok(Place::New(1));
    };
    let same = call.node == ask.tool && fingerprint_of(call) == Some(&ask.prepared.fingerprint);
    let was_told = asked.told.contains(&id) || ask.told.iter().any(|told| is_of(asked, told, id));
    match stands(call, was_told) {
        // A second intent, after the first was told.
        Stands::Told if effect.rule == SameRequestRule::PerSlot => Ok(Place::New(call.slot + 1)),
        Stands::Told | Stands::Applied if same => Ok(Place::Join(id)),
        Stands::Told | Stands::Applied => Err(mismatch(run, id, call)),
        Stands::NotApplied => Ok(Place::New(call.slot)),
        Stands::Open if same => Ok(Place::Join(id)),
        Stands::Open | Stands::Partly => Err(in_doubt(run, id)),
    }
}

/// The call that stands for the last intent: the last one, or one before it under the same slot
/// that is found to be in the world after all.
fn stands_for<'a>(run: &'a Run, made: &[CallId]) -> Option<(CallId, &'a Call)> {
    let calls = made.iter().filter_map(|&id| Some((id, run.calls.get(id)?)));
    let calls: Vec<(CallId, &Call)> = calls.collect();
    let &(last, newest) = calls.last()?;
    let is_done = |call: &Call| matches!(call.phase, Phase::Settled { .. }) || call.is_undone();
    let mut of_slot = calls
        .iter()
        .rev()
        .filter(|(_, call)| call.slot == newest.slot);
    let done = of_slot.find(|(_, call)| is_done(call));
    Some(done.copied().unwrap_or((last, newest)))
}

/// How what a model asked for before stands.
enum Stands {
    /// In the world, and the model knows.
    Told,
    /// In the world, and the model was not told yet.
    Applied,
    /// Not in the world.
    NotApplied,
    /// Nobody knows yet.
    Open,
    /// In part in the world: a person looks first.
    Partly,
}

fn stands(call: &Call, was_told: bool) -> Stands {
    let status = call.effect.as_ref().map(|effect| &effect.status);
    if status == Some(&EffectStatus::PartlyApplied) {
        return Stands::Partly;
    }
    // What was undone was done: its key is used up, and only who knows of it may want another.
    if call.is_undone() {
        return match was_told {
            true => Stands::Told,
            false => Stands::Applied,
        };
    }
    match &call.phase {
        Phase::Settled { .. } if was_told => Stands::Told,
        Phase::Settled { .. } => Stands::Applied,
        Phase::Failed { .. } | Phase::Omitted { .. } | Phase::Skipped => Stands::NotApplied,
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items => Stands::Open,
    }
}

fn is_of(asked: &ToolsAsked, told: &str, id: CallId) -> bool {
    asked.call(told) == Some(id)
}

fn in_doubt(run: &Run, id: CallId) -> Refusal {
    Refusal::new(Code::EffectInDoubt).about(run.path(id))
}

pub(crate) fn done(run: &Run, tools: CallId) -> Result<Vec<Event>, Refusal> {
    guard::open(run)?;
    let call = guard::call(run, tools)?;
    match &call.asked {
        Some(asked) if asked.done => Ok(Vec::new()),
        Some(_) if call.phase == Phase::Items => Ok(vec![Event::ToolsDone { call: tools }]),
        Some(_) | None => Err(guard::not_ready(run, tools, call)),
    }
}

pub(crate) fn apply_called(run: &mut Run, event: &ToolCalled) -> Result<(), Corrupt> {
    let name = "ToolCalled";
    let call = guard::stored(run, event.tools, name)?;
    let Some(asked) = call.asked.as_ref().filter(|_| call.phase == Phase::Items) else {
        return Err(guard::misplaced(run, event.tools, name));
    };
    let told: Vec<CallId> = event.told.iter().filter_map(|id| asked.call(id)).collect();
    let position = u32::try_from(asked.made().count()).unwrap_or(u32::MAX);
    let made = match &event.made {
        ToolMade::Joined(call) if asked.made().any(|made| made == *call) => *call,
        ToolMade::Joined(_) => return Err(guard::misplaced(run, event.tools, name)),
        ToolMade::New {
            node,
            slot,
            prepared,
        } => {
            check_offered(run, call.node, *node)?;
            let item = Item {
                parent: event.tools,
                position,
            };
            let mut made = Call::new(
                *node,
                Some(item),
                0,
                Phase::Ready {
                    not_before: AT_ONCE,
                },
            );
            (made.prepared, made.slot) = (Some(prepared.clone()), *slot);
            run.calls.push(made)
        }
    };
    run.calls.update(event.tools, |call| {
        if let Some(asked) = &mut call.asked {
            asked.calls.push((event.id.clone(), made));
            let new = told.into_iter().filter(|told| !asked.told.contains(told));
            let new: Vec<CallId> = new.collect();
            asked.told.extend(new);
        }
    });
    Ok(())
}

fn check_offered(run: &Run, offers: NodeId, tool: NodeId) -> Result<(), Corrupt> {
    let node = run.class().node(offers);
    match node.offers().contains(&tool) {
        true => Ok(()),
        false => {
            let detail = format!("{} offers no node {tool}", node.name);
            Err(Corrupt::new("ToolCalled", detail))
        }
    }
}

pub(crate) fn apply_done(run: &mut Run, id: CallId) -> Result<(), Corrupt> {
    let name = "ToolsDone";
    let call = guard::stored(run, id, name)?;
    if call.phase != Phase::Items || call.asked.as_ref().is_none_or(|asked| asked.done) {
        return Err(guard::misplaced(run, id, name));
    }
    run.calls.update(id, |call| {
        if let Some(asked) = &mut call.asked {
            asked.done = true;
        }
    });
    Ok(())
}
