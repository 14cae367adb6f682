//! The state of one Root Run: its head, its lap, its calls.
//!
//! Only `apply` changes it. It holds its class's data, so a run whose code is missing can still
//! be read, canceled and shown.

use std::fmt;
use std::sync::Arc;

use mainstay_graph::{Budget, NodeKind, OnFailure, TaskClass, path};
use mainstay_types::{
    CallId, Code, Epoch, LapNo, Millis, NodeId, Payload, Reason, RunId, Seq, StartKey, Tenant,
    Timestamp, Tokens, WorkerId,
};

use crate::admission::Admission;
use crate::budget::BudgetState;
use crate::call::Call;
use crate::calls::Calls;
use crate::caps::Uses;
use crate::event::{ClassRef, LapTimes, OutcomeKind, Raise};

/// A Root Run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub(crate) class: Arc<TaskClass>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) head: Option<Head>,
    pub(crate) calls: Calls,
    pub(crate) seq: Seq,
    pub(crate) undo: Option<Box<(Option<Head>, Seq)>>,
}

/// Everything of a run that is not a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The run.
    pub run: RunId,
    /// Its class.
    pub class: ClassRef,
    /// Whose run.
    pub tenant: Tenant,
    /// The caller's key.
    pub start_key: Option<StartKey>,
    /// What it was given.
    pub input: Payload,
    /// When it began.
    pub started_at: Timestamp,
    /// The caller's trace context.
    pub traceparent: Option<String>,
    /// The epoch of its owner.
    pub epoch: Epoch,
    /// Its owner.
    pub worker: WorkerId,
    /// The newest lap.
    pub lap: Lap,
    /// The laps before it, oldest first. Bound: `limits::LAPS_MAX`, the newest included.
    pub past: Vec<Lap>,
    /// Who asked to stop, and why.
    pub cancel: Option<Asked>,
    /// Who ended the run whatever its state, and why.
    pub terminated: Option<Asked>,
    /// Whether it owes nothing.
    pub closed: bool,
    /// Why it is not driven.
    pub quarantined: Option<Quarantine>,
    /// Concurrency tokens of reads whose process is gone and that may still run elsewhere. Bound:
    /// the lap's concurrency tokens.
    pub held: Vec<Held>,
}

/// A concurrency token that nobody gives back: it is free after a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Until when: the attempt's own timeout.
    pub until: Timestamp,
    /// The cap of its dependency, by its place in the class, when it has one.
    pub place: Option<u32>,
}

/// Why a run is not driven any more until a person looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// Whose fault it was, and so where that person has to look.
    pub code: Code,
    /// What happened. May hold what a user wrote.
    pub message: String,
}

impl fmt::Display for Quarantine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Head {
    /// The lap with this number.
    #[must_use]
    pub fn lap_no(&self, no: LapNo) -> Option<&Lap> {
        let newest = std::iter::once(&self.lap);
        newest.chain(&self.past).find(|lap| lap.no == no)
    }

    /// Concurrency tokens held at `now` for attempts whose process is gone.
    #[must_use]
    pub fn held_at(&self, now: Timestamp) -> Tokens {
        let held = self.held.iter().filter(|held| now < held.until).count();
        Tokens::new(u32::try_from(held).unwrap_or(u32::MAX))
    }

    /// The lap with this number, to book what an attempt of it cost.
    pub(crate) fn lap_mut(&mut self, no: LapNo) -> Option<&mut Lap> {
        let newest = std::iter::once(&mut self.lap);
        newest.chain(&mut self.past).find(|lap| lap.no == no)
    }
}

/// Who asked for something, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// Why. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
}

impl Asked {
    pub(crate) fn of(by: &str, why: &str) -> Self {
        let (by, why) = (by.to_owned(), why.to_owned());
        Self { by, why }
    }
}

/// One stretch of a run under one set of times and one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lap {
    /// Its number, from 1.
    pub no: LapNo,
    /// When it began.
    pub started_at: Timestamp,
    /// Who asked for it, for a lap beyond the first.
    pub continued: Option<Asked>,
    /// Until when.
    pub times: LapTimes,
    /// By how much downtime has moved the times.
    pub extended: Millis,
    /// What its admission was decided on, when that was more than the class alone.
    pub admission: Option<Admission>,
    /// What it may spend and has spent.
    pub budget: BudgetState,
    /// What it has taken of the class's caps.
    pub uses: Uses,
    /// Who raised its budget, oldest first. Bound: `limits::LAP_RAISES_MAX`.
    pub raises: Vec<Raise>,
    /// What a lost hard call does.
    pub on_failure: OnFailure,
    /// The hard call whose value cannot be had.
    pub lost: Option<CallId>,
    /// What the caller was told when it was "later".
    pub later: Option<Later>,
    /// How it ended.
    pub outcome: Option<LapOutcome>,
    /// What was learned after the outcome.
    pub addenda: Vec<(CallId, Reason)>,
}

impl Lap {
    /// A lap in which nothing has happened yet.
    pub(crate) fn new(
        (no, started_at): (LapNo, Timestamp),
        times: LapTimes,
        (budget, uses): (Budget, Uses),
        on_failure: OnFailure,
    ) -> Self {
        Self {
            no,
            started_at,
            continued: None,
            times,
            extended: Millis::ZERO,
            admission: None,
            budget: BudgetState::new(budget),
            uses,
            raises: Vec::new(),
            on_failure,
            lost: None,
            later: None,
            outcome: None,
            addenda: Vec::new(),
        }
    }
}

/// The answer "later".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// The calls whose effects were in doubt.
    pub doubts: Vec<CallId>,
    /// When more will be known.
    pub expected_by: Timestamp,
}

/// How a lap ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LapOutcome {
    /// The kind.
    pub kind: OutcomeKind,
    /// Why.
    pub reason: Reason,
    /// The class's result.
    pub result: Option<Payload>,
    /// When.
    pub at: Timestamp,
}

impl LapOutcome {
    pub(crate) fn of(
        kind: OutcomeKind,
        reason: Reason,
        result: Option<&Payload>,
        at: Timestamp,
    ) -> Self {
        Self {
            kind,
            reason,
            result: result.cloned(),
            at,
        }
    }
}

/// What follows from the class alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    dependents: Vec<Vec<NodeId>>,
    downstream: Vec<Millis>,
    /// By node: it is asked for every open call, several times a turn.
    hard: Vec<bool>,
}

impl Run {
    /// A run of `class` that does not exist yet; its first event is `RunStarted`.
    #[must_use]
    pub fn unborn(class: Arc<TaskClass>) -> Self {
        let ids: Vec<NodeId> = class.ids().map(|(id, _)| id).collect();
        let mut hard = path::hard_path(&class);
        // What a model asks for is as hard as what offers it.
        let offered = class.ids().filter(|(id, _)| hard.contains(id));
        let offered: Vec<NodeId> = offered
            .flat_map(|(_, node)| node.offers().to_vec())
            .collect();
        hard.extend(offered);
        let plan = Plan {
            dependents: ids
                .iter()
                .map(|&id| class.dependents(id).collect())
                .collect(),
            downstream: path::downstream_reserves(&class),
            hard: ids.iter().map(|id| hard.contains(id)).collect(),
        };
        let plan = Arc::new(plan);
        Self {
            class,
            plan,
            head: None,
            calls: Calls::default(),
            seq: Seq(0),
            undo: None,
        }
    }

    /// The class's data.
    #[must_use]
    pub const fn class(&self) -> &Arc<TaskClass> {
        &self.class
    }

    /// The head; `None` before `RunStarted`.
    #[must_use]
    pub const fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// The calls.
    #[must_use]
    pub const fn calls(&self) -> &Calls {
        &self.calls
    }

    /// How many events made this state.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// Bytes of the payloads it holds: its input, requests, values and results.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        let head = self.head.iter().map(|head| {
            let result = head.lap.outcome.as_ref();
            let result = result.and_then(|outcome| outcome.result.as_ref());
            head.input.len() + result.map_or(0, Payload::len)
        });
        let calls = self.calls.iter().map(|(_, call)| {
            let request = call.prepared.as_ref();
            let kept = call.kept.as_ref().map_or(0, |(_, kept)| kept.len());
            request.map_or(0, |made| made.request.len())
                + call.value().map_or(0, Payload::len)
                + kept
        });
        head.chain(calls).sum()
    }

    /// The path of a call: its node's name, and for items the position, `ticket_write[3]`.
    #[must_use]
    pub fn path(&self, id: CallId) -> String {
        match self.calls.get(id) {
            None => format!("call {id}"),
            Some(call) => {
                let name = &self.class.node(call.node).name;
                // What undoes an item's effect stands where that item does.
                let undone = call.undoes.and_then(|undoes| self.calls.get(undoes.call));
                let item = call.item.or_else(|| undone.and_then(|undone| undone.item));
                item.map_or_else(
                    || name.to_string(),
                    |item| format!("{name}[{}]", item.position),
                )
            }
        }
    }

    /// The values of `nodes`, in order; `None` where a call has none.
    #[must_use]
    pub fn values(&self, nodes: &[NodeId]) -> Vec<Option<Payload>> {
        nodes
            .iter()
            .map(|&node| self.node_call(node).and_then(Call::value).cloned())
            .collect()
    }

    /// The call of a node.
    #[must_use]
    pub fn node_call(&self, node: NodeId) -> Option<&Call> {
        self.calls.get(node_call_id(node))
    }

    /// Nodes that need `node`.
    pub(crate) fn dependents(&self, node: NodeId) -> &[NodeId] {
        &self.plan.dependents[usize::from(node.get())]
    }

    /// Time to keep after an attempt of `node`.
    pub(crate) fn downstream(&self, node: NodeId) -> Millis {
        self.plan.downstream[usize::from(node.get())]
    }

    /// Whether the lap needs `node` to be completed.
    pub(crate) fn is_on_hard_path(&self, node: NodeId) -> bool {
        self.plan.hard[usize::from(node.get())]
    }

    /// Whether `call` writes.
    pub(crate) fn writes(&self, call: &Call) -> bool {
        match self.class.node(call.node).kind {
            NodeKind::Write { .. } | NodeKind::Each { .. } => true,
            NodeKind::Read { .. } | NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => {
                false
            }
        }
    }

    /// Begins a turn on scratch: what follows can be undone as a whole.
    pub fn begin(&mut self) {
        self.undo = Some(Box::new((self.head.clone(), self.seq)));
        self.calls.begin();
    }

    /// Ends the turn: what was applied since `begin` stays.
    pub fn keep(&mut self) {
        self.undo = None;
        self.calls.keep();
    }

    /// Ends the turn: the state is as it was at `begin`.
    pub fn undo(&mut self) {
        if let Some(before) = self.undo.take() {
            (self.head, self.seq) = *before;
        }
        self.calls.undo();
    }
}

/// A node's own call has the node's number.
pub(crate) fn node_call_id(node: NodeId) -> CallId {
    CallId(u32::from(node.get()))
}
