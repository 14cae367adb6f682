//! Guards that many transitions share: is there a run, is it driven, is there such a call.
//!
//! Refusing comes first; nothing here changes anything.

use mainstay_graph::{Contract, EffectSemantics};
use mainstay_types::{CallId, Code, Corrupt, Refusal, Timestamp};

use crate::call::Call;
use crate::run::{Head, Run};

/// The head of a run that exists.
pub(crate) fn started(run: &Run) -> Result<&Head, Refusal> {
    run.head
        .as_ref()
        .ok_or_else(|| Refusal::new(Code::RunUnknown))
}

/// The head of a run that exists and is driven.
pub(crate) fn driven(run: &Run) -> Result<&Head, Refusal> {
    let head = started(run)?;
    match head.quarantined {
        Some(_) => Err(Refusal::new(Code::RunQuarantined).about(head.run.to_string())),
        None => Ok(head),
    }
}

/// One call of a driven run at one moment: what most decisions look at.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) run: &'a Run,
    pub(crate) head: &'a Head,
    pub(crate) id: CallId,
    pub(crate) call: &'a Call,
    pub(crate) now: Timestamp,
}

/// The site of a call of a driven run.
pub(crate) fn site(run: &Run, id: CallId, now: Timestamp) -> Result<Site<'_>, Refusal> {
    driven(run)?;
    evidence_site(run, id, now)
}

/// The site of a call of a run, driven or not: evidence about what was sent is never refused.
pub(crate) fn evidence_site(run: &Run, id: CallId, now: Timestamp) -> Result<Site<'_>, Refusal> {
    let (head, call) = (started(run)?, call(run, id)?);
    Ok(Site {
        run,
        head,
        id,
        call,
        now,
    })
}

impl<'a> Site<'a> {
    /// "The call is not in the state this needs."
    pub(crate) fn not_ready(self) -> Refusal {
        not_ready(self.run, self.id, self.call)
    }

    /// Whether the call writes.
    pub(crate) fn writes(self) -> bool {
        self.run.writes(self.call)
    }

    /// What an attempt of the call does to the world.
    pub(crate) fn semantics(self) -> EffectSemantics {
        self.run.class().node(self.call.node).semantics()
    }

    /// The contract of a call that is attempted.
    pub(crate) fn contract(self) -> Option<&'a Contract> {
        self.run.class().node(self.call.node).contract()
    }
}

/// The head of a driven run whose lap has no outcome yet.
pub(crate) fn open(run: &Run) -> Result<&Head, Refusal> {
    let head = driven(run)?;
    match head.lap.outcome {
        Some(_) => Err(Refusal::new(Code::RunEnded).about(head.run.to_string())),
        None => Ok(head),
    }
}

/// The head of a driven run in which the call may still begin: in a lap that is open, or at any
/// time for what undoes an effect.
pub(crate) fn begins<'a>(run: &'a Run, call: &Call) -> Result<&'a Head, Refusal> {
    match call.is_undo() {
        true => driven(run),
        false => open(run),
    }
}

/// A call of the run.
pub(crate) fn call(run: &Run, id: CallId) -> Result<&Call, Refusal> {
    run.calls
        .get(id)
        .ok_or_else(|| Refusal::new(Code::CallUnknown).with("call", id.get()))
}

/// "The call is not in the state this needs."
pub(crate) fn not_ready(run: &Run, id: CallId, call: &Call) -> Refusal {
    Refusal::new(Code::CallNotReady).about(format!("{} is {}", run.path(id), call.phase.as_str()))
}

/// The head, for `apply`.
pub(crate) fn head_mut<'a>(run: &'a mut Run, event: &'static str) -> Result<&'a mut Head, Corrupt> {
    run.head
        .as_mut()
        .ok_or_else(|| Corrupt::new(event, "the run has not started"))
}

/// A call, for `apply`.
pub(crate) fn stored<'a>(
    run: &'a Run,
    id: CallId,
    event: &'static str,
) -> Result<&'a Call, Corrupt> {
    run.calls
        .get(id)
        .ok_or_else(|| Corrupt::new(event, format!("there is no call {id}")))
}

/// "The call is not in the state this event needs", for `apply`.
pub(crate) fn misplaced(run: &Run, id: CallId, event: &'static str) -> Corrupt {
    let phase = run
        .calls
        .get(id)
        .map_or("missing", |call| call.phase.as_str());
    Corrupt::new(event, format!("{} is {phase}", run.path(id)))
}
