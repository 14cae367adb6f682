//! G7: a recorded answer is that attempt's own, a call has its value once in a lap, an attempt's late answer is recorded once, and a lap
//! ends once.

use std::collections::BTreeMap;

use mainstay_machine::{AttemptEnd, Event, Run};
use mainstay_sim::provider::Arrival;
use mainstay_types::{AttemptNo, CallId, Millis, RunId};

use super::{Breaches, Step, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G7 {
    values: BTreeMap<(RunId, CallId), &'static str>,
    late: BTreeMap<(RunId, CallId, AttemptNo), u32>,
    ended: BTreeMap<RunId, u32>,
    /// Answers, and when they were recorded.
    answered: Vec<(RunId, String, AttemptNo, Millis)>,
}

impl Watch for G7 {
    fn see(&mut self, step: &Step<'_>, breaches: &mut Breaches) {
        match step.event {
            Event::AttemptSettled {
                call,
                attempt,
                end: AttemptEnd::Answered,
                ..
            } => {
                let path = step.run.path(*call);
                let at = step.append.at;
                self.answered.push((step.id, path, *attempt, at));
            }
            Event::CallSettled { call, .. } | Event::EffectApplied { call, .. } => {
                let name = step.event.name();
                if let Some(before) = self.values.insert((step.id, *call), name) {
                    breaches.add(format_args!(
                        "run {}: {} has its value twice, by {before} and {name}",
                        step.id,
                        step.run.path(*call)
                    ));
                }
            }
            Event::LateValueRecorded { call, attempt, .. } => {
                let times = self.late.entry((step.id, *call, *attempt)).or_default();
                *times += 1;
                if 1 < *times {
                    breaches.add(format_args!(
                        "run {}: the late answer of {}/{attempt} is recorded twice",
                        step.id,
                        step.run.path(*call)
                    ));
                }
            }
            Event::LapEnded { .. } => {
                let laps = self.ended.entry(step.id).or_default();
                *laps += 1;
                if 1 < *laps {
                    breaches.add(format_args!("run {}: its lap ends twice", step.id));
                }
            }
            Event::LapStarted(_) => {
                self.ended.remove(&step.id);
            }
            Event::CompensationWanted(_) => self.values.retain(|(run, _), _| *run != step.id),
            _ => {}
        }
    }

    fn end(&mut self, facts: &Facts, _: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        for (run, path, attempt, at) in &self.answered {
            let mut arrivals = facts.outside.iter().flat_map(|outside| &outside.arrivals);
            let arrival = arrivals.find(|arrival| {
                !arrival.is_look_up
                    && arrival.run == *run
                    && arrival.call == *path
                    && arrival.attempt == *attempt
            });
            let has_ended = |arrival: &Arrival| arrival.ends_at.is_some_and(|end| end <= *at);
            if arrival.is_some_and(|arrival| !has_ended(arrival)) {
                breaches.add(format_args!(
                    "run {run}: {path}/{attempt} is said to be answered before it was"
                ));
            }
        }
    }
}
