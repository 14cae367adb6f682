//! What has to be done outside for a run now, and when to look again.
//!
//! A function of the state and the time, so that a restarted process finds the same list.

use mainstay_types::{Timestamp, Tokens};

use crate::action::Action;
use crate::call::Phase;
use crate::needs::{self, Needs};
use crate::run::{Head, Run};
use crate::{advance, attempt, doubt, effect, key_age, lap, orphan};

pub(crate) fn pending(run: &Run, now: Timestamp) -> Vec<Action> {
    let Some(head) = run
        .head()
        .filter(|head| head.quarantined.is_none() && !head.closed)
    else {
        return Vec::new();
    };
    let mut actions = Vec::new();
    if !advance::due(run, now).is_empty() {
        actions.push(Action::Advance);
    }
    new_work(run, head, now, &mut actions);
    for (id, call) in run.calls.in_flight() {
        if let Some(out) = call.in_flight().filter(|out| out.epoch == head.epoch) {
            actions.push(Action::Attempt {
                call: id,
                attempt: out.no,
            });
        }
    }
    for (id, call) in run.calls.in_doubt() {
        let open = effect::doubt(call);
        if let Some(open) =
            open.filter(|open| doubt::is_askable(run, call, open.lookup_at.max(now)))
        {
            let (number, at) = (doubt::next_number(call), open.lookup_at);
            actions.push(Action::LookUp {
                call: id,
                number,
                at,
            });
        }
    }
    if let Some(at) = wake_at(run, head, now) {
        actions.push(Action::WakeAt(at));
    }
    actions
}

fn new_work(run: &Run, head: &Head, now: Timestamp, actions: &mut Vec<Action>) {
    let is_driven = head.lap.outcome.is_none() && head.cancel.is_none();
    for (id, call) in run.calls.preparing() {
        let goes_on = is_driven && !lap::is_stopped(run, head, call);
        if (goes_on || call.is_undo()) && needs::of(run, call) == Needs::Met {
            actions.push(Action::Prepare { call: id });
        }
    }
    // Without a token none of them may start, whatever else holds.
    if Tokens::ZERO < head.lap.budget.concurrency_left() {
        for (id, call) in run.calls.ready() {
            if (is_driven || call.is_undo()) && attempt::plan(run, id, now).is_ok() {
                actions.push(Action::Start {
                    call: id,
                    rung: call.rung,
                });
            }
        }
    }
    if lap::can_assemble(run) {
        actions.push(Action::Assemble);
    }
}

/// The next moment after `now` at which time alone changes what is due.
fn wake_at(run: &Run, head: &Head, now: Timestamp) -> Option<Timestamp> {
    let is_open = head.lap.outcome.is_none();
    let times = &head.lap.times;
    let mut moments: Vec<Timestamp> = orphan::moments(run).collect();
    if is_open {
        moments.extend([times.work_by, times.answer_by, times.doubt_until]);
        moments.extend(times.expires_at);
    }
    let mut waiting = run.calls.ready();
    if is_open || waiting.any(|(_, call)| call.is_undo()) {
        moments.extend(head.held.iter().map(|held| held.until));
    }
    for (_, call) in run
        .calls
        .ready()
        .filter(|(_, call)| is_open || call.is_undo())
    {
        if let Phase::Ready { not_before } = call.phase {
            moments.push(not_before);
        }
        let latest = attempt::latest_start(run, head, call);
        moments.extend(latest.map(|at| at + mainstay_types::Millis::new(1)));
        moments.extend(key_age::old_at(run, call));
    }
    moments.into_iter().filter(|&at| now < at).min()
}
