//! The class's own code: requests, items, values and the result, made from names and facts.
//!
//! The same call always gets the same bytes, as from a closure over recorded inputs.

use mainstay_graph::{Node, NodeKind, ScopeKind};
use mainstay_machine::{Command, Prepared, Run};
use mainstay_types::{BusinessId, CallId, Digest, Failure, FailureKind, Payload, Sent};

use super::world::Facts;

/// What the code of a call makes.
pub(crate) fn made(run: &Run, facts: &Facts, id: CallId) -> Command {
    let path = run.path(id);
    if let Some(&kind) = facts.broken.get(&path) {
        let failure = Failure::new(kind, Sent::NotSent);
        return Command::Unpreparable { call: id, failure };
    }
    let call = run.calls().get(id).expect("a call that is prepared exists");
    let node = run.class().node(call.node);
    let said = facts.says.get(&path).map(String::as_str);
    match node.kind {
        NodeKind::Read { .. } | NodeKind::Write { .. } | NodeKind::Tools { .. } => {
            let prepared = prepared(node, &path);
            Command::Prepared { call: id, prepared }
        }
        NodeKind::Each { .. } => {
            let items = 0..facts.lists.get(&path).copied().unwrap_or(1);
            let items = items.map(|item| prepared(node, &format!("{path}[{item}]")));
            Command::Listed {
                call: id,
                items: items.collect(),
            }
        }
        NodeKind::Local => {
            let result = said.unwrap_or("\"computed\"").into();
            Command::Computed { call: id, result }
        }
        NodeKind::When => {
            let result = said.unwrap_or("true").into();
            Command::Computed { call: id, result }
        }
    }
}

pub(crate) fn prepared(node: &Node, path: &str) -> Prepared {
    let is_shared = node
        .effect()
        .is_some_and(|effect| effect.scope == ScopeKind::Business);
    Prepared {
        request: Payload::from(format!("{{\"ask\":\"{path}\"}}")),
        fingerprint: Digest::of(path.as_bytes()),
        business_id: is_shared.then(|| BusinessId::new("mtg-4711").expect("a valid id")),
    }
}

/// The class's result from the values that are there.
pub(crate) fn result(run: &Run, facts: &Facts) -> Result<Payload, Failure> {
    if facts.unassemblable {
        return Err(Failure::new(FailureKind::InvalidInput, Sent::NotSent));
    }
    let values = run.values(&run.class().result).into_iter();
    let values: Vec<Payload> = values
        .map(|value| value.unwrap_or_else(|| "null".into()))
        .collect();
    Ok(Payload::list(&values))
}
