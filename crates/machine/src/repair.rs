//! A reply that does not keep its schema is asked for once more, with what was wrong.
//!
//! That is not the same request: it has bytes of its own, made by the class from the first request
//! and the failure, and it costs a retry token. One for each call and lap; after it comes the next
//! rung, with the first request again.

use mainstay_types::{AttemptNo, CallId, Corrupt, Reason};

use crate::call::{Phase, Repair};
use crate::decision::NextAction;
use crate::event::Event;
use crate::ground::{Ground, Short};
use crate::guard::Site;
use crate::run::Run;
use crate::{attempt, guard, rung};

/// The repair of the attempt that failed; else why the class, budget or times allow none.
pub(crate) fn after(ground: Ground<'_>) -> Result<Vec<Event>, Short> {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = ground.site;
    let no = || Short::from(Reason::SameInputFails);
    let contract = ground.site.contract().ok_or_else(no)?;
    let of = call.in_flight().ok_or_else(no)?.no;
    let is_open = head.lap.outcome.is_none() && head.cancel.is_none();
    if !contract.repair || call.repair.is_some() || !is_open {
        return Err(no());
    }
    ground.tokens_left()?;
    let latest = attempt::latest_start(run, head, call).ok_or_else(no)?;
    let spec = rung::spec(contract, call.rung).ok_or_else(no)?;
    let least = ground.predicted().less(spec.min_useful);
    if latest < now + least {
        return Err(Reason::DeadlineExhausted.into());
    }
    let decided = ground.decided(NextAction::Repair, Reason::RepairAllowed);
    Ok(vec![decided, Event::RepairWanted { call: id, of }])
}

/// The call's code makes the request anew; the attempt that failed is not counted twice.
pub(crate) fn apply(run: &mut Run, id: CallId, of: AttemptNo) -> Result<(), Corrupt> {
    let name = "RepairWanted";
    let call = guard::stored(run, id, name)?;
    let is_read = !run.writes(call) && call.prepared.is_some();
    let Phase::Ready { .. } = call.phase else {
        return Err(guard::misplaced(run, id, name));
    };
    if !is_read || call.repair.is_some() || call.attempts.last().map(|last| last.no) != Some(of) {
        return Err(Corrupt::new(
            name,
            format!("call {id} has nothing to repair"),
        ));
    }
    run.calls.update(id, |call| {
        let prepared = None;
        call.repair = Some(Repair { of, prepared });
        call.rung_attempts = call.rung_attempts.saturating_sub(1);
        call.phase = Phase::Preparing;
    });
    Ok(())
}
