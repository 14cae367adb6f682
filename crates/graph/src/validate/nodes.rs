//! Checks of the graph's shape: names, refs, sizes, criticality, schemas of nodes.
//!
//! It must never follow a ref before it has checked it.

use std::collections::BTreeMap;

use mainstay_types::{Code, NodeId, limits};

use super::{count, schema_problem};
use crate::class::{Criticality, Node, NodeKind, TaskClass};
use crate::problem::Problem;

/// Checks the class as a whole: number of nodes, names, the result's refs.
pub(super) fn check(class: &TaskClass, problems: &mut Vec<Problem>) {
    problems.extend(size_problem(class));
    check_names(class, problems);
    for (place, &id) in class.result.iter().enumerate() {
        let reason = match class.nodes.get(usize::from(id.get())) {
            None => format!("the class has {}", count(class.nodes.len(), "node")),
            Some(node) if is_predicate(node) => format!("{} is a predicate", node.name),
            Some(_) => continue,
        };
        let message = format!("part {place} of the result is node {id}, but {reason}");
        problems.push(
            Problem::error(Code::RefUnknown, message).hint("make the result of values of nodes"),
        );
    }
}

fn size_problem(class: &TaskClass) -> Option<Problem> {
    let (nodes, max) = (class.nodes.len(), limits::CLASS_NODES_MAX);
    if nodes == 0 {
        let message = format!("the class {} has no nodes", class.name);
        let hint = "add at least one call before `finish`";
        return Some(Problem::error(Code::NoNodes, message).hint(hint));
    }
    if max < nodes {
        let message = format!("the class has {nodes} nodes, at most {max} are allowed");
        let hint = "use `each` for a list of items, or split the class";
        return Some(Problem::error(Code::TooManyNodes, message).hint(hint));
    }
    None
}

fn check_names(class: &TaskClass, problems: &mut Vec<Problem>) {
    let mut first = BTreeMap::new();
    for (place, node) in class.nodes.iter().enumerate() {
        let before = *first.entry(&node.name).or_insert(place);
        if before == place {
            continue;
        }
        let message = format!("nodes {before} and {place} are both named {}", node.name);
        problems.push(
            Problem::error(Code::NameTaken, message)
                .at(&node.name)
                .hint("rename one of them; a name is the call's path in logs and keys"),
        );
    }
}

/// Checks one node: its refs, criticality and schemas.
pub(super) fn check_node(class: &TaskClass, place: usize, problems: &mut Vec<Problem>) {
    let node = &class.nodes[place];
    check_inputs(class, place, problems);
    check_when(class, place, problems);
    check_criticality(node, problems);
    let contract = node.contract();
    let schemas = [
        ("output", Some(&node.output)),
        ("request", contract.map(|contract| &contract.request)),
        ("reply", contract.map(|contract| &contract.reply)),
    ];
    for (what, schema) in schemas {
        let found = schema.and_then(|schema| schema_problem(what, schema));
        problems.extend(found.map(|problem| problem.at(&node.name)));
    }
}

fn check_inputs(class: &TaskClass, place: usize, problems: &mut Vec<Problem>) {
    let node = &class.nodes[place];
    let max = limits::CLASS_NODES_MAX;
    if max < node.inputs.len() {
        let message = format!("{} inputs, at most {max} are allowed", node.inputs.len());
        let hint = "gather some of them in a local node first";
        problems.push(
            Problem::error(Code::TooManyNodes, message)
                .at(&node.name)
                .hint(hint),
        );
    }
    for (input, &id) in node.inputs.iter().enumerate() {
        let problem = match earlier(class, place, id) {
            None => unknown(class, place, &format!("input {input} is node {id}")),
            Some(from) if is_predicate(from) => Problem::error(
                Code::RefUnknown,
                format!(
                    "input {input} is {}, a predicate, which has no value",
                    from.name
                ),
            )
            .hint("use a predicate with `when` only"),
            Some(_) => continue,
        };
        problems.push(problem.at(&node.name));
    }
}

fn check_when(class: &TaskClass, place: usize, problems: &mut Vec<Problem>) {
    let node = &class.nodes[place];
    let Some(id) = node.when else { return };
    let problem = match earlier(class, place, id) {
        None => unknown(class, place, &format!("its predicate is node {id}")),
        Some(from) if !is_predicate(from) => Problem::error(
            Code::RefUnknown,
            format!(
                "its predicate is {}, whose kind is {}",
                from.name,
                from.kind.as_str()
            ),
        )
        .hint("only a predicate decides whether another node happens"),
        Some(_) => return,
    };
    problems.push(problem.at(&node.name));
}

fn earlier(class: &TaskClass, place: usize, id: NodeId) -> Option<&Node> {
    class.nodes[..place].get(usize::from(id.get()))
}

fn unknown(class: &TaskClass, place: usize, what: &str) -> Problem {
    let name = &class.nodes[place].name;
    let allowed = match place {
        0 => "it is the first and may use none".to_owned(),
        1 => format!("{name} is node 1 and may only use node 0"),
        _ => format!(
            "{name} is node {place} and may only use nodes 0 to {}",
            place - 1
        ),
    };
    Problem::error(Code::RefUnknown, format!("{what}, but {allowed}"))
        .hint("put the node it needs before it")
}

fn check_criticality(node: &Node, problems: &mut Vec<Problem>) {
    let (word, notice) = match &node.criticality {
        Criticality::Hard => return,
        Criticality::Soft { notice } => ("soft", notice),
        Criticality::Advisory { notice } => ("advisory", notice),
    };
    let mut found = |message: String, hint: &str| {
        problems.push(
            Problem::error(Code::ContractInvalid, message)
                .at(&node.name)
                .hint(hint),
        );
    };
    match node.kind {
        NodeKind::Write { .. } | NodeKind::Each { .. } => found(
            format!("a write cannot be {word}: it is never skipped for lateness"),
            "make it hard, or put it behind a predicate",
        ),
        NodeKind::When => found(
            format!("a predicate cannot be {word}: the nodes behind it wait for its answer"),
            "make it hard; it may use soft inputs",
        ),
        NodeKind::Tools { .. } => found(
            format!("tools cannot be {word}: what a model asked for may have changed something"),
            "make them hard, or put them behind a predicate",
        ),
        NodeKind::Read { .. } | NodeKind::Local => {}
    }
    let (bytes, max) = (notice.len(), limits::TEXT_BYTES_MAX);
    if notice.trim().is_empty() {
        let message = format!("it is {word} and has no notice, so its absence would not be said");
        found(
            message,
            "say in the notice what the result lacks without it",
        );
    }
    if max < bytes {
        found(
            format!("its notice has {bytes} bytes, at most {max} are allowed"),
            "shorten it",
        );
    }
}

fn is_predicate(node: &Node) -> bool {
    matches!(node.kind, NodeKind::When)
}

/// Whether every ref points at an earlier node, so that paths can be followed.
pub(super) fn has_sound_refs(class: &TaskClass) -> bool {
    let known = |id: NodeId, below: usize| usize::from(id.get()) < below;
    class.nodes.len() <= limits::CLASS_NODES_MAX
        && class.result.iter().all(|&id| known(id, class.nodes.len()))
        && class.nodes.iter().enumerate().all(|(place, node)| {
            let mut offered = node.offers().iter();
            node.needs().all(|id| known(id, place)) && offered.all(|&id| known(id, place))
        })
}
