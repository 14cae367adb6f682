//! Effects that a person settles: what no machine can find out, somebody looked up.
//!
//! A person's word counts as the receiver's would, and is held to the same rule: "not applied" is
//! believed only once nothing that was sent can land any more. What is known is settled by nobody.

use mainstay_types::{AttemptNo, CallId, Code, Corrupt, Reason, Refusal, Timestamp};

use crate::call::{Call, EffectStatus};
use crate::command::AskSettle;
use crate::effect::{absent, applied};
use crate::event::{Event, SettledByHand};
use crate::life::{self, Happens};
use crate::run::Run;
use crate::{compensate, guard};

/// What a person found out about an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is in the world.
    Applied,
    /// It is not in the world, and nothing of it is on its way.
    NotApplied,
}

impl Ruling {
    /// The stable text, for example `not_applied`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NotApplied => "not_applied",
        }
    }
}

pub(crate) fn decide(run: &Run, ask: AskSettle, at: Timestamp) -> Result<Vec<Event>, Refusal> {
    guard::started(run)?;
    let (id, call) = (ask.call, guard::call(run, ask.call)?);
    if newest(call) != ask.attempt {
        return Err(refused(run, id, "another attempt was made since"));
    }
    match status(call) {
        Some(EffectStatus::InDoubt(_) | EffectStatus::PartlyApplied) => {}
        // Taken before: whoever says the same again sees what it came to.
        Some(EffectStatus::Applied(Reason::SettledByHand)) if ask.ruling == Ruling::Applied => {
            return match call.value() == Some(&ask.result) {
                true => Ok(Vec::new()),
                false => Err(refused(run, id, "it was settled with another result")),
            };
        }
        Some(EffectStatus::Absent(Reason::SettledByHand)) if ask.ruling == Ruling::NotApplied => {
            return Ok(Vec::new());
        }
        Some(status) => return Err(refused(run, id, &format!("it is {}", status.as_str()))),
        None => return Err(refused(run, id, "nothing of it was sent")),
    }
    let reason = Reason::SettledByHand;
    let follows = match ask.ruling {
        Ruling::Applied => applied(run, id, ask.result, reason),
        Ruling::NotApplied => {
            check_landed(run, (id, call), at)?;
            check_undone(run, id)?;
            absent(run, id, reason)
        }
    };
    let settled = SettledByHand {
        call: id,
        attempt: ask.attempt,
        ruling: ask.ruling,
        by: ask.by,
        why: ask.why,
        at,
    };
    let mut events = vec![Event::EffectSettledByHand(Box::new(settled))];
    events.extend(follows);
    Ok(events)
}

/// Refuses while it is being undone: what undoes it would undo nothing.
fn check_undone(run: &Run, id: CallId) -> Result<(), Refusal> {
    match compensate::of(run, id) {
        Some((_, undo)) if !undo.phase.is_final() => Err(refused(run, id, "it is being undone")),
        Some(_) | None => Ok(()),
    }
}

/// The newest attempt of a call; 0 where only another run made any, which this one has taken over.
#[must_use]
pub fn newest(call: &Call) -> AttemptNo {
    let newest = call.attempts.last();
    newest.map_or(AttemptNo(0), |newest| newest.no)
}

pub(crate) fn status(call: &Call) -> Option<&EffectStatus> {
    call.effect.as_ref().map(|effect| &effect.status)
}

pub(crate) fn refused(run: &Run, id: CallId, what: &str) -> Refusal {
    Refusal::new(Code::SettleRefused).about(format!("{}: {what}", run.path(id)))
}

/// Refuses while something that was sent may still land.
pub(crate) fn check_landed(
    run: &Run,
    (id, call): (CallId, &Call),
    now: Timestamp,
) -> Result<(), Refusal> {
    let landed_by = match status(call) {
        Some(EffectStatus::InDoubt(doubt)) => doubt.absent_after,
        Some(
            EffectStatus::Intended
            | EffectStatus::Dispatched
            | EffectStatus::Applied(_)
            | EffectStatus::PartlyApplied
            | EffectStatus::Absent(_)
            | EffectStatus::Compensated,
        )
        | None => return Ok(()),
    };
    if now < landed_by {
        let wait = now.until(landed_by).get();
        return Err(refused(run, id, "a request may still land").with("wait_ms", wait));
    }
    Ok(())
}

/// It says who knows; what the effect is by that is said by the event that follows.
pub(crate) fn apply(run: &Run, event: &SettledByHand) -> Result<(), Corrupt> {
    let name = "EffectSettledByHand";
    let call = guard::stored(run, event.call, name)?;
    match life::may(call.effect.as_ref(), Happens::Ruled) {
        true => Ok(()),
        false => Err(guard::misplaced(run, event.call, name)),
    }
}
