//! G3: authorised amounts stay within the limits at every prefix of the log; each attempt is
//! settled once, and nothing stays reserved for what is over.

use std::collections::BTreeMap;

use mainstay_machine::{AttemptEnd, Event, Run};
use mainstay_sim::provider::Arrival;
use mainstay_types::{AttemptNo, CallId, CostUnits, RunId, Sent};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G3 {
    /// What is out, with what was reserved for it.
    out: BTreeMap<(RunId, CallId, AttemptNo), CostUnits>,
    /// Answers that were priced otherwise than reserved: whose, which attempt, both numbers.
    priced: Vec<(RunId, String, AttemptNo, [CostUnits; 2])>,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at some kinds of events among many"
)]
impl Watch for G3 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        match seen.event {
            Event::AttemptStarted(started) => {
                let attempt = (seen.id, started.call, started.attempt);
                self.out.insert(attempt, started.cost);
                is_within(seen, breaches);
            }
            Event::AttemptSettled {
                call,
                attempt,
                end,
                cost,
                ..
            } => self.is_priced(seen, (*call, *attempt), (end, *cost), breaches),
            Event::AttemptInterrupted { call, attempt, .. } => {
                self.ends(seen, (*call, *attempt), breaches);
            }
            _ => {}
        }
    }

    fn end(&mut self, facts: &Facts, runs: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        for (run, path, attempt, [cost, reserved]) in &self.priced {
            let arrivals = facts
                .outside
                .iter()
                .filter(|outside| !outside.names_its_price);
            let mut arrivals = arrivals.flat_map(|outside| &outside.arrivals);
            let is_it = |arrival: &Arrival| {
                arrival.run == *run && arrival.call == *path && arrival.attempt == *attempt
            };
            if arrivals.any(|arrival| !arrival.is_look_up && is_it(arrival)) {
                breaches.add(format_args!(
                    "{path}/{attempt} of run {run} is charged {cost}, reserved were {reserved}"
                ));
            }
        }
        let closed = |run: &RunId| {
            let head = runs.get(run).and_then(Run::head);
            head.is_some_and(|head| head.closed)
        };
        for (run, call, attempt) in self
            .out
            .keys()
            .filter(|(run, ..)| facts.ended && closed(run))
        {
            breaches.add(format_args!(
                "call {call}/{attempt} of run {run} is never settled"
            ));
        }
    }
}

impl G3 {
    /// What was reserved for an attempt that ends now.
    fn ends(
        &mut self,
        seen: &Seen<'_>,
        (call, attempt): (CallId, AttemptNo),
        breaches: &mut Breaches,
    ) -> Option<CostUnits> {
        let reserved = self.out.remove(&(seen.id, call, attempt));
        if reserved.is_none() {
            breaches.add(format_args!(
                "{}/{attempt} of run {} is settled twice",
                seen.run.path(call),
                seen.id
            ));
        }
        reserved
    }

    /// An attempt that never left costs nothing; one that was answered costs what its provider
    /// says, else what was reserved.
    fn is_priced(
        &mut self,
        seen: &Seen<'_>,
        (call, attempt): (CallId, AttemptNo),
        (end, cost): (&AttemptEnd, CostUnits),
        breaches: &mut Breaches,
    ) {
        let Some(reserved) = self.ends(seen, (call, attempt), breaches) else {
            return;
        };
        let path = seen.run.path(call);
        match end {
            AttemptEnd::Failed(failure) if failure.sent == Sent::NotSent => {
                if cost != CostUnits::ZERO {
                    breaches.add(format_args!(
                        "{path}/{attempt} of run {} never left, and {cost} are charged",
                        seen.id
                    ));
                }
            }
            AttemptEnd::Answered if cost != reserved => {
                self.priced.push((seen.id, path, attempt, [cost, reserved]));
            }
            AttemptEnd::Answered | AttemptEnd::Failed(_) => {}
        }
    }
}

/// The limits bound what is authorised; what an attempt really took may be more, and then nothing
/// more starts.
fn is_within(seen: &Seen<'_>, breaches: &mut Breaches) {
    let Some(head) = seen.run.head() else {
        return;
    };
    let (budget, limits) = (&head.lap.budget, &head.lap.budget.limits);
    let authorised = budget.spent + budget.reserved;
    if limits.cost_units < authorised {
        breaches.add(format_args!(
            "run {}: {authorised} authorised of {}",
            seen.id, limits.cost_units
        ));
    }
    if limits.retry_tokens < budget.retry_used {
        breaches.add(format_args!(
            "run {}: {} retries of {}",
            seen.id, budget.retry_used, limits.retry_tokens
        ));
    }
    if limits.concurrency_tokens < budget.in_flight {
        breaches.add(format_args!(
            "run {}: {} attempts at once of {}",
            seen.id, budget.in_flight, limits.concurrency_tokens
        ));
    }
}
