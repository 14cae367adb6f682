//! A small task class with one node of most kinds.
//!
//! It is stored and read back, never run.

use std::sync::Arc;

use mainstay_graph::{
    Backoff, Budget, CancelSemantics, Caps, Contract, Criticality, EffectContract, EffectSemantics,
    Fallback, FallbackKind, Node, NodeKind, OnDowntime, OnFailure, OnLimit, Reserve, Resolution,
    SameRequestRule, Schema, ScopeKind, TaskClass, Times,
};
use mainstay_types::{
    ClassName, ClassVersion, CostUnits, DependencyName, EffectName, Millis, NodeId, NodeName,
    Tokens,
};

/// A class of this name and version.
#[must_use]
pub fn class(name: &str, version: u32) -> TaskClass {
    TaskClass {
        name: ClassName::new(name).expect("a sample name is valid"),
        version: ClassVersion(version),
        input: schema(),
        output: schema(),
        budget: Budget {
            retry_tokens: Tokens::new(4),
            concurrency_tokens: Tokens::new(5),
            cost_units: CostUnits::units(18),
        },
        times: Times::answer_by(Millis::from_secs(12)),
        reserve: Reserve {
            reconcile: Millis::new(1_200),
            ..Reserve::default()
        },
        on_downtime: OnDowntime::Extend {
            max: Millis::from_hours(1),
        },
        on_failure: OnFailure::HandOff,
        on_limit: OnLimit::default(),
        caps: Caps::default(),
        later: None,
        nodes: vec![read(), local(), each()],
        result: vec![NodeId(1), NodeId(2)],
    }
}

pub(super) fn schema() -> Schema {
    Schema(Arc::from("true"))
}

pub(super) fn node(name: &str, kind: NodeKind, inputs: Vec<NodeId>) -> Node {
    Node {
        name: NodeName::new(name).expect("a sample name is valid"),
        kind,
        criticality: Criticality::Hard,
        inputs,
        when: None,
        output: schema(),
        tool: None,
        undoes: None,
    }
}

fn read() -> Node {
    let snapshot = Fallback {
        kind: FallbackKind::ApprovedSnapshot {
            max_age: Millis::from_mins(20),
        },
        dependency: Some(DependencyName::new("snapshot").expect("a sample name is valid")),
        max_attempts: 1,
        timeout: Millis::new(200),
        estimate: Millis::new(20),
        min_useful: Millis::new(10),
        cost: CostUnits::ZERO,
    };
    let contract = Contract {
        fallbacks: vec![snapshot],
        ..contract(EffectSemantics::ReadOnly)
    };
    let notice = "policy not searched".to_owned();
    let criticality = Criticality::Soft { notice };
    Node {
        criticality,
        ..node("policy_rag", NodeKind::Read { contract }, Vec::new())
    }
}

fn local() -> Node {
    node("draft", NodeKind::Local, vec![NodeId(0)])
}

pub(super) fn each() -> Node {
    let contract = contract(EffectSemantics::WriteIdempotentWithKey);
    let effect = EffectContract {
        name: EffectName::new("ticket").expect("a sample name is valid"),
        scope: ScopeKind::Business,
        rule: SameRequestRule::PerItem,
        resolution: Resolution::ByKey,
        receiver_bound: Millis::from_secs(2),
        receiver_key_ttl: Some(Millis::from_days(30)),
        key_memory: Millis::from_days(400),
        significant: vec!["/title".to_owned()],
    };
    node(
        "ticket_write",
        NodeKind::Each {
            contract,
            effect,
            items_max: 50,
        },
        vec![NodeId(1)],
    )
}

pub(super) fn contract(effect: EffectSemantics) -> Contract {
    Contract {
        dependency: DependencyName::new("search").expect("a sample name is valid"),
        operation: "retrieve".to_owned(),
        effect,
        cancel: CancelSemantics::BestEffort,
        max_attempts: 3,
        timeout: Millis::from_secs(3),
        estimate: Millis::new(400),
        min_useful: Millis::new(150),
        cost: CostUnits::units(2),
        deadline_reserve: Millis::ZERO,
        backoff: Backoff {
            base: Millis::new(100),
            max: Millis::from_secs(2),
        },
        on_late: None,
        orphan_ttl: None,
        repair: false,
        retry_cap: None,
        fallbacks: Vec::new(),
        request: schema(),
        reply: schema(),
    }
}
