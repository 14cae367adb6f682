//! Lines to a task class. Defaults are in one place; every option is checked by name.
//!
//! Nodes: `read soft advisory write each local when NAME [needs=a,b] [when=p] [attempts= timeout=
//! estimate= min= cost= reserve= backoff=BASE/MAX cap= fallback=KIND,.. repair=yes asks=DEPENDENCY
//! cancel=none late=drop|keep|review orphan_ttl=] [notice=] [max= scope= effect= bound= ttl=
//! resolve=]`, `tool_read tool_write NAME [most= rule=] ..`, `tools NAME offers=a,b [most=]` and
//! `undo NAME of=WRITE ..`; then `result NAME..` (default: the last node), `reserve [synthesis=
//! reconcile= deliver=]`, `cap DEPENDENCY [retries= at_once= cost=]`; without `asks` a node asks
//! the dependency of its own name.

use std::sync::Arc;

use mainstay_graph::{
    Backoff, Budget, CancelSemantics, Caps, Contract, Criticality, DependencyCap, EffectContract,
    EffectSemantics, Fallback, FallbackKind, Node, NodeKind, OnDowntime, OnFailure, OnLate,
    OnLimit, Reserve, Resolution, SameRequestRule, Schema, ScopeKind, TaskClass, Times, Tool,
    validate,
};
use mainstay_types::{
    ClassName, ClassVersion, CostUnits, DependencyName, EffectName, Millis, NodeId, NodeName,
    Tokens, limits,
};

use super::parse::{Line, Script, millis};

const NODE: &[&str] = &["needs", "when", "notice"];
const CONTRACT: &[&str] = &[
    "attempts",
    "timeout",
    "estimate",
    "min",
    "cost",
    "reserve",
    "backoff",
    "cap",
    "fallback",
    "repair",
    "asks",
    "cancel",
    "late",
    "orphan_ttl",
];
const TOOL: &[&str] = &["most", "rule"];
const TOOLS: &[&str] = &["offers", "most"];
const EFFECT: &[&str] = &[
    "scope",
    "effect",
    "bound",
    "ttl",
    "resolve",
    "max",
    "without_key",
];
const START: &[&str] = &[
    "retry",
    "concurrency",
    "cost",
    "answer_by",
    "work_by",
    "expires",
    "doubt_wait",
    "downtime",
    "on_failure",
    "on_limit",
    "attempts_max",
    "branches_max",
    "at_once",
    "gates",
    "later",
    "within",
    "queue",
    "slow",
    "takes",
    "key",
];

/// The class of a script, valid by the rules of `graph`.
pub(crate) fn class(script: &Script) -> TaskClass {
    let start = script.start();
    start.only(START);
    let mut class = empty(start);
    for line in script.class() {
        match line.verb.as_str() {
            "result" => class.result = line.words.iter().map(|name| id(&class, name)).collect(),
            "reserve" => {
                line.only(&["synthesis", "reconcile", "deliver"]);
                class.reserve = Reserve {
                    synthesis: line.time("synthesis").unwrap_or_default(),
                    reconcile: line.time("reconcile").unwrap_or_default(),
                    deliver: line.time("deliver").unwrap_or_default(),
                };
            }
            "cap" => class.caps.dependencies.push(cap(line)),
            "list" | "say" | "break" | "hold" | "unassemblable" | "code" | "observed" => {}
            _ => {
                let node = node(&class, line);
                class.nodes.push(node);
            }
        }
    }
    if class.result.is_empty() {
        let last = class.nodes.len().checked_sub(1).expect("a class has nodes");
        class.result = vec![NodeId(u16::try_from(last).expect("few nodes"))];
    }
    let errors: Vec<_> = validate(&class)
        .into_iter()
        .filter(|p| p.is_error())
        .collect();
    assert!(
        errors.is_empty(),
        "the scenario's class is not valid: {errors:#?}"
    );
    class
}

/// A class without nodes, for the random ones as well.
pub(crate) fn bare() -> TaskClass {
    TaskClass {
        name: ClassName::new("scenario").expect("a valid name"),
        version: ClassVersion(1),
        input: schema(),
        output: schema(),
        budget: Budget {
            retry_tokens: Tokens::new(4),
            concurrency_tokens: Tokens::new(5),
            cost_units: CostUnits::units(18),
        },
        times: Times::answer_by(Millis::from_secs(12)),
        reserve: Reserve::default(),
        on_downtime: OnDowntime::Absolute,
        on_failure: OnFailure::HandOff,
        on_limit: OnLimit::default(),
        caps: Caps::default(),
        later: None,
        nodes: Vec::new(),
        result: Vec::new(),
    }
}

fn empty(start: &Line) -> TaskClass {
    let mut class = bare();
    let budget = &mut class.budget;
    budget.retry_tokens = start
        .number("retry")
        .map_or(budget.retry_tokens, Tokens::new);
    let concurrency = start.number("concurrency");
    budget.concurrency_tokens = concurrency.map_or(budget.concurrency_tokens, Tokens::new);
    budget.cost_units = start.cost("cost").unwrap_or(budget.cost_units);
    let times = &mut class.times;
    times.answer_by = start.time("answer_by").unwrap_or(times.answer_by);
    times.work_by = start.time("work_by");
    times.expires_at = start.time("expires");
    times.doubt_wait = start.time("doubt_wait").unwrap_or(times.doubt_wait);
    class.on_failure = match start.option("on_failure") {
        None | Some("hand_off") => OnFailure::HandOff,
        Some("fail") => OnFailure::Fail,
        Some(other) => panic!("on_failure={other}"),
    };
    class.on_limit = start.option("on_limit").map_or(OnLimit::Degrade, |word| {
        OnLimit::from_word(word).unwrap_or_else(|| panic!("on_limit={word}"))
    });
    class.caps.attempts = start.number("attempts_max");
    class.caps.branches = start.number("branches_max");
    class.caps.parallel_cost = start.cost("at_once");
    class.later = start.time("later");
    class.on_downtime = match start
        .option("downtime")
        .and_then(|text| text.split_once(':'))
    {
        None => OnDowntime::Absolute,
        Some(("extend", max)) => OnDowntime::Extend { max: millis(max) },
        Some(other) => panic!("downtime={other:?}"),
    };
    class
}

/// `cap DEPENDENCY retries=N at_once=N cost=UNITS`
fn cap(line: &Line) -> DependencyCap {
    line.only(&["retries", "at_once", "cost"]);
    DependencyCap {
        dependency: DependencyName::new(line.word(0)).expect("a valid name"),
        retry_tokens: line.number("retries").map(Tokens::new),
        concurrency_tokens: line.number("at_once").map(Tokens::new),
        cost_units: line.cost("cost"),
    }
}

fn schema() -> Schema {
    Schema(Arc::from("true"))
}

fn id(class: &TaskClass, name: &str) -> NodeId {
    class
        .find(name)
        .unwrap_or_else(|| panic!("there is no node {name}"))
        .0
}

fn node(class: &TaskClass, line: &Line) -> Node {
    let known = match line.verb.as_str() {
        "local" | "when" => vec![NODE],
        "read" | "soft" | "advisory" => vec![NODE, CONTRACT],
        "write" | "each" => vec![NODE, CONTRACT, EFFECT],
        "undo" => vec![&["of"][..], CONTRACT, EFFECT],
        "tool_read" => vec![TOOL, CONTRACT],
        "tool_write" => vec![TOOL, CONTRACT, EFFECT],
        "tools" => vec![NODE, TOOLS],
        other => panic!("`{}`: there is no node kind {other}", line.text),
    };
    line.only(&known.concat());
    let name = line.word(0);
    let notice = line
        .option("notice")
        .map_or_else(|| format!("no {name}"), str::to_owned);
    let list = |text: &str| text.split(',').map(|name| id(class, name)).collect();
    let tool = || Tool {
        about: format!("does {name}"),
        per_run_max: line.number("most").unwrap_or(8),
        arguments: schema(),
    };
    Node {
        name: NodeName::new(name).expect("a valid name"),
        kind: kind(class, line, name),
        criticality: match line.verb.as_str() {
            "soft" => Criticality::Soft { notice },
            "advisory" => Criticality::Advisory { notice },
            _ => Criticality::Hard,
        },
        inputs: line.option("needs").map(list).unwrap_or_default(),
        when: line.option("when").map(|name| id(class, name)),
        output: schema(),
        tool: line.verb.starts_with("tool_").then(tool),
        undoes: line.option("of").map(|name| id(class, name)),
    }
}

fn kind(class: &TaskClass, line: &Line, name: &str) -> NodeKind {
    match line.verb.as_str() {
        "local" => NodeKind::Local,
        "when" => NodeKind::When,
        "tools" => {
            let offers = line.option("offers").expect("offers=a,b");
            NodeKind::Tools {
                tools: offers.split(',').map(|name| id(class, name)).collect(),
                calls_max: line.number("most").unwrap_or(16),
            }
        }
        "write" | "tool_write" | "undo" => NodeKind::Write {
            contract: contract(line, name),
            effect: effect(line, name),
        },
        "each" => NodeKind::Each {
            contract: contract(line, name),
            effect: EffectContract {
                rule: SameRequestRule::PerItem,
                ..effect(line, name)
            },
            items_max: line.number("max").unwrap_or(50),
        },
        _ => NodeKind::Read {
            contract: contract(line, name),
        },
    }
}

fn contract(line: &Line, name: &str) -> Contract {
    let effect = match (line.verb.as_str(), line.option("without_key")) {
        ("write" | "each" | "tool_write" | "undo", None) => EffectSemantics::WriteIdempotentWithKey,
        ("write" | "each" | "tool_write" | "undo", Some(_)) => EffectSemantics::WriteWithoutKey,
        _ => EffectSemantics::ReadOnly,
    };
    let timeout = line.time("timeout").unwrap_or(Millis::from_secs(2));
    let (base, max) = line
        .option("backoff")
        .and_then(|b| b.split_once('/'))
        .unwrap_or(("0ms", "0ms"));
    let fallbacks = line
        .option("fallback")
        .map(|text| text.split(',').map(fallback).collect());
    Contract {
        dependency: DependencyName::new(line.option("asks").unwrap_or(name)).expect("a valid name"),
        operation: format!("ask_{name}"),
        effect,
        cancel: match line.option("cancel") {
            Some("none") => CancelSemantics::None,
            _ => CancelSemantics::BestEffort,
        },
        max_attempts: line.number("attempts").unwrap_or(1),
        timeout,
        estimate: line
            .time("estimate")
            .unwrap_or(Millis::new(500))
            .min(timeout),
        min_useful: line.time("min").unwrap_or(Millis::new(100)),
        cost: line.cost("cost").unwrap_or(CostUnits::units(1)),
        deadline_reserve: line.time("reserve").unwrap_or_default(),
        backoff: Backoff {
            base: millis(base),
            max: millis(max),
        },
        on_late: line
            .option("late")
            .map(|word| OnLate::from_word(word).expect("a policy")),
        orphan_ttl: line.time("orphan_ttl"),
        repair: line.option("repair").is_some(),
        retry_cap: line.number("cap").map(Tokens::new),
        fallbacks: fallbacks.unwrap_or_default(),
        request: schema(),
        reply: schema(),
    }
}

/// 1 s, expected 500 ms, useful from 100 ms; only another provider costs something.
fn fallback(word: &str) -> Fallback {
    let kind = match word {
        "provider" => FallbackKind::Provider,
        "snapshot" => FallbackKind::ApprovedSnapshot {
            max_age: Millis::from_mins(20),
        },
        "cache" => FallbackKind::Cache,
        "local" => FallbackKind::LocalCompute,
        "omit" => FallbackKind::OmitWithNotice,
        "human" => FallbackKind::Human,
        other => panic!("there is no fallback {other}"),
    };
    let is_load = kind == FallbackKind::Provider;
    Fallback {
        kind,
        dependency: kind
            .attempts()
            .then(|| DependencyName::new(word).expect("a valid name")),
        max_attempts: 1,
        timeout: Millis::from_secs(1),
        estimate: Millis::new(500),
        min_useful: Millis::new(100),
        cost: if is_load {
            CostUnits::units(1)
        } else {
            CostUnits::ZERO
        },
    }
}

fn effect(line: &Line, name: &str) -> EffectContract {
    let resolution = line.option("resolve").unwrap_or("by_key");
    EffectContract {
        name: EffectName::new(line.option("effect").unwrap_or(name)).expect("a valid name"),
        scope: match line.option("scope") {
            None | Some("run") => ScopeKind::Run,
            Some("business") => ScopeKind::Business,
            Some(other) => panic!("scope={other}"),
        },
        rule: match line.option("rule") {
            None => SameRequestRule::PerSlot,
            Some(word) => SameRequestRule::from_word(word).expect("a rule"),
        },
        resolution: Resolution::from_word(resolution).expect("a resolution"),
        receiver_bound: line.time("bound").unwrap_or(Millis::new(200)),
        receiver_key_ttl: line.time("ttl"),
        key_memory: Millis::new(limits::KEY_MEMORY_MS_DEFAULT),
        significant: Vec::new(),
    }
}
