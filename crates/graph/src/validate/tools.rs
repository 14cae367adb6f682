//! Checks of what is offered to a model: each tool is offered once, and asked for by nobody else.
//!
//! A tool has no place in the graph of its own: it must never be an input, a predicate or a result.

use std::collections::BTreeMap;

use mainstay_types::{Code, NodeId, limits};

use crate::class::{Criticality, Node, NodeKind, TaskClass};
use crate::problem::Problem;

/// Checks every node that offers tools, and every tool.
pub(super) fn check(class: &TaskClass, problems: &mut Vec<Problem>) {
    let mut offered: BTreeMap<NodeId, u32> = BTreeMap::new();
    for (place, node) in class.nodes.iter().enumerate() {
        let mut found = Vec::new();
        check_offer(class, place, &mut found);
        node.offers()
            .iter()
            .for_each(|&id| *offered.entry(id).or_default() += 1);
        problems.extend(found.into_iter().map(|found| found.at(&node.name)));
    }
    let ids = (0..=u16::MAX).map(NodeId);
    for (id, node) in ids.zip(&class.nodes) {
        if node.tool.is_none() {
            continue;
        }
        let mut found = Vec::new();
        check_tool(node, &mut found);
        check_place(class, id, node, &mut found);
        match offered.get(&id).copied().unwrap_or(0) {
            0 => found.push(error(
                "it is a tool, and nothing offers it".to_owned(),
                "name it in `.tools(..)`, or make it a call of the graph",
            )),
            1 => {}
            times => found.push(error(
                format!("it is offered {times} times"),
                "offer it once; two offers need two tools",
            )),
        }
        problems.extend(found.into_iter().map(|found| found.at(&node.name)));
    }
}

fn error(message: String, hint: &str) -> Problem {
    Problem::error(Code::ToolsInvalid, message).hint(hint)
}

fn check_offer(class: &TaskClass, place: usize, found: &mut Vec<Problem>) {
    let NodeKind::Tools { tools, calls_max } = &class.nodes[place].kind else {
        return;
    };
    if tools.is_empty() {
        let hint = "offer at least one tool, or leave it out";
        found.push(error("it offers no tools".to_owned(), hint));
    }
    if !(1..=limits::TOOL_CALLS_MAX).contains(calls_max) {
        let max = limits::TOOL_CALLS_MAX;
        let message = format!("a model may ask {calls_max} times, allowed are 1 to {max}");
        found.push(error(message, "say how often a model may ask at most"));
    }
    for &id in tools {
        let earlier = class.nodes[..place].get(usize::from(id.get()));
        let reason = match earlier {
            None => "is not before it".to_owned(),
            Some(node) if node.tool.is_none() => format!("is {}, which is no tool", node.name),
            Some(_) => continue,
        };
        let hint = "offer what `.tool_read(..)` and `.tool_write(..)` gave";
        found.push(error(format!("what it offers, node {id}, {reason}"), hint));
    }
}

fn check_tool(node: &Node, found: &mut Vec<Problem>) {
    let Some(tool) = &node.tool else { return };
    if !matches!(node.kind, NodeKind::Read { .. } | NodeKind::Write { .. }) {
        let message = format!(
            "a tool is a read or a write, this is {}",
            node.kind.as_str()
        );
        found.push(error(message, "offer one dependency's call"));
    }
    // What providers of models allow in the name of a tool.
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !node.name.as_str().chars().all(is_fit) {
        let hint = "use ASCII letters, digits, `_` and `-`";
        found.push(error("models take no such name of a tool".to_owned(), hint));
    }
    let (bytes, max) = (tool.about.len(), limits::TEXT_BYTES_MAX);
    if tool.about.trim().is_empty() || max < bytes {
        let message = format!("its description has {bytes} bytes, allowed are 1 to {max}");
        found.push(error(message, "say in words what it does"));
    }
    if !(1..=limits::TOOL_CALLS_MAX).contains(&tool.per_run_max) {
        let (max, most) = (tool.per_run_max, limits::TOOL_CALLS_MAX);
        let message = format!("a run may have {max} of it, allowed are 1 to {most}");
        found.push(error(message, "say how many a run may have at most"));
    }
}

/// A tool waits for nobody and nobody waits for it.
fn check_place(class: &TaskClass, id: NodeId, node: &Node, found: &mut Vec<Problem>) {
    if node.needs().next().is_some() {
        let hint = "what its request needs beside its arguments comes from the run's input";
        found.push(error("a tool uses no values of calls".to_owned(), hint));
    }
    if node.criticality != Criticality::Hard {
        let hint = "its answer goes to the model, whatever it is; leave it hard";
        found.push(error("a tool cannot be soft or advisory".to_owned(), hint));
    }
    let is_used = class
        .nodes
        .iter()
        .any(|other| other.needs().any(|need| need == id))
        || class.result.contains(&id);
    if is_used {
        let hint = "use the value of the call that offers it";
        found.push(error("a tool has no value of its own".to_owned(), hint));
    }
}
