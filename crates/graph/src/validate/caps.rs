//! Checks of the class's caps: that they are about something, and let the hard path through.

use std::collections::BTreeSet;

use mainstay_types::{Code, DependencyName, NodeId, limits};

use crate::class::{Caps, DependencyCap, TaskClass};
use crate::path;
use crate::problem::Problem;

pub(super) fn check(class: &TaskClass, problems: &mut Vec<Problem>) {
    problems.extend(depth_problem(class));
    let needed = hard_calls(class);
    let Caps {
        attempts,
        branches,
        depth: _,
        parallel_cost: _,
        dependencies,
    } = &class.caps;
    for (what, cap) in [("attempts", attempts), ("branches", branches)] {
        if let Some(cap) = cap.filter(|cap| *cap < needed) {
            let message = format!("the cap of {cap} {what} is below the {needed} hard calls");
            let hint = format!("allow at least {needed}, or make calls soft");
            problems.push(Problem::error(Code::BudgetInvalid, message).hint(hint));
        }
    }
    problems.extend(cost_problems(class));
    if limits::DEPENDENCY_CAPS_MAX < dependencies.len() {
        let (n, max) = (dependencies.len(), limits::DEPENDENCY_CAPS_MAX);
        let message = format!("{n} dependencies have caps, at most {max} may");
        problems.push(Problem::error(Code::BudgetInvalid, message).hint("cap fewer of them"));
    }
    let known = asked(class);
    let mut named = BTreeSet::new();
    for cap in dependencies {
        let first = named.insert(&cap.dependency);
        problems.extend(cap_problem(cap, known.contains(&cap.dependency), first));
    }
}

/// Hard calls one attempt of which costs more than a cap lets through, so that none ever starts.
fn cost_problems(class: &TaskClass) -> Vec<Problem> {
    let mut problems = Vec::new();
    for id in path::hard_path(class) {
        let node = class.node(id);
        let Some(contract) = node.contract() else {
            continue;
        };
        let at_once = class.caps.parallel_cost.map(|cap| (cap, "cost at once"));
        let mut caps = class.caps.dependencies.iter();
        let of_dependency = caps.find(|cap| cap.dependency == contract.dependency);
        let of_dependency = of_dependency.and_then(|cap| Some((cap.cost_units?, "its dependency")));
        for (cap, what) in [at_once, of_dependency].into_iter().flatten() {
            if contract.cost <= cap {
                continue;
            }
            let (name, cost) = (&node.name, contract.cost);
            let message = format!("{name} costs {cost}, and the cap on {what} is {cap}");
            let hint = format!("allow at least {cost}, or make the call soft");
            let problem = Problem::error(Code::BudgetInvalid, message);
            problems.push(problem.hint(hint).at(name));
        }
    }
    problems
}

fn cap_problem(cap: &DependencyCap, is_known: bool, is_first: bool) -> Option<Problem> {
    let name = &cap.dependency;
    let (message, hint) = if !is_first {
        (
            format!("dependency {name} has two caps"),
            "say all of it in one",
        )
    } else if !is_known {
        let message = format!("dependency {name} has a cap, and no call asks it");
        (message, "a cap names a dependency of the class, not a call")
    } else if cap
        .concurrency_tokens
        .is_some_and(|tokens| tokens.get() == 0)
    {
        let message =
            format!("dependency {name} may have 0 attempts at once, so it is never asked");
        (message, "allow at least 1")
    } else {
        return None;
    };
    Some(Problem::error(Code::BudgetInvalid, message).hint(hint))
}

/// Calls of the hard path that are attempted; an each counts once, its list is not known yet.
fn hard_calls(class: &TaskClass) -> u32 {
    let hard = path::hard_path(class);
    let attempted = hard
        .iter()
        .filter(|&&id| class.node(id).contract().is_some());
    u32::try_from(attempted.count()).unwrap_or(u32::MAX)
}

fn asked(class: &TaskClass) -> BTreeSet<&DependencyName> {
    let contracts = class.nodes.iter().filter_map(|node| node.contract());
    contracts
        .flat_map(|contract| {
            let below = contract.fallbacks.iter();
            let below = below.filter_map(|fallback| fallback.dependency.as_ref());
            std::iter::once(&contract.dependency).chain(below)
        })
        .collect()
}

/// The longest row of attempted calls, each of which needs the one before it.
fn depth_problem(class: &TaskClass) -> Option<Problem> {
    let most = class.caps.depth?;
    let mut depths: Vec<u32> = Vec::with_capacity(class.nodes.len());
    for node in &class.nodes {
        let of = |id: NodeId| depths.get(usize::from(id.get())).copied().unwrap_or(0);
        let above = node.needs().map(of).max().unwrap_or(0);
        depths.push(above + u32::from(node.contract().is_some()));
    }
    let deepest = depths.iter().copied().max().unwrap_or(0);
    if deepest <= most {
        return None;
    }
    let place = depths.iter().position(|depth| *depth == deepest)?;
    let name = &class.nodes[place].name;
    let message = format!("{name} is call {deepest} in a row, and the cap of depth is {most}");
    let hint = "ask for several things at once, or raise the cap";
    Some(
        Problem::error(Code::BudgetInvalid, message)
            .hint(hint)
            .at(name),
    )
}
