//! Whether what a call needs is there.
//!
//! A value that was left out with a notice, or skipped by its predicate, is absent but no failure:
//! its users see `None`. A value that failed takes its users with it.

use mainstay_types::NodeId;

use crate::call::{Call, Phase};
use crate::run::Run;

/// What a call's settled needs come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// It may go on.
    Met,
    /// Its predicate said no, or was skipped itself.
    Skip,
    /// Something it cannot do without has failed.
    Missing,
}

/// The needs of a call that waits for nothing any more.
pub(crate) fn of(run: &Run, call: &Call) -> Needs {
    let node = run.class().node(call.node);
    if let Some(verdict) = node.when.and_then(|when| of_predicate(run, when)) {
        return verdict;
    }
    if node.inputs.iter().any(|&input| failed(run, input)) {
        Needs::Missing
    } else {
        Needs::Met
    }
}

fn of_predicate(run: &Run, when: NodeId) -> Option<Needs> {
    match &run.node_call(when)?.phase {
        Phase::Settled { result, .. } if result.as_bytes() == b"true" => None,
        Phase::Settled { .. } | Phase::Skipped => Some(Needs::Skip),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Omitted { .. }
        | Phase::Failed { .. } => Some(Needs::Missing),
    }
}

fn failed(run: &Run, input: NodeId) -> bool {
    match run.node_call(input).map(|call| &call.phase) {
        Some(Phase::Settled { .. } | Phase::Omitted { .. } | Phase::Skipped) => false,
        Some(
            Phase::Waiting
            | Phase::Preparing
            | Phase::Ready { .. }
            | Phase::InFlight(_)
            | Phase::InDoubt
            | Phase::Items
            | Phase::Failed { .. },
        )
        | None => true,
    }
}
