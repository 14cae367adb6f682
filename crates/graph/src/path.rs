//! What a run cannot do without, how long that takes, and what must be left after each call.
//!
//! Three questions about one graph. Take this class (estimates in brackets, soft calls marked):
//!
//! ```text
//! policy [2 s] ----------+
//!                        +--> draft [3 s] --> tickets (write) [1 s]
//! related [5 s, soft] ---+
//!                        reserves: synthesis 2 s, reconcile 1 s
//! ```
//!
//! - *Hard path*: `policy`, `draft`, `tickets`. `related` can be omitted, so it is not on it, and
//!   neither would be a hard call that only `related` needs.
//! - *Critical path*: `policy -> draft -> tickets`, 6 s, although `related` alone takes 5 s and
//!   `related -> draft -> tickets` would take 9 s: the run does not wait for a soft call that
//!   does not fit.
//! - *Downstream reserve*: after `tickets` 3 s (synthesis and reconcile) must remain, after
//!   `draft` 4 s, after `policy` 7 s, and after `related` 7 s as well.
//!
//! Local work and predicates count as 0, and an `each` as one item: how many there will be is not
//! known to the class. Nothing here looks at a run.
//!
//! All functions need a class whose refs point at earlier nodes (see [`crate::validate()`]); they
//! panic on refs to nodes that do not exist.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use mainstay_types::{Millis, NodeId};

use crate::class::{Node, TaskClass};

/// The longest chain, by estimates, that the result or a write needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// From the first call to the last; each needs the one before it.
    pub nodes: Vec<NodeId>,
    /// The sum of their estimates, without reserves.
    pub estimate: Millis,
}

/// The nodes without which the run cannot be completed.
///
/// A node is one of them when it is hard and a hard result or a write can be reached from it
/// through hard nodes only. What only soft nodes need is not.
#[must_use]
pub fn hard_path(class: &TaskClass) -> BTreeSet<NodeId> {
    let mut open: Vec<NodeId> = class.result.clone();
    // What a model or a person may ask for is on nobody's way before it is asked for.
    open.extend(
        class
            .ids()
            .filter(|(_, node)| node.effect().is_some() && node.is_of_graph())
            .map(|(id, _)| id),
    );
    let mut path = BTreeSet::new();
    while let Some(id) = open.pop() {
        let node = class.node(id);
        if node.is_hard() && path.insert(id) {
            open.extend(node.needs());
        }
    }
    path
}

/// The longest chain of the hard path, by estimates.
///
/// Among equally long chains the one whose nodes come later in the class, so that the answer is
/// the same every time. Empty when nothing is needed.
#[must_use]
pub fn critical_path(class: &TaskClass) -> CriticalPath {
    critical_path_by(class, |id| estimate(class.node(id)))
}

/// The same, with other estimates than the contracts', for example observed ones.
#[must_use]
pub fn critical_path_by(class: &TaskClass, estimate: impl Fn(NodeId) -> Millis) -> CriticalPath {
    let hard = hard_path(class);
    let arrivals = arrivals(class, &hard, estimate);
    let last = hard
        .into_iter()
        .max_by_key(|&id| (arrivals[index(id)].end, id));
    last.map_or_else(CriticalPath::default, |id| chain_to(&arrivals, id))
}

/// The least time, by other estimates than the contracts', until everything that is needed is there
/// and what each call keeps back behind itself has passed.
#[must_use]
pub fn critical_time_by(class: &TaskClass, estimate: impl Fn(NodeId) -> Millis) -> Millis {
    let hard = hard_path(class);
    let arrivals = arrivals(class, &hard, estimate);
    let ends = hard
        .iter()
        .map(|&id| arrivals[index(id)].end + own_reserve(class.node(id)));
    ends.max().unwrap_or(Millis::ZERO)
}

/// When a node ends at the earliest if all goes as estimated, and what it waited for last.
#[derive(Clone, Copy, Default)]
struct Arrival {
    end: Millis,
    before: Option<NodeId>,
}

fn arrivals(
    class: &TaskClass,
    hard: &BTreeSet<NodeId>,
    estimate: impl Fn(NodeId) -> Millis,
) -> Vec<Arrival> {
    let mut arrivals = vec![Arrival::default(); class.nodes.len()];
    for (id, node) in class.ids().filter(|(id, _)| hard.contains(id)) {
        let needs = node.needs().filter(|need| hard.contains(need));
        let before = needs.max_by_key(|&need| (arrivals[index(need)].end, need));
        let start = before.map_or(Millis::ZERO, |need| arrivals[index(need)].end);
        arrivals[index(id)] = Arrival {
            end: start + estimate(id),
            before,
        };
    }
    arrivals
}

fn chain_to(arrivals: &[Arrival], last: NodeId) -> CriticalPath {
    let before = |&id: &NodeId| arrivals[index(id)].before;
    let mut nodes: Vec<NodeId> = std::iter::successors(Some(last), before).collect();
    nodes.reverse();
    CriticalPath {
        nodes,
        estimate: arrivals[index(last)].end,
    }
}

/// The time that must stay after an attempt of this node ends; see [`downstream_reserves`].
#[must_use]
pub fn downstream_reserve(class: &TaskClass, id: NodeId) -> Millis {
    downstream_reserves(class)[index(id)]
}

/// For each node, by its place: the time that must stay after an attempt of it ends.
///
/// The longest chain of estimates over hard nodes after it (soft ones on the way count as 0: they
/// can be omitted), or the node's own `deadline_reserve` where that is more; plus the synthesis
/// reserve; plus the reconcile reserve when the node itself or a hard one after it writes.
#[must_use]
pub fn downstream_reserves(class: &TaskClass) -> Vec<Millis> {
    let after = follow(class);
    let reserve = |(node, after): (&Node, &After)| {
        let writes = after.writes || node.effect().is_some();
        let reconcile = if writes {
            class.reserve.reconcile
        } else {
            Millis::ZERO
        };
        own_reserve(node).max(after.time) + class.reserve.synthesis + reconcile
    };
    class.nodes.iter().zip(&after).map(reserve).collect()
}

/// What hard nodes after a node need.
#[derive(Clone, Copy, Default)]
struct After {
    time: Millis,
    writes: bool,
}

/// One sweep from the last node to the first: each tells those it needs what it needs itself.
fn follow(class: &TaskClass) -> Vec<After> {
    let hard = hard_path(class);
    let mut after = vec![After::default(); class.nodes.len()];
    let mut ids: Vec<(NodeId, &Node)> = class.ids().collect();
    ids.sort_by_key(|&(id, _)| Reverse(id));
    for (id, node) in ids {
        let behind = after[index(id)];
        let told = if hard.contains(&id) {
            After {
                time: estimate(node) + own_reserve(node).max(behind.time),
                writes: behind.writes || node.effect().is_some(),
            }
        } else {
            behind
        };
        for need in node.needs().chain(node.offers().iter().copied()) {
            let entry = &mut after[index(need)];
            entry.time = entry.time.max(told.time);
            entry.writes |= told.writes;
        }
    }
    after
}

/// How long the node is expected to take.
#[must_use]
pub fn estimate(node: &Node) -> Millis {
    node.contract()
        .map_or(Millis::ZERO, |contract| contract.estimate)
}

fn own_reserve(node: &Node) -> Millis {
    node.contract()
        .map_or(Millis::ZERO, |contract| contract.deadline_reserve)
}

fn index(id: NodeId) -> usize {
    usize::from(id.get())
}

/// The chain of the hard path that needs the most time once its downstream reserve is added, and
/// that reserve.
pub(crate) fn longest(class: &TaskClass) -> (CriticalPath, Millis) {
    let hard = hard_path(class);
    let arrivals = arrivals(class, &hard, |id| estimate(class.node(id)));
    let reserves = downstream_reserves(class);
    // All nodes of one chain may need the same time; the last of them tells most.
    let last = hard
        .into_iter()
        .max_by_key(|&id| (arrivals[index(id)].end + reserves[index(id)], id));
    last.map_or_else(
        || (CriticalPath::default(), class.reserve.synthesis),
        |id| (chain_to(&arrivals, id), reserves[index(id)]),
    )
}
