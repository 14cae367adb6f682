//! Checks of what undoes an effect: a write of its own, of one other write, and nobody's call.
//!
//! Like a tool it has no place in the graph: it must never be an input, a predicate or a result.

use std::collections::BTreeMap;

use mainstay_types::{Code, NodeId};

use crate::class::{Node, NodeKind, TaskClass};
use crate::problem::Problem;

/// Checks every node that undoes another's effect.
pub(super) fn check(class: &TaskClass, problems: &mut Vec<Problem>) {
    let mut undone: BTreeMap<NodeId, &Node> = BTreeMap::new();
    for (place, node) in class.nodes.iter().enumerate() {
        let Some(of) = node.undoes else { continue };
        let mut found = Vec::new();
        check_target(class, (place, node), of, &mut found);
        check_kind(node, &mut found);
        check_place(class, place, node, &mut found);
        if let Some(other) = undone.insert(of, node) {
            let message = format!("{} undoes the same write", other.name);
            found.push(error(message, "say once how a write is undone"));
        }
        problems.extend(found.into_iter().map(|found| found.at(&node.name)));
    }
}

fn error(message: impl Into<String>, hint: &str) -> Problem {
    Problem::error(Code::ContractInvalid, message).hint(hint)
}

/// It undoes a write that is before it, and finds that effect where it is unique.
fn check_target(
    class: &TaskClass,
    (place, node): (usize, &Node),
    of: NodeId,
    found: &mut Vec<Problem>,
) {
    let hint = "use `.compensate_with(..)` of the write that it undoes";
    let Some(target) = class.nodes[..place].get(usize::from(of.get())) else {
        found.push(error(
            format!("it undoes node {of}, which is not before it"),
            hint,
        ));
        return;
    };
    let Some(undone) = target.effect().filter(|_| target.undoes.is_none()) else {
        let message = format!(
            "it undoes {}, which is no write that can be undone",
            target.name
        );
        found.push(error(message, hint));
        return;
    };
    let Some(own) = node.effect() else { return };
    if own.name == undone.name {
        let message = format!("its effect is {} too, the one that it undoes", own.name);
        found.push(error(message, "name the two effects apart"));
    }
    if own.scope != undone.scope {
        let (own, undone) = (own.scope.as_str(), undone.scope.as_str());
        let message = format!("its scope is {own}, that of what it undoes is {undone}");
        found.push(error(message, "give both the same scope"));
    }
}

fn check_kind(node: &Node, found: &mut Vec<Problem>) {
    if !matches!(node.kind, NodeKind::Write { .. }) {
        let message = format!(
            "what undoes an effect is a write, this is {}",
            node.kind.as_str()
        );
        found.push(error(message, "give it a dependency that writes"));
    }
    if node.tool.is_some() {
        let hint = "offer the model a tool of its own that cancels";
        found.push(error("what undoes an effect is no tool", hint));
    }
}

/// It waits for nobody and nobody waits for it.
fn check_place(class: &TaskClass, place: usize, node: &Node, found: &mut Vec<Problem>) {
    if node.needs().next().is_some() {
        let hint = "it is made from what it undoes and from the run's input";
        found.push(error("what undoes an effect uses no values of calls", hint));
    }
    let is_it = |id: NodeId| usize::from(id.get()) == place;
    let mut nodes = class.nodes.iter();
    let is_used =
        nodes.any(|other| other.needs().any(is_it) || other.offers().iter().copied().any(is_it));
    if is_used || class.result.iter().copied().any(is_it) {
        let hint = "make a write of the graph, if the graph itself has to do it";
        found.push(error("what undoes an effect has no value for others", hint));
    }
}
