//! What an open run waits for, in words.
//!
//! Only what the state knows; whether this process has the run's code is not asked here.

use mainstay_machine::run::Head;
use mainstay_machine::{Call, Phase, Run, RunState, Stand};
use mainstay_types::{CallId, Code, Timestamp};

use super::call::doubt;
use super::raw;

/// One sentence per thing; empty when nothing is owed.
pub(super) fn reasons(run: &Run, head: &Head, state: RunState) -> Vec<String> {
    match state {
        RunState::Closed => Vec::new(),
        RunState::Quarantined => {
            let why = head.quarantined.as_ref();
            let code = why.map_or(Code::RunQuarantined, |why| why.code);
            vec![format!("a person: the run is quarantined: {code}")]
        }
        RunState::Ended => owed(run).collect(),
        RunState::Running | RunState::Waiting | RunState::Paused | RunState::WaitingForCode => {
            let open: Vec<String> = run
                .calls()
                .iter()
                .filter_map(|(id, call)| of_call(run, id, call))
                .collect();
            if open.is_empty() {
                vec!["its end to be recorded".to_owned()]
            } else {
                open
            }
        }
    }
}

/// After the outcome only what is out, in doubt or given up and watched is waited for.
fn owed(run: &Run) -> impl Iterator<Item = String> + '_ {
    let open = run.calls().in_flight().chain(run.calls().in_doubt());
    let open = open.filter_map(|(id, call)| of_call(run, id, call));
    open.chain(watched(run))
}

fn watched(run: &Run) -> impl Iterator<Item = String> + '_ {
    run.calls().watched().flat_map(move |(id, call)| {
        let made = call.attempts.iter();
        let held = made.filter_map(|made| Some((made.no, made.orphan()?)));
        let held = held.filter(|(_, orphan)| orphan.holds());
        held.map(move |(no, orphan)| {
            let (path, owner) = (run.path(id), &orphan.owner);
            let until = raw::time(orphan.until);
            match orphan.stand {
                Stand::Overdue => format!(
                    "{path}: {owner} to close attempt {no} or take it over, of which nothing was \
                     heard until {until}"
                ),
                Stand::Left
                | Stand::Watched
                | Stand::Adopted
                | Stand::Observed(_)
                | Stand::Closed => {
                    format!(
                        "{path}: attempt {no}, which was given up and is {owner}'s until {until}"
                    )
                }
            }
        })
    })
}

fn of_call(run: &Run, id: CallId, call: &Call) -> Option<String> {
    let what = match &call.phase {
        Phase::Preparing => "its own code has to run".to_owned(),
        Phase::Ready { not_before } => ready(call, *not_before),
        Phase::InFlight(no) => {
            let until = call
                .in_flight()
                .map(|attempt| raw::time(attempt.at + attempt.timeout));
            format!(
                "attempt {no} is out, until {} at most",
                until.unwrap_or_default()
            )
        }
        Phase::InDoubt => in_doubt(call),
        Phase::Waiting
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => return None,
    };
    Some(format!("{}: {what}", run.path(id)))
}

fn ready(call: &Call, not_before: Timestamp) -> String {
    match call.key_holder {
        Some(holder) => {
            let at = raw::time(not_before);
            format!("its effect key is held by run {holder}; asked again at {at}")
        }
        None if not_before.as_millis() == i64::MIN => "it can start".to_owned(),
        None => format!("it can start from {}", raw::time(not_before)),
    }
}

fn in_doubt(call: &Call) -> String {
    match call.effect.as_ref().and_then(doubt) {
        Some(doubt) => format!(
            "its effect is in doubt; the receiver is asked at {}, \"not found\" counts from {}",
            raw::time(doubt.lookup_at),
            raw::time(doubt.absent_after)
        ),
        None => "its effect was applied in part; a person has to look".to_owned(),
    }
}
