//! What the random courses come to: a law about what never happens is kept by doing nothing.

use std::collections::BTreeMap;

use mainstay_machine::{AttemptState, Event, Lap};
use mainstay_types::CostUnits;

use super::course::Course;

/// How often each thing happened, by name.
pub(crate) type Tally = BTreeMap<&'static str, u32>;

/// What has to have happened for the laws to be about anything.
pub(crate) const NEEDED: [&str; 17] = [
    "cost beyond its limit",
    "retries beyond their limit",
    "corrected to more",
    "corrected to less",
    "interrupted",
    "held",
    "a second lap",
    "a raise",
    "a repair",
    "PREEMPTED",
    "RETRY_TOKENS_EXHAUSTED",
    "COST_EXHAUSTED",
    "CAP_REACHED",
    "SOFT_YIELDS",
    "DEADLINE_EXHAUSTED",
    "ATTEMPTS_EXHAUSTED",
    "closed",
];

/// Counts what happened in a course.
pub(crate) fn count(course: &Course, tally: &mut Tally) {
    let mut seen = |what: &'static str, happened: bool| {
        *tally.entry(what).or_default() += u32::from(happened);
    };
    for stamped in &course.log {
        let event = &stamped.event;
        seen("an attempt", matches!(event, Event::AttemptStarted(_)));
        seen(
            "interrupted",
            matches!(event, Event::AttemptInterrupted { .. }),
        );
        seen("a raise", matches!(event, Event::BudgetRaised(_)));
        seen("a repair", matches!(event, Event::RepairWanted { .. }));
        seen("a second lap", matches!(event, Event::LapStarted(_)));
        seen("closed", matches!(event, Event::RunClosed));
        if let Event::NextDecided(decision) = event {
            seen(decision.reason.as_str(), true);
        }
    }
    let head = course.run.head().expect("started");
    for lap in head.past.iter().chain([&head.lap]) {
        seen("cost beyond its limit", is_beyond(lap));
        let budget = &lap.budget;
        let retries = budget.limits.retry_tokens < budget.retry_used;
        seen("retries beyond their limit", retries);
    }
    seen("held", !head.held.is_empty());
    let attempts = course
        .run
        .calls()
        .iter()
        .flat_map(|(_, call)| &call.attempts);
    for made in attempts {
        if let AttemptState::Late { cost } = made.state {
            seen("corrected to more", made.reserved < cost);
            seen("corrected to less", cost < made.reserved);
        }
    }
}

fn is_beyond(lap: &Lap) -> bool {
    let budget = &lap.budget;
    let used: CostUnits = budget.spent + budget.reserved;
    budget.limits.cost_units < used
}
