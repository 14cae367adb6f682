//! What becomes of a call when nothing is scarce: its attempts, the waits between them, its end.
//!
//! Read from a run of the core itself in which every call stands alone, so that what a failure
//! forces (which rung, how often, after which wait) is the core's rule and not a copy of it. An
//! oracle places these courses; it never invents an attempt that the core would not make.

use mainstay_machine::Event;
use mainstay_types::{CallId, CostUnits, Millis, Rung, Tokens};

use super::draw::Draw;
use super::drive::{Driven, drive};
use crate::scenario::world::ORIGIN;

/// The course of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    pub(crate) attempts: Vec<Made>,
    /// From the end of the last attempt to the value: look-ups.
    pub(crate) after: Millis,
    /// Who gave the value; `None` when there is none.
    pub(crate) value: Option<Rung>,
}

/// One attempt of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// From the end of the one before.
    pub(crate) wait: Millis,
    pub(crate) takes: Millis,
    pub(crate) tokens: Tokens,
    /// The most it counts for: what is reserved, or what it really cost.
    pub(crate) cost: CostUnits,
}

/// The courses of a draw's calls, by node.
pub(crate) fn courses(draw: &Draw) -> Vec<Course> {
    let driven = drive(&draw.unbound(), None);
    let ids = (0..).map(CallId).take(draw.class.nodes.len());
    ids.map(|id| course(&driven, id)).collect()
}

fn course(driven: &Driven, id: CallId) -> Course {
    let mut course = Course::default();
    let (mut last, mut rung) = (ORIGIN, Rung(0));
    let of_call = driven.log.iter().filter(|s| s.event.call() == Some(id));
    for stamped in of_call {
        let (at, event) = (stamped.at, &stamped.event);
        if let Event::AttemptStarted(started) = event {
            course.attempts.push(Made {
                wait: last.until(at),
                takes: Millis::ZERO,
                tokens: started.retry_tokens,
                cost: started.cost,
            });
            (last, rung) = (at, started.rung);
        }
        if let Event::AttemptSettled { cost, .. } = event {
            let made = course.attempts.last_mut().expect("what ends has begun");
            (made.takes, made.cost) = (last.until(at), made.cost.max(*cost));
            last = at;
        }
        if let Event::CallSettled { .. } | Event::EffectApplied { .. } = event {
            (course.value, course.after) = (Some(rung), last.until(at));
        }
    }
    course
}
