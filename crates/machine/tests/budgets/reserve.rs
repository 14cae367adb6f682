//! The time that has to stay after an attempt, worked out a second time: by walking every path.
//!
//! The core sweeps the graph once from its end; here each path is walked on its own, so that the
//! two can only agree by being right. Nothing here may call `graph::path`.

use mainstay_graph::{Contract, Node, TaskClass};
use mainstay_types::{Millis, NodeId, Rung};

/// For each node: what must stay after an attempt of it, before the rungs below it are counted.
pub(crate) fn reserves(class: &TaskClass) -> Vec<Millis> {
    let of = |(id, node): (NodeId, &Node)| {
        let mut found = Found::default();
        walk(class, id, Millis::ZERO, &mut found);
        let writes = found.writes || node.effect().is_some();
        let reconcile = match writes {
            true => class.reserve.reconcile,
            false => Millis::ZERO,
        };
        found.longest.max(own(node)) + class.reserve.synthesis + reconcile
    };
    class.ids().map(of).collect()
}

/// What the rungs below `rung` need at least.
pub(crate) fn below(contract: &Contract, rung: Rung) -> Millis {
    let rungs = contract.fallbacks.iter().skip(usize::from(rung.get()));
    let tried = rungs.filter(|rung| rung.kind.attempts());
    tried.fold(Millis::ZERO, |sum, rung| sum + rung.min_useful)
}

#[derive(Default)]
struct Found {
    longest: Millis,
    writes: bool,
}

/// Every path that begins at `id`; `so_far` is what the hard nodes on the way here take.
fn walk(class: &TaskClass, id: NodeId, so_far: Millis, found: &mut Found) {
    for next in class.dependents(id) {
        let node = class.node(next);
        let mut there = so_far;
        if is_needed(class, next) {
            let estimate = node.contract().map_or(Millis::ZERO, |all| all.estimate);
            there = there + estimate;
            found.longest = found.longest.max(there + own(node));
            found.writes |= node.effect().is_some();
        }
        walk(class, next, there, found);
    }
}

/// Whether the run cannot be completed without the node.
fn is_needed(class: &TaskClass, id: NodeId) -> bool {
    let node = class.node(id);
    let is_asked = class.result.contains(&id) || node.effect().is_some();
    node.is_hard() && (is_asked || class.dependents(id).any(|next| is_needed(class, next)))
}

fn own(node: &Node) -> Millis {
    node.contract()
        .map_or(Millis::ZERO, |contract| contract.deadline_reserve)
}
