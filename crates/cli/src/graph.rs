//! `graph`: a task class as tables, drawing or JSON, from this program or from the store.
//!
//! A class of this program needs no store; a stored one needs no code.

use std::fmt::Write as _;
use std::sync::Arc;

use mainstay_graph::{
    Criticality, EffectContract, Fallback, Node, NodeKind, OnDowntime, TaskClass, draw, path,
};
use mainstay_socket::{Ask, ClassAsk, Failure, Reply};
use mainstay_types::{Code, Millis, NodeId, json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::args::{GraphArgs, GraphFormat};
use crate::error::CliError;
use crate::operator::{reach, read};
use crate::output::Output;
use crate::table::table;

/// A `String` takes any text; only memory bounds it.
const INFALLIBLE: &str = "writing into a String cannot fail";

/// Where a class was found.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    Program,
    Store,
}

struct Found {
    class: Arc<TaskClass>,
    source: Source,
}

/// The stored form of a class, as it is answered.
#[derive(Deserialize)]
struct StoredForm<'a> {
    #[serde(borrow)]
    class: &'a RawValue,
}

/// The stored classes, as they are answered.
#[derive(Deserialize)]
struct Names {
    classes: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
    version: u32,
}

#[derive(Serialize)]
struct Shown {
    name: String,
    version: u32,
    fingerprint: String,
    source: Source,
    critical_path: CriticalPath,
    /// The stored form.
    class: Box<RawValue>,
    drawing: Option<Drawing>,
}

#[derive(Serialize)]
struct CriticalPath {
    calls: Vec<String>,
    estimate_ms: u64,
}

#[derive(Serialize)]
struct Drawing {
    format: &'static str,
    text: String,
}

/// Prints the class.
pub(crate) fn draw(
    args: &GraphArgs,
    classes: &[Arc<TaskClass>],
    output: &Output,
) -> Result<(), CliError> {
    let found = find(args, classes, output)?;
    check_refs(&found.class)?;
    if output.json {
        return output.print_json(&shown(&found, args.format)?);
    }
    match args.format {
        GraphFormat::Text => output.print(&text(&found)),
        GraphFormat::Mermaid => output.print(&draw::mermaid(&found.class)),
        GraphFormat::Dot => output.print(&draw::dot(&found.class)),
        GraphFormat::Json => output.print_json(&shown(&found, args.format)?),
    }
}

fn find(args: &GraphArgs, classes: &[Arc<TaskClass>], output: &Output) -> Result<Found, CliError> {
    if let Some(class) = newest(args, classes.iter().cloned()) {
        return Ok(Found {
            class,
            source: Source::Program,
        });
    }
    let mut operator = reach(&output.store)?;
    let ask = Ask::Class(ClassAsk {
        name: args.class.clone(),
        version: args.version,
    });
    match operator.ask(&ask) {
        Ok(reply) => Ok(Found {
            class: Arc::new(stored(&reply)?),
            source: Source::Store,
        }),
        Err(error) if error.code == Some(Code::ClassUnknown) => {
            let stored: Names = read(&operator.ask(&Ask::Classes)?)?;
            let stored = stored.classes.into_iter();
            let stored = stored.map(|known| format!("{} v{}", known.name, known.version));
            let own = classes.iter();
            let own = own.map(|class| format!("{} v{}", class.name, class.version));
            Err(unknown(args, own.chain(stored).collect()))
        }
        Err(error) => Err(error),
    }
}

/// The class of an answer. Its bytes are read by the same reader as those of the store.
fn stored(reply: &Reply) -> Result<TaskClass, CliError> {
    let answer: StoredForm<'_> = read(reply)?;
    let form = json::parse(answer.class.get()).map_err(|error| error.to_string());
    let class =
        form.and_then(|form| TaskClass::from_json(&form).map_err(|error| error.to_string()));
    class.map_err(|error| {
        let message = format!("the class's form cannot be read: {error}");
        Failure::new(Code::SocketProtocol, message).into()
    })
}

fn newest(
    args: &GraphArgs,
    classes: impl Iterator<Item = Arc<TaskClass>>,
) -> Option<Arc<TaskClass>> {
    classes
        .filter(|class| class.name == args.class)
        .filter(|class| {
            args.version
                .is_none_or(|version| class.version.0 == version)
        })
        .max_by_key(|class| class.version)
}

fn unknown(args: &GraphArgs, mut known: Vec<String>) -> CliError {
    known.sort();
    known.dedup();
    let hint = match known.as_slice() {
        [] => "a class is stored with its first run, and this store has none".to_owned(),
        known => format!("known are: {}", known.join(", ")),
    };
    let version = args
        .version
        .map_or_else(String::new, |version| format!(" v{version}"));
    let message = format!("no such task class [{}{version}]", args.class);
    CliError::new(Code::ClassUnknown, message, hint)
}

/// Drawing follows refs; a stored class whose refs lead nowhere must end as an error.
fn check_refs(class: &TaskClass) -> Result<(), CliError> {
    let is_before = |id: NodeId, end: usize| usize::from(id.get()) < end;
    let nodes = class.nodes.iter().enumerate();
    let all = nodes
        .clone()
        .all(|(own, node)| node.needs().all(|need| is_before(need, own)))
        && class.result.iter().all(|&id| is_before(id, nodes.len()));
    if all {
        return Ok(());
    }
    let message = format!(
        "class {} v{} has a ref that leads nowhere",
        class.name, class.version
    );
    Err(CliError::new(
        Code::CorruptRecord,
        message,
        "copy the whole folder, then check the disk",
    ))
}

fn shown(found: &Found, format: GraphFormat) -> Result<Shown, CliError> {
    let class = &found.class;
    let form = class.to_json().to_canonical();
    let form = RawValue::from_string(form).map_err(|error| {
        CliError::outside(
            format!("the class's form is no JSON: {error}"),
            "report this",
        )
    })?;
    let drawing = match format {
        GraphFormat::Text | GraphFormat::Json => None,
        GraphFormat::Mermaid => Some(Drawing {
            format: "mermaid",
            text: draw::mermaid(class),
        }),
        GraphFormat::Dot => Some(Drawing {
            format: "dot",
            text: draw::dot(class),
        }),
    };
    let critical = path::critical_path(class);
    Ok(Shown {
        name: class.name.to_string(),
        version: class.version.0,
        fingerprint: class.fingerprint().to_string(),
        source: found.source,
        critical_path: CriticalPath {
            calls: names(class, &critical.nodes),
            estimate_ms: critical.estimate.get(),
        },
        class: form,
        drawing,
    })
}

fn names(class: &TaskClass, ids: &[NodeId]) -> Vec<String> {
    ids.iter()
        .map(|&id| class.node(id).name.to_string())
        .collect()
}

fn text(found: &Found) -> String {
    let class = &found.class;
    let from = match found.source {
        Source::Program => "of this program",
        Source::Store => "of the store",
    };
    let mut out = format!("class {} v{}, {from}\n", class.name, class.version);
    for (name, value) in facts(class) {
        writeln!(out, "  {name:<14}  {value}").expect(INFALLIBLE);
    }
    for section in [calls(class), contracts(class), effects(class)]
        .into_iter()
        .flatten()
    {
        out.push('\n');
        out.push_str(&section);
    }
    out.push_str("\n* on the critical path\n");
    out
}

fn facts(class: &TaskClass) -> Vec<(&'static str, String)> {
    let (budget, reserve) = (&class.budget, &class.reserve);
    let critical = path::critical_path(class);
    let chain = names(class, &critical.nodes).join(" -> ");
    let budget = format!(
        "{} retry tokens, {} concurrency tokens, {} cost units",
        budget.retry_tokens, budget.concurrency_tokens, budget.cost_units
    );
    let reserves = format!(
        "synthesis {}, reconcile {}, deliver {}",
        reserve.synthesis, reserve.reconcile, reserve.deliver
    );
    vec![
        ("fingerprint", class.fingerprint().to_string()),
        ("budget", budget),
        ("times", times(class)),
        ("reserves", reserves),
        ("on downtime", on_downtime(class.on_downtime)),
        ("on failure", class.on_failure.as_str().to_owned()),
        ("on limit", class.on_limit.as_str().to_owned()),
        ("critical path", format!("{chain}; {}", critical.estimate)),
        ("result", names(class, &class.result).join(", ")),
    ]
}

fn times(class: &TaskClass) -> String {
    let times = &class.times;
    let expires = times
        .expires_at
        .map_or_else(|| "never".to_owned(), |at| at.to_string());
    let (answer_by, work_by, doubt_wait) = (times.answer_by, class.work_by(), times.doubt_wait);
    format!("answer by {answer_by}, work by {work_by}, expires {expires}, doubt wait {doubt_wait}")
}

fn on_downtime(on_downtime: OnDowntime) -> String {
    match on_downtime {
        OnDowntime::Absolute => "absolute".to_owned(),
        OnDowntime::Extend { max } => format!("extend, at most {max}"),
    }
}

fn calls(class: &TaskClass) -> Option<String> {
    let critical = path::critical_path(class).nodes;
    let row = |(id, node): (NodeId, &Node)| {
        [
            format!(
                "{}{}",
                node.name,
                if critical.contains(&id) { " *" } else { "" }
            ),
            kind(&node.kind),
            dashed(names(class, &node.inputs)),
            dashed(names(class, node.when.as_slice())),
            criticality(&node.criticality),
        ]
    };
    let rows: Vec<_> = class.ids().map(row).collect();
    let heading = ["CALL", "KIND", "NEEDS", "WHEN", "WITHOUT IT"];
    (!rows.is_empty()).then(|| table(heading, rows))
}

fn kind(kind: &NodeKind) -> String {
    match kind {
        NodeKind::Each { items_max, .. } => format!("each of at most {items_max}"),
        NodeKind::Tools { tools, calls_max } => {
            format!("{} tools, at most {calls_max} calls", tools.len())
        }
        NodeKind::Read { .. } | NodeKind::Write { .. } | NodeKind::Local | NodeKind::When => {
            kind.as_str().to_owned()
        }
    }
}

fn criticality(criticality: &Criticality) -> String {
    match criticality {
        Criticality::Hard => "hard: not completed".to_owned(),
        Criticality::Soft { notice } => format!("soft: degraded, \"{notice}\""),
        Criticality::Advisory { notice } => format!("advisory: \"{notice}\""),
    }
}

fn contracts(class: &TaskClass) -> Option<String> {
    let row = |node: &Node| {
        let contract = node.contract()?;
        Some([
            node.name.to_string(),
            format!("{}: {}", contract.dependency, contract.operation),
            contract.max_attempts.to_string(),
            contract.estimate.to_string(),
            contract.timeout.to_string(),
            contract.cost.to_string(),
            dashed(contract.fallbacks.iter().map(fallback).collect()),
        ])
    };
    let rows: Vec<_> = class.nodes.iter().filter_map(row).collect();
    let heading = [
        "CALL", "ASKS", "ATTEMPTS", "ESTIMATE", "TIMEOUT", "COST", "ELSE",
    ];
    (!rows.is_empty()).then(|| table(heading, rows))
}

fn fallback(fallback: &Fallback) -> String {
    match &fallback.dependency {
        Some(dependency) => format!("{} {dependency}", fallback.kind.as_str()),
        None => fallback.kind.as_str().to_owned(),
    }
}

fn effects(class: &TaskClass) -> Option<String> {
    let row = |node: &Node| {
        let (contract, effect) = (node.contract()?, node.effect()?);
        Some([
            node.name.to_string(),
            effect.name.to_string(),
            effect.scope.as_str().to_owned(),
            effect.rule.as_str().to_owned(),
            effect.resolution.as_str().to_owned(),
            contract.horizon(effect).to_string(),
            receiver_memory(effect),
            effect.key_memory.to_string(),
        ])
    };
    let rows: Vec<_> = class.nodes.iter().filter_map(row).collect();
    let heading = [
        "CALL",
        "EFFECT",
        "SCOPE",
        "SAME REQUEST",
        "RESOLVED",
        "HORIZON",
        "RECEIVER KNOWS KEY",
        "KEY MEMORY",
    ];
    (!rows.is_empty()).then(|| table(heading, rows))
}

fn receiver_memory(effect: &EffectContract) -> String {
    effect
        .receiver_key_ttl
        .map_or_else(|| "for good".to_owned(), |ttl: Millis| ttl.to_string())
}

fn dashed(words: Vec<String>) -> String {
    if words.is_empty() {
        "-".to_owned()
    } else {
        words.join(", ")
    }
}
