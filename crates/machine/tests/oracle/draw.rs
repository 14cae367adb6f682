//! A random class with its times and budget, from a seed. Every one is valid by `graph`.
//!
//! The times are drawn around what the hard path is expected to take, so that many runs are tight
//! and some are impossible. What really happens to a call is not said here but in truth.rs.

use mainstay_graph::{
    Backoff, CancelSemantics, Contract, Criticality, EffectContract, EffectSemantics, Fallback,
    FallbackKind, Node, NodeKind, OnFailure, Problem, Reserve, Resolution, SameRequestRule,
    ScopeKind, TaskClass, path, validate,
};
use mainstay_types::{CostUnits, DependencyName, EffectName, Millis, NodeId, NodeName, Tokens};

use super::dice::Dice;
use crate::scenario::build;

const CLASS: u64 = 1;

/// A class and the seed that says what happens to its calls.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) seed: u64,
    pub(crate) class: TaskClass,
    /// Its time to work, in thousandths of what the hard path is expected to need.
    pub(crate) room: u64,
    /// Of each node, its place in the class that was drawn: what happens to it hangs on that.
    pub(crate) places: Vec<u64>,
}

impl Draw {
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed, &[CLASS]);
        let mut class = build::bare();
        // Whether calls of the hard path may use the values of soft ones.
        let leans = dice.permille(400);
        for _ in 0..dice.within(2, 8) {
            let node = node(&class, leans, &mut dice);
            class.nodes.push(node);
        }
        class.result = result(&class);
        let room = frame(&mut class, &mut dice);
        let errors: Vec<_> = validate(&class)
            .into_iter()
            .filter(Problem::is_error)
            .collect();
        assert!(errors.is_empty(), "seed {seed}: {errors:#?}");
        let places = (0..).take(class.nodes.len()).collect();
        Self {
            seed,
            class,
            room,
            places,
        }
    }
}

/// What nobody uses, and the first node, so that there is always a hard path.
fn result(class: &TaskClass) -> Vec<NodeId> {
    let ids = class.ids().map(|(id, _)| id);
    ids.filter(|&id| id == NodeId(0) || class.dependents(id).next().is_none())
        .collect()
}

fn node(class: &TaskClass, leans: bool, dice: &mut Dice) -> Node {
    let place = class.nodes.len();
    let name = format!("n{place}");
    let kind = match dice.within(0, 99) {
        _ if place == 0 => read(dice, true),
        0..=11 => write(&name, dice),
        12..=21 => (NodeKind::Local, Criticality::Hard),
        22..=55 => read(dice, false),
        _ => read(dice, true),
    };
    let (kind, criticality) = kind;
    let is_hard = criticality == Criticality::Hard;
    Node {
        inputs: inputs(class, leans || !is_hard, dice),
        name: NodeName::new(name).expect("a valid name"),
        kind,
        criticality,
        when: None,
        output: class.output.clone(),
        tool: None,
        undoes: None,
    }
}

/// At most two of the four nodes before it; soft ones, and what hangs on them, only if `leans`.
fn inputs(class: &TaskClass, leans: bool, dice: &mut Dice) -> Vec<NodeId> {
    let newest = class.nodes.len().saturating_sub(4);
    let ids = class.ids().skip(newest);
    let mut found = Vec::new();
    for (id, _) in ids {
        if found.len() < 2 && (leans || !hangs_on_soft(class, id)) && dice.permille(350) {
            found.push(id);
        }
    }
    found
}

fn hangs_on_soft(class: &TaskClass, id: NodeId) -> bool {
    let node = class.node(id);
    !node.is_hard() || node.needs().any(|need| hangs_on_soft(class, need))
}

fn read(dice: &mut Dice, is_hard: bool) -> (NodeKind, Criticality) {
    let notice = "left out".to_owned();
    let criticality = match (is_hard, dice.permille(200)) {
        (true, _) => Criticality::Hard,
        (false, true) => Criticality::Advisory { notice },
        (false, false) => Criticality::Soft { notice },
    };
    let mut contract = contract(EffectSemantics::ReadOnly, dice);
    contract.fallbacks = fallbacks(&contract, dice);
    (NodeKind::Read { contract }, criticality)
}

fn write(name: &str, dice: &mut Dice) -> (NodeKind, Criticality) {
    let semantics = EffectSemantics::WriteIdempotentWithKey;
    let effect = EffectContract {
        name: EffectName::new(name).expect("a valid name"),
        scope: ScopeKind::Run,
        rule: SameRequestRule::PerSlot,
        resolution: dice.one_of(&[Resolution::ByKey, Resolution::ByStatus]),
        receiver_bound: Millis::new(dice.within(0, 400)),
        receiver_key_ttl: None,
        key_memory: Millis::from_days(1),
        significant: Vec::new(),
    };
    let contract = contract(semantics, dice);
    (NodeKind::Write { contract, effect }, Criticality::Hard)
}

fn contract(effect: EffectSemantics, dice: &mut Dice) -> Contract {
    let estimate = dice.within(100, 2_000);
    let timeout = estimate * dice.within(1_200, 4_000) / 1_000;
    let base = dice.within(0, estimate / 3);
    Contract {
        dependency: DependencyName::new("primary").expect("a valid name"),
        operation: "ask".to_owned(),
        effect,
        cancel: CancelSemantics::BestEffort,
        max_attempts: u32::try_from(dice.within(1, 3)).expect("few"),
        timeout: Millis::new(timeout),
        estimate: Millis::new(estimate),
        min_useful: Millis::new(dice.within(estimate / 10, estimate / 2)),
        cost: CostUnits::milli(dice.within(0, 2_000)),
        deadline_reserve: Millis::new(if dice.permille(100) {
            dice.within(0, 500)
        } else {
            0
        }),
        backoff: Backoff {
            base: Millis::new(base),
            max: Millis::new(base * dice.within(1, 8)),
        },
        on_late: None,
        orphan_ttl: None,
        repair: false,
        retry_cap: dice.permille(100).then_some(Tokens::new(1)),
        fallbacks: Vec::new(),
        request: build::bare().input,
        reply: build::bare().output,
    }
}

fn fallbacks(primary: &Contract, dice: &mut Dice) -> Vec<Fallback> {
    let kinds: &[FallbackKind] = match dice.within(0, 9) {
        0..=4 => &[],
        5 | 6 => &[FallbackKind::Provider],
        7 => &[FallbackKind::Provider, FallbackKind::Cache],
        8 => &[FallbackKind::Cache],
        _ => &[FallbackKind::LocalCompute],
    };
    let rung = |&kind: &FallbackKind| {
        let is_far = kind == FallbackKind::Provider;
        let estimate = primary.estimate.get();
        let estimate = if is_far { estimate } else { estimate / 10 };
        Fallback {
            kind,
            dependency: Some(DependencyName::new("other").expect("a valid name")),
            max_attempts: u32::try_from(dice.within(1, 2)).expect("few"),
            timeout: Millis::new(estimate * 2),
            estimate: Millis::new(estimate),
            min_useful: Millis::new(estimate / 4),
            cost: if is_far {
                primary.cost
            } else {
                CostUnits::ZERO
            },
        }
    };
    kinds.iter().map(rung).collect()
}

/// Reserves, budget and times; how much room the times leave.
fn frame(class: &mut TaskClass, dice: &mut Dice) -> u64 {
    class.on_failure = dice.one_of(&[OnFailure::HandOff, OnFailure::Fail]);
    class.reserve = Reserve {
        synthesis: Millis::new(dice.within(0, 500)),
        reconcile: Millis::new(dice.within(0, 400)),
        deliver: Millis::new(dice.within(0, 300)),
    };
    let tokens = |n: u64| Tokens::new(u32::try_from(n).expect("few"));
    class.budget.retry_tokens = tokens(dice.within(0, 4));
    class.budget.concurrency_tokens = tokens(dice.within(1, 4));
    let costs = class.nodes.iter().filter_map(Node::contract);
    let costs: CostUnits = costs.map(|contract| contract.cost).sum();
    let cost = costs.as_micros() * dice.within(100, 300) / 100 + 1;
    class.budget.cost_units = CostUnits::micros(cost);
    let room = dice.within(1_100, 4_000);
    let work = Millis::new(need(class).get() * room / 1_000);
    class.times.answer_by = work + class.reserve.deliver;
    class.times.doubt_wait = Millis::new(dice.within(0, 20_000));
    room
}

/// What the hard path needs when all goes as estimated, with all that is kept back after it.
fn need(class: &TaskClass) -> Millis {
    let hard = path::hard_path(class);
    let kept = path::downstream_reserves(class);
    let mut ends = vec![Millis::ZERO; class.nodes.len()];
    let mut need = Millis::ZERO;
    for id in hard {
        let place = usize::from(id.get());
        let before = class.node(id).needs();
        let start = before.map(|before| ends[usize::from(before.get())]).max();
        ends[place] = start.unwrap_or_default() + path::estimate(class.node(id));
        need = need.max(ends[place] + kept[place]);
    }
    need
}
