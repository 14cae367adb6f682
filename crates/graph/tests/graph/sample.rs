//! Classes for tests: small ones by hand, the rich meeting class, and random graphs.
//!
//! No test's expectation may be computed here: this only builds.

use std::sync::Arc;

use mainstay_graph::{
    Backoff, Budget, CancelSemantics, Caps, Contract, Criticality, DependencyCap, EffectContract,
    EffectSemantics, Fallback, FallbackKind, Node, NodeKind, OnDowntime, OnFailure, OnLate,
    OnLimit, Reserve, Resolution, SameRequestRule, Schema, ScopeKind, TaskClass, Times, Tool,
};
use mainstay_types::{
    ClassName, ClassVersion, CostUnits, DependencyName, EffectName, Millis, NodeId, NodeName,
    Tokens,
};
use proptest::prelude::*;

pub(crate) fn ms(n: u64) -> Millis {
    Millis::new(n)
}

pub(crate) fn schema(text: &str) -> Schema {
    Schema(Arc::from(text))
}

/// A class without nodes, with room for what tests put in: 12 s, 18 units.
pub(crate) fn empty() -> TaskClass {
    TaskClass {
        name: ClassName::new("sample").expect("a valid name"),
        version: ClassVersion(1),
        input: schema("true"),
        output: schema("true"),
        budget: Budget {
            retry_tokens: Tokens::new(4),
            concurrency_tokens: Tokens::new(5),
            cost_units: CostUnits::units(18),
        },
        times: Times::answer_by(Millis::from_secs(12)),
        reserve: Reserve {
            synthesis: ms(1_800),
            reconcile: ms(1_200),
            deliver: ms(400),
        },
        on_downtime: OnDowntime::Absolute,
        on_failure: OnFailure::HandOff,
        on_limit: OnLimit::default(),
        caps: Caps::default(),
        later: None,
        nodes: Vec::new(),
        result: Vec::new(),
    }
}

/// A contract of a dependency with the node's name: 1 s of at most 2 s, 1 unit, 1 attempt.
pub(crate) fn contract(name: &str) -> Contract {
    Contract {
        dependency: DependencyName::new(name).expect("a valid name"),
        operation: format!("ask_{name}"),
        effect: EffectSemantics::ReadOnly,
        cancel: CancelSemantics::BestEffort,
        max_attempts: 1,
        timeout: ms(2_000),
        estimate: ms(1_000),
        min_useful: ms(200),
        cost: CostUnits::units(1),
        deadline_reserve: Millis::ZERO,
        backoff: Backoff {
            base: ms(50),
            max: ms(500),
        },
        on_late: None,
        orphan_ttl: None,
        repair: false,
        retry_cap: None,
        fallbacks: Vec::new(),
        request: schema("true"),
        reply: schema("true"),
    }
}

/// An effect with the node's name, scoped to the run, found by key.
pub(crate) fn effect(name: &str) -> EffectContract {
    EffectContract {
        name: EffectName::new(name).expect("a valid name"),
        scope: ScopeKind::Run,
        rule: SameRequestRule::PerSlot,
        resolution: Resolution::ByKey,
        receiver_bound: ms(200),
        receiver_key_ttl: None,
        key_memory: Millis::from_days(400),
        significant: Vec::new(),
    }
}

pub(crate) fn node(name: &str, inputs: &[u16], kind: NodeKind) -> Node {
    Node {
        name: NodeName::new(name).expect("a valid name"),
        kind,
        criticality: Criticality::Hard,
        inputs: inputs.iter().copied().map(NodeId).collect(),
        when: None,
        output: schema("true"),
        tool: None,
        undoes: None,
    }
}

pub(crate) fn read(name: &str, inputs: &[u16]) -> Node {
    node(
        name,
        inputs,
        NodeKind::Read {
            contract: contract(name),
        },
    )
}

pub(crate) fn soft(name: &str, inputs: &[u16]) -> Node {
    let criticality = Criticality::Soft {
        notice: format!("no {name}"),
    };
    Node {
        criticality,
        ..read(name, inputs)
    }
}

pub(crate) fn write(name: &str, inputs: &[u16]) -> Node {
    let effect = effect(name);
    let contract = Contract {
        effect: EffectSemantics::WriteIdempotentWithKey,
        ..contract(name)
    };
    node(name, inputs, NodeKind::Write { contract, effect })
}

pub(crate) fn each(name: &str, inputs: &[u16], items_max: u32) -> Node {
    let effect = EffectContract {
        rule: SameRequestRule::PerItem,
        ..effect(name)
    };
    let contract = Contract {
        effect: EffectSemantics::WriteIdempotentWithKey,
        ..contract(name)
    };
    node(
        name,
        inputs,
        NodeKind::Each {
            contract,
            effect,
            items_max,
        },
    )
}

pub(crate) fn when(name: &str, inputs: &[u16]) -> Node {
    node(name, inputs, NodeKind::When)
}

pub(crate) fn local(name: &str, inputs: &[u16]) -> Node {
    node(name, inputs, NodeKind::Local)
}

/// A fallback of this kind, with a dependency where one is asked: 500 ms of at most 1 s.
pub(crate) fn fallback(kind: FallbackKind) -> Fallback {
    let name = || DependencyName::new(kind.as_str()).expect("a valid name");
    Fallback {
        kind,
        dependency: kind.attempts().then(name),
        max_attempts: 1,
        timeout: ms(1_000),
        estimate: ms(500),
        min_useful: ms(100),
        cost: CostUnits::ZERO,
    }
}

/// The contract of a node that has one.
pub(crate) fn contract_of(node: &mut Node) -> &mut Contract {
    match &mut node.kind {
        NodeKind::Read { contract }
        | NodeKind::Write { contract, .. }
        | NodeKind::Each { contract, .. } => contract,
        NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => {
            panic!("{} has no contract", node.name)
        }
    }
}

/// The effect of a node that has one.
pub(crate) fn effect_of(node: &mut Node) -> &mut EffectContract {
    match &mut node.kind {
        NodeKind::Write { effect, .. } | NodeKind::Each { effect, .. } => effect,
        NodeKind::Read { .. } | NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => {
            panic!("{} has no effect", node.name)
        }
    }
}

/// A tool that is one of these.
pub(crate) fn tool(node: Node) -> Node {
    let tool = Tool {
        about: format!("does {}", node.name),
        per_run_max: 3,
        arguments: schema("true"),
    };
    Node {
        tool: Some(tool),
        ..node
    }
}

/// A call that offers these tools.
pub(crate) fn tools(name: &str, offered: &[u16]) -> Node {
    let tools = offered.iter().map(|&place| NodeId(place)).collect();
    Node {
        kind: NodeKind::Tools {
            tools,
            calls_max: 20,
        },
        ..local(name, &[])
    }
}

/// The shop, which says what is done with late answers of its first two nodes.
pub(crate) fn late() -> TaskClass {
    let mut class = shop();
    let first = contract_of(&mut class.nodes[0]);
    (first.on_late, first.orphan_ttl) = (Some(OnLate::Keep), Some(ms(60_000)));
    contract_of(&mut class.nodes[1]).on_late = Some(OnLate::Review);
    class
}

/// A class in which a model asks for a read and a write.
pub(crate) fn shop() -> TaskClass {
    class(vec![
        tool(read("find", &[])),
        tool(write("order", &[])),
        tools("shop", &[0, 1]),
    ])
}

/// What undoes the write at this place.
pub(crate) fn undo(name: &str, of: u16) -> Node {
    Node {
        undoes: Some(NodeId(of)),
        ..write(name, &[])
    }
}

/// A class whose order can be undone.
pub(crate) fn returns() -> TaskClass {
    TaskClass {
        result: vec![NodeId(0)],
        ..class(vec![write("order", &[]), undo("order-undo", 0)])
    }
}

/// A class of these nodes whose result is the last one.
pub(crate) fn class(nodes: Vec<Node>) -> TaskClass {
    let last = u16::try_from(nodes.len())
        .expect("few nodes")
        .checked_sub(1);
    TaskClass {
        nodes,
        result: last.map(NodeId).into_iter().collect(),
        ..empty()
    }
}

/// The minutes of a meeting, with every kind of node, rung and option at least once.
/// The meeting with a limit of every kind.
pub(crate) fn capped() -> TaskClass {
    let name = |name: &str| DependencyName::new(name).expect("a valid name");
    TaskClass {
        on_limit: OnLimit::Pause,
        caps: Caps {
            attempts: Some(40),
            branches: Some(30),
            depth: Some(6),
            parallel_cost: Some(CostUnits::units(5)),
            dependencies: vec![
                DependencyCap {
                    dependency: name("draft"),
                    retry_tokens: Some(Tokens::new(2)),
                    concurrency_tokens: Some(Tokens::new(3)),
                    cost_units: Some(CostUnits::units(9)),
                },
                DependencyCap {
                    dependency: name("policy_rag"),
                    retry_tokens: Some(Tokens::new(1)),
                    concurrency_tokens: Some(Tokens::new(2)),
                    cost_units: Some(CostUnits::units(4)),
                },
            ],
        },
        ..meeting()
    }
}

/// A class that may be answered later, whose draft is repaired.
pub(crate) fn patient() -> TaskClass {
    let mut class = capped();
    class.later = Some(ms(60_000));
    contract_of(&mut class.nodes[3]).repair = true;
    class
}

pub(crate) fn meeting() -> TaskClass {
    let mut class = class(vec![
        read("policy_rag", &[]),
        soft("related_tickets", &[]),
        soft("specialist", &[0]),
        read("draft", &[0, 1, 2]),
        when("has_actions", &[3]),
        each("ticket_write", &[3], 50),
        local("report", &[3]),
        write("order", &[6]),
        Node {
            criticality: Criticality::Advisory {
                notice: "not spell-checked".to_owned(),
            },
            ..read("spelling", &[3])
        },
    ]);
    class.name = ClassName::new("meeting-analysis-draft").expect("a valid name");
    class.version = ClassVersion(3);
    class.input = schema(r#"{"properties":{"text":{"type":"string"}},"type":"object"}"#);
    class.on_downtime = OnDowntime::Extend {
        max: Millis::from_hours(1),
    };
    class.times.work_by = Some(ms(11_600));
    class.times.expires_at = Some(Millis::from_days(7));
    class.result = vec![NodeId(3), NodeId(5), NodeId(6)];
    class.nodes[5].when = Some(NodeId(4));
    let policy = contract_of(&mut class.nodes[0]);
    policy.max_attempts = 2;
    policy.retry_cap = Some(Tokens::new(2));
    policy.fallbacks = vec![
        fallback(FallbackKind::ApprovedSnapshot {
            max_age: Millis::from_mins(20),
        }),
        fallback(FallbackKind::Cache),
        fallback(FallbackKind::Human),
    ];
    let specialist = contract_of(&mut class.nodes[2]);
    specialist.fallbacks = vec![
        fallback(FallbackKind::Provider),
        fallback(FallbackKind::LocalCompute),
        fallback(FallbackKind::OmitWithNotice),
    ];
    let draft = contract_of(&mut class.nodes[3]);
    (draft.cost, draft.estimate, draft.timeout) = (CostUnits::units(4), ms(2_000), ms(4_000));
    draft.deadline_reserve = ms(1_500);
    contract_of(&mut class.nodes[5]).cost = CostUnits::milli(100);
    let ticket = effect_of(&mut class.nodes[5]);
    ticket.name = EffectName::new("ticket").expect("a valid name");
    ticket.scope = ScopeKind::Business;
    ticket.significant = vec!["/title".to_owned(), "/meta/a~1b".to_owned()];
    effect_of(&mut class.nodes[7]).receiver_key_ttl = Some(Millis::from_hours(24));
    class
}

/// What a random node is; its place decides which inputs it may have.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) kind: u8,
    pub(crate) is_soft: bool,
    pub(crate) estimate: u64,
    pub(crate) reserve: u64,
    pub(crate) needs: u64,
    pub(crate) is_result: bool,
}

fn draw() -> impl Strategy<Value = Draw> {
    let reserve = prop_oneof![3 => Just(0), 1 => 0_u64..3_000];
    (
        0_u8..4,
        any::<bool>(),
        0_u64..2_000,
        reserve,
        any::<u64>(),
        any::<bool>(),
    )
        .prop_map(
            |(kind, is_soft, estimate, reserve, needs, is_result)| Draw {
                kind,
                is_soft,
                estimate,
                reserve,
                needs,
                is_result,
            },
        )
}

/// Random classes of up to nine nodes, with reads, writes, local nodes, soft ones.
pub(crate) fn graphs() -> impl Strategy<Value = TaskClass> {
    proptest::collection::vec(draw(), 1..10).prop_map(|draws| build(&draws))
}

fn build(draws: &[Draw]) -> TaskClass {
    let mut class = empty();
    for (place, draw) in draws.iter().enumerate() {
        let bit = |i: u16| draw.needs >> i & 1 == 1;
        let inputs: Vec<u16> = (0..u16::try_from(place).expect("few"))
            .filter(|&i| bit(i))
            .collect();
        let name = format!("n{place}");
        let mut node = match (draw.kind, draw.is_soft) {
            (0, _) => write(&name, &inputs),
            (1, _) => local(&name, &inputs),
            (_, true) => soft(&name, &inputs),
            (_, false) => read(&name, &inputs),
        };
        if draw.kind != 1 {
            let contract = contract_of(&mut node);
            (contract.estimate, contract.deadline_reserve) = (ms(draw.estimate), ms(draw.reserve));
        }
        class.nodes.push(node);
        if draw.is_result {
            class
                .result
                .push(NodeId(u16::try_from(place).expect("few")));
        }
    }
    class
}
