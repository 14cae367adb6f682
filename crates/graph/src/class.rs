//! The task class: nodes, edges, times, budget.
//!
//! A class is immutable once built. It never holds closures or connections.

use std::sync::Arc;

use mainstay_types::{
    ClassName, ClassVersion, CostUnits, DependencyName, Millis, NodeId, NodeName, Tokens, limits,
};

use crate::contract::{Contract, EffectContract, EffectSemantics};

/// A JSON Schema as opaque canonical JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema(pub Arc<str>);

/// A named, versioned graph of calls that runs are started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskClass {
    /// The class's name.
    pub name: ClassName,
    /// The author's version; a changed class needs a new one.
    pub version: ClassVersion,
    /// What a run is given.
    pub input: Schema,
    /// What a run returns.
    pub output: Schema,
    /// What one lap may spend.
    pub budget: Budget,
    /// Until when, relative to the lap's start.
    pub times: Times,
    /// Time kept back for later stages.
    pub reserve: Reserve,
    /// What the time during which no process drove the run does to its times.
    pub on_downtime: OnDowntime,
    /// How the lap ends when its hard path cannot be completed.
    pub on_failure: OnFailure,
    /// What follows when a call of the hard path meets a limit of the lap.
    pub on_limit: OnLimit,
    /// What one lap may do at most, beside its budget.
    pub caps: Caps,
    /// How long a lap may work whose answer would come too late, when its caller takes a later
    /// one; `None`: such a lap is not begun.
    pub later: Option<Millis>,
    /// The calls, each after all that it needs.
    pub nodes: Vec<Node>,
    /// The nodes whose values make the result.
    pub result: Vec<NodeId>,
}

impl TaskClass {
    /// The node with this id. Panics on an id of another class.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[usize::from(id.get())]
    }

    /// Every node with its id, in order.
    pub fn ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0u16..).map(NodeId).zip(&self.nodes)
    }

    /// The node with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(NodeId, &Node)> {
        self.ids().find(|(_, node)| node.name.as_str() == name)
    }

    /// Nodes that need `id`'s value or wait for its predicate.
    pub fn dependents(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.ids()
            .filter(move |(_, node)| node.needs().any(|n| n == id))
            .map(|(n, _)| n)
    }

    /// Until when attempts may run: as set, else `answer_by` less the delivery reserve.
    #[must_use]
    pub fn work_by(&self) -> Millis {
        self.times
            .work_by
            .unwrap_or_else(|| self.times.answer_by.less(self.reserve.deliver))
    }

    /// The reads that can be asked once more with what was wrong.
    pub fn repairing(&self) -> impl Iterator<Item = NodeId> {
        let can = |node: &Node| match &node.kind {
            NodeKind::Read { contract } => contract.repair,
            NodeKind::Write { .. }
            | NodeKind::Each { .. }
            | NodeKind::Tools { .. }
            | NodeKind::Local
            | NodeKind::When => false,
        };
        self.ids()
            .filter(move |(_, node)| can(node))
            .map(|(id, _)| id)
    }

    /// The node that offers this one to a model.
    #[must_use]
    pub fn offered_by(&self, tool: NodeId) -> Option<NodeId> {
        self.ids()
            .find(|(_, node)| node.offers().contains(&tool))
            .map(|(id, _)| id)
    }

    /// The node that undoes what this one writes, when the class says how.
    #[must_use]
    pub fn compensation_of(&self, write: NodeId) -> Option<NodeId> {
        self.ids()
            .find(|(_, node)| node.undoes == Some(write))
            .map(|(id, _)| id)
    }

    /// Whether any node writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.nodes.iter().any(|node| node.effect().is_some())
    }
}

/// What one lap may spend. Every part is reserved before an attempt and settled after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Attempts beyond the first of each call that load a provider. Bound:
    /// `limits::RUN_RETRIES_MAX`.
    pub retry_tokens: Tokens,
    /// Attempts in flight at once. Bound: 1 to `limits::RUN_CONCURRENCY_MAX`.
    pub concurrency_tokens: Tokens,
    /// Cost of all attempts.
    pub cost_units: CostUnits,
}

/// What a lap may do at most, beside its budget; `None` where the class sets no cap of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Attempts of all calls. Look-ups do not count.
    pub attempts: Option<u32>,
    /// Calls that have attempts, items of lists included.
    pub branches: Option<u32>,
    /// Attempted calls that may wait for each other in a row.
    pub depth: Option<u32>,
    /// Cost that is reserved at once.
    pub parallel_cost: Option<CostUnits>,
    /// What single dependencies may take of the budget, by name, in order. Bound:
    /// `limits::DEPENDENCY_CAPS_MAX`.
    pub dependencies: Vec<DependencyCap>,
}

/// What one dependency may take of a lap's budget, whichever calls ask it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyCap {
    /// The dependency.
    pub dependency: DependencyName,
    /// Retry tokens.
    pub retry_tokens: Option<Tokens>,
    /// Attempts in flight at once.
    pub concurrency_tokens: Option<Tokens>,
    /// Cost of all attempts.
    pub cost_units: Option<CostUnits>,
}

/// Until when, counted from the lap's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When the caller stops waiting. Bound: `limits::ANSWER_MS_MAX`.
    pub answer_by: Millis,
    /// Until when attempts may run; default `answer_by` less the delivery reserve.
    pub work_by: Option<Millis>,
    /// When the run is void as business; default: never.
    pub expires_at: Option<Millis>,
    /// How long after `answer_by` an effect in doubt may keep the outcome open.
    pub doubt_wait: Millis,
}

impl Times {
    /// Times with this `answer_by` and defaults for the rest.
    #[must_use]
    pub const fn answer_by(answer_by: Millis) -> Self {
        Self {
            answer_by,
            work_by: None,
            expires_at: None,
            doubt_wait: Millis::new(limits::DOUBT_WAIT_MS_DEFAULT),
        }
    }
}

/// Time kept back for later stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserve {
    /// For putting the result together.
    pub synthesis: Millis,
    /// For asking what became of a write.
    pub reconcile: Millis,
    /// For giving the answer to the caller.
    pub deliver: Millis,
}

/// What downtime does to a run's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDowntime {
    /// Nothing: times are moments of the wall clock.
    Absolute,
    /// They move by the time since the run's last durable event, `max` in total.
    Extend {
        /// The most that all downtimes of a lap may add.
        max: Millis,
    },
}

/// How the lap ends when its hard path cannot be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Reads and local work that can still finish do; no write starts; then handed_off.
    HandOff,
    /// At once, as failed.
    Fail,
}

/// What follows when a call of the hard path may not start because a limit of the lap is reached:
/// retry tokens, cost, or a cap. Soft calls are left out then, whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLimit {
    /// What costs less is tried, and then the call fails as after any other failure.
    #[default]
    Degrade,
    /// The run waits until the limit of its budget is raised, or until its time is up. A cap cannot
    /// be raised, so nobody waits for one: as with `Degrade`.
    Pause,
    /// The lap is handed off.
    HandOff,
    /// The lap fails.
    Fail,
}

/// One call of the class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique in the class.
    pub name: NodeName,
    /// What it does.
    pub kind: NodeKind,
    /// What its absence does to the run.
    pub criticality: Criticality,
    /// Whose values it uses, in the order of its closure's arguments.
    pub inputs: Vec<NodeId>,
    /// The predicate that decides whether it happens at all.
    pub when: Option<NodeId>,
    /// Its value's schema.
    pub output: Schema,
    /// For a call that is made when a model asks for it: how it is offered. It has no place in the
    /// graph: what is offered names it.
    pub tool: Option<Tool>,
    /// For a write that undoes another write's effect when somebody asks for it: which write. It
    /// has no place in the graph either.
    pub undoes: Option<NodeId>,
}

/// How a call is offered to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What it does, in words for the model.
    pub about: String,
    /// How many calls of it a run may have that were not refused; for one with an effect, how many
    /// effects. Bound: `limits::TOOL_CALLS_MAX`.
    pub per_run_max: u32,
    /// The schema of what a model gives.
    pub arguments: Schema,
}

impl Node {
    /// Everything that must be settled before it may start.
    pub fn needs(&self) -> impl Iterator<Item = NodeId> {
        self.inputs.iter().copied().chain(self.when)
    }

    /// The contract of its attempts; `None` for local work and predicates.
    #[must_use]
    pub const fn contract(&self) -> Option<&Contract> {
        match &self.kind {
            NodeKind::Read { contract }
            | NodeKind::Write { contract, .. }
            | NodeKind::Each { contract, .. } => Some(contract),
            NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => None,
        }
    }

    /// The same, to change it.
    #[must_use]
    pub const fn contract_mut(&mut self) -> Option<&mut Contract> {
        match &mut self.kind {
            NodeKind::Read { contract }
            | NodeKind::Write { contract, .. }
            | NodeKind::Each { contract, .. } => Some(contract),
            NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => None,
        }
    }

    /// The contract of its effect; `None` for what does not write.
    #[must_use]
    pub const fn effect(&self) -> Option<&EffectContract> {
        match &self.kind {
            NodeKind::Write { effect, .. } | NodeKind::Each { effect, .. } => Some(effect),
            NodeKind::Read { .. } | NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => {
                None
            }
        }
    }

    /// The tools it offers, as nodes; none for most.
    #[must_use]
    pub fn offers(&self) -> &[NodeId] {
        match &self.kind {
            NodeKind::Tools { tools, .. } => tools,
            NodeKind::Read { .. }
            | NodeKind::Write { .. }
            | NodeKind::Each { .. }
            | NodeKind::Local
            | NodeKind::When => &[],
        }
    }

    /// Whether calls of it are made by the graph itself: neither asked for by a model, nor by
    /// somebody who wants an effect undone.
    #[must_use]
    pub const fn is_of_graph(&self) -> bool {
        self.tool.is_none() && self.undoes.is_none()
    }

    /// What it does to the world.
    #[must_use]
    pub fn semantics(&self) -> EffectSemantics {
        self.contract()
            .map_or(EffectSemantics::ReadOnly, |contract| contract.effect)
    }

    /// Whether the run can be completed without it.
    #[must_use]
    pub const fn is_hard(&self) -> bool {
        match self.criticality {
            Criticality::Hard => true,
            Criticality::Soft { .. } | Criticality::Advisory { .. } => false,
        }
    }
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Asks a dependency, changes nothing.
    Read {
        /// What the edge and its dependency promise.
        contract: Contract,
    },
    /// Changes the outside world once.
    Write {
        /// What the edge and its dependency promise.
        contract: Contract,
        /// How the change is named and found again.
        effect: EffectContract,
    },
    /// Writes each item of a list that is recorded before the first write.
    Each {
        /// What the edge and its dependency promise, per item.
        contract: Contract,
        /// How each change is named and found again.
        effect: EffectContract,
        /// Bound of the list; at most `limits::EACH_ITEMS_MAX`.
        items_max: u32,
    },
    /// Offers calls to a model, which asks for them one after the other until it is done. Gives
    /// what was asked for and what came of it.
    Tools {
        /// The calls that are offered, each with a node of its own.
        tools: Vec<NodeId>,
        /// How often a model may ask at all. Bound: `limits::TOOL_CALLS_MAX`.
        calls_max: u32,
    },
    /// Pure compute in the run's own process.
    Local,
    /// A predicate other nodes wait for.
    When,
}

/// What a node's absence does to the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criticality {
    /// The run cannot be completed without it.
    Hard,
    /// It is omitted with a notice, and the run is degraded.
    Soft {
        /// What the result says in its place.
        notice: String,
    },
    /// Its absence is noted; the result is as good without.
    Advisory {
        /// What the result says in its place.
        notice: String,
    },
}
