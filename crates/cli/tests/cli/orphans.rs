//! `orphans` and `orphan`: what a person sees of remote work that a run gave up, and does about it.

use serde_json::Value;

use crate::live::Live;
use crate::support::{ask, say};

const SAID: [&str; 4] = ["--by", "anna", "--why", "it is ours"];

/// A run whose read was out when somebody canceled it.
fn canceled(live: &Live) -> String {
    let run = live.start("wait");
    live.until(run, |view| !view.calls[0].attempts.is_empty());
    let id = run.to_string();
    let said = live.ask(&["run", "cancel", &id, "--by", "bob", "--why", "not needed"]);
    assert_eq!(said.code, 0, "{said:?}");
    live.until(run, |view| view.state == "closed");
    id
}

fn orphan<'a>(verb: &'a str, run: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["orphan", verb, run, "price", "1"], &SAID[..], rest].concat()
}

fn own_uid() -> u32 {
    mainstay_socket::Asker::own().uid
}

/// Without the ends of lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

#[test]
fn what_was_given_up_is_listed_taken_over_and_closed() {
    let live = Live::new();
    let run = canceled(&live);
    let listed = live.ask(&["orphans", "--json"]).json();
    assert_eq!(listed["next_cursor"], Value::Null);
    let row = &listed["orphans"][0];
    let wanted = [
        "attempt", "call", "class", "on_late", "owner", "run_id", "sent_at", "state", "tenant",
        "until",
    ];
    assert_eq!(keys(row), wanted);
    assert_eq!(row["run_id"], run);
    assert_eq!(
        (&row["call"], &row["attempt"]),
        (&"price".into(), &1.into())
    );
    assert_eq!(
        (&row["state"], &row["on_late"]),
        (&"running".into(), &"drop".into())
    );
    assert_eq!(row["owner"], format!("bob (uid:{})", own_uid()));
    assert_eq!(
        (&row["class"], &row["tenant"]),
        (&"orders".into(), &"acme".into())
    );
    let text = live.ask(&["orphans", "--run", &run]).data();
    assert!(text.starts_with("RUN "), "{text}");
    assert!(text.contains("running"), "{text}");
    let none = live.ask(&["orphans", "--overdue"]);
    assert_eq!((none.code, none.err.as_str()), (0, "no orphans\n"));

    let anna = format!("anna (uid:{})", own_uid());
    let adopted = live.ask(&orphan("adopt", &run, &["--for", "2h"])).data();
    let expected = format!("run {run}, price attempt 1 is {anna}'s until 2");
    assert!(adopted.starts_with(&expected), "{adopted}");
    assert!(adopted.ends_with(": it is ours\n"), "{adopted}");
    let listed = live.ask(&["orphans", "--json"]).json();
    assert_eq!(listed["orphans"][0]["state"], "adopted");
    assert_eq!(listed["orphans"][0]["owner"], anna);
    let shown = live.ask(&["run", "show", &run, "--json"]).json();
    assert_eq!(shown["state"], "ended");
    assert_eq!(
        shown["calls"][0]["attempts"][0]["orphan"]["state"],
        "adopted"
    );
    let why = words(&live.ask(&["run", "why", &run]).data());
    assert!(why.contains(&format!("{anna} is told")), "{why}");

    closed(&live, &run, &anna);
}

/// Nobody waits for it any more, and that is said wherever it is looked at.
fn closed(live: &Live, run: &str, anna: &str) {
    let closed = live.ask(&orphan("close", run, &[])).data();
    let expected = format!("run {run}, price attempt 1 is closed, by {anna}: it is ours\n");
    assert_eq!(closed, expected);
    let none = live.ask(&["orphans"]);
    assert_eq!((none.code, none.err.as_str()), (0, "no orphans\n"));
    // Whoever says the same again is told how it stands.
    let again = live.ask(&orphan("close", run, &["--json"])).json();
    assert_eq!(
        (&again["wish"], &again["until"]),
        (&"close".into(), &Value::Null)
    );
    let refused = live.ask(&orphan("adopt", run, &["--json"])).json_error(1);
    assert_eq!(refused["code"], "ORPHAN_NOT_THERE");
    let text = words(&live.ask(&["run", "show", run]).data());
    for said in [
        "price attempt 1 was told to stop and may go on",
        "took over what price attempt 1 goes on doing",
        "said that nobody waits for price attempt 1: it is ours",
        "given up and closed",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn a_store_nobody_holds_takes_a_wish_too() {
    let live = Live::new();
    let run = canceled(&live);
    let folder = live.stop();
    let adopted = ask(folder.path(), &orphan("adopt", &run, &[]));
    assert_eq!(adopted.code, 0, "{adopted:?}");
    assert!(
        adopted.err.contains("no process holds the store"),
        "{adopted:?}"
    );
    let listed = ask(folder.path(), &["orphans", "--json"]).json();
    assert_eq!(listed["orphans"][0]["state"], "adopted");
    let closed = ask(folder.path(), &orphan("close", &run, &[]));
    assert_eq!(closed.code, 0, "{closed:?}");
    let listed = ask(folder.path(), &["orphans", "--json"]).json();
    assert_eq!(listed["orphans"], Value::Array(Vec::new()));
}

#[test]
fn what_is_no_orphan_or_no_wish_is_refused_by_name() {
    let live = Live::new();
    let run = canceled(&live);
    let refused = |args: &[&str]| {
        let args = [args, &SAID[..], &["--json"]].concat();
        live.ask(&args).json_error(1)["code"].clone()
    };
    assert_eq!(
        refused(&["orphan", "close", &run, "price", "2"]),
        "ORPHAN_NOT_THERE"
    );
    assert_eq!(
        refused(&["orphan", "close", &run, "prices", "1"]),
        "CALL_UNKNOWN"
    );
    let other = "0192f0c4-7d1e-7c55-9d0a-5b7c1a2f3e44";
    assert_eq!(
        refused(&["orphan", "close", other, "price", "1"]),
        "RUN_UNKNOWN"
    );
    let long = ["orphan", "adopt", &run, "price", "1", "--for", "8d"];
    assert_eq!(refused(&long), "INVALID_INPUT");
    for args in [
        &["orphan", "adopt", &run, "price", "one"][..],
        &["orphan", "adopt", &run, "price"],
        &["orphan", "close", &run, "price", "1", "--for", "1h"],
    ] {
        let said = say(&[args, &SAID[..]].concat());
        assert_eq!(said.code, 2, "{said:?}");
    }
}
