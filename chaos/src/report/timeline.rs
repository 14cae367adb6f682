//! What happened in a world, moment by moment: the log, what arrived, what befell it, what callers
//! heard.

use mainstay_types::{Millis, RunId};
use serde::Serialize;

use crate::facts::Facts;
use crate::schedule::Schedule;
use crate::world::book::Told;

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Moment {
    /// In ms since the world began.
    pub at_ms: u64,
    /// Where: `log`, `outside`, `fault` or `caller`.
    pub who: &'static str,
    /// What, in one line.
    pub what: String,
}

/// Beyond so many lines nobody reads on.
const LINES_MAX: usize = 2_000;

/// The timeline of a world.
pub(crate) fn of(facts: &Facts, schedule: &Schedule) -> Vec<Moment> {
    let mut moments = log(facts);
    let mut add = |at: Millis, who, what| {
        moments.push(Moment {
            at_ms: at.get(),
            who,
            what,
        });
    };
    for outside in &facts.outside {
        for arrival in &outside.arrivals {
            let deed = if arrival.is_look_up {
                "is asked about"
            } else {
                "gets"
            };
            let twist = if arrival.twisted {
                ", and a fault befalls it"
            } else {
                ""
            };
            add(
                arrival.at,
                "outside",
                format!(
                    "{} {deed} {}/{} of {}{twist}",
                    outside.name,
                    arrival.call,
                    arrival.attempt,
                    short(arrival.run)
                ),
            );
        }
        for applied in &outside.applied {
            let part = if applied.in_part { "a part of " } else { "" };
            add(
                applied.at,
                "outside",
                format!("{} does {part}{}", outside.name, applied.key),
            );
        }
    }
    for hit in &facts.hits {
        if let Some(fault) = schedule.faults.get(hit.fault) {
            add(
                hit.at,
                "fault",
                format!("{fault} ({}, {})", hit.call, hit.state),
            );
        }
    }
    for line in &facts.lines {
        let told = match &line.told {
            Told::Started(run) => format!("run {} is started", short(*run)),
            Told::Ready(kind, _) => format!("hears {}", kind.as_str()),
            Told::Later => "hears: later".to_owned(),
            Told::Outcome(kind, _) => format!("has the outcome {}", kind.as_str()),
            Told::Canceled => "its cancel is taken".to_owned(),
        };
        add(line.at, "caller", format!("order {}: {told}", line.order));
    }
    moments.sort_by_key(|moment| moment.at_ms);
    moments.truncate(LINES_MAX);
    moments
}

fn log(facts: &Facts) -> Vec<Moment> {
    use mainstay_machine::{Run, apply};
    let mut runs = std::collections::BTreeMap::new();
    let mut moments = Vec::new();
    for append in &facts.appends {
        let fresh = || Run::unborn(std::sync::Arc::clone(&facts.class));
        let run = runs.entry(append.run).or_insert_with(fresh);
        for stamped in &append.events {
            let is_applied = apply(run, &stamped.event).is_ok();
            let call = stamped.event.call().filter(|_| is_applied);
            let call = call.map_or_else(String::new, |call| format!(" {}", run.path(call)));
            moments.push(Moment {
                at_ms: append.at.get(),
                who: "log",
                what: format!(
                    "{}/{} {}{call}",
                    short(append.run),
                    append.epoch,
                    stamped.event.name()
                ),
            });
        }
    }
    moments
}

/// The end of a run's id: runs of one moment begin alike.
fn short(run: RunId) -> String {
    let text = run.to_string();
    let from = text.len().saturating_sub(6);
    text.get(from..).unwrap_or(&text).to_owned()
}
