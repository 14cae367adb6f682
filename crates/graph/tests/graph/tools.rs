//! What is offered to a model: once, under a name that models take, and with no place in the graph.

use mainstay_graph::{NodeKind, path, validate};
use mainstay_types::{Code, NodeId};

use crate::sample::{class, local, read, shop, soft, tool, tools, when, write};
use crate::validate::{check, check_with_page};

#[test]
fn a_model_is_offered_reads_and_writes() {
    let class = shop();
    let problems: Vec<String> = validate(&class).iter().map(ToString::to_string).collect();
    assert!(
        problems.iter().all(|problem| !problem.starts_with("error")),
        "{problems:?}"
    );
    assert_eq!(class.offered_by(NodeId(1)), Some(NodeId(2)));
    assert_eq!(class.offered_by(NodeId(2)), None);
}

#[test]
fn what_nobody_asked_for_yet_is_on_no_hard_path_and_keeps_its_reserves() {
    let mut class = shop();
    class.reserve.synthesis = crate::sample::ms(700);
    class.reserve.reconcile = crate::sample::ms(300);
    let hard = path::hard_path(&class);
    assert_eq!(hard.into_iter().collect::<Vec<_>>(), [NodeId(2)]);
    let reserve = |node| path::downstream_reserve(&class, NodeId(node)).get();
    assert_eq!((reserve(0), reserve(1)), (700, 1_000));
}

#[test]
fn a_tool_is_offered_once_and_used_by_nobody() {
    let bad = class(vec![
        tool(read("find", &[])),
        tool(read("lonely", &[])),
        read("plain", &[]),
        tools("shop", &[0, 2, 9]),
        tools("mall", &[0]),
        local("sum", &[0]),
    ]);
    check(
        &bad,
        &[
            "error TOOLS_INVALID [shop]: what it offers, node 2, is plain, which is no tool",
            "error TOOLS_INVALID [shop]: what it offers, node 9, is not before it",
            "error TOOLS_INVALID [find]: a tool has no value of its own",
            "error TOOLS_INVALID [find]: it is offered 2 times",
            "error TOOLS_INVALID [lonely]: it is a tool, and nothing offers it",
        ],
    );
    let lonely = class(vec![tool(write("order", &[])), local("sum", &[])]);
    check_with_page(&lonely, Code::ToolsInvalid);
    let mut empty = shop();
    if let NodeKind::Tools { tools, calls_max } = &mut empty.nodes[2].kind {
        tools.truncate(1);
        *calls_max = 0;
    }
    check(
        &empty,
        &[
            "error TOOLS_INVALID [shop]: a model may ask 0 times, allowed are 1 to 256",
            "error TOOLS_INVALID [order]: it is a tool, and nothing offers it",
        ],
    );
}

#[test]
fn a_tool_has_no_inputs_no_predicate_and_a_name_that_models_take() {
    let mut order = tool(write("order.now", &[0]));
    order.when = Some(NodeId(1));
    let mut look = tool(soft("look", &[]));
    if let Some(tool) = &mut look.tool {
        (tool.per_run_max, tool.about) = (257, " ".to_owned());
    }
    let bad = class(vec![
        read("facts", &[]),
        when("maybe", &[]),
        order,
        look,
        tool(local("sum", &[])),
        tools("shop", &[2, 3, 4]),
    ]);
    check(
        &bad,
        &[
            "error TOOLS_INVALID [order.now]: models take no such name of a tool",
            "error TOOLS_INVALID [order.now]: a tool uses no values of calls",
            "error TOOLS_INVALID [look]: its description has 1 bytes, allowed are 1 to 1024",
            "error TOOLS_INVALID [look]: a run may have 257 of it, allowed are 1 to 256",
            "error TOOLS_INVALID [look]: a tool cannot be soft or advisory",
            "error TOOLS_INVALID [sum]: a tool is a read or a write, this is local",
        ],
    );
}
