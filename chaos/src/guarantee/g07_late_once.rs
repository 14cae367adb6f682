//! G7: a recorded answer is that attempt's own, a call has its value once in a lap and none after
//! it was given up, an attempt's late answer is recorded once, and a lap ends once.
//!
//! It reads the log as it was written: what could not be replayed counts too.

use std::collections::BTreeMap;

use mainstay_machine::{AttemptEnd, Event, Run};
use mainstay_sim::provider::Arrival;
use mainstay_types::{AttemptNo, CallId, Millis, RunId};

use super::{Breaches, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G7 {
    /// How a call was settled, or given up, in this lap.
    over: BTreeMap<(RunId, CallId), &'static str>,
    late: BTreeMap<(RunId, CallId, AttemptNo), u32>,
    ended: BTreeMap<RunId, u32>,
    /// Answers, and when they were recorded.
    answered: Vec<(RunId, CallId, AttemptNo, Millis)>,
}

impl Watch for G7 {
    fn end(&mut self, facts: &Facts, runs: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        for append in &facts.appends {
            for stamped in &append.events {
                self.read((append.run, append.at), &stamped.event, breaches);
            }
        }
        for (run, call, attempt, at) in &self.answered {
            let path = runs.get(run).map(|run| run.path(*call));
            let mut arrivals = facts.outside.iter().flat_map(|outside| &outside.arrivals);
            let arrival = arrivals.find(|arrival| {
                !arrival.is_look_up
                    && arrival.run == *run
                    && Some(&arrival.call) == path.as_ref()
                    && arrival.attempt == *attempt
            });
            let has_ended = |arrival: &Arrival| arrival.ends_at.is_some_and(|end| end <= *at);
            if arrival.is_some_and(|arrival| !has_ended(arrival)) {
                breaches.add(format_args!(
                    "run {run}: {}/{attempt} is said to be answered before it was",
                    path.unwrap_or_default()
                ));
            }
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at some kinds of events among many"
)]
impl G7 {
    fn read(&mut self, (run, at): (RunId, Millis), event: &Event, breaches: &mut Breaches) {
        match event {
            Event::AttemptSettled {
                call,
                attempt,
                end: AttemptEnd::Answered,
                ..
            } => self.answered.push((run, *call, *attempt, at)),
            Event::CallSettled { call, .. } | Event::EffectApplied { call, .. } => {
                let name = event.name();
                if let Some(before) = self.over.insert((run, *call), name) {
                    breaches.add(format_args!(
                        "run {run}: call {call} has its value by {name}, after {before}"
                    ));
                }
            }
            Event::CallOmitted { call, .. } => {
                self.over.insert((run, *call), event.name());
            }
            Event::LateValueRecorded { call, attempt, .. } => {
                let times = self.late.entry((run, *call, *attempt)).or_default();
                *times += 1;
                if 1 < *times {
                    breaches.add(format_args!(
                        "run {run}: the late answer of call {call}/{attempt} is recorded twice"
                    ));
                }
            }
            Event::LapEnded { .. } => {
                let laps = self.ended.entry(run).or_default();
                *laps += 1;
                if 1 < *laps {
                    breaches.add(format_args!("run {run}: its lap ends twice"));
                }
            }
            Event::LapStarted(_) => {
                self.ended.remove(&run);
                self.over
                    .retain(|(other, _), how| *other != run || *how != "CallOmitted");
            }
            Event::CompensationWanted(_) => self.over.retain(|(other, _), _| *other != run),
            _ => {}
        }
    }
}
