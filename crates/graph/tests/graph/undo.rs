//! What undoes a write: it belongs to one write before it, and to nobody else.

use mainstay_graph::draw::mermaid;
use mainstay_graph::path::hard_path;
use mainstay_graph::{NodeKind, ScopeKind, validate};
use mainstay_types::NodeId;

use crate::sample::{class, effect_of, local, read, returns, soft, tool, tools, undo, write};
use crate::validate::check;

#[test]
fn a_write_that_can_be_undone_is_a_sound_class_and_its_undoing_is_on_nobody_s_way() {
    let class = returns();
    assert!(validate(&class).iter().all(|problem| !problem.is_error()));
    assert_eq!(class.compensation_of(NodeId(0)), Some(NodeId(1)));
    assert_eq!(class.compensation_of(NodeId(1)), None);
    assert!(hard_path(&class).contains(&NodeId(0)));
    assert!(!hard_path(&class).contains(&NodeId(1)));
    assert!(mermaid(&class).contains("n0 -.->|undone by| n1"));
}

#[test]
fn what_undoes_is_a_write_of_one_write_before_it_under_another_name() {
    let mut same = undo("again", 1);
    effect_of(&mut same).name = effect_of(&mut write("order", &[])).name.clone();
    let mut elsewhere = undo("elsewhere", 1);
    effect_of(&mut elsewhere).scope = match effect_of(&mut write("order", &[])).scope {
        ScopeKind::Run => ScopeKind::Business,
        ScopeKind::Business => ScopeKind::Run,
    };
    let mut asks = undo("asks", 1);
    asks.kind = read("asks", &[]).kind;
    let bad = class(vec![
        read("facts", &[]),
        write("order", &[]),
        undo("facts-undo", 0),
        undo("late-undo", 9),
        undo("undo-undo", 2),
        same,
        elsewhere,
        asks,
        local("sum", &[1]),
    ]);
    let other = match effect_of(&mut write("order", &[])).scope {
        ScopeKind::Run => ("business", "run"),
        ScopeKind::Business => ("run", "business"),
    };
    let scopes = format!(
        "error CONTRACT_INVALID [elsewhere]: its scope is {}, that of what it undoes is {}",
        other.0, other.1
    );
    check(
        &bad,
        &[
            "error CONTRACT_INVALID [facts-undo]: it undoes facts, which is no write that can be \
             undone",
            "error CONTRACT_INVALID [late-undo]: it undoes node 9, which is not before it",
            "error CONTRACT_INVALID [undo-undo]: it undoes facts-undo, which is no write that can be \
             undone",
            "error CONTRACT_INVALID [again]: its effect is order too, the one that it undoes",
            &scopes,
            "error CONTRACT_INVALID [elsewhere]: again undoes the same write",
            "error CONTRACT_INVALID [asks]: what undoes an effect is a write, this is read",
            "error CONTRACT_INVALID [asks]: elsewhere undoes the same write",
        ],
    );
}

#[test]
fn what_undoes_has_no_place_in_the_graph() {
    let mut used = undo("order-undo", 1);
    used.inputs = vec![NodeId(0)];
    let offered = tool(undo("offered-undo", 2));
    let mut optional = undo("optional-undo", 3);
    optional.criticality = soft("x", &[]).criticality;
    let mut bad = class(vec![
        read("facts", &[]),
        write("order", &[]),
        write("offer", &[]),
        write("option", &[]),
        used,
        offered,
        optional,
        local("sum", &[4]),
        tools("shop", &[5]),
    ]);
    bad.result.push(NodeId(6));
    check(
        &bad,
        &[
            "error CONTRACT_INVALID [optional-undo]: a write cannot be soft: it is never skipped for \
             lateness",
            "error CONTRACT_INVALID [order-undo]: what undoes an effect uses no values of calls",
            "error CONTRACT_INVALID [order-undo]: what undoes an effect has no value for others",
            "error CONTRACT_INVALID [offered-undo]: what undoes an effect is no tool",
            "error CONTRACT_INVALID [offered-undo]: what undoes an effect has no value for others",
            "error CONTRACT_INVALID [optional-undo]: what undoes an effect has no value for others",
        ],
    );
    assert!(matches!(bad.nodes[4].kind, NodeKind::Write { .. }));
}
