//! The three questions of `graph::path`, by the worked example and against brute force.

use std::collections::BTreeSet;

use mainstay_graph::path::{critical_path, downstream_reserve, downstream_reserves, hard_path};
use mainstay_graph::{Criticality, Node, TaskClass};
use mainstay_types::{Millis, NodeId};
use proptest::prelude::*;

use crate::sample::{class, contract_of, each, graphs, local, ms, read, soft, when, write};

/// The example of the module's documentation.
fn documented() -> TaskClass {
    let mut class = class(vec![
        read("policy", &[]),
        soft("related", &[]),
        read("draft", &[0, 1]),
        write("tickets", &[2]),
    ]);
    for (node, estimate) in class.nodes.iter_mut().zip([2_000, 5_000, 3_000, 1_000]) {
        contract_of(node).estimate = ms(estimate);
    }
    (class.reserve.synthesis, class.reserve.reconcile) = (ms(2_000), ms(1_000));
    class
}

fn ids(numbers: &[u16]) -> Vec<NodeId> {
    numbers.iter().copied().map(NodeId).collect()
}

#[test]
fn the_worked_example_of_the_documentation_is_true() {
    let class = documented();
    assert_eq!(
        hard_path(&class),
        ids(&[0, 2, 3]).into_iter().collect::<BTreeSet<_>>()
    );
    let critical = critical_path(&class);
    assert_eq!(
        (critical.nodes, critical.estimate),
        (ids(&[0, 2, 3]), ms(6_000))
    );
    assert_eq!(
        downstream_reserves(&class),
        [7_000, 7_000, 4_000, 3_000].map(ms)
    );
}

#[test]
fn a_hard_node_that_only_a_soft_one_needs_is_not_on_the_hard_path() {
    let class = class(vec![
        read("lookup", &[]),
        soft("extra", &[0]),
        read("draft", &[1]),
    ]);
    assert_eq!(
        hard_path(&class),
        ids(&[2]).into_iter().collect::<BTreeSet<_>>()
    );
    assert_eq!(critical_path(&class).nodes, ids(&[2]));
}

#[test]
fn a_write_is_on_the_hard_path_although_the_result_does_not_need_it() {
    let mut class = class(vec![
        read("draft", &[]),
        write("ticket", &[0]),
        local("report", &[0]),
    ]);
    assert_eq!(
        hard_path(&class),
        ids(&[0, 1, 2]).into_iter().collect::<BTreeSet<_>>()
    );
    assert_eq!(critical_path(&class).nodes, ids(&[0, 1]));
    class.result.clear();
    assert_eq!(
        hard_path(&class),
        ids(&[0, 1]).into_iter().collect::<BTreeSet<_>>()
    );
}

#[test]
fn a_predicate_and_what_it_needs_are_on_the_path_of_the_node_behind_it() {
    let mut class = class(vec![
        read("facts", &[]),
        when("needed", &[0]),
        each("write", &[], 9),
    ]);
    class.nodes[2].when = Some(NodeId(1));
    assert_eq!(critical_path(&class).nodes, ids(&[0, 1, 2]));
    assert_eq!(critical_path(&class).estimate, ms(2_000));
}

#[test]
fn a_deadline_reserve_counts_where_it_is_more_than_what_follows() {
    let mut class = documented();
    contract_of(&mut class.nodes[2]).deadline_reserve = ms(900);
    assert_eq!(
        downstream_reserve(&class, NodeId(2)),
        ms(4_000),
        "1 s follows, 900 ms is less"
    );
    contract_of(&mut class.nodes[2]).deadline_reserve = ms(1_500);
    assert_eq!(downstream_reserve(&class, NodeId(2)), ms(4_500));
    assert_eq!(
        downstream_reserve(&class, NodeId(0)),
        ms(7_500),
        "what comes before keeps it too"
    );
    assert_eq!(
        critical_path(&class).estimate,
        ms(6_000),
        "a reserve is no estimate"
    );
}

#[test]
fn only_what_writes_or_comes_before_a_write_keeps_time_to_reconcile() {
    let class = class(vec![
        read("draft", &[]),
        write("ticket", &[0]),
        read("summary", &[0]),
    ]);
    let (reads, writes) = (ms(1_800), ms(3_000));
    assert_eq!(
        downstream_reserves(&class),
        [writes + ms(1_000), writes, reads]
    );
}

#[test]
fn a_class_that_needs_nothing_has_an_empty_critical_path() {
    let mut class = class(vec![soft("extra", &[])]);
    assert_eq!(critical_path(&class).nodes, ids(&[]));
    class.result.clear();
    assert_eq!(critical_path(&class).estimate, Millis::ZERO);
}

/// All chains of hard nodes that end in `id`, by exhaustion.
fn chains_to(class: &TaskClass, id: NodeId) -> Vec<Vec<NodeId>> {
    let mut chains = vec![vec![id]];
    for need in class
        .node(id)
        .needs()
        .filter(|&need| class.node(need).is_hard())
    {
        for mut chain in chains_to(class, need) {
            chain.push(id);
            chains.push(chain);
        }
    }
    chains
}

fn is_needed(class: &TaskClass, id: NodeId) -> bool {
    let goal = |id: NodeId| class.result.contains(&id) || class.node(id).effect().is_some();
    let hard = |id: NodeId| class.node(id).is_hard();
    hard(id) && (goal(id) || class.dependents(id).any(|next| is_needed(class, next)))
}

fn estimate(node: &Node) -> Millis {
    node.contract()
        .map_or(Millis::ZERO, |contract| contract.estimate)
}

fn length(class: &TaskClass, chain: &[NodeId]) -> Millis {
    chain.iter().map(|&id| estimate(class.node(id))).sum()
}

/// What must stay after `id`, by exhaustion over every way down from it.
fn reserve_by_walking(class: &TaskClass, id: NodeId) -> Millis {
    fn walk(class: &TaskClass, id: NodeId, is_first: bool) -> (Millis, bool) {
        let node = class.node(id);
        let counts = is_first || is_needed(class, id);
        let own = node
            .contract()
            .map_or(Millis::ZERO, |contract| contract.deadline_reserve);
        let mut most = if counts { own } else { Millis::ZERO };
        let mut writes = counts && node.effect().is_some();
        for next in class.dependents(id) {
            let (after, then_writes) = walk(class, next, false);
            let takes = if is_needed(class, next) {
                estimate(class.node(next))
            } else {
                Millis::ZERO
            };
            most = most.max(takes + after);
            writes |= then_writes;
        }
        (most, writes)
    }
    let (most, writes) = walk(class, id, true);
    let reconcile = if writes {
        class.reserve.reconcile
    } else {
        Millis::ZERO
    };
    most + class.reserve.synthesis + reconcile
}

/// Puts a soft read at `place`: it needs all before it, and some nodes after it use it.
fn with_soft_node(class: &TaskClass, place: u16, users: u64) -> TaskClass {
    let mut class = class.clone();
    let shift = |id: &mut NodeId| id.0 += u16::from(place <= id.0);
    class.result.iter_mut().for_each(shift);
    for node in &mut class.nodes {
        node.inputs.iter_mut().for_each(shift);
        node.when.iter_mut().for_each(shift);
    }
    let inputs: Vec<u16> = (0..place).collect();
    let mut extra = soft("extra", &inputs);
    contract_of(&mut extra).estimate = ms(9_999);
    class.nodes.insert(usize::from(place), extra);
    for (i, node) in class
        .nodes
        .iter_mut()
        .enumerate()
        .skip(usize::from(place) + 1)
    {
        if users >> i & 1 == 1 {
            node.inputs.push(NodeId(place));
        }
    }
    class.result.push(NodeId(place));
    class
}

fn names(class: &TaskClass, nodes: &[NodeId]) -> Vec<String> {
    nodes
        .iter()
        .map(|&id| class.node(id).name.to_string())
        .collect()
}

proptest! {
    #[test]
    fn the_hard_path_and_the_critical_path_are_those_found_by_exhaustion(class in graphs()) {
        let needed: BTreeSet<NodeId> =
            class.ids().map(|(id, _)| id).filter(|&id| is_needed(&class, id)).collect();
        prop_assert_eq!(&hard_path(&class), &needed);
        let longest = needed.iter().flat_map(|&id| chains_to(&class, id));
        let longest = longest.map(|chain| length(&class, &chain)).max();
        prop_assert_eq!(critical_path(&class).estimate, longest.unwrap_or(Millis::ZERO));
    }

    #[test]
    fn the_critical_path_is_a_chain_of_what_the_run_needs(class in graphs()) {
        let path = critical_path(&class);
        for link in path.nodes.windows(2) {
            let mut needs = class.node(link[1]).needs();
            prop_assert!(needs.any(|need| need == link[0]), "{:?} is no edge", link);
        }
        prop_assert!(path.nodes.iter().all(|&id| is_needed(&class, id)));
        prop_assert_eq!(length(&class, &path.nodes), path.estimate);
    }

    #[test]
    fn a_soft_node_more_never_changes_the_critical_path(
        class in graphs(),
        place in any::<prop::sample::Index>(),
        users in any::<u64>(),
    ) {
        let place = u16::try_from(place.index(class.nodes.len() + 1)).expect("few nodes");
        let more = with_soft_node(&class, place, users);
        let (before, after) = (critical_path(&class), critical_path(&more));
        prop_assert_eq!(names(&class, &before.nodes), names(&more, &after.nodes));
        prop_assert_eq!(before.estimate, after.estimate);
    }

    #[test]
    fn what_must_stay_after_a_call_is_what_walking_every_way_down_finds(class in graphs()) {
        let walked: Vec<Millis> =
            class.ids().map(|(id, _)| reserve_by_walking(&class, id)).collect();
        prop_assert_eq!(downstream_reserves(&class), walked);
    }

    #[test]
    fn a_call_keeps_at_least_the_next_hard_call_and_what_that_keeps(class in graphs()) {
        let reserves = downstream_reserves(&class);
        for next in hard_path(&class) {
            let next_node = class.node(next);
            let kept = estimate(next_node) + reserves[usize::from(next.get())];
            for need in next_node.needs() {
                prop_assert!(kept <= reserves[usize::from(need.get())], "{} -> {}", need, next);
            }
        }
    }
}

#[test]
fn random_graphs_have_what_the_properties_are_about() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut long = 0;
    let mut with_soft_on_the_way = 0;
    for _ in 0..200 {
        let class = graphs().new_tree(&mut runner).expect("a class").current();
        long += usize::from(3 <= critical_path(&class).nodes.len());
        let is_soft = |id: NodeId| matches!(class.node(id).criticality, Criticality::Soft { .. });
        let between = hard_path(&class)
            .into_iter()
            .any(|id| class.node(id).needs().any(is_soft));
        with_soft_on_the_way += usize::from(between);
    }
    assert!(
        30 <= long && 30 <= with_soft_on_the_way,
        "{long}, {with_soft_on_the_way}"
    );
}
