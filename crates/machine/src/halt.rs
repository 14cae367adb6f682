//! A run that is stopped from outside its own course: quarantined, lifted, terminated.
//!
//! None of these needs the class's code. A stop never claims to know what it does not: a write that
//! was out stays out or in doubt, and is still owed an answer.

use mainstay_types::{Code, Corrupt, Reason, Refusal, Timestamp};

use crate::event::{Event, OutcomeKind};
use crate::run::{Asked, Quarantine, Run};
use crate::{guard, lap, lease};

/// The run is not driven any more. Writes that are out become doubts that a person can see.
pub(crate) fn quarantine(
    run: &Run,
    why: Quarantine,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let head = guard::driven(run)?;
    let mut events = lease::interrupt(run, head, now);
    events.push(Event::RunQuarantined(why));
    Ok(events)
}

/// The run ends now. What was quarantined is driven again as far as it still owes something.
pub(crate) fn terminate(run: &Run, asked: Asked, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    let head = guard::started(run)?;
    let has_outcome = head.lap.outcome.is_some();
    if has_outcome && head.quarantined.is_none() {
        return Err(Refusal::new(Code::RunEnded).about(head.run.to_string()));
    }
    let Asked { by, why } = asked;
    let mut events = vec![Event::RunTerminated { by, why }];
    if !has_outcome {
        events.extend(lap::ended(
            run,
            OutcomeKind::Terminated,
            Reason::Requested,
            now,
        ));
    }
    Ok(events)
}

pub(crate) fn apply_quarantined(run: &mut Run, why: &Quarantine) -> Result<(), Corrupt> {
    guard::head_mut(run, "RunQuarantined")?.quarantined = Some(why.clone());
    Ok(())
}

pub(crate) fn apply_lifted(run: &mut Run) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "QuarantineLifted")?;
    match head.quarantined.take() {
        Some(_) => Ok(()),
        None => Err(Corrupt::new(
            "QuarantineLifted",
            "the run is not quarantined",
        )),
    }
}

pub(crate) fn apply_terminated(run: &mut Run, by: &str, why: &str) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "RunTerminated")?;
    (head.terminated, head.quarantined) = (Some(Asked::of(by, why)), None);
    Ok(())
}
