//! Checks of the class's budget: its bounds, and whether it pays for the hard path.
//!
//! It counts primaries only: retries, fallbacks and soft calls come on top and are a choice.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use mainstay_types::{Code, CostUnits, NodeId, limits};

use super::count;
use crate::class::{Node, TaskClass};
use crate::path;
use crate::problem::Problem;

/// Nodes that BUDGET_TOO_SMALL names with their cost; the rest is summed up.
const NAMED_MAX: usize = 8;

/// Checks the bounds of each part.
pub(super) fn check(class: &TaskClass, problems: &mut Vec<Problem>) {
    let (tokens, max) = (
        class.budget.concurrency_tokens.get(),
        limits::RUN_CONCURRENCY_MAX,
    );
    if tokens == 0 {
        let message = "concurrency is 0 tokens, so no attempt can ever start";
        let hint = format!("give 1 to {max} concurrency tokens");
        problems.push(Problem::error(Code::BudgetInvalid, message).hint(hint));
    }
    if max < tokens {
        let message = format!("concurrency is {tokens} tokens, at most {max} are allowed");
        let hint = format!("give 1 to {max} concurrency tokens");
        problems.push(Problem::error(Code::BudgetInvalid, message).hint(hint));
    }
    let (tokens, max) = (class.budget.retry_tokens.get(), limits::RUN_RETRIES_MAX);
    if max < tokens {
        let message = format!("retries are {tokens} tokens, at most {max} are allowed");
        let hint = "a handful of retry tokens is usual for a whole run";
        problems.push(Problem::error(Code::BudgetInvalid, message).hint(hint));
    }
    problems.extend(no_cost_problem(class));
}

fn no_cost_problem(class: &TaskClass) -> Option<Problem> {
    let costs = |node: &&Node| CostUnits::ZERO < dearest(node);
    let first = class.nodes.iter().find(costs)?;
    if class.budget.cost_units != CostUnits::ZERO {
        return None;
    }
    let all = count(class.nodes.iter().filter(costs).count(), "node");
    let message = format!(
        "cost is 0 units, but {all} may cost something, {} up to {}",
        first.name,
        dearest(first)
    );
    let hint = "give the cost units that a run may spend";
    Some(Problem::error(Code::BudgetInvalid, message).hint(hint))
}

/// The dearest attempt of any rung.
fn dearest(node: &Node) -> CostUnits {
    let rungs = node.contract().into_iter().flat_map(|contract| {
        std::iter::once(contract.cost).chain(contract.fallbacks.iter().map(|rung| rung.cost))
    });
    rungs.max().unwrap_or(CostUnits::ZERO)
}

/// Checks that the cost units pay for the hard path once; needs sound refs.
///
/// What always happens counts together. What happens behind a predicate counts one branch at a
/// time, because branches may exclude each other.
pub(super) fn check_hard_path(class: &TaskClass, problems: &mut Vec<Problem>) {
    let limit = class.budget.cost_units;
    let hard = path::hard_path(class);
    let conditional = conditional(class, &hard);
    let always: BTreeSet<NodeId> = hard.difference(&conditional).copied().collect();
    let worst = if limit < cost_of(class, &always) {
        Some((None, always))
    } else {
        let branch = |&id: &NodeId| (Some(id), &always | &needed_by(class, &hard, id));
        let branches = conditional.iter().map(branch);
        branches
            .rev()
            .max_by_key(|(_, nodes)| cost_of(class, nodes))
    };
    // A budget of zero has its own problem.
    let Some((branch, nodes)) = worst.filter(|_| limit != CostUnits::ZERO) else {
        return;
    };
    let cost = cost_of(class, &nodes);
    if cost <= limit {
        return;
    }
    let when = branch.map_or(String::new(), |id| {
        format!("when {} happens, ", class.node(id).name)
    });
    let shares = shares(class, &nodes);
    let message =
        format!("{when}the hard path costs {cost} units ({shares}), the limit is {limit}");
    let hint = format!(
        "raise the cost limit to at least {cost}, and add what retries and soft calls may cost"
    );
    problems.push(Problem::error(Code::BudgetTooSmall, message).hint(hint));
}

/// The nodes of the hard path that a predicate may leave out, with all that need them.
fn conditional(class: &TaskClass, hard: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut conditional = BTreeSet::new();
    for (id, node) in class.ids().filter(|(id, _)| hard.contains(id)) {
        if node.when.is_some() || node.needs().any(|need| conditional.contains(&need)) {
            conditional.insert(id);
        }
    }
    conditional
}

/// The node and all of the hard path that it needs.
fn needed_by(class: &TaskClass, hard: &BTreeSet<NodeId>, id: NodeId) -> BTreeSet<NodeId> {
    let (mut needed, mut open) = (BTreeSet::new(), vec![id]);
    while let Some(id) = open.pop() {
        if hard.contains(&id) && needed.insert(id) {
            open.extend(class.node(id).needs());
        }
    }
    needed
}

fn cost_of(class: &TaskClass, nodes: &BTreeSet<NodeId>) -> CostUnits {
    nodes.iter().map(|&id| primary_cost(class.node(id))).sum()
}

fn primary_cost(node: &Node) -> CostUnits {
    node.contract()
        .map_or(CostUnits::ZERO, |contract| contract.cost)
}

/// `draft 7, policy_rag 2, ticket_write 0.1`, the dearest first, bounded.
fn shares(class: &TaskClass, nodes: &BTreeSet<NodeId>) -> String {
    let mut costs: Vec<(CostUnits, &str)> = nodes
        .iter()
        .map(|&id| (primary_cost(class.node(id)), class.node(id).name.as_str()))
        .filter(|(cost, _)| CostUnits::ZERO < *cost)
        .collect();
    costs.sort_by_key(|&(cost, name)| (Reverse(cost), name));
    let named = costs
        .iter()
        .take(NAMED_MAX)
        .map(|(cost, name)| format!("{name} {cost}"));
    let mut parts: Vec<String> = named.collect();
    if NAMED_MAX < costs.len() {
        parts.push(format!("{} more", costs.len() - NAMED_MAX));
    }
    parts.join(", ")
}
