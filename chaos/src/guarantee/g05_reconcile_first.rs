//! G5: once a write may have happened, nothing is sent for its call until it is known.

use std::collections::BTreeMap;

use mainstay_machine::{AttemptEnd, Event};
use mainstay_types::{CallId, RunId, Sent};

use super::{Breaches, Seen, Watch};

#[derive(Default)]
pub(super) struct G5 {
    /// Calls whose write may have happened, and why that is not known.
    unknown: BTreeMap<(RunId, CallId), &'static str>,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at some kinds of events among many"
)]
impl Watch for G5 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        let is_write = |call: CallId| {
            let call = seen.run.calls().get(call);
            call.is_some_and(|call| call.effect.is_some())
        };
        match seen.event {
            Event::AttemptSettled {
                call,
                end: AttemptEnd::Failed(failure),
                ..
            } if is_write(*call) && failure.sent == Sent::MaybeSent => {
                self.unknown.insert((seen.id, *call), "its reply was lost");
            }
            Event::AttemptInterrupted { call, .. } if is_write(*call) => {
                self.unknown.insert((seen.id, *call), "its process died");
            }
            Event::EffectInDoubt { call, .. } => {
                self.unknown.insert((seen.id, *call), "it is in doubt");
            }
            Event::EffectApplied { call, .. }
            | Event::EffectAbsent { call, .. }
            | Event::EffectPartlyApplied { call }
            | Event::EffectCompensated { call } => {
                self.unknown.remove(&(seen.id, *call));
            }
            Event::AttemptStarted(started) => self.is_known(seen, started.call, breaches),
            Event::CallRescheduled { call, .. } => self.is_known(seen, *call, breaches),
            _ => {}
        }
    }
}

impl G5 {
    fn is_known(&self, seen: &Seen<'_>, call: CallId, breaches: &mut Breaches) {
        if let Some(why) = self.unknown.get(&(seen.id, call)) {
            breaches.add(format_args!(
                "run {}: {} of {} although {why}",
                seen.id,
                seen.event.name(),
                seen.run.path(call)
            ));
        }
    }
}
