//! Dependencies are replaceable by name, and replacing one changes nothing else.

use std::sync::Arc;

use mainstay_class::*;
use mainstay_dispatch::Provider;
use mainstay_types::{DependencyName, NodeId, Rung};

use crate::meeting::{Asks, Draft, Tickets, built, policy};

fn name(text: &str) -> DependencyName {
    DependencyName::new(text).expect("a valid name")
}

fn who(class: &ErasedClass, node: u16, rung: u8) -> Option<String> {
    class
        .provider(NodeId(node), Rung(rung))
        .map(|provider| provider.name().to_owned())
}

#[test]
fn each_rung_has_its_provider_and_other_nodes_have_none() {
    let class = built().erased();
    assert_eq!(who(&class, 0, 0).as_deref(), Some("policy"));
    assert_eq!(who(&class, 0, 1).as_deref(), Some("snapshot"));
    assert_eq!(who(&class, 0, 2), None);
    assert_eq!(who(&class, 3, 0), None);
    assert_eq!(who(&class, 99, 0), None);
    assert!(
        class
            .provider(NodeId(4), Rung(0))
            .is_some_and(|tickets| tickets.is_write())
    );
}

#[test]
fn a_fake_takes_the_place_of_a_dependency_and_the_class_stays_the_same() {
    let class = built();
    let fake = Asks("fake", |_| Draft {
        summary: "faked".into(),
        actions: Vec::new(),
    });
    let faked = class
        .replace_read(&name("model"), fake)
        .expect("there is a model");
    assert_eq!(who(&faked.erased(), 2, 0).as_deref(), Some("fake"));
    assert_eq!(
        who(&class.erased(), 2, 0).as_deref(),
        Some("model"),
        "the old class is as before"
    );
    assert_eq!(faked.erased().fingerprint, class.erased().fingerprint);
    let again = faked.replace_read(&name("model"), Arc::new(Asks("two", |_: String| 1u8)));
    assert_eq!(
        who(&again.expect("by its port").erased(), 2, 0).as_deref(),
        Some("two")
    );
    let snapshot = class
        .replace_read(&name("snapshot"), policy("fake"))
        .expect("a fallback");
    assert_eq!(who(&snapshot.erased(), 0, 1).as_deref(), Some("fake"));
    assert_eq!(who(&snapshot.erased(), 0, 0).as_deref(), Some("policy"));
}

#[test]
fn a_name_that_is_not_there_is_refused_with_those_that_are() {
    let class = built();
    let unknown = class
        .replace_read(&name("modle"), policy("fake"))
        .expect_err("a typo");
    let want = "the class never reads from `modle`; there are: model, policy, search, snapshot";
    assert_eq!(unknown.to_string(), want);
    let write = class
        .replace_write(&name("model"), Tickets)
        .expect_err("model is a read");
    assert_eq!(
        write.to_string(),
        "the class never writes to `model`; there are: tickets"
    );
}

#[test]
fn a_provider_without_types_can_take_a_place_too() {
    let class = built().erased();
    let provider = Arc::clone(class.provider(NodeId(4), Rung(0)).expect("tickets"));
    let same: ErasedClass = class.replace(&name("tickets"), &provider).expect("tickets");
    let put: &Arc<dyn Provider> = same.provider(NodeId(4), Rung(0)).expect("tickets");
    assert!(Arc::ptr_eq(put, &provider));
}
