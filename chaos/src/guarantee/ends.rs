//! Once the faults are over everything ends: each caller has its outcome, each run is closed, none
//! is given up on.

use std::collections::BTreeMap;

use mainstay_machine::Run;
use mainstay_types::RunId;

use super::{Breaches, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct Ends;

impl Watch for Ends {
    fn end(&mut self, facts: &Facts, runs: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        if let Some(stuck) = &facts.stuck {
            breaches.add(stuck);
        }
        for (id, run) in runs {
            let Some(head) = run.head() else {
                continue;
            };
            if let Some(why) = &head.quarantined {
                breaches.add(format_args!("run {id} is quarantined: {why}"));
            } else if !head.closed {
                let state = view_of(run);
                breaches.add(format_args!("run {id} does not end: {state}"));
            }
        }
        if runs.is_empty() || (!facts.ended && breaches.is_empty()) {
            breaches.add("a caller never hears how its run ended");
        }
    }
}

fn view_of(run: &Run) -> String {
    let state = mainstay_machine::view::state(run);
    let reason = mainstay_machine::view::reason(run);
    format!("{state:?}, {reason:?}")
}
