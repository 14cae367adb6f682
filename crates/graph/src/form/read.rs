//! Reads a stored form back into a class.
//!
//! It must never guess: a missing field, an unknown field, a number out of range or an unknown
//! word is an error with its place, because a class that was half understood would be driven
//! under promises that nobody made.

use mainstay_types::json::Value;
use mainstay_types::{ClassName, ClassVersion, DependencyName, EffectName, NodeName, limits};

use super::fields::{Fields, Item, Read};
use super::late;
use crate::class::{
    Budget, Caps, Criticality, DependencyCap, Node, NodeKind, OnDowntime, OnFailure, OnLimit,
    Reserve, TaskClass, Times, Tool,
};
use crate::contract::{
    Backoff, CancelSemantics, Contract, EffectContract, EffectSemantics, Fallback, FallbackKind,
    Resolution, SameRequestRule, ScopeKind,
};

const FIELDS: [&str; 12] = [
    "form",
    "name",
    "version",
    "input",
    "output",
    "budget",
    "times",
    "reserve",
    "on_downtime",
    "on_failure",
    "nodes",
    "result",
];
const FIELDS_2: [&str; 2] = ["on_limit", "caps"];
const FIELDS_3: [&str; 2] = ["later_ms", "repairs"];
const FIELDS_4: [&str; 1] = ["tools"];
const FIELDS_5: [&str; 2] = ["undoes", "late"];

pub(super) fn class(form: &Value) -> Read<TaskClass> {
    let form = Item::root(form);
    let number = form.form_number()?;
    let later_forms: [&[&str]; 4] = [&FIELDS_2, &FIELDS_3, &FIELDS_4, &FIELDS_5];
    let known = (2..=number).zip(later_forms).map(|(_, fields)| fields);
    let known: Vec<&[&str]> = std::iter::once(&FIELDS[..]).chain(known).collect();
    let fields = form.fields(&known.concat())?;
    let (on_limit, caps) = match number {
        ..=1 => Default::default(),
        2.. => limits_of(&fields)?,
    };
    let mut nodes = fields.get("nodes").list(limits::CLASS_NODES_MAX, node)?;
    let later = match number {
        ..=2 => None,
        3.. => {
            repairs(&fields.get("repairs"), &mut nodes)?;
            fields.get("later_ms").optional(Item::millis)?
        }
    };
    if 4 <= number {
        tools(&fields.get("tools"), &mut nodes)?;
    }
    if 5 <= number {
        undoes(&fields.get("undoes"), &mut nodes)?;
        late::read(&fields.get("late"), &mut nodes)?;
    }
    Ok(TaskClass {
        name: fields.get("name").name(ClassName::new)?,
        version: ClassVersion(fields.get("version").number()?),
        input: fields.get("input").schema()?,
        output: fields.get("output").schema()?,
        budget: budget(&fields.get("budget"))?,
        times: times(&fields.get("times"))?,
        reserve: reserve(&fields.get("reserve"))?,
        on_downtime: on_downtime(&fields.get("on_downtime"))?,
        on_failure: fields
            .get("on_failure")
            .word(OnFailure::from_word, "hand_off or fail")?,
        on_limit,
        caps,
        later,
        nodes,
        result: fields.get("result").refs()?,
    })
}

/// What form 1 could not say.
fn limits_of(fields: &Fields<'_>) -> Read<(OnLimit, Caps)> {
    let words = "degrade, pause, hand_off or fail";
    let on_limit = fields.get("on_limit").word(OnLimit::from_word, words)?;
    let caps = fields.get("caps");
    let item = caps.fields(&[
        "attempts",
        "branches",
        "depth",
        "parallel_cost_micros",
        "dependencies",
    ])?;
    let caps = Caps {
        attempts: item.get("attempts").optional(Item::number)?,
        branches: item.get("branches").optional(Item::number)?,
        depth: item.get("depth").optional(Item::number)?,
        parallel_cost: item.get("parallel_cost_micros").optional(Item::cost)?,
        dependencies: item
            .get("dependencies")
            .list(limits::DEPENDENCY_CAPS_MAX, dependency_cap)?,
    };
    Ok((on_limit, caps))
}

/// Marks the reads that can be asked once more with what was wrong.
fn repairs(item: &Item<'_>, nodes: &mut [Node]) -> Read<()> {
    for id in item.refs()? {
        match nodes
            .get_mut(usize::from(id.get()))
            .map(|node| &mut node.kind)
        {
            Some(NodeKind::Read { contract }) if !contract.repair => contract.repair = true,
            Some(
                NodeKind::Read { .. }
                | NodeKind::Write { .. }
                | NodeKind::Each { .. }
                | NodeKind::Tools { .. }
                | NodeKind::Local
                | NodeKind::When,
            )
            | None => return item.expected("refs to reads, each once, in order"),
        }
    }
    Ok(())
}

/// Says of the nodes that are offered to a model how they are.
fn tools(item: &Item<'_>, nodes: &mut [Node]) -> Read<()> {
    let tools = item.list(limits::CLASS_NODES_MAX, |item| {
        let fields = item.fields(&["node", "about", "per_run_max", "arguments"])?;
        let tool = Tool {
            about: fields.get("about").text(limits::TEXT_BYTES_MAX)?,
            per_run_max: fields.get("per_run_max").number()?,
            arguments: fields.get("arguments").schema()?,
        };
        Ok((usize::from(fields.get("node").node_id()?.get()), tool))
    })?;
    let mut free = 0;
    for (place, tool) in tools {
        match nodes.get_mut(place) {
            Some(node) if free <= place => node.tool = Some(tool),
            Some(_) | None => return item.expected("tools of nodes, each once, in order"),
        }
        free = place + 1;
    }
    Ok(())
}

/// Says of the nodes that undo another's effect whose.
fn undoes(item: &Item<'_>, nodes: &mut [Node]) -> Read<()> {
    let undoes = item.list(limits::CLASS_NODES_MAX, |item| {
        let fields = item.fields(&["node", "of"])?;
        let node = usize::from(fields.get("node").node_id()?.get());
        Ok((node, fields.get("of").node_id()?))
    })?;
    let mut free = 0;
    for (place, of) in undoes {
        match nodes.get_mut(place) {
            Some(node) if free <= place => node.undoes = Some(of),
            Some(_) | None => return item.expected("what undoes what, each once, in order"),
        }
        free = place + 1;
    }
    Ok(())
}

fn dependency_cap(item: &Item<'_>) -> Read<DependencyCap> {
    let fields = item.fields(&[
        "dependency",
        "retry_tokens",
        "concurrency_tokens",
        "cost_micros",
    ])?;
    Ok(DependencyCap {
        dependency: fields.get("dependency").name(DependencyName::new)?,
        retry_tokens: fields.get("retry_tokens").optional(Item::tokens)?,
        concurrency_tokens: fields.get("concurrency_tokens").optional(Item::tokens)?,
        cost_units: fields.get("cost_micros").optional(Item::cost)?,
    })
}

fn budget(item: &Item<'_>) -> Read<Budget> {
    let fields = item.fields(&["retry_tokens", "concurrency_tokens", "cost_micros"])?;
    Ok(Budget {
        retry_tokens: fields.get("retry_tokens").tokens()?,
        concurrency_tokens: fields.get("concurrency_tokens").tokens()?,
        cost_units: fields.get("cost_micros").cost()?,
    })
}

fn times(item: &Item<'_>) -> Read<Times> {
    let fields = item.fields(&[
        "answer_by_ms",
        "work_by_ms",
        "expires_at_ms",
        "doubt_wait_ms",
    ])?;
    Ok(Times {
        answer_by: fields.get("answer_by_ms").millis()?,
        work_by: fields.get("work_by_ms").optional(Item::millis)?,
        expires_at: fields.get("expires_at_ms").optional(Item::millis)?,
        doubt_wait: fields.get("doubt_wait_ms").millis()?,
    })
}

fn reserve(item: &Item<'_>) -> Read<Reserve> {
    let fields = item.fields(&["synthesis_ms", "reconcile_ms", "deliver_ms"])?;
    Ok(Reserve {
        synthesis: fields.get("synthesis_ms").millis()?,
        reconcile: fields.get("reconcile_ms").millis()?,
        deliver: fields.get("deliver_ms").millis()?,
    })
}

fn on_downtime(item: &Item<'_>) -> Read<OnDowntime> {
    match item.kind()? {
        "absolute" => item.fields(&["kind"]).map(|_| OnDowntime::Absolute),
        "extend" => {
            let fields = item.fields(&["kind", "ms_max"])?;
            Ok(OnDowntime::Extend {
                max: fields.get("ms_max").millis()?,
            })
        }
        _ => item.expected_kind("absolute or extend"),
    }
}

fn node(item: &Item<'_>) -> Read<Node> {
    let fields = item.fields(&["name", "call", "criticality", "inputs", "when", "output"])?;
    Ok(Node {
        name: fields.get("name").name(NodeName::new)?,
        kind: call(&fields.get("call"))?,
        criticality: criticality(&fields.get("criticality"))?,
        inputs: fields.get("inputs").refs()?,
        when: fields.get("when").optional(Item::node_id)?,
        output: fields.get("output").schema()?,
        tool: None,
        undoes: None,
    })
}

fn call(item: &Item<'_>) -> Read<NodeKind> {
    match item.kind()? {
        "read" => {
            let fields = item.fields(&["kind", "contract"])?;
            Ok(NodeKind::Read {
                contract: contract(&fields.get("contract"))?,
            })
        }
        "write" => {
            let fields = item.fields(&["kind", "contract", "effect"])?;
            Ok(NodeKind::Write {
                contract: contract(&fields.get("contract"))?,
                effect: effect(&fields.get("effect"))?,
            })
        }
        "each" => {
            let fields = item.fields(&["kind", "contract", "effect", "items_max"])?;
            Ok(NodeKind::Each {
                contract: contract(&fields.get("contract"))?,
                effect: effect(&fields.get("effect"))?,
                items_max: fields.get("items_max").number()?,
            })
        }
        "tools" => {
            let fields = item.fields(&["kind", "tools", "calls_max"])?;
            Ok(NodeKind::Tools {
                tools: fields.get("tools").refs()?,
                calls_max: fields.get("calls_max").number()?,
            })
        }
        "local" => item.fields(&["kind"]).map(|_| NodeKind::Local),
        "when" => item.fields(&["kind"]).map(|_| NodeKind::When),
        _ => item.expected_kind("read, write, each, tools, local or when"),
    }
}

fn criticality(item: &Item<'_>) -> Read<Criticality> {
    let notice = || {
        item.fields(&["kind", "notice"])?
            .get("notice")
            .text(limits::TEXT_BYTES_MAX)
    };
    match item.kind()? {
        "hard" => item.fields(&["kind"]).map(|_| Criticality::Hard),
        "soft" => Ok(Criticality::Soft { notice: notice()? }),
        "advisory" => Ok(Criticality::Advisory { notice: notice()? }),
        _ => item.expected_kind("hard, soft or advisory"),
    }
}

fn contract(item: &Item<'_>) -> Read<Contract> {
    let fields = item.fields(&[
        "dependency",
        "operation",
        "effect",
        "cancel",
        "max_attempts",
        "timeout_ms",
        "estimate_ms",
        "min_useful_ms",
        "cost_micros",
        "deadline_reserve_ms",
        "backoff_base_ms",
        "backoff_ms_max",
        "retry_cap",
        "fallbacks",
        "request",
        "reply",
    ])?;
    Ok(Contract {
        dependency: fields.get("dependency").name(DependencyName::new)?,
        operation: fields.get("operation").text(limits::TEXT_BYTES_MAX)?,
        effect: fields
            .get("effect")
            .word(EffectSemantics::from_word, "a kind of effect")?,
        cancel: fields
            .get("cancel")
            .word(CancelSemantics::from_word, "a kind of cancel")?,
        max_attempts: fields.get("max_attempts").number()?,
        timeout: fields.get("timeout_ms").millis()?,
        estimate: fields.get("estimate_ms").millis()?,
        min_useful: fields.get("min_useful_ms").millis()?,
        cost: fields.get("cost_micros").cost()?,
        deadline_reserve: fields.get("deadline_reserve_ms").millis()?,
        backoff: Backoff {
            base: fields.get("backoff_base_ms").millis()?,
            max: fields.get("backoff_ms_max").millis()?,
        },
        on_late: None,
        orphan_ttl: None,
        repair: false,
        retry_cap: fields.get("retry_cap").optional(Item::tokens)?,
        fallbacks: fields
            .get("fallbacks")
            .list(limits::FALLBACKS_MAX, fallback)?,
        request: fields.get("request").schema()?,
        reply: fields.get("reply").schema()?,
    })
}

fn fallback(item: &Item<'_>) -> Read<Fallback> {
    let fields = item.fields(&[
        "kind",
        "age_ms_max",
        "dependency",
        "max_attempts",
        "timeout_ms",
        "estimate_ms",
        "min_useful_ms",
        "cost_micros",
    ])?;
    Ok(Fallback {
        kind: fallback_kind(item, &fields.get("age_ms_max"))?,
        dependency: fields
            .get("dependency")
            .optional(|name| name.name(DependencyName::new))?,
        max_attempts: fields.get("max_attempts").number()?,
        timeout: fields.get("timeout_ms").millis()?,
        estimate: fields.get("estimate_ms").millis()?,
        min_useful: fields.get("min_useful_ms").millis()?,
        cost: fields.get("cost_micros").cost()?,
    })
}

fn fallback_kind(item: &Item<'_>, max_age: &Item<'_>) -> Read<FallbackKind> {
    let kind = match item.kind()? {
        "approved_snapshot" => {
            return Ok(FallbackKind::ApprovedSnapshot {
                max_age: max_age.millis()?,
            });
        }
        "provider" => FallbackKind::Provider,
        "cache" => FallbackKind::Cache,
        "omit_with_notice" => FallbackKind::OmitWithNotice,
        "local_compute" => FallbackKind::LocalCompute,
        "human" => FallbackKind::Human,
        _ => return item.expected_kind("a kind of fallback"),
    };
    max_age.none().map(|()| kind)
}

fn effect(item: &Item<'_>) -> Read<EffectContract> {
    let fields = item.fields(&[
        "name",
        "scope",
        "rule",
        "resolution",
        "receiver_bound_ms",
        "receiver_key_ttl_ms",
        "key_memory_ms",
        "significant",
    ])?;
    Ok(EffectContract {
        name: fields.get("name").name(EffectName::new)?,
        scope: fields
            .get("scope")
            .word(ScopeKind::from_word, "business or run")?,
        rule: fields
            .get("rule")
            .word(SameRequestRule::from_word, "per_run, per_slot or per_item")?,
        resolution: fields
            .get("resolution")
            .word(Resolution::from_word, "a kind of resolution")?,
        receiver_bound: fields.get("receiver_bound_ms").millis()?,
        receiver_key_ttl: fields.get("receiver_key_ttl_ms").optional(Item::millis)?,
        key_memory: fields.get("key_memory_ms").millis()?,
        significant: fields
            .get("significant")
            .list(limits::SIGNIFICANT_FIELDS_MAX, |field| {
                field.text(limits::TEXT_BYTES_MAX)
            })?,
    })
}
