//! Checks of how writes are named and found again.
//!
//! What is let through here decides whether a lost reply can become a second effect.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use mainstay_types::{Code, Millis, limits};

use crate::class::{Node, NodeKind, TaskClass};
use crate::contract::{
    Contract, EffectContract, EffectSemantics, Resolution, SameRequestRule, ScopeKind,
};
use crate::problem::{Problem, exact};

/// Checks the node's effect, if it has one.
pub(super) fn check(class: &TaskClass, node: &Node, problems: &mut Vec<Problem>) {
    let (Some(contract), Some(effect)) = (node.contract(), node.effect()) else {
        return;
    };
    let mut found = Vec::new();
    found.extend(rule_problem(node, effect));
    found.extend(resolution_problem(contract, effect));
    check_significant(effect, &mut found);
    found.extend(ttl_problem(contract, effect));
    found.extend(memory_problem(effect));
    // What undoes an effect is bound to no lap's times.
    if node.undoes.is_none() {
        found.extend(horizon_problem(class, contract, effect));
    }
    problems.extend(found.into_iter().map(|problem| problem.at(&node.name)));
}

fn rule_problem(node: &Node, effect: &EffectContract) -> Option<Problem> {
    let is_each = matches!(node.kind, NodeKind::Each { .. });
    let (message, hint) = match (is_each, effect.rule) {
        (false, SameRequestRule::PerItem) => (
            "the rule per_item needs a list, but this is a single write".to_owned(),
            "use per_run or per_slot, or make it an `each`",
        ),
        (true, SameRequestRule::PerRun | SameRequestRule::PerSlot) => (
            format!(
                "an `each` has one effect per item, but its rule is {}",
                effect.rule.as_str()
            ),
            "use per_item",
        ),
        (true, SameRequestRule::PerItem)
        | (false, SameRequestRule::PerRun | SameRequestRule::PerSlot) => return None,
    };
    Some(Problem::error(Code::ContractInvalid, message).hint(hint))
}

fn resolution_problem(contract: &Contract, effect: &EffectContract) -> Option<Problem> {
    let without_key = contract.effect == EffectSemantics::WriteWithoutKey;
    let (message, hint) = match effect.resolution {
        Resolution::ByBusinessKey if effect.scope == ScopeKind::Run => (
            "it is resolved by_business_key, but its scope is run, so it has no business id",
            "name a business id that is known before the run, or resolve it by_key",
        ),
        Resolution::ByUpsert if without_key => (
            "it is resolved by_upsert, but its effect is write_without_key, so that writing \
             again would change something again",
            "if the receiver takes our id, the effect is write_idempotent_with_key",
        ),
        Resolution::ByKey
        | Resolution::ByStatus
        | Resolution::ByBusinessKey
        | Resolution::ByUpsert
        | Resolution::ByLedger
        | Resolution::ByHuman => return None,
    };
    Some(Problem::error(Code::ContractInvalid, message).hint(hint))
}

fn check_significant(effect: &EffectContract, found: &mut Vec<Problem>) {
    let (fields, max) = (effect.significant.len(), limits::SIGNIFICANT_FIELDS_MAX);
    if max < fields {
        let message = format!("{fields} significant fields, at most {max} are allowed");
        let hint = "name a field that holds the others, or none for the whole request";
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
    }
    let mut seen = BTreeSet::new();
    for (place, field) in effect.significant.iter().enumerate() {
        let (reason, hint) = if !is_pointer(field) {
            (
                "is no JSON pointer",
                "write it like /item or /lines/0/qty; ~1 stands for /",
            )
        } else if !seen.insert(field) {
            ("is named twice", "name it once")
        } else {
            continue;
        };
        let shown: String = field.chars().take(limits::NAME_BYTES_MAX).collect();
        let message = format!("significant field {place}, {shown:?}, {reason}");
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
    }
}

/// RFC 6901, without the empty pointer (which would be the whole request), and bounded.
fn is_pointer(text: &str) -> bool {
    let escapes = text
        .split('~')
        .skip(1)
        .all(|rest| rest.starts_with(['0', '1']));
    text.starts_with('/') && escapes && text.len() <= limits::TEXT_BYTES_MAX
}

/// A resend needs `now + timeout + horizon < first send + key TTL - skew`; at `now = first send`
/// this is the most it can ever get.
fn ttl_problem(contract: &Contract, effect: &EffectContract) -> Option<Problem> {
    let ttl = effect.receiver_key_ttl?;
    let (timeout, horizon) = (contract.timeout, contract.horizon(effect));
    let need = contract.resend_needs(effect, timeout);
    if contract.effect != EffectSemantics::WriteIdempotentWithKey || need < ttl {
        return None;
    }
    let message = format!(
        "the receiver forgets keys after {}, but a resend needs more than {} (timeout {}, \
         horizon {}, clocks {}), so nothing is ever sent again",
        exact(ttl),
        exact(need),
        exact(timeout),
        exact(horizon),
        exact(Millis::new(limits::KEY_TTL_SKEW_MS))
    );
    let hint = "state how long keys are really kept, shorten the timeout, or accept that every \
                doubt ends by look-up or a person";
    Some(Problem::warning(Code::ContractInvalid, message).hint(hint))
}

fn memory_problem(effect: &EffectContract) -> Option<Problem> {
    if effect.scope == ScopeKind::Run || effect.key_memory != Millis::ZERO {
        return None;
    }
    let message = "its key_memory is 0 ms, so the next run with this business id writes again";
    let hint = "keep it as long as the business may repeat the request, for example 400 days";
    Some(Problem::warning(Code::ContractInvalid, message).hint(hint))
}

/// Only what is resolved by asking waits for the horizon before it believes "not found".
fn horizon_problem(
    class: &TaskClass,
    contract: &Contract,
    effect: &EffectContract,
) -> Option<Problem> {
    match effect.resolution {
        Resolution::ByUpsert | Resolution::ByHuman => return None,
        Resolution::ByKey
        | Resolution::ByStatus
        | Resolution::ByBusinessKey
        | Resolution::ByLedger => {}
    }
    let (timeout, horizon) = (contract.timeout, contract.horizon(effect));
    let has = timeout + class.reserve.reconcile;
    if horizon <= has {
        return None;
    }
    let message = format!(
        "the horizon is {} (send window {}, timeout {}, receiver {}), timeout and reconcile \
         reserve are {}",
        exact(horizon),
        exact(Millis::new(limits::SEND_WINDOW_MS)),
        exact(timeout),
        exact(effect.receiver_bound),
        exact(has)
    );
    let hint = format!(
        "raise the reconcile reserve by {}, or accept that such a run answers Later",
        exact(horizon.less(has))
    );
    Some(Problem::warning(Code::HorizonExceedsReserve, message).hint(hint))
}

/// Two writes of one effect name under business ids would claim the same key.
pub(super) fn check_names(class: &TaskClass, problems: &mut Vec<Problem>) {
    let mut first = BTreeMap::new();
    for node in &class.nodes {
        let Some(effect) = node.effect().filter(|e| e.scope == ScopeKind::Business) else {
            continue;
        };
        let Some(before) = first.get(&effect.name) else {
            first.insert(&effect.name, &node.name);
            continue;
        };
        let message = format!(
            "{before} and {} both write the effect {} under a business id",
            node.name, effect.name
        );
        problems.push(
            Problem::error(Code::EffectNameTaken, message)
                .at(&node.name)
                .hint("name the effects apart, or make them one write"),
        );
    }
}
