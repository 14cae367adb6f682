//! Undoing in the storm: which writes can be undone, and somebody who wants it, at any moment.

use mainstay_graph::{EffectContract, Node, NodeKind, SameRequestRule, TaskClass};
use mainstay_machine::{AskCompensate, Call, Command, EffectStatus, Run, compensate};
use mainstay_types::{CallId, EffectName, NodeId, NodeName};

use super::draw::Blow;
use crate::scenario::build;

/// Adds what undoes them to some of the writes, tools included.
pub(crate) fn add(class: &mut TaskClass) {
    let writes: Vec<(NodeId, Node)> = class
        .ids()
        .filter(|(_, node)| node.effect().is_some())
        .map(|(id, node)| (id, node.clone()))
        .collect();
    for (id, node) in writes {
        let (Some(contract), Some(effect)) = (node.contract(), node.effect()) else {
            continue;
        };
        if contract.timeout.get() % 3 == 0 {
            continue;
        }
        let name = |of: &str| format!("{of}-undo");
        let mut contract = contract.clone();
        contract.fallbacks.clear();
        let effect = EffectContract {
            // Tools of one effect are undone as one.
            name: EffectName::new(name(effect.name.as_str())).expect("a valid name"),
            rule: SameRequestRule::PerSlot,
            ..effect.clone()
        };
        let undo = Node {
            name: NodeName::new(name(node.name.as_str())).expect("a valid name"),
            kind: NodeKind::Write { contract, effect },
            inputs: Vec::new(),
            when: None,
            output: build::bare().output,
            tool: None,
            undoes: Some(id),
            ..node
        };
        class.nodes.push(undo);
    }
}

/// Somebody wants an effect undone: one that is in the world, or is not.
pub(crate) fn wants(run: &Run, blow: Blow) -> Option<Command> {
    let was_sent = |call: &Call| {
        let status = call.effect.as_ref().map(|effect| &effect.status);
        status.is_some_and(|status| *status != EffectStatus::Intended)
    };
    let calls: Vec<(CallId, &Call)> = run
        .calls()
        .iter()
        .filter(|(_, call)| was_sent(call))
        .collect();
    let &(call, _) = calls.get(usize::from(blow.whom) % calls.len().max(1))?;
    let undo = compensate::of(run, call).and_then(|(_, undo)| undo.undoes);
    Some(Command::Compensate(AskCompensate {
        call,
        after: undo.map_or(0, |undoes| undoes.wanted),
        by: "ann".to_owned(),
        why: "the customer changed their mind".to_owned(),
    }))
}
