//! What has happened to a run, one row per event.
//!
//! Every event has its row: what is not shown cannot be explained.

use mainstay_ledger::Recorded;
use mainstay_machine::Run;
use mainstay_machine::run::Head;
use serde::Serialize;

use super::raw;
use super::sentence::{Teller, said};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimelineRow {
    /// Its place in the run's log, from 1.
    pub seq: u64,
    /// When it was decided.
    pub at: String,
    /// The same, from the run's start.
    pub at_ms: u64,
    /// The epoch of its writer.
    pub epoch: u32,
    /// Its kind, for example `AttemptSettled`.
    pub event: &'static str,
    /// The path of the call it is about.
    pub call: Option<String>,
    /// What it says, with its numbers.
    pub text: String,
    /// What somebody else said about it: a provider, a panic.
    pub said: Option<String>,
}

pub(super) fn rows(run: &Run, head: &Head, recorded: &[Recorded]) -> Vec<TimelineRow> {
    let teller = Teller {
        run,
        start: head.started_at,
    };
    let row = |entry: &Recorded| TimelineRow {
        seq: entry.seq.get(),
        at: raw::time(entry.at),
        at_ms: entry.at.since(head.started_at).get(),
        epoch: entry.epoch.get(),
        event: entry.event.name(),
        call: entry.event.call().map(|call| run.path(call)),
        text: teller.sentence(entry),
        said: said(&entry.event),
    };
    recorded.iter().map(row).collect()
}
