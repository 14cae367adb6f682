//! How large an event's record can be at most, without making it.
//!
//! It may be wrong only upwards: an event that passes must always fit into a record.

use mainstay_machine::{AttemptEnd, Event, Prepared, ToolMade};
use mainstay_types::limits;

/// More than everything in a record that is not a payload, a list or a text: the header, and per
/// event at most five names or keys and two dozen numbers.
const FIXED_BYTES: usize = 8 << 10;
/// The same for one item of a list: digest, business id, lengths.
const ITEM_BYTES: usize = 512;

/// Whether a record can hold `event`. Bound: `limits::RECORD_BYTES_MAX`.
///
/// A commit with one that does not fit is answered `Full`.
#[must_use]
pub fn fits(event: &Event) -> bool {
    most(event) <= limits::RECORD_BYTES_MAX
}

/// Bytes that the record of `event` has at most.
pub(super) fn most(event: &Event) -> usize {
    FIXED_BYTES.saturating_add(variable(event))
}

/// Bytes of payloads, lists and unbounded texts.
fn variable(event: &Event) -> usize {
    match event {
        Event::RunStarted(started) => started.input.len(),
        Event::CallPrepared { prepared, .. } => prepared.request.len(),
        Event::ListRecorded { items, .. } => items.iter().map(item).sum(),
        Event::CallSettled { result, .. } | Event::EffectApplied { result, .. } => result.len(),
        Event::LateValueRecorded { value, .. } => value.as_ref().map_or(0, |value| value.len()),
        Event::LapEnded { result, .. } => result.as_ref().map_or(0, |result| result.len()),
        Event::EffectIntended { key, .. } => match &key.scope {
            mainstay_types::Scope::Run { path, .. } => path.len(),
            mainstay_types::Scope::Business(_) => 0,
        },
        Event::ToolCalled(called) => {
            let ids = called.told.len().saturating_add(1);
            let ids = ids.saturating_mul(limits::TOOL_CALL_ID_BYTES_MAX + 16);
            ids.saturating_add(match &called.made {
                ToolMade::New { prepared, .. } => item(prepared),
                ToolMade::Joined(_) => 0,
            })
        }
        Event::AnsweredLater { doubts, .. } => doubts.len().saturating_mul(5),
        // Texts are cut at `limits::TEXT_BYTES_MAX`: two fit into the fixed part.
        Event::AttemptSettled {
            end: AttemptEnd::Answered | AttemptEnd::Failed(_),
            ..
        }
        | Event::CancelRequested { .. }
        | Event::AttemptOrphaned { .. }
        | Event::OrphanAdopted { .. }
        | Event::OrphanClosed { .. }
        | Event::QuarantineLifted { .. }
        | Event::RunTerminated { .. }
        | Event::CodeFailed { .. }
        | Event::LapStarted(_)
        | Event::BudgetRaised(_)
        | Event::EffectSettledByHand(_)
        | Event::CompensationWanted(_)
        | Event::RunQuarantined { .. } => 0,
        Event::NextDecided(decision) => {
            let refused = decision.refused.iter();
            refused.map(|refused| refused.numbers.len() * 64).sum()
        }
        Event::LeaseTaken(_)
        | Event::AdmissionDecided(_)
        | Event::ToolsDone { .. }
        | Event::EffectCompensated { .. }
        | Event::RepairWanted { .. }
        | Event::AttemptStarted(_)
        | Event::AttemptInterrupted { .. }
        | Event::CallRescheduled { .. }
        | Event::CallOmitted { .. }
        | Event::CallSkipped { .. }
        | Event::CallFailed { .. }
        | Event::EffectInDoubt { .. }
        | Event::EffectAbsent { .. }
        | Event::EffectPartlyApplied { .. }
        | Event::ControlSettled { .. }
        | Event::KeyAwaited { .. }
        | Event::KeyTakenOver { .. }
        | Event::LateResult { .. }
        | Event::OrphanObserved { .. }
        | Event::HardPathLost { .. }
        | Event::AddendumRecorded { .. }
        | Event::RunClosed => 0,
    }
}

fn item(item: &Prepared) -> usize {
    item.request.len().saturating_add(ITEM_BYTES)
}
