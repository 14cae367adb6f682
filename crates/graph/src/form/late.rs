//! What a class says of late answers: a list beside its nodes, since they are older than it.
//!
//! Only nodes that differ from their defaults stand here, in order, so that a class without any is
//! written as it always was.

use mainstay_types::json::Value;
use mainstay_types::{NodeId, limits};

use super::fields::{Item, Read};
use crate::class::{Node, TaskClass};
use crate::contract::{Contract, OnLate};

/// Whether the class says anything of late answers.
pub(super) fn is_said(class: &TaskClass) -> bool {
    lates(class).next().is_some()
}

pub(super) fn write(class: &TaskClass) -> Value {
    let late = lates(class).map(|(id, contract)| {
        let on_late = contract
            .on_late
            .map(|on_late| Value::from(on_late.as_str()));
        let ttl = contract.orphan_ttl.map(|ttl| Value::from(ttl.get()));
        Value::object([
            ("node", Value::from(id.get())),
            ("on_late", on_late.unwrap_or(Value::Null)),
            ("orphan_ttl_ms", ttl.unwrap_or(Value::Null)),
        ])
    });
    Value::List(late.collect())
}

/// Nodes whose contract says something of late answers that is not its default.
fn lates(class: &TaskClass) -> impl Iterator<Item = (NodeId, &Contract)> {
    let contracts = class
        .ids()
        .filter_map(|(id, node)| Some((id, node.contract()?)));
    contracts.filter(|(_, contract)| contract.on_late.is_some() || contract.orphan_ttl.is_some())
}

/// Says of the nodes that differ from their defaults what is done with their late answers.
pub(super) fn read(item: &Item<'_>, nodes: &mut [Node]) -> Read<()> {
    let words = "drop, keep or review";
    let late = item.list(limits::CLASS_NODES_MAX, |item| {
        let fields = item.fields(&["node", "on_late", "orphan_ttl_ms"])?;
        let on_late = fields.get("on_late");
        let on_late = on_late.optional(|word| word.word(OnLate::from_word, words))?;
        let orphan_ttl = fields.get("orphan_ttl_ms").optional(Item::millis)?;
        let place = usize::from(fields.get("node").node_id()?.get());
        Ok((place, (on_late, orphan_ttl)))
    })?;
    let mut free = 0;
    for (place, said) in late {
        let node = nodes.get_mut(place).filter(|_| free <= place);
        match node.and_then(Node::contract_mut) {
            Some(contract) if said != (None, None) => {
                (contract.on_late, contract.orphan_ttl) = said;
            }
            Some(_) | None => {
                return item.expected("nodes that make attempts, each once, in order");
            }
        }
        free = place + 1;
    }
    Ok(())
}
