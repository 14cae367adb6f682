//! Drivers that break one rule each, so that every check is seen to fail.
//!
//! Only a driver is bent, never the core: a sent request is what it may not do, or a missed moment.

use mainstay_machine::{AttemptStarted, Event, Phase, Run, may_start};
use mainstay_types::{AttemptNo, CallId, Code, Millis, Reason, Timestamp, Tokens};

use super::drive::Drive;

/// What a driver does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bent {
    /// It wakes a second after the moment the core named.
    Oversleeps,
    /// It sends nothing while anything is out, whatever the concurrency.
    OneAtATime,
    /// It sends soft calls that the core holds back for hard ones, and stops none for them.
    NeverYields,
}

/// When it looks again.
pub(super) fn wake(bent: Option<Bent>, at: Timestamp) -> Timestamp {
    match bent {
        Some(Bent::Oversleeps) => at + Millis::from_secs(1),
        Some(Bent::OneAtATime | Bent::NeverYields) | None => at,
    }
}

/// Whether it sends nothing now.
pub(super) fn holds_back(bent: Option<Bent>, run: &Run) -> bool {
    match bent {
        Some(Bent::OneAtATime) => run.calls().in_flight().next().is_some(),
        Some(Bent::Oversleeps | Bent::NeverYields) | None => false,
    }
}

/// What it does of what the core decided.
pub(super) fn without_stops(bent: Option<Bent>, mut events: Vec<Event>) -> Vec<Event> {
    let stops = matches!(
        events.last(),
        Some(Event::CallRescheduled {
            reason: Reason::Preempted,
            ..
        })
    );
    match bent {
        // Its end, whose it is then, why, and that it is to begin again.
        Some(Bent::NeverYields) if stops => {
            let is_end = |event: &Event| matches!(event, Event::AttemptSettled { .. });
            let end = events.iter().rposition(is_end);
            events.truncate(end.unwrap_or(events.len()));
        }
        Some(Bent::Oversleeps | Bent::OneAtATime | Bent::NeverYields) | None => {}
    }
    events
}

/// Sends what the core holds back.
pub(super) fn push(bent: Option<Bent>, drive: &mut Drive<'_>) -> bool {
    match bent {
        Some(Bent::NeverYields) => push_soft(drive),
        Some(Bent::Oversleeps | Bent::OneAtATime) | None => false,
    }
}

fn push_soft(drive: &mut Drive<'_>) -> bool {
    let held = drive.run.calls().ready().map(|(id, _)| id).find(|&id| {
        may_start(&drive.run, id, drive.now).is_err_and(|no| no.code == Code::SoftYields)
    });
    let Some(started) = held.and_then(|id| unasked(drive, id)) else {
        return false;
    };
    drive.apply(Event::AttemptStarted(started));
    true
}

/// The first attempt that the core would have allowed a hard call.
fn unasked(drive: &Drive<'_>, id: CallId) -> Option<AttemptStarted> {
    let call = drive.run.calls().get(id)?;
    let contract = drive.run.class().node(call.node).contract()?;
    let attempt = AttemptNo(u32::try_from(call.attempts.len()).ok()? + 1);
    (call.phase != Phase::InDoubt && call.rung.get() == 0).then_some(AttemptStarted {
        call: id,
        attempt,
        rung: call.rung,
        at: drive.now,
        timeout: contract.timeout,
        cost: contract.cost,
        retry_tokens: Tokens::ZERO,
    })
}
