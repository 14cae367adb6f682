//! Writes a class as the lowest form that can say all of it.
//!
//! Every field of the class stands here once. None may be left out: what is not written is not
//! in the fingerprint, and a changed class would pass for the old one. That is why each struct is
//! taken apart by name, so that a new field does not compile until it is written.

use mainstay_types::json::Value;
use mainstay_types::{CostUnits, Millis, NodeId, Tokens};

use super::{FORMS, late};
use crate::class::{
    Budget, Caps, Criticality, DependencyCap, Node, NodeKind, OnDowntime, OnLimit, Reserve, Schema,
    TaskClass, Times, Tool,
};
use crate::contract::{Backoff, Contract, EffectContract, Fallback, FallbackKind};

pub(super) fn class(class: &TaskClass) -> Value {
    let TaskClass {
        name,
        version,
        input,
        output,
        budget,
        times,
        reserve,
        on_downtime,
        on_failure,
        on_limit,
        caps,
        later,
        nodes,
        result,
    } = class;
    let repairs: Vec<NodeId> = class.repairing().collect();
    let form = lowest_form(class);
    let fields_2 = [
        ("on_limit", text(on_limit.as_str())),
        ("caps", self::caps(caps)),
    ];
    let fields_3 = [
        ("later_ms", optional(later.map(millis))),
        ("repairs", refs(&repairs)),
    ];
    let fields = [
        ("form", Value::from(form)),
        ("name", text(name.as_str())),
        ("version", Value::from(version.0)),
        ("input", schema(input)),
        ("output", schema(output)),
        ("budget", self::budget(budget)),
        ("times", self::times(times)),
        ("reserve", self::reserve(reserve)),
        ("on_downtime", self::on_downtime(on_downtime)),
        ("on_failure", text(on_failure.as_str())),
        ("nodes", Value::List(nodes.iter().map(node).collect())),
        ("result", refs(result)),
    ];
    let fields_2 = fields_2.into_iter().filter(|_| 2 <= form);
    let fields_3 = fields_3.into_iter().filter(|_| 3 <= form);
    let fields_4 = (4 <= form).then(|| ("tools", tools(class)));
    let fields_5 = [("undoes", undoes(class)), ("late", late::write(class))];
    let fields_5 = fields_5.into_iter().filter(|_| 5 <= form);
    let newer = fields_2.chain(fields_3).chain(fields_4).chain(fields_5);
    Value::object(fields.into_iter().chain(newer))
}

/// The first form that can say all of it.
fn lowest_form(class: &TaskClass) -> u32 {
    let [first, second, third, fourth, fifth] = FORMS;
    let is_undone = class.nodes.iter().any(|node| node.undoes.is_some());
    if is_undone || late::is_said(class) {
        fifth
    } else if has_tools(class) {
        fourth
    } else if class.later.is_some() || class.repairing().next().is_some() {
        third
    } else if class.on_limit != OnLimit::default() || class.caps != Caps::default() {
        second
    } else {
        first
    }
}

fn caps(caps: &Caps) -> Value {
    let Caps {
        attempts,
        branches,
        depth,
        parallel_cost,
        dependencies,
    } = caps;
    Value::object([
        ("attempts", optional(attempts.map(Value::from))),
        ("branches", optional(branches.map(Value::from))),
        ("depth", optional(depth.map(Value::from))),
        ("parallel_cost_micros", optional(parallel_cost.map(cost))),
        (
            "dependencies",
            Value::List(dependencies.iter().map(dependency_cap).collect()),
        ),
    ])
}

fn dependency_cap(cap: &DependencyCap) -> Value {
    let DependencyCap {
        dependency,
        retry_tokens,
        concurrency_tokens,
        cost_units,
    } = cap;
    let tokens = |tokens: &Option<Tokens>| optional(tokens.map(|tokens| Value::from(tokens.get())));
    Value::object([
        ("dependency", text(dependency.as_str())),
        ("retry_tokens", tokens(retry_tokens)),
        ("concurrency_tokens", tokens(concurrency_tokens)),
        ("cost_micros", optional(cost_units.map(cost))),
    ])
}

fn budget(budget: &Budget) -> Value {
    let Budget {
        retry_tokens,
        concurrency_tokens,
        cost_units,
    } = budget;
    Value::object([
        ("retry_tokens", Value::from(retry_tokens.get())),
        ("concurrency_tokens", Value::from(concurrency_tokens.get())),
        ("cost_micros", cost(*cost_units)),
    ])
}

fn times(times: &Times) -> Value {
    let Times {
        answer_by,
        work_by,
        expires_at,
        doubt_wait,
    } = times;
    Value::object([
        ("answer_by_ms", millis(*answer_by)),
        ("work_by_ms", optional(work_by.map(millis))),
        ("expires_at_ms", optional(expires_at.map(millis))),
        ("doubt_wait_ms", millis(*doubt_wait)),
    ])
}

fn reserve(reserve: &Reserve) -> Value {
    let Reserve {
        synthesis,
        reconcile,
        deliver,
    } = reserve;
    Value::object([
        ("synthesis_ms", millis(*synthesis)),
        ("reconcile_ms", millis(*reconcile)),
        ("deliver_ms", millis(*deliver)),
    ])
}

fn on_downtime(on_downtime: &OnDowntime) -> Value {
    match on_downtime {
        OnDowntime::Absolute => kind("absolute", []),
        OnDowntime::Extend { max } => kind("extend", [("ms_max", millis(*max))]),
    }
}

fn node(node: &Node) -> Value {
    let Node {
        name,
        kind,
        criticality,
        inputs,
        when,
        output,
        // Said of the class as a whole, which is older than this.
        tool: _,
        undoes: _,
    } = node;
    Value::object([
        ("name", text(name.as_str())),
        ("call", call(kind)),
        ("criticality", self::criticality(criticality)),
        ("inputs", refs(inputs)),
        ("when", optional(when.map(|id| Value::from(id.get())))),
        ("output", schema(output)),
    ])
}

fn call(node_kind: &NodeKind) -> Value {
    let word = node_kind.as_str();
    match node_kind {
        NodeKind::Read { contract } => kind(word, [("contract", self::contract(contract))]),
        NodeKind::Write { contract, effect } => kind(
            word,
            [
                ("contract", self::contract(contract)),
                ("effect", self::effect(effect)),
            ],
        ),
        NodeKind::Each {
            contract,
            effect,
            items_max,
        } => kind(
            word,
            [
                ("contract", self::contract(contract)),
                ("effect", self::effect(effect)),
                ("items_max", Value::from(*items_max)),
            ],
        ),
        NodeKind::Tools { tools, calls_max } => kind(
            word,
            [
                ("tools", refs(tools)),
                ("calls_max", Value::from(*calls_max)),
            ],
        ),
        NodeKind::Local | NodeKind::When => kind(word, []),
    }
}

fn tools(class: &TaskClass) -> Value {
    let tools = class.ids().filter_map(|(id, node)| {
        let Tool {
            about,
            per_run_max,
            arguments,
        } = node.tool.as_ref()?;
        Some(Value::object([
            ("node", Value::from(id.get())),
            ("about", text(about)),
            ("per_run_max", Value::from(*per_run_max)),
            ("arguments", schema(arguments)),
        ]))
    });
    Value::List(tools.collect())
}

fn undoes(class: &TaskClass) -> Value {
    let undoes = class.ids().filter_map(|(id, node)| {
        Some(Value::object([
            ("node", Value::from(id.get())),
            ("of", Value::from(node.undoes?.get())),
        ]))
    });
    Value::List(undoes.collect())
}

fn has_tools(class: &TaskClass) -> bool {
    let is_one = |node: &Node| node.tool.is_some() || matches!(node.kind, NodeKind::Tools { .. });
    class.nodes.iter().any(is_one)
}

fn criticality(criticality: &Criticality) -> Value {
    match criticality {
        Criticality::Hard => kind("hard", []),
        Criticality::Soft { notice } => kind("soft", [("notice", text(notice))]),
        Criticality::Advisory { notice } => kind("advisory", [("notice", text(notice))]),
    }
}

fn contract(contract: &Contract) -> Value {
    let Contract {
        dependency,
        operation,
        effect,
        cancel,
        max_attempts,
        timeout,
        estimate,
        min_useful,
        cost,
        deadline_reserve,
        backoff: Backoff { base, max },
        // Said of the class as a whole, which is older than these.
        on_late: _,
        orphan_ttl: _,
        repair: _,
        retry_cap,
        fallbacks,
        request,
        reply,
    } = contract;
    Value::object([
        ("dependency", text(dependency.as_str())),
        ("operation", text(operation)),
        ("effect", text(effect.as_str())),
        ("cancel", text(cancel.as_str())),
        ("max_attempts", Value::from(*max_attempts)),
        ("timeout_ms", millis(*timeout)),
        ("estimate_ms", millis(*estimate)),
        ("min_useful_ms", millis(*min_useful)),
        ("cost_micros", self::cost(*cost)),
        ("deadline_reserve_ms", millis(*deadline_reserve)),
        ("backoff_base_ms", millis(*base)),
        ("backoff_ms_max", millis(*max)),
        (
            "retry_cap",
            optional(retry_cap.map(|tokens| Value::from(tokens.get()))),
        ),
        (
            "fallbacks",
            Value::List(fallbacks.iter().map(fallback).collect()),
        ),
        ("request", schema(request)),
        ("reply", schema(reply)),
    ])
}

fn fallback(fallback: &Fallback) -> Value {
    let Fallback {
        kind,
        dependency,
        max_attempts,
        timeout,
        estimate,
        min_useful,
        cost,
    } = fallback;
    let max_age = match kind {
        FallbackKind::ApprovedSnapshot { max_age } => Some(millis(*max_age)),
        FallbackKind::Provider
        | FallbackKind::Cache
        | FallbackKind::OmitWithNotice
        | FallbackKind::LocalCompute
        | FallbackKind::Human => None,
    };
    Value::object([
        ("kind", text(kind.as_str())),
        ("age_ms_max", optional(max_age)),
        (
            "dependency",
            optional(dependency.as_ref().map(|name| text(name.as_str()))),
        ),
        ("max_attempts", Value::from(*max_attempts)),
        ("timeout_ms", millis(*timeout)),
        ("estimate_ms", millis(*estimate)),
        ("min_useful_ms", millis(*min_useful)),
        ("cost_micros", self::cost(*cost)),
    ])
}

fn effect(effect: &EffectContract) -> Value {
    let EffectContract {
        name,
        scope,
        rule,
        resolution,
        receiver_bound,
        receiver_key_ttl,
        key_memory,
        significant,
    } = effect;
    Value::object([
        ("name", text(name.as_str())),
        ("scope", text(scope.as_str())),
        ("rule", text(rule.as_str())),
        ("resolution", text(resolution.as_str())),
        ("receiver_bound_ms", millis(*receiver_bound)),
        (
            "receiver_key_ttl_ms",
            optional(receiver_key_ttl.map(millis)),
        ),
        ("key_memory_ms", millis(*key_memory)),
        (
            "significant",
            Value::List(significant.iter().map(|field| text(field)).collect()),
        ),
    ])
}

/// An object with its `kind` and what belongs to that kind.
fn kind<const N: usize>(word: &str, fields: [(&str, Value); N]) -> Value {
    Value::object(std::iter::once(("kind", text(word))).chain(fields))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn schema(schema: &Schema) -> Value {
    text(&schema.0)
}

fn millis(length: Millis) -> Value {
    Value::from(length.get())
}

fn cost(cost: CostUnits) -> Value {
    Value::from(cost.as_micros())
}

fn optional(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
}

fn refs(ids: &[NodeId]) -> Value {
    Value::List(ids.iter().map(|id| Value::from(id.get())).collect())
}
