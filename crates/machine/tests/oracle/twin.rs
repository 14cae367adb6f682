//! The same draw in another frame: its calls alone, without its soft calls, or with ample budgets.
//!
//! What happens to a call hangs on its seed and place, so a twin's calls meet the same truth.

use mainstay_graph::{NodeKind, TaskClass, path};
use mainstay_types::{CostUnits, Millis, NodeId, Tokens, limits};

use super::draw::Draw;

impl Draw {
    /// Every call for itself, with time and budget for all that the core's rules let it try.
    pub(crate) fn unbound(&self) -> Self {
        let mut twin = self.ample();
        for node in &mut twin.class.nodes {
            node.inputs.clear();
        }
        twin.class.budget.concurrency_tokens = Tokens::new(limits::RUN_CONCURRENCY_MAX);
        twin.class.times.answer_by = Millis::new(limits::ANSWER_MS_MAX);
        twin
    }

    /// With retry tokens and cost for everything, so that only time and places are scarce.
    pub(crate) fn ample(&self) -> Self {
        let mut twin = self.clone();
        twin.class.budget.retry_tokens = Tokens::new(limits::RUN_RETRIES_MAX);
        twin.class.budget.cost_units = CostUnits::units(1_000_000);
        twin
    }

    /// Only the hard path.
    pub(crate) fn without_soft(&self) -> Self {
        let hard: Vec<NodeId> = path::hard_path(&self.class).into_iter().collect();
        let moved = |id: &NodeId| hard.binary_search(id).ok().map(node_id);
        let mut class = TaskClass {
            nodes: Vec::new(),
            result: self.class.result.iter().filter_map(moved).collect(),
            ..self.class.clone()
        };
        for &id in &hard {
            let mut node = self.class.node(id).clone();
            node.inputs = node.inputs.iter().filter_map(moved).collect();
            class.nodes.push(node);
        }
        let places = hard.iter().map(|id| self.places[usize::from(id.get())]);
        Self {
            seed: self.seed,
            class,
            room: self.room,
            places: places.collect(),
        }
    }

    /// Whether the hard path can be compared with itself alone: there is something beside it, and
    /// it uses nothing of that.
    pub(crate) fn is_comparable(&self) -> bool {
        self.has_soft() && self.stands_alone()
    }

    /// Whether no call of the hard path uses the value of one that is not on it.
    pub(crate) fn stands_alone(&self) -> bool {
        let hard = path::hard_path(&self.class);
        let mut needs = hard.iter().flat_map(|&id| self.class.node(id).needs());
        needs.all(|need| hard.contains(&need))
    }

    /// Whether calls beside the hard path are attempted.
    pub(crate) fn has_soft(&self) -> bool {
        let hard = path::hard_path(&self.class);
        let mut beside = self.class.ids().filter(|(id, _)| !hard.contains(id));
        beside.any(|(_, node)| !matches!(node.kind, NodeKind::Local))
    }
}

fn node_id(place: usize) -> NodeId {
    NodeId(u16::try_from(place).expect("few nodes"))
}
