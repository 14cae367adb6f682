//! What a turn has to tell once its append is durable; dropped when it is not.
//!
//! The only way from an event to a number or a span. Loading a run makes no notes.

use std::collections::BTreeSet;

use mainstay_machine::{Event, Run};
use mainstay_types::CallId;

use crate::observe::facts::{Fact, facts};
use crate::observe::metrics;
use crate::observe::spans::RunSpans;

/// The notes of one turn.
#[derive(Default)]
pub(crate) struct Notes {
    facts: Vec<Fact>,
    touched: BTreeSet<CallId>,
}

impl Notes {
    /// Notes `event`, which is about to change `before`.
    pub(crate) fn take(&mut self, before: &Run, event: &Event) {
        self.facts.extend(facts(before, event));
        self.touched.extend(event.call());
    }

    /// `run` is durable: tells.
    pub(crate) fn tell(self, spans: &mut RunSpans, run: &Run) {
        self.facts.into_iter().for_each(metrics::count);
        spans.follow(run, &self.touched);
    }
}
