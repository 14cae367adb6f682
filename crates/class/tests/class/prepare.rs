//! What the closures make of recorded bytes, and how their mistakes are told.

use mainstay_class::*;
use mainstay_dispatch::{Failure, FailureKind, Sent};
use mainstay_types::{Digest, NodeId, Payload};

use crate::meeting::{Meeting, NewTicket, Tickets, built, input};

const DRAFT: &str = r#"{"actions":["call Kim","buy cake"],"summary":"we met"}"#;

fn some(text: &str) -> Option<Payload> {
    Some(Payload::from(text))
}

fn list(prepared: PreparedValue) -> Vec<PreparedRequest> {
    match prepared {
        PreparedValue::List(items) => items,
        PreparedValue::Request(_) | PreparedValue::Value(_) => panic!("a list: {prepared:?}"),
    }
}

#[test]
fn a_request_is_made_from_the_input_and_the_values_that_are_there() {
    let class = built().erased();
    let made = |related| {
        let values = [some(r#"["p1","p2"]"#), related];
        class
            .prepare(NodeId(2), &input(), &values)
            .expect("prepared")
    };
    for (related, text) in [
        (some(r#"["t"]"#), r#""we met 2 1""#),
        (None, r#""we met 2 0""#),
    ] {
        let PreparedValue::Request(prepared) = made(related) else {
            panic!("a request")
        };
        assert_eq!(prepared.request, Payload::from(text));
        assert_eq!(prepared.fingerprint, Digest::of(text.as_bytes()));
        assert_eq!(prepared.business_id, None);
    }
}

#[test]
fn a_list_is_made_once_with_the_business_id_of_the_input() {
    let class = built().erased();
    let items = list(
        class
            .prepare(NodeId(4), &input(), &[some(DRAFT)])
            .expect("prepared"),
    );
    let texts: Vec<&[u8]> = items.iter().map(|item| item.request.as_bytes()).collect();
    let want = [
        &br#"{"note":null,"title":"call Kim"}"#[..],
        br#"{"note":null,"title":"buy cake"}"#,
    ];
    assert_eq!(texts, want);
    let ids: Vec<&str> = items
        .iter()
        .filter_map(|i| i.business_id.as_ref())
        .map(|id| id.as_str())
        .collect();
    assert_eq!(ids, ["d1", "d1"]);
}

#[test]
fn only_significant_fields_make_the_fingerprint() {
    let mut g = TaskClass::<Meeting>::define("order", 1);
    g.budget(Budget::new().answer_by(mins(5)));
    let note = |m: &Meeting, ()| NewTicket {
        title: "t".into(),
        note: Some(m.text.clone()),
    };
    let (title, all) = (
        g.write("title", &Tickets, (), note)
            .significant(&["/title", "/none"])
            .add(),
        g.write("all", &Tickets, (), note).add(),
    );
    let class = g
        .finish((title, all), |_, (a, b)| a + b)
        .expect("no problems")
        .erased();
    let fingerprint = |node, text: &str| {
        let input = Payload::from(format!(r#"{{"digest":"d","text":"{text}"}}"#));
        match class.prepare(NodeId(node), &input, &[]).expect("prepared") {
            PreparedValue::Request(prepared) => prepared.fingerprint,
            PreparedValue::List(_) | PreparedValue::Value(_) => panic!("a request"),
        }
    };
    assert_eq!(fingerprint(0, "first"), fingerprint(0, "second"));
    assert_eq!(fingerprint(0, "first"), Digest::of(br#"{"/title":"t"}"#));
    assert_ne!(fingerprint(1, "first"), fingerprint(1, "second"));
}

#[test]
fn a_predicate_and_a_result_are_values() {
    let class = built();
    let erased = class.erased();
    let has_actions = |draft| erased.prepare(NodeId(3), &input(), &[some(draft)]);
    assert_eq!(
        has_actions(DRAFT),
        Ok(PreparedValue::Value(Payload::from("true")))
    );
    let empty = has_actions(r#"{"actions":[],"summary":""}"#);
    assert_eq!(empty, Ok(PreparedValue::Value(Payload::from("false"))));
    let result = erased
        .assemble(&input(), &[some(DRAFT), None, some("[]")])
        .expect("a result");
    let report = class.decode_output(&result).expect("a report");
    assert_eq!(
        (report.summary.as_str(), report.tickets.len()),
        ("we met", 0)
    );
    assert_eq!(report.related, Some(Vec::new()));
}

fn said(end: Result<impl std::fmt::Debug, Failure>) -> String {
    let failure = end.expect_err("a refusal");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::InvalidInput, Sent::NotSent)
    );
    failure.message.expect("a message")
}

#[test]
fn what_cannot_be_prepared_says_where_and_why() {
    let class = built().erased();
    let no_input = Payload::from(r#"{"digest":7,"text":"secret"}"#);
    let message = said(class.prepare(NodeId(0), &no_input, &[]));
    assert!(
        message.starts_with("node `policy_rag`: the run's input: it is no"),
        "{message}"
    );
    assert!(
        message.contains("expected a string") && !message.contains("secret"),
        "{message}"
    );
    assert_eq!(
        said(class.check_input(&no_input)),
        message.replace("node `policy_rag`: ", "")
    );

    let message = said(class.prepare(NodeId(2), &input(), &[None, None]));
    assert_eq!(message, "node `draft`: input 1 is missing");
    let message = said(class.prepare(NodeId(2), &input(), &[some("7"), None]));
    assert!(
        message.starts_with("node `draft`: input 1 cannot be read"),
        "{message}"
    );
    let message = said(class.prepare(NodeId(9), &input(), &[]));
    assert_eq!(message, "the class has no node 9");
    let message = said(class.assemble(&input(), &[]));
    assert_eq!(message, "the result: there is no input 1");
}

#[test]
fn a_list_beyond_its_bound_is_refused_with_both_numbers() {
    let class = built().erased();
    let actions: Vec<String> = (0..51).map(|n| format!("\"a{n}\"")).collect();
    let draft = format!(r#"{{"actions":[{}],"summary":""}}"#, actions.join(","));
    let failure = class
        .prepare(NodeId(4), &input(), &[some(&draft)])
        .expect_err("too long");
    assert_eq!(failure.provider_code.as_deref(), Some("LIST_TOO_LONG"));
    let message = said(Err::<(), _>(failure));
    let want = "node `ticket_write`: LIST_TOO_LONG: its list has 51 items, its bound is 50";
    assert_eq!(message, want);
}

#[test]
fn a_closure_may_refuse_and_a_business_id_must_be_valid() {
    let mut g = TaskClass::<Meeting>::define("order", 1);
    g.budget(Budget::new().answer_by(mins(5)));
    let refused = g
        .try_local("refused", (), |m, ()| m.text.parse::<u64>())
        .add();
    let ticket = |m: &Meeting, ()| NewTicket {
        title: m.text.clone(),
        note: None,
    };
    let no_id = g
        .write("no_id", &Tickets, (), ticket)
        .business_id_from(|m| m.digest.replace("d1", ""))
        .add();
    let class = g
        .finish((refused, no_id), |_, (a, b)| a + b)
        .expect("no problems")
        .erased();
    let message = said(class.prepare(NodeId(0), &input(), &[]));
    assert_eq!(
        message,
        "node `refused`: its closure refused: invalid digit found in string"
    );
    let message = said(class.prepare(NodeId(1), &input(), &[]));
    assert_eq!(
        message,
        "node `no_id`: not a valid business id: it is empty"
    );
}
