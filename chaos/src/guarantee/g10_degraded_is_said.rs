//! G10: a lap that lacks something says so, and a soft call leaves what the hard path costs.

use std::collections::BTreeSet;

use mainstay_graph::{NodeKind, path};
use mainstay_machine::{Event, OutcomeKind, Phase, Run, view};
use mainstay_types::{CostUnits, NodeId, RunId};

use super::{Breaches, Seen, Watch};

#[derive(Default)]
pub(super) struct G10 {
    hard: Option<BTreeSet<NodeId>>,
    begun: BTreeSet<(RunId, NodeId)>,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at some kinds of events among many"
)]
impl Watch for G10 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        match seen.event {
            Event::LapStarted(_) => self.begun.retain(|(run, _)| *run != seen.id),
            Event::LapEnded { outcome, .. } => is_said(seen, *outcome, breaches),
            Event::AttemptStarted(started) => {
                let Some(call) = seen.run.calls().get(started.call) else {
                    return;
                };
                let (node, is_undo) = (call.node, call.is_undo());
                if !is_undo {
                    self.leaves_enough(seen, node, breaches);
                }
                self.begun.insert((seen.id, node));
            }
            _ => {}
        }
    }
}

impl G10 {
    /// Whether what is authorised leaves one attempt of every hard node that has not begun.
    fn leaves_enough(&mut self, seen: &Seen<'_>, node: NodeId, breaches: &mut Breaches) {
        let class = seen.run.class();
        let hard = self.hard.get_or_insert_with(|| path::hard_path(class));
        let Some(head) = seen.run.head().filter(|_| !hard.contains(&node)) else {
            return;
        };
        let begun =
            |other: &NodeId| self.begun.contains(&(seen.id, *other)) || is_over(seen.run, *other);
        let costs = hard
            .iter()
            .filter(|other| !begun(other))
            .filter_map(|other| {
                let node = class.node(*other);
                // How many items there will be is not known before; an each may have none.
                let is_one = !matches!(node.kind, NodeKind::Each { .. });
                node.contract()
                    .filter(|_| is_one)
                    .map(|contract| contract.cost)
            });
        let needed: CostUnits = costs.sum();
        let left = head.lap.budget.cost_left();
        if left < needed {
            breaches.add(format_args!(
                "run {}: the soft `{}` leaves {left}, the hard path needs {needed}",
                seen.id,
                class.node(node).name
            ));
        }
    }
}

fn is_over(run: &Run, node: NodeId) -> bool {
    run.node_call(node).is_some_and(|call| {
        matches!(
            call.phase,
            Phase::Settled { .. } | Phase::Omitted { .. } | Phase::Skipped | Phase::Failed { .. }
        )
    })
}

fn is_said(seen: &Seen<'_>, outcome: OutcomeKind, breaches: &mut Breaches) {
    let missing = seen.run.calls().iter().any(|(_, call)| {
        let by_fallback = matches!(&call.phase, Phase::Settled { rung, .. } if 0 < rung.get());
        by_fallback || matches!(call.phase, Phase::Omitted { .. })
    });
    let notices = view::notices(seen.run).len();
    if outcome == OutcomeKind::Completed && missing {
        breaches.add(format_args!(
            "run {} is completed, and something is missing",
            seen.id
        ));
    }
    if outcome == OutcomeKind::Degraded && notices == 0 {
        breaches.add(format_args!(
            "run {} is degraded, and no notice says of what",
            seen.id
        ));
    }
}
