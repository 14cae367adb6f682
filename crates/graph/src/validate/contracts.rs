//! Checks of what one edge promises: attempts, times, fallbacks.
//!
//! It looks at one node at a time and never at the graph.

use mainstay_types::{Code, Millis, limits};

use super::count;
use crate::class::{Node, NodeKind};
use crate::contract::{Contract, EffectSemantics, Fallback, FallbackKind, OnLate};
use crate::problem::{Problem, exact};

/// Checks the node's contract, if it has one.
pub(super) fn check(node: &Node, problems: &mut Vec<Problem>) {
    let Some(contract) = node.contract() else {
        return;
    };
    let mut found = Vec::new();
    check_operation(contract, &mut found);
    check_semantics(node, contract, &mut found);
    for rung in rungs(contract) {
        check_attempts(&rung, &mut found);
        check_rung_times(&rung, &mut found);
    }
    check_attempts_together(contract, &mut found);
    check_backoff(contract, &mut found);
    check_fallbacks(node, contract, &mut found);
    check_late(contract, &mut found);
    found.extend(items_problem(node));
    problems.extend(found.into_iter().map(|problem| problem.at(&node.name)));
}

/// What the primary and the fallbacks that are tried have in common.
struct RungOf {
    what: String,
    attempts: u32,
    timeout: Millis,
    estimate: Millis,
    min_useful: Millis,
}

fn rungs(contract: &Contract) -> impl Iterator<Item = RungOf> + '_ {
    let primary = RungOf {
        what: String::new(),
        attempts: contract.max_attempts,
        timeout: contract.timeout,
        estimate: contract.estimate,
        min_useful: contract.min_useful,
    };
    let tried = contract
        .fallbacks
        .iter()
        .enumerate()
        .filter(|(_, rung)| rung.kind.attempts());
    let fallbacks = tried.map(|(i, rung)| RungOf {
        what: format!(" of {}", name_of(i, rung)),
        attempts: rung.max_attempts,
        timeout: rung.timeout,
        estimate: rung.estimate,
        min_useful: rung.min_useful,
    });
    std::iter::once(primary).chain(fallbacks)
}

/// `fallback 1 (cache)`: people count from 1.
fn name_of(place: usize, rung: &Fallback) -> String {
    format!("fallback {} ({})", place + 1, rung.kind.as_str())
}

fn check_operation(contract: &Contract, found: &mut Vec<Problem>) {
    let (bytes, max) = (contract.operation.len(), limits::TEXT_BYTES_MAX);
    if contract.operation.trim().is_empty() {
        let message = format!("the operation asked of {} has no name", contract.dependency);
        let hint = "name it, for example retrieve_policy_evidence";
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
    }
    if max < bytes {
        let message = format!("the operation's name has {bytes} bytes, at most {max} are allowed");
        found.push(Problem::error(Code::ContractInvalid, message).hint("shorten it"));
    }
}

fn check_semantics(node: &Node, contract: &Contract, found: &mut Vec<Problem>) {
    let kind = node.kind.as_str();
    let (message, hint) = match (&node.kind, contract.effect) {
        (
            NodeKind::Read { .. },
            EffectSemantics::WriteIdempotentWithKey | EffectSemantics::WriteWithoutKey,
        ) => (
            format!(
                "its kind is read, but its effect is {}",
                contract.effect.as_str()
            ),
            "what changes something is a write, with an effect that can be found again",
        ),
        (NodeKind::Write { .. } | NodeKind::Each { .. }, EffectSemantics::ReadOnly) => (
            format!("its kind is {kind}, but its effect is read_only"),
            "say whether a repeated key repeats the change; what changes nothing is a read",
        ),
        (
            NodeKind::Read { .. }
            | NodeKind::Write { .. }
            | NodeKind::Each { .. }
            | NodeKind::Tools { .. }
            | NodeKind::Local
            | NodeKind::When,
            EffectSemantics::ReadOnly
            | EffectSemantics::WriteIdempotentWithKey
            | EffectSemantics::WriteWithoutKey,
        ) => return,
    };
    found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
}

fn check_attempts(rung: &RungOf, found: &mut Vec<Problem>) {
    let (attempts, max) = (rung.attempts, limits::CALL_ATTEMPTS_MAX);
    let what = &rung.what;
    if attempts == 0 {
        let message = format!("max attempts{what} is 0, at least 1 is needed");
        let hint = "1 means no retry; 2 to 4 are usual";
        found.push(Problem::error(Code::AttemptsInvalid, message).hint(hint));
    }
    if max < attempts {
        let message = format!("max attempts{what} is {attempts}, at most {max} are allowed");
        let hint = "retries are load; 2 to 4 are usual";
        found.push(Problem::error(Code::AttemptsInvalid, message).hint(hint));
    }
}

fn check_attempts_together(contract: &Contract, found: &mut Vec<Problem>) {
    let max = limits::CALL_ATTEMPTS_MAX;
    let all: Vec<u64> = rungs(contract)
        .map(|rung| u64::from(rung.attempts))
        .collect();
    let (sum, each_fits) = (
        all.iter().sum::<u64>(),
        all.iter().all(|&n| n <= u64::from(max)),
    );
    if each_fits && u64::from(max) < sum {
        let rungs = count(all.len(), "rung");
        let message = format!("{rungs} have {sum} attempts together, at most {max} are allowed");
        let hint = "lower the attempts of some rungs";
        found.push(Problem::error(Code::AttemptsInvalid, message).hint(hint));
    }
}

fn check_rung_times(rung: &RungOf, found: &mut Vec<Problem>) {
    let RungOf {
        what,
        timeout,
        estimate,
        min_useful,
        ..
    } = rung;
    if *timeout == Millis::ZERO {
        let message = format!("the timeout{what} is 0 ms, so no attempt could ever succeed");
        let hint = "give the longest time one attempt may take";
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
        return;
    }
    let parts = [
        ("estimate", *estimate, "raise it to at least the estimate"),
        ("min_useful", *min_useful, "raise it, or lower min_useful"),
    ];
    for (name, part, way) in parts.into_iter().filter(|(_, part, _)| timeout < part) {
        let message = format!(
            "the {name}{what}, {}, is longer than the timeout, {}",
            exact(part),
            exact(*timeout)
        );
        let hint = format!("an attempt is cut off at its timeout: {way}");
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
    }
}

fn check_backoff(contract: &Contract, found: &mut Vec<Problem>) {
    let (base, max) = (contract.backoff.base, contract.backoff.max);
    if max < base {
        let message = format!(
            "the backoff starts at {}, above its max {}",
            exact(base),
            exact(max)
        );
        let hint = "raise the max to at least the base";
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
    }
}

fn check_fallbacks(node: &Node, contract: &Contract, found: &mut Vec<Problem>) {
    let (rungs, max) = (contract.fallbacks.len(), limits::FALLBACKS_MAX);
    if max < rungs {
        let message = format!("{rungs} fallbacks, at most {max} are allowed");
        let hint = "keep the ones that fail for different reasons";
        found.push(Problem::error(Code::TooManyFallbacks, message).hint(hint));
    }
    for (place, rung) in contract.fallbacks.iter().enumerate() {
        let is_last = place + 1 == rungs;
        let name = name_of(place, rung);
        let reasons = [
            place_problem(node, rung, is_last),
            dependency_problem(rung),
            age_problem(rung),
        ];
        for (reason, hint) in reasons.into_iter().flatten() {
            let message = format!("{name} {reason}");
            found.push(Problem::error(Code::FallbackNotAllowed, message).hint(hint));
        }
    }
}

/// What is done with late answers, and for how long what was given up has an owner.
fn check_late(contract: &Contract, found: &mut Vec<Problem>) {
    match (contract.on_late, contract.effect) {
        (
            Some(OnLate::Drop),
            EffectSemantics::WriteIdempotentWithKey | EffectSemantics::WriteWithoutKey,
        ) => {
            let message = "it drops late answers, but what a write did stays done";
            let hint = "keep them, or let somebody review them";
            found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
        }
        (Some(OnLate::Keep), EffectSemantics::WriteWithoutKey) => {
            let message = "it keeps late answers and tells nobody, but without a key each of them \
                           may be a second effect";
            let hint = "leave it out: a write without key is reviewed by default";
            found.push(Problem::warning(Code::ContractInvalid, message).hint(hint));
        }
        (
            Some(OnLate::Drop | OnLate::Keep | OnLate::Review) | None,
            EffectSemantics::ReadOnly
            | EffectSemantics::WriteIdempotentWithKey
            | EffectSemantics::WriteWithoutKey,
        ) => {}
    }
    let max = Millis::new(limits::ORPHAN_TTL_MS_MAX);
    let ttl = contract.orphan_ttl;
    if let Some(ttl) = ttl.filter(|ttl| *ttl == Millis::ZERO || max < *ttl) {
        let (ttl, max) = (exact(ttl), exact(max));
        let message = format!("its orphan_ttl is {ttl}, allowed are 1 ms to {max}");
        let hint = "a person who takes remote work over gives it a new time; leave it out to wait \
                    for the timeout alone";
        found.push(Problem::error(Code::ContractInvalid, message).hint(hint));
    }
}

type Reason = (&'static str, &'static str);

/// Whether this kind of node may have this kind of fallback at this place.
fn place_problem(node: &Node, rung: &Fallback, is_last: bool) -> Option<Reason> {
    let writes = node.effect().is_some();
    match rung.kind {
        FallbackKind::Provider
        | FallbackKind::ApprovedSnapshot { .. }
        | FallbackKind::Cache
        | FallbackKind::LocalCompute => writes.then_some((
            "stands behind a write, which can only fall back to a person",
            "raise its attempts, or let a person take over",
        )),
        FallbackKind::OmitWithNotice if node.is_hard() => Some((
            "would omit a hard call, without which the run cannot be completed",
            "make the call soft, or let a person take over",
        )),
        FallbackKind::Human if !node.is_hard() => Some((
            "hands the run off for a call it can do without",
            "omit it with notice, or make the call hard",
        )),
        FallbackKind::OmitWithNotice | FallbackKind::Human => (!is_last).then_some((
            "ends the call, but another one stands after it",
            "put it last",
        )),
    }
}

fn dependency_problem(rung: &Fallback) -> Option<Reason> {
    match (rung.kind.attempts(), &rung.dependency) {
        (true, None) => Some((
            "names no dependency, so nobody could answer",
            "name the dependency to ask",
        )),
        (false, Some(_)) => Some((
            "names a dependency, but nothing is asked on this rung",
            "leave the dependency out",
        )),
        (true, Some(_)) | (false, None) => None,
    }
}

fn age_problem(rung: &Fallback) -> Option<Reason> {
    let never =
        matches!(rung.kind, FallbackKind::ApprovedSnapshot { max_age } if max_age == Millis::ZERO);
    never.then_some((
        "takes snapshots of at most 0 ms, so none is ever young enough",
        "give the oldest age that is still good enough, for example 20 min",
    ))
}

fn items_problem(node: &Node) -> Option<Problem> {
    let NodeKind::Each { items_max, .. } = node.kind else {
        return None;
    };
    let max = limits::EACH_ITEMS_MAX;
    if 0 < items_max && items_max <= max {
        return None;
    }
    let reason = if items_max == 0 {
        "so nothing could ever be written".to_owned()
    } else {
        format!("at most {max} are allowed")
    };
    let message = format!("the list may have {items_max} items, {reason}");
    let hint = format!("bound the list by what is plausible, from 1 to {max}");
    Some(Problem::error(Code::ListBoundInvalid, message).hint(hint))
}
