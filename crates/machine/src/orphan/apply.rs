//! What the events about orphans and late answers do to a run.
//!
//! Nothing here decides, and an orphan stands nowhere but where the table leads.

use mainstay_graph::OnLate;
use mainstay_types::{AttemptNo, CallId, Corrupt, FailureKind, Payload, Sent, Timestamp};

use super::{Happens, Orphan, Seen, Stage, Stand, table};
use crate::call::{Attempt, AttemptState};
use crate::guard;
use crate::run::Run;

pub(crate) fn apply_given_up(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    owner: &str,
    until: Timestamp,
) -> Result<(), Corrupt> {
    let name = "AttemptOrphaned";
    let call = guard::stored(run, id, name)?;
    let was_stopped = |made: &Attempt| match &made.state {
        AttemptState::Failed { failure, .. } => {
            failure.kind == FailureKind::Canceled && failure.sent == Sent::MaybeSent
        }
        AttemptState::InFlight
        | AttemptState::Answered { .. }
        | AttemptState::Interrupted { .. }
        | AttemptState::Late { .. } => false,
    };
    let contract = run.class().node(call.node).contract();
    let (Some(contract), true) = (contract, call.attempt(no).is_some_and(was_stopped)) else {
        return Err(Corrupt::new(name, format!("attempt {no} was not given up")));
    };
    let (what, stand) = match contract.late() {
        OnLate::Drop | OnLate::Keep => (Happens::Left, Stand::Left),
        OnLate::Review => (Happens::Watched, Stand::Watched),
    };
    let owner = owner.to_owned();
    pass(run, (id, no), (what, name), move |orphan| {
        *orphan = Some(Box::new(Orphan {
            owner,
            until,
            stand,
            adoptions: 0,
        }));
    })
}

pub(crate) fn apply_observed(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    seen: Seen,
) -> Result<(), Corrupt> {
    let (what, stand) = match seen {
        Seen::StillRunning => (Happens::Unheard, Stand::Overdue),
        Seen::Canceled | Seen::CompletedLate | Seen::Failed => {
            (Happens::Heard, Stand::Observed(seen))
        }
    };
    pass(run, (id, no), (what, "OrphanObserved"), |orphan| {
        if let Some(orphan) = orphan {
            orphan.stand = stand;
        }
    })
}

/// Its run is open again until it is known what became of it.
pub(crate) fn apply_adopted(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    by: &str,
    until: Timestamp,
) -> Result<(), Corrupt> {
    let name = "OrphanAdopted";
    pass(run, (id, no), (Happens::Adopted, name), |orphan| {
        if let Some(orphan) = orphan {
            (orphan.owner, orphan.until) = (by.to_owned(), until);
            orphan.stand = Stand::Adopted;
            orphan.adoptions = orphan.adoptions.saturating_add(1);
        }
    })?;
    guard::head_mut(run, name)?.closed = false;
    Ok(())
}

pub(crate) fn apply_closed(run: &mut Run, of: (CallId, AttemptNo)) -> Result<(), Corrupt> {
    pass(run, of, (Happens::Closed, "OrphanClosed"), |orphan| {
        if let Some(orphan) = orphan {
            orphan.stand = Stand::Closed;
        }
    })
}

/// A read's late answer is kept for when its call opens again; the newest attempt's counts.
pub(crate) fn apply_late_value(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    policy: OnLate,
    value: Option<&Payload>,
) -> Result<(), Corrupt> {
    let name = "LateValueRecorded";
    let call = guard::stored(run, id, name)?;
    let state = call.attempt(no).map(|made| &made.state);
    if !matches!(state, Some(AttemptState::Late { .. })) {
        return Err(Corrupt::new(name, format!("attempt {no} is not late")));
    }
    let is_kept = match policy {
        OnLate::Keep => !run.writes(call),
        OnLate::Drop | OnLate::Review => false,
    };
    let newest = call.kept.as_ref().map(|(kept, _)| *kept);
    if let Some(value) = value.filter(|_| is_kept && newest < Some(no)) {
        run.calls
            .update(id, |call| call.kept = Some((no, value.clone())));
    }
    Ok(())
}

/// It happens, and the orphan stands where the table has it.
fn pass(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    (what, name): (Happens, &'static str),
    change: impl FnOnce(&mut Option<Box<Orphan>>),
) -> Result<(), Corrupt> {
    let made = guard::stored(run, id, name)?.attempt(no);
    let made = made.ok_or_else(|| Corrupt::new(name, format!("no attempt {no}")))?;
    let Some(to) = table(Stage::of(made.orphan()), what) else {
        return Err(guard::misplaced(run, id, name));
    };
    run.calls.update(id, |call| {
        if let Some(made) = call.attempts.iter_mut().find(|made| made.no == no) {
            change(&mut made.orphan);
            assert_eq!(to, Stage::of(made.orphan()), "{what:?} leads there");
        }
    });
    Ok(())
}
