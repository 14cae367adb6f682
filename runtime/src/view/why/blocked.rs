//! Per call: what it waits for, or why it has no value.
//!
//! Whether a call may start is asked of the core; the words are made from its refusal.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_graph::path;
use mainstay_machine::{Call, Phase, may_start};
use mainstay_types::{CallId, Code, NodeId, Timestamp};
use serde::Serialize;

use super::About;
use super::stop::{Stop, Stops};
use crate::view::call::{dependency, doubt};
use crate::view::{decided, raw};

/// A call that does not have its value.
#[derive(Clone, Debug, Serialize)]
pub struct BlockedView {
    /// Its path.
    pub call: String,
    /// Whether the result needs it.
    pub on_hard_path: bool,
    /// Where it stands, for example `in_flight`.
    pub state: &'static str,
    /// In words.
    pub why: String,
    /// The first condition that failed, when one did.
    pub code: Option<&'static str>,
    /// What was compared, by name: counts, `_ms`, `_micros`.
    pub numbers: BTreeMap<String, i64>,
    /// The command that prints the page of that code.
    pub page: Option<String>,
    /// When something changes by itself at the latest.
    pub until: Option<String>,
    /// What was decided about it last, with the numbers of that moment.
    pub decided: Option<String>,
    /// Whether it may still get a value in this lap.
    #[serde(skip)]
    pub(super) is_open: bool,
}

/// All rows, each with what change needs to know.
pub(super) fn rows(about: About<'_>, stops: &Stops<'_>) -> Vec<(BlockedView, Option<Stop>)> {
    let hard = path::hard_path(about.run.class());
    let teller = Teller { about, stops, hard };
    let of_calls = about.run.calls().iter();
    let mut told: Vec<_> = of_calls
        .filter_map(|(id, call)| Some((id, teller.words(id, call)?)))
        .collect();
    let is_soft = |id: CallId| {
        let call = about.run.calls().get(id);
        call.is_none_or(|call| !teller.hard.contains(&call.node))
    };
    told.sort_by_key(|(id, _)| (is_soft(*id), *id));
    let rows = told
        .into_iter()
        .filter_map(|(id, words)| teller.row(id, words));
    rows.collect()
}

struct Teller<'a> {
    about: About<'a>,
    stops: &'a Stops<'a>,
    hard: BTreeSet<NodeId>,
}

/// Before it is a row.
struct Words {
    why: String,
    stop: Option<Stop>,
    until: Option<Timestamp>,
}

impl Words {
    fn plain(why: impl Into<String>) -> Self {
        let why = why.into();
        Self {
            why,
            stop: None,
            until: None,
        }
    }

    fn until(self, until: Timestamp) -> Self {
        let until = Some(until);
        Self { until, ..self }
    }
}

impl Teller<'_> {
    fn row(&self, id: CallId, words: Words) -> Option<(BlockedView, Option<Stop>)> {
        let call = self.about.run.calls().get(id)?;
        let Words { why, stop, until } = words;
        let decision = self.stops.decision(id);
        let row = BlockedView {
            call: self.about.run.path(id),
            on_hard_path: self.hard.contains(&call.node),
            state: call.phase.as_str(),
            why,
            code: stop.as_ref().map(|stop| stop.code.as_str()),
            numbers: stop
                .as_ref()
                .map_or_else(BTreeMap::new, |stop| stop.numbers.clone()),
            page: stop
                .as_ref()
                .map(|stop| format!("mainstay error {}", stop.code)),
            until: until.map(raw::time),
            decided: decision.map(decided::next),
            is_open: !call.phase.is_final(),
        };
        Some((row, stop))
    }

    /// `None` for a call that has its value or needs none.
    fn words(&self, id: CallId, call: &Call) -> Option<Words> {
        let is_over = self.about.head.lap.outcome.is_some();
        match &call.phase {
            Phase::Settled { rung, .. } if is_over && 0 < rung.get() => {
                Some(Words::plain(format!("its value is of fallback {rung}")))
            }
            Phase::Settled { .. } | Phase::Skipped => None,
            Phase::Omitted { reason } => Some(Words {
                stop: self.stops.stop(id),
                ..Words::plain(format!("it was left out: {reason}"))
            }),
            Phase::Failed { kind, reason } => Some(Words {
                stop: self.stops.stop(id),
                ..Words::plain(format!("it has no value: {kind}, {reason}"))
            }),
            Phase::InFlight(no) => self.in_flight(id, call, no.get()),
            Phase::InDoubt => Some(in_doubt(call)),
            Phase::Waiting | Phase::Preparing | Phase::Ready { .. } | Phase::Items if is_over => {
                None
            }
            Phase::Waiting => Some(self.waiting(call)),
            Phase::Preparing => Some(Words::plain("its own code has to run")),
            Phase::Ready { not_before } => Some(self.ready(id, call, *not_before)),
            Phase::Items => self.items(call),
        }
    }

    fn in_flight(&self, id: CallId, call: &Call, no: u32) -> Option<Words> {
        let out = call.in_flight()?;
        let contract = self.about.run.class().node(call.node).contract();
        let whom = contract.and_then(|contract| dependency(contract, out.rung));
        let (whom, at) = (whom.unwrap_or_else(|| self.about.run.path(id)), out.at);
        let why = format!("attempt {no} to {whom} is out since {}", raw::time(at));
        Some(Words::plain(why).until(out.at + out.timeout))
    }

    fn waiting(&self, call: &Call) -> Words {
        let run = self.about.run;
        let open = run.class().node(call.node).needs().filter_map(|node| {
            // The calls of nodes come first, in the class's order.
            let id = CallId(u32::from(node.get()));
            let need = run.calls().get(id)?;
            (!need.phase.is_final()).then(|| run.path(id))
        });
        let open: Vec<String> = open.collect();
        match open.is_empty() {
            true => Words::plain("it waits for its turn"),
            false => Words::plain(format!("it waits for {}", open.join(", "))),
        }
    }

    fn ready(&self, id: CallId, call: &Call, not_before: Timestamp) -> Words {
        let now = self.about.now;
        if now < not_before {
            let why = match call.key_holder {
                Some(holder) => format!("run {holder} holds its effect key"),
                None => "it is tried again later".to_owned(),
            };
            let stop = call.key_holder.map(|holder| Stop {
                code: Code::KeyHeld,
                numbers: BTreeMap::new(),
                about: Some(holder.to_string()),
            });
            let words = Words::plain(why).until(not_before);
            return Words { stop, ..words };
        }
        match may_start(self.about.run, id, now) {
            Ok(()) => Words::plain("it may start: it waits for the process that drives the run"),
            Err(refusal) => {
                let is_held = refusal.code == Code::ConcurrencyExhausted;
                let free = self.about.head.held.iter().map(|held| held.until);
                let free = free.filter(|until| now < *until && is_held).min();
                let idle = self.about.run.calls().in_flight().next().is_none();
                Words {
                    stop: Some(Stop::of(&refusal)),
                    until: free.filter(|_| idle),
                    ..Words::plain(refusal.code.summary())
                }
            }
        }
    }

    fn items(&self, call: &Call) -> Option<Words> {
        let items = call.items.as_ref()?;
        let all = items.calls().count();
        Some(Words::plain(format!(
            "{} of its {all} items are open",
            items.open
        )))
    }
}

fn in_doubt(call: &Call) -> Words {
    let stop = Stop {
        code: Code::EffectInDoubt,
        numbers: BTreeMap::new(),
        about: None,
    };
    match call.effect.as_ref().and_then(doubt) {
        Some(doubt) => {
            let why = format!(
                "nobody knows whether its effect happened; \"not found\" counts from {}",
                raw::time(doubt.absent_after)
            );
            let words = Words::plain(why).until(doubt.lookup_at);
            Words {
                stop: Some(stop),
                ..words
            }
        }
        None => Words {
            stop: Some(stop),
            ..Words::plain("its effect was applied in part; a person has to look")
        },
    }
}
