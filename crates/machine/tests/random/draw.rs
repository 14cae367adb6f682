//! Random classes, worlds and damages, as data that shrinks.
//!
//! Every class drawn here is valid by the rules of `graph`; nothing here drives a run.

use std::collections::BTreeSet;
use std::ops::Range;

use mainstay_graph::{
    Backoff, CancelSemantics, Caps, Contract, Criticality, DependencyCap, EffectContract,
    EffectSemantics, Fallback, FallbackKind, Node, NodeKind, OnDowntime, OnFailure, OnLate,
    OnLimit, Reserve, Resolution, SameRequestRule, ScopeKind, TaskClass, validate,
};
use mainstay_machine::Event;
use mainstay_types::{
    CallId, CostUnits, DependencyName, EffectName, Millis, NodeId, NodeName, Tokens,
};
use proptest::prelude::*;

use super::model::{self, Offer};
use super::undo;
use crate::scenario::build;

/// A class, and what happens to a run of it.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) class: TaskClass,
    /// Items of every list.
    pub(crate) items: u32,
    /// What every predicate says.
    pub(crate) says: bool,
    /// What is known at the start: how slow each call is, by its place, and what else.
    pub(crate) slow: Vec<u16>,
    /// How long the caller waits, whether it takes a later answer, whether it has no key.
    pub(crate) caller: (Option<u64>, bool, bool),
    /// What another run has under the keys of writes, if any has.
    pub(crate) held: Option<u32>,
    pub(crate) blows: Vec<Blow>,
}

/// One thing the world does: what, to whom, how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    pub(crate) what: u8,
    pub(crate) whom: u16,
    pub(crate) how: u32,
}

impl Blow {
    /// The least that can happen.
    pub(crate) const NONE: Self = Self {
        what: 0,
        whom: 0,
        how: 0,
    };
}

/// One damage to a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ill {
    what: u8,
    at: u16,
    to: u16,
}

pub(crate) fn ills() -> impl Strategy<Value = Ill> {
    (0_u8..4, any::<u16>(), any::<u16>()).prop_map(|(what, at, to)| Ill { what, at, to })
}

pub(crate) fn runs() -> impl Strategy<Value = Draw> {
    runs_of(0..60)
}

/// With so many blows.
pub(crate) fn runs_of(many: Range<usize>) -> impl Strategy<Value = Draw> {
    let blow = (0_u8..=u8::MAX, any::<u16>(), any::<u32>()).prop_map(|(what, whom, how)| Blow {
        what,
        whom,
        how,
    });
    let held = proptest::option::weighted(0.2, any::<u32>());
    let slow = prop_oneof![
        3 => Just(Vec::new()),
        1 => proptest::collection::vec(0_u16..9_000, 1..8),
    ];
    let caller = (
        proptest::option::weighted(0.1, 500_u64..20_000),
        any::<bool>(),
        any::<bool>(),
    );
    (
        classes(),
        0_u32..4,
        any::<bool>(),
        held,
        proptest::collection::vec(blow, many),
        (slow, caller),
    )
        .prop_map(|(class, items, says, held, blows, (slow, caller))| Draw {
            class,
            items,
            says,
            slow,
            caller,
            held,
            blows,
        })
}

/// One node's draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) kind: u8,
    pub(crate) needs: u8,
    pub(crate) attempts: u32,
    pub(crate) timeout: u64,
    pub(crate) cost: u64,
    pub(crate) rungs: u8,
    pub(crate) more: u16,
}

pub(crate) fn parts() -> impl Strategy<Value = Part> {
    (
        0_u8..10,
        any::<u8>(),
        1_u32..4,
        200_u64..5_000,
        0_u64..4_000,
        0_u8..5,
        any::<u16>(),
    )
        .prop_map(|(kind, needs, attempts, timeout, cost, rungs, more)| Part {
            kind,
            needs,
            attempts,
            timeout,
            cost,
            rungs,
            more,
        })
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    retries: u32,
    concurrency: u32,
    cost: u64,
    answer_by: u64,
    work_by: Option<u64>,
    expires: Option<u64>,
    doubt_wait: u64,
    downtime: Option<u64>,
    later: Option<u64>,
    fails: bool,
    reserves: u64,
    /// What follows at a limit, by its place among the rules.
    rule: u8,
    /// Attempts, branches, cost at once; and for every dependency retries, attempts at once, cost.
    caps: [Option<u32>; 6],
}

fn frames() -> impl Strategy<Value = Frame> {
    let budget = (0_u32..6, 1_u32..5, 1_u64..30);
    let times = (
        4_000_u64..40_000,
        proptest::option::weighted(0.2, 1_u64..60_000),
        proptest::option::weighted(0.2, 0_u64..60_000),
        prop_oneof![Just(0), 0_u64..20_000, Just(86_400_000)],
    );
    let rest = (
        proptest::option::of(0_u64..7_200_000),
        any::<bool>(),
        0_u64..400,
        0_u8..4,
        (
            proptest::array::uniform6(proptest::option::weighted(0.25, 1_u32..12)),
            proptest::option::weighted(0.4, 1_u64..90_000),
        ),
    );
    (budget, times, rest).prop_map(
        |((retries, concurrency, cost), (answer_by, later, void, doubt_wait), rest)| Frame {
            retries,
            concurrency,
            cost,
            answer_by,
            work_by: later.map(|more| answer_by + more),
            expires: void.map(|more| answer_by + later.unwrap_or(0) + more),
            doubt_wait,
            downtime: rest.0,
            fails: rest.1,
            reserves: rest.2,
            rule: rest.3,
            caps: rest.4.0,
            later: rest.4.1,
        },
    )
}

fn classes() -> impl Strategy<Value = TaskClass> {
    let nodes = proptest::collection::vec(parts(), 1..8);
    let offers = proptest::option::weighted(0.3, model::offers());
    (nodes, frames(), offers)
        .prop_map(|(parts, frame, offer)| class(&parts, frame, offer))
        .prop_filter("a class that its builder would refuse", |class| {
            !validate(class)
                .iter()
                .any(mainstay_graph::Problem::is_error)
        })
}

/// The smallest class: one read.
pub(crate) fn smallest() -> TaskClass {
    let mut class = build::bare();
    let part = Part {
        kind: 0,
        needs: 0,
        attempts: 1,
        timeout: 1_000,
        cost: 1,
        rungs: 0,
        more: 0,
    };
    class.nodes = vec![node(&class, part)];
    class.result = vec![NodeId(0)];
    class
}

fn class(parts: &[Part], frame: Frame, offer: Option<Offer>) -> TaskClass {
    let mut class = build::bare();
    class.budget.retry_tokens = Tokens::new(frame.retries);
    class.budget.concurrency_tokens = Tokens::new(frame.concurrency);
    class.budget.cost_units = CostUnits::units(frame.cost);
    class.times.answer_by = Millis::new(frame.answer_by);
    class.times.work_by = frame.work_by.map(Millis::new);
    class.times.expires_at = frame.expires.map(Millis::new);
    class.later = frame.later.map(Millis::new);
    class.times.doubt_wait = Millis::new(frame.doubt_wait);
    class.on_downtime = frame
        .downtime
        .map_or(OnDowntime::Absolute, |max| OnDowntime::Extend {
            max: Millis::new(max),
        });
    class.on_failure = if frame.fails {
        OnFailure::Fail
    } else {
        OnFailure::HandOff
    };
    class.on_limit = OnLimit::ALL[usize::from(frame.rule)];
    let kept = Millis::new(frame.reserves);
    class.reserve = Reserve {
        synthesis: kept,
        reconcile: kept,
        deliver: kept,
    };
    for &part in parts {
        let node = node(&class, part);
        class.nodes.push(node);
    }
    if let Some(offer) = offer {
        model::offer(&mut class, offer);
    }
    undo::add(&mut class);
    let is_value = |node: &Node| !matches!(node.kind, NodeKind::When) && node.is_of_graph();
    let ids = class.ids().filter(|(_, node)| is_value(node));
    class.result = ids
        .map(|(id, _)| id)
        .filter(|id| id.get() % 2 == 0)
        .collect();
    class.caps = caps(&class, frame.caps);
    class
}

fn caps(class: &TaskClass, drawn: [Option<u32>; 6]) -> Caps {
    let [attempts, branches, at_once, retries, out, cost] = drawn;
    let units = |n: Option<u32>| n.map(|n| CostUnits::units(u64::from(n)));
    // Fewer would be no class.
    let least = u32::try_from(class.nodes.len()).expect("few");
    let asked = class.nodes.iter().filter_map(Node::contract);
    let asked: BTreeSet<_> = asked.map(|contract| contract.dependency.clone()).collect();
    let cap = |dependency| DependencyCap {
        dependency,
        retry_tokens: retries.map(Tokens::new),
        concurrency_tokens: out.map(Tokens::new),
        cost_units: units(cost),
    };
    let has_caps = retries.or(out).or(cost).is_some();
    Caps {
        attempts: attempts.map(|more| least + more),
        branches: branches.map(|more| least + more),
        depth: None,
        parallel_cost: units(at_once),
        dependencies: asked.into_iter().filter(|_| has_caps).map(cap).collect(),
    }
}

pub(crate) fn node(class: &TaskClass, part: Part) -> Node {
    let place = class.nodes.len();
    let name = format!("n{place}");
    let is_when = |id: NodeId| matches!(class.node(id).kind, NodeKind::When);
    let needs = class
        .ids()
        .map(|(id, _)| id)
        .filter(|id| u16::from(part.needs) >> id.get() & 1 == 1);
    let (whens, inputs): (Vec<NodeId>, Vec<NodeId>) = needs.partition(|&id| is_when(id));
    let notice = format!("no {name}");
    Node {
        criticality: match part.kind {
            2 | 3 => Criticality::Soft { notice },
            4 => Criticality::Advisory { notice },
            _ => Criticality::Hard,
        },
        kind: kind(&name, part),
        inputs,
        when: whens.first().copied(),
        output: class.output.clone(),
        tool: None,
        undoes: None,
        name: NodeName::new(name).expect("a valid name"),
    }
}

fn kind(name: &str, part: Part) -> NodeKind {
    match part.kind {
        0..=4 => NodeKind::Read {
            contract: contract(part),
        },
        5 | 6 => NodeKind::Write {
            contract: contract(part),
            effect: effect(name, part),
        },
        7 => NodeKind::Each {
            contract: contract(part),
            effect: EffectContract {
                rule: SameRequestRule::PerItem,
                ..effect(name, part)
            },
            items_max: 4,
        },
        8 => NodeKind::Local,
        _ => NodeKind::When,
    }
}

fn contract(part: Part) -> Contract {
    let writes = 5 <= part.kind;
    let timeout = Millis::new(part.timeout);
    let short = |share: u64| Millis::new(part.timeout / share);
    Contract {
        // Some calls share one.
        dependency: DependencyName::new(format!("d{}", part.timeout % 3)).expect("a valid name"),
        operation: "ask".to_owned(),
        effect: match (writes, part.more & 1) {
            (false, _) => EffectSemantics::ReadOnly,
            (true, 0) => EffectSemantics::WriteIdempotentWithKey,
            (true, _) => EffectSemantics::WriteWithoutKey,
        },
        cancel: match part.timeout % 4 {
            0 => CancelSemantics::None,
            1.. => CancelSemantics::BestEffort,
        },
        max_attempts: part.attempts,
        timeout,
        estimate: short(2),
        min_useful: short(10),
        cost: CostUnits::milli(part.cost),
        deadline_reserve: Millis::ZERO,
        backoff: Backoff {
            base: short(4),
            max: timeout,
        },
        on_late: on_late(part),
        orphan_ttl: part
            .cost
            .is_multiple_of(3)
            .then(|| Millis::new(1 + part.timeout)),
        repair: !writes && part.more >> 8 & 1 == 0,
        retry_cap: (part.more >> 1 & 7 == 0).then_some(Tokens::new(1)),
        fallbacks: fallbacks(part, writes),
        request: build::bare().input,
        reply: build::bare().output,
    }
}

/// Most often what is the default.
fn on_late(part: Part) -> Option<OnLate> {
    match (part.timeout / 4 % 4, 5 <= part.kind) {
        (0, false) => Some(OnLate::Keep),
        (1, _) => Some(OnLate::Review),
        (2, false) => Some(OnLate::Drop),
        (0, true) => Some(OnLate::Keep),
        (_, _) => None,
    }
}

fn fallbacks(part: Part, writes: bool) -> Vec<Fallback> {
    let is_hard = !(2..=4).contains(&part.kind);
    let last = if is_hard {
        FallbackKind::Human
    } else {
        FallbackKind::OmitWithNotice
    };
    let kinds: &[FallbackKind] = match (part.rungs, writes) {
        (0, _) => &[],
        (1, _) | (_, true) => &[last],
        (2, false) => &[FallbackKind::Provider],
        (3, false) => &[FallbackKind::Cache, last],
        (_, false) => &[FallbackKind::Provider, FallbackKind::LocalCompute],
    };
    let rung = |&kind: &FallbackKind| Fallback {
        kind,
        dependency: kind
            .attempts()
            .then(|| DependencyName::new("other").expect("a valid name")),
        max_attempts: 1,
        timeout: Millis::new(part.timeout),
        estimate: Millis::new(part.timeout / 3),
        min_useful: Millis::new(part.timeout / 9),
        cost: CostUnits::milli(part.cost / 2),
    };
    kinds.iter().map(rung).collect()
}

fn effect(name: &str, part: Part) -> EffectContract {
    let bits = part.more >> 4;
    EffectContract {
        name: EffectName::new(name).expect("a valid name"),
        scope: if bits & 1 == 0 {
            ScopeKind::Run
        } else {
            ScopeKind::Business
        },
        rule: SameRequestRule::PerSlot,
        resolution: match bits >> 1 & 7 {
            0 => Resolution::ByHuman,
            1 => Resolution::ByStatus,
            2 => Resolution::ByLedger,
            _ => Resolution::ByKey,
        },
        receiver_bound: Millis::new(u64::from(bits >> 4 & 0xff) * 10),
        receiver_key_ttl: (bits >> 4 & 3 == 0).then_some(Millis::new(15_000)),
        key_memory: Millis::from_days(1),
        significant: Vec::new(),
    }
}

/// Drops, repeats, moves or redirects an event.
pub(crate) fn make_ill(log: &mut Vec<Event>, ill: Ill) {
    if log.is_empty() {
        return;
    }
    let (at, to) = (
        usize::from(ill.at) % log.len(),
        usize::from(ill.to) % log.len(),
    );
    match ill.what {
        0 => drop(log.remove(at)),
        1 => log.insert(to, log[at].clone()),
        2 => log.swap(at, to),
        _ => redirect(&mut log[at], CallId(u32::from(ill.to % 8))),
    }
}

/// The same event about another call.
fn redirect(event: &mut Event, other: CallId) {
    match event {
        Event::CallPrepared { call, .. }
        | Event::ListRecorded { call, .. }
        | Event::AttemptSettled { call, .. }
        | Event::AttemptInterrupted { call, .. }
        | Event::CallSettled { call, .. }
        | Event::CallRescheduled { call, .. }
        | Event::CallOmitted { call, .. }
        | Event::CallSkipped { call }
        | Event::CallFailed { call, .. }
        | Event::EffectIntended { call, .. }
        | Event::EffectApplied { call, .. }
        | Event::EffectInDoubt { call, .. }
        | Event::EffectAbsent { call, .. }
        | Event::EffectPartlyApplied { call }
        | Event::ControlSettled { call, .. }
        | Event::KeyAwaited { call, .. }
        | Event::KeyTakenOver { call, .. }
        | Event::LateResult { call, .. }
        | Event::LateValueRecorded { call, .. }
        | Event::AttemptOrphaned { call, .. }
        | Event::OrphanObserved { call, .. }
        | Event::OrphanAdopted { call, .. }
        | Event::OrphanClosed { call, .. }
        | Event::HardPathLost { call }
        | Event::ToolsDone { call }
        | Event::EffectCompensated { call }
        | Event::AddendumRecorded { call, .. } => *call = other,
        Event::ToolCalled(called) => called.tools = other,
        Event::EffectSettledByHand(settled) => settled.call = other,
        Event::CompensationWanted(wanted) => wanted.call = other,
        Event::AttemptStarted(started) => started.call = other,
        Event::NextDecided(decision) => decision.call = other,
        Event::RepairWanted { call, .. } => *call = other,
        Event::CodeFailed { call, .. } => *call = Some(other),
        Event::RunStarted(_)
        | Event::AdmissionDecided(_)
        | Event::LeaseTaken(_)
        | Event::CancelRequested { .. }
        | Event::AnsweredLater { .. }
        | Event::LapEnded { .. }
        | Event::RunClosed
        | Event::RunQuarantined { .. }
        | Event::QuarantineLifted { .. }
        | Event::RunTerminated { .. }
        | Event::BudgetRaised(_)
        | Event::LapStarted(_) => {}
    }
}
