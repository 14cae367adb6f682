//! The class's own code, run outside the core from recorded inputs.
//!
//! What it returns becomes a command. It is called once per call; a value beyond its bound is an
//! error of the class, never cut.

use mainstay_class::{PreparedRequest, PreparedValue};
use mainstay_ledger::codec;
use mainstay_machine::{AttemptState, Call, Command, Event, Prepared, Repair, Run};
use mainstay_types::{CallId, Code, Failure, FailureKind, Payload, Sent, json, limits};

use crate::registry::Registered;

/// Runs a call's code: its request, items, value or predicate.
pub(crate) fn prepare(registered: &Registered, run: &Run, id: CallId) -> Option<Command> {
    let head = run.head()?;
    let call = run.calls().get(id)?;
    if let Some(wrong) = &call.repair {
        return repair(registered, run, (id, call, wrong));
    }
    let values = match call.undoes {
        Some(undoes) => effected(run, undoes.call)?,
        None => run.values(&run.class().node(call.node).inputs),
    };
    let made = registered.class.prepare(call.node, &head.input, &values);
    Some(match made.and_then(check) {
        Ok(PreparedValue::Request(request)) => Command::Prepared {
            call: id,
            prepared: prepared(request),
        },
        Ok(PreparedValue::List(items)) => listed(id, items),
        Ok(PreparedValue::Value(result)) => Command::Computed { call: id, result },
        Err(failure) => Command::Unpreparable { call: id, failure },
    })
}

/// What a write has done, as the code that undoes it is given it: what was asked, the answer where
/// there is one, and the key.
fn effected(run: &Run, undone: CallId) -> Option<Vec<Option<Payload>>> {
    let call = run.calls().get(undone)?;
    let (made, effect) = (call.prepared.as_ref()?, call.effect.as_ref()?);
    let key = json::Value::Text(effect.key.to_string()).to_canonical();
    let request = Some(made.request.clone());
    Some(vec![
        request,
        call.value().cloned(),
        Some(Payload::from(key)),
    ])
}

/// Runs the code that makes a request anew, from the first one and what was wrong with its reply.
fn repair(
    registered: &Registered,
    run: &Run,
    (id, call, wrong): (CallId, &Call, &Repair),
) -> Option<Command> {
    let (head, first) = (run.head()?, call.prepared.as_ref()?);
    let failure = match &call.attempt(wrong.of)?.state {
        AttemptState::Failed { failure, .. } => failure,
        AttemptState::InFlight
        | AttemptState::Answered { .. }
        | AttemptState::Interrupted { .. }
        | AttemptState::Late { .. } => return None,
    };
    let made = registered
        .class
        .repair(call.node, &head.input, (&first.request, failure));
    let made = made.and_then(|made| check_size(&made.request).map(|()| made));
    Some(match made {
        Ok(request) => Command::Prepared {
            call: id,
            prepared: prepared(request),
        },
        Err(failure) => Command::Unpreparable { call: id, failure },
    })
}

/// Puts the class's result together.
pub(crate) fn assemble(registered: &Registered, run: &Run) -> Option<Command> {
    let head = run.head()?;
    let values = run.values(&run.class().result);
    let result = registered.class.assemble(&head.input, &values);
    let result = result.and_then(|result| check_size(&result).map(|()| result));
    Some(Command::Assembled { result })
}

/// The recorded list is one event; one that no record can hold is an error of the class.
fn listed(call: CallId, items: Vec<PreparedRequest>) -> Command {
    let bytes = items.iter().map(|item| item.request.len()).sum();
    let items: Vec<Prepared> = items.into_iter().map(prepared).collect();
    let recorded = Event::ListRecorded {
        call,
        items: items.clone(),
    };
    if codec::fits(&recorded) {
        return Command::Listed { call, items };
    }
    let failure = too_large(bytes, limits::RECORD_BYTES_MAX);
    Command::Unpreparable { call, failure }
}

fn prepared(request: PreparedRequest) -> Prepared {
    Prepared {
        request: request.request,
        fingerprint: request.fingerprint,
        business_id: request.business_id,
    }
}

fn check(made: PreparedValue) -> Result<PreparedValue, Failure> {
    match &made {
        PreparedValue::Request(request) => check_size(&request.request)?,
        PreparedValue::List(items) => {
            items
                .iter()
                .try_for_each(|item| check_size(&item.request))?;
        }
        PreparedValue::Value(value) => check_size(value)?,
    }
    Ok(made)
}

fn check_size(value: &Payload) -> Result<(), Failure> {
    if value.len() <= limits::PAYLOAD_BYTES_MAX {
        return Ok(());
    }
    Err(too_large(value.len(), limits::PAYLOAD_BYTES_MAX))
}

fn too_large(bytes: usize, bound: usize) -> Failure {
    Failure::new(FailureKind::InvalidInput, Sent::NotSent)
        .provider_code(Code::PayloadTooLarge.as_str())
        .message(format!("{bytes} bytes, at most {bound}"))
}
