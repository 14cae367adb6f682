//! Pictures as text: small classes drawn whole, hostile texts escaped.

use mainstay_graph::draw::{dot, mermaid};
use mainstay_graph::{Criticality, FallbackKind, TaskClass};
use mainstay_types::{Millis, NodeId};

use crate::sample::{class, contract_of, each, fallback, local, meeting, read, soft, when};

fn small() -> TaskClass {
    let mut class = class(vec![
        read("policy", &[]),
        soft("related", &[]),
        when("any", &[0]),
        each("tickets", &[0, 1], 50),
        local("report", &[0]),
    ]);
    class.nodes[3].when = Some(NodeId(2));
    class.result = vec![NodeId(4), NodeId(3)];
    contract_of(&mut class.nodes[0]).fallbacks = vec![
        fallback(FallbackKind::ApprovedSnapshot {
            max_age: Millis::from_mins(20),
        }),
        fallback(FallbackKind::Human),
    ];
    class
}

#[test]
fn mermaid_shows_kinds_soft_edges_fallbacks_and_the_critical_path() {
    assert_eq!(mermaid(&small()), include_str!("../../golden/picture.mmd"));
}

#[test]
fn dot_shows_kinds_soft_edges_fallbacks_and_the_critical_path() {
    assert_eq!(dot(&small()), include_str!("../../golden/picture.dot"));
}

#[test]
fn texts_of_users_cannot_leave_their_label() {
    let mut class = class(vec![read("a", &[])]);
    contract_of(&mut class.nodes[0]).operation = "x\"]; <b>#1</b> `&\\\n".to_owned();
    class.nodes[0].criticality = Criticality::Advisory {
        notice: "é".repeat(61),
    };
    let (mermaid, dot) = (mermaid(&class), dot(&class));
    assert!(
        mermaid.contains("a: x#quot;]; #lt;b#gt;#35;1#lt;/b#gt; #96;#amp;\\ <br/>"),
        "{mermaid}"
    );
    assert!(dot.contains(r#"a: x\"]; <b>#1</b> `&\\ \n"#), "{dot}");
    for picture in [mermaid, dot] {
        assert!(
            picture.contains(&format!("advisory: {}…", "é".repeat(60))),
            "{picture}"
        );
    }
}

#[test]
fn a_rich_class_draws_alike_every_time_and_names_its_expiry() {
    assert_eq!(mermaid(&meeting()), mermaid(&meeting()));
    assert_eq!(dot(&meeting()), dot(&meeting()));
    assert!(mermaid(&meeting()).contains("work by 11.6 s, expires at 7 d; 4 retry tokens"));
}

#[test]
fn a_value_used_twice_is_one_edge() {
    let class = class(vec![read("a", &[]), local("b", &[0, 0])]);
    assert_eq!(dot(&class).matches("n0 -> n1").count(), 1);
}
