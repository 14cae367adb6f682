//! Request bytes, items and values that the class's own code makes, once.
//!
//! The code ran outside the core, from recorded inputs; what it made is recorded before anything
//! leaves, and it never runs again for that call.

use mainstay_graph::{NodeKind, ScopeKind};
use mainstay_types::{
    CallId, Code, Corrupt, Failure, FailureKind, Payload, Reason, Refusal, Rung, Timestamp, limits,
};

use crate::call::{AT_ONCE, Call, Item, Items, Phase};
use crate::ending::Why;
use crate::event::{Event, Prepared};
use crate::ground::Ground;
use crate::guard::Site;
use crate::run::Run;
use crate::{ending, guard, next};

fn preparing(run: &Run, id: CallId) -> Result<&Call, Refusal> {
    let call = guard::call(run, id)?;
    guard::begins(run, call)?;
    match call.phase {
        Phase::Preparing => Ok(call),
        Phase::Waiting
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => Err(guard::not_ready(run, id, call)),
    }
}

fn misfit(run: &Run, id: CallId) -> Refusal {
    Refusal::new(Code::CallNotReady).about(format!(
        "{} is another kind of node than what was made for it",
        run.path(id)
    ))
}

fn check_scope(run: &Run, id: CallId, call: &Call, prepared: &Prepared) -> Result<(), Refusal> {
    let effect = run.class().node(call.node).effect();
    match effect.map(|effect| effect.scope) {
        // What undoes an effect is named after that one.
        Some(ScopeKind::Business) if prepared.business_id.is_none() && !call.is_undo() => {
            Err(Refusal::new(Code::InvalidInput).about(format!(
                "{} is scoped by a business id and got none",
                run.path(id)
            )))
        }
        Some(ScopeKind::Business | ScopeKind::Run) | None => Ok(()),
    }
}

pub(crate) fn prepared(run: &Run, id: CallId, made: Prepared) -> Result<Vec<Event>, Refusal> {
    let call = preparing(run, id)?;
    match run.class().node(call.node).kind {
        NodeKind::Read { .. } | NodeKind::Write { .. } | NodeKind::Tools { .. } => {}
        NodeKind::Each { .. } | NodeKind::Local | NodeKind::When => return Err(misfit(run, id)),
    }
    check_scope(run, id, call, &made)?;
    Ok(vec![Event::CallPrepared {
        call: id,
        prepared: made,
    }])
}

pub(crate) fn listed(run: &Run, id: CallId, items: Vec<Prepared>) -> Result<Vec<Event>, Refusal> {
    let call = preparing(run, id)?;
    let NodeKind::Each { items_max, .. } = run.class().node(call.node).kind else {
        return Err(misfit(run, id));
    };
    let bound = usize::try_from(items_max)
        .unwrap_or(usize::MAX)
        .min(limits::RUN_CALLS_MAX.saturating_sub(run.calls.len()));
    if bound < items.len() {
        return Err(Refusal::new(Code::ListTooLong)
            .with("items", items.len())
            .with("bound", bound)
            .about(run.path(id)));
    }
    for made in &items {
        check_scope(run, id, call, made)?;
    }
    Ok(vec![Event::ListRecorded { call: id, items }])
}

pub(crate) fn computed(run: &Run, id: CallId, result: Payload) -> Result<Vec<Event>, Refusal> {
    let call = preparing(run, id)?;
    match run.class().node(call.node).kind {
        NodeKind::Local | NodeKind::When => {}
        NodeKind::Read { .. }
        | NodeKind::Write { .. }
        | NodeKind::Each { .. }
        | NodeKind::Tools { .. } => return Err(misfit(run, id)),
    }
    Ok(vec![Event::CallSettled {
        call: id,
        rung: Rung(0),
        result,
    }])
}

pub(crate) fn unpreparable(
    run: &Run,
    (id, failure): (CallId, &Failure),
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let call = preparing(run, id)?;
    let reason = match failure.kind {
        FailureKind::InvalidInput => Reason::SameInputFails,
        FailureKind::Unauthorized
        | FailureKind::RateLimited
        | FailureKind::Overloaded
        | FailureKind::TransientTransport
        | FailureKind::PermanentProvider
        | FailureKind::ResultInvalid
        | FailureKind::EffectUnknown
        | FailureKind::DeadlineExhausted
        | FailureKind::Canceled => Reason::Unclassified,
    };
    let kind = failure.kind;
    let mut events = vec![code_failed(Some(id), failure)];
    // A request that cannot be made anew is no end of the call: its next rung has the first one.
    events.extend(match (&call.repair, run.head()) {
        (Some(_), Some(head)) => {
            let site = Site {
                run,
                head,
                id,
                call,
                now,
            };
            let kind = call.last_failure().map_or(kind, |failure| failure.kind);
            next::fall_back(Ground::of(site), Why { kind, reason })
        }
        (None, _) | (_, None) => ending::give_up(run, id, call, Why { kind, reason }),
    });
    Ok(events)
}

/// What the class's own code said.
pub(crate) fn code_failed(call: Option<CallId>, failure: &Failure) -> Event {
    let code = failure.provider_code.as_deref();
    let said = failure.message.as_deref();
    let words: Vec<&str> = [code, said].into_iter().flatten().collect();
    Event::CodeFailed {
        call,
        kind: failure.kind,
        message: words.join(": "),
    }
}

/// It changes nothing by itself; the run's log is where it is kept.
pub(crate) fn apply_code_failed(run: &Run, call: Option<CallId>) -> Result<(), Corrupt> {
    match call {
        Some(id) => guard::stored(run, id, "CodeFailed").map(|_| ()),
        None => Ok(()),
    }
}

pub(crate) fn apply_prepared(
    run: &mut Run,
    id: CallId,
    prepared: &Prepared,
) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, "CallPrepared")?;
    let is_request = match run.class().node(call.node).kind {
        NodeKind::Read { .. } | NodeKind::Write { .. } | NodeKind::Tools { .. } => true,
        NodeKind::Each { .. } | NodeKind::Local | NodeKind::When => false,
    };
    if call.phase != Phase::Preparing || !is_request {
        return Err(guard::misplaced(run, id, "CallPrepared"));
    }
    if matches!(run.class().node(call.node).kind, NodeKind::Tools { .. }) {
        run.calls.update(id, |call| {
            call.prepared = Some(prepared.clone());
            call.asked.get_or_insert_default();
            call.phase = Phase::Items;
        });
        return Ok(());
    }
    run.calls.update(id, |call| {
        match &mut call.repair {
            Some(repair) => repair.prepared = Some(prepared.clone()),
            None => call.prepared = Some(prepared.clone()),
        }
        call.phase = Phase::Ready {
            not_before: AT_ONCE,
        };
    });
    Ok(())
}

pub(crate) fn apply_listed(run: &mut Run, id: CallId, items: &[Prepared]) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, "ListRecorded")?;
    let is_list = match run.class().node(call.node).kind {
        NodeKind::Each { .. } => true,
        NodeKind::Read { .. }
        | NodeKind::Write { .. }
        | NodeKind::Tools { .. }
        | NodeKind::Local
        | NodeKind::When => false,
    };
    if call.phase != Phase::Preparing || !is_list {
        return Err(guard::misplaced(run, id, "ListRecorded"));
    }
    let node = call.node;
    let first = CallId(u32::try_from(run.calls.len()).unwrap_or(u32::MAX));
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    for (position, made) in (0u32..).zip(items) {
        let item = Item {
            parent: id,
            position,
        };
        let mut call = Call::new(
            node,
            Some(item),
            0,
            Phase::Ready {
                not_before: AT_ONCE,
            },
        );
        call.prepared = Some(made.clone());
        run.calls.push(call);
    }
    run.calls.update(id, |call| {
        call.items = Some(Items {
            first,
            count,
            open: count,
        });
        call.phase = Phase::Items;
    });
    Ok(())
}
