//! Sentences about remote work that was given up, and about answers that came too late.
//!
//! Requested, dispatched, observed: an operator reads in the timeline whether somebody asked for a
//! stop, whether the attempt was told, and what it did then.

use mainstay_graph::OnLate;
use mainstay_machine::{Call, Run, Seen};
use mainstay_types::{AttemptNo, CallId, Payload, Timestamp};

use super::sentence::{Teller, bytes};

impl Teller<'_> {
    pub(super) fn orphaned(
        &self,
        (call, attempt): (CallId, AttemptNo),
        owner: &str,
        until: Timestamp,
    ) -> String {
        let (attempt, until) = (self.attempt(call, attempt), self.at(until));
        format!("{attempt} was told to stop and may go on; it is {owner}'s until {until}")
    }

    pub(super) fn observed(&self, (call, attempt): (CallId, AttemptNo), seen: Seen) -> String {
        let attempt = self.attempt(call, attempt);
        match seen {
            Seen::Canceled => format!("{attempt} was seen to have stopped"),
            Seen::CompletedLate => format!("{attempt} was seen to have gone on to its end"),
            Seen::Failed => format!("{attempt} was seen to have failed by itself"),
            Seen::StillRunning => {
                format!("{attempt}: nothing was heard in its time, it may still be running")
            }
        }
    }

    pub(super) fn adopted(
        &self,
        (call, attempt): (CallId, AttemptNo),
        (by, why): (&str, &str),
        until: Timestamp,
    ) -> String {
        let (attempt, until) = (self.attempt(call, attempt), self.at(until));
        format!("{by} took over what {attempt} goes on doing, until {until}: {why}")
    }

    pub(super) fn closed_orphan(
        &self,
        (call, attempt): (CallId, AttemptNo),
        (by, why): (&str, &str),
    ) -> String {
        let attempt = self.attempt(call, attempt);
        format!("{by} said that nobody waits for {attempt}: {why}")
    }

    pub(super) fn late_value(
        &self,
        (call, attempt): (CallId, AttemptNo),
        policy: OnLate,
        value: Option<&Payload>,
    ) -> String {
        let attempt = self.attempt(call, attempt);
        match (policy, value) {
            (OnLate::Drop, _) => format!("the late answer of {attempt} is thrown away"),
            (OnLate::Keep, Some(value)) => {
                format!("the late answer of {attempt} is kept: {}", bytes(value))
            }
            (OnLate::Keep, None) => {
                format!("the late answer of {attempt} adds nothing to what is there")
            }
            (OnLate::Review, value) => {
                let size = value.map_or_else(String::new, |value| format!(": {}", bytes(value)));
                format!("the late answer of {attempt} waits for somebody to look at it{size}")
            }
        }
    }
}

/// The attempt whose kept late answer became the call's value.
pub(super) fn kept_from(run: &Run, call: CallId, result: &Payload) -> Option<AttemptNo> {
    let call = run.calls().get(call)?;
    let (no, kept) = call.kept.as_ref()?;
    (kept == result && !was_answered(call)).then_some(*no)
}

fn was_answered(call: &Call) -> bool {
    let mut made = call.attempts.iter();
    made.any(|made| matches!(made.state, mainstay_machine::AttemptState::Answered { .. }))
}
