//! `run cancel`, `run terminate` and `run continue`, of runs that are driven and of others.

use mainstay_types::limits;
use serde_json::json;

use crate::live::Live;
use crate::support::{Said, ask, program};

const WHO: [&str; 4] = ["--by", "anna", "--why", "wrong order"];

fn args<'a>(verb: &'a str, id: &'a str) -> Vec<&'a str> {
    [&["run", verb, id][..], &WHO].concat()
}

/// How a command signs what this process asks for.
fn signed() -> String {
    format!("anna (uid:{})", mainstay_socket::place::own_uid())
}

#[test]
fn a_driven_run_is_canceled_and_says_who_asked_and_why() {
    let live = Live::new();
    let run = live.start("wait");
    let id = run.to_string();
    let said = live.ask(&args("cancel", &id));
    let expected = format!("run {id} is asked to stop, by {}: wrong order\n", signed());
    assert_eq!((said.code, said.out, said.err.as_str()), (0, expected, ""));
    assert_eq!(live.outcome(run), "canceled");
    let shown = live.ask(&["run", "show", &id, "--json"]).json();
    let who = json!({"by": signed(), "why": "wrong order"});
    assert_eq!(
        (&shown["outcome"], &shown["cancel"]),
        (&json!("canceled"), &who)
    );
}

#[test]
fn a_run_nobody_drives_is_canceled_by_the_next_engine() {
    let live = Live::new();
    let run = live.start("wait");
    let folder = live.stop();
    let id = run.to_string();
    let said = ask(folder.path(), &args("cancel", &id));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.starts_with("no process holds the store: "),
        "{said:?}"
    );
    let live = Live::on(folder);
    assert_eq!(live.outcome(run), "canceled");
}

#[test]
fn termination_needs_nobody_who_drives_the_run() {
    let live = Live::new();
    let (driven, left) = (live.start("wait a"), live.start("wait b"));
    let said = live.ask(&[args("terminate", &driven.to_string()), vec!["--json"]].concat());
    let expected = json!({
        "run_id": driven.to_string(), "command": "terminate", "by": signed(),
        "why": "wrong order", "lap": null,
    });
    assert_eq!(said.json(), expected);
    assert_eq!(live.outcome(driven), "terminated");
    let folder = live.stop();
    let said = ask(folder.path(), &args("terminate", &left.to_string()));
    assert_eq!(said.code, 0, "{said:?}");
    let listing = ask(
        folder.path(),
        &["runs", "--outcome", "terminated", "--json"],
    )
    .json();
    let rows = listing["runs"].as_array().unwrap();
    let ids: Vec<_> = rows.iter().map(|row| row["run_id"].clone()).collect();
    assert_eq!(ids, [left.to_string(), driven.to_string()]);
}

#[test]
fn a_run_that_pauses_at_a_limit_goes_on_once_its_budget_is_raised() {
    let live = Live::new();
    let run = live.start("dear");
    let id = run.to_string();
    live.until(run, |view| view.state == "paused");
    let paused = live.ask(&["runs", "--state", "paused", "--json"]).json();
    let row = &paused["runs"][0];
    assert_eq!(
        (&row["run_id"], &row["state_reason"]),
        (&json!(id), &json!("COST_EXHAUSTED"))
    );
    let raise = |more: &[&str]| live.ask(&[&args("raise", &id)[..], more].concat());
    assert_eq!(raise(&[]).code, 2, "nothing is raised");
    assert_eq!(raise(&["--cost", "much"]).code, 2);
    let refused = raise(&["--concurrency", "300"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.starts_with("RAISE_REFUSED: "), "{refused:?}");
    let said = raise(&["--cost", "+5", "--retries", "1"]);
    let expected = format!(
        "run {id} may spend 15 cost units and 3 retries in this lap, with 4 attempts at once, by \
         {}: wrong order\n",
        signed()
    );
    assert_eq!((said.code, said.out), (0, expected));
    assert_eq!(live.outcome(run), "completed");
    let shown = live.ask(&["run", "show", &id]).data();
    let told = format!(
        "{} raised the budget by 1 retry token, 0 concurrency tokens and 5 cost units: wrong order",
        signed()
    );
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains(&told), "{shown}");
    let over = raise(&["--cost", "1"]);
    assert!(over.err.starts_with("RUN_ENDED: "), "{over:?}");
}

#[test]
fn a_run_nobody_drives_goes_on_with_its_raised_budget_under_the_next_engine() {
    let live = Live::new();
    let run = live.start("dear");
    live.until(run, |view| view.state == "paused");
    let folder = live.stop();
    let more = ["--cost", "2", "--json"];
    let said = ask(
        folder.path(),
        &[&args("raise", &run.to_string())[..], &more].concat(),
    );
    let budget = json!({"retry_tokens": 2, "concurrency_tokens": 4, "cost_micros": 12_000_000});
    assert_eq!(said.json()["budget"], budget);
    let live = Live::on(folder);
    assert_eq!(live.outcome(run), "completed");
}

#[test]
fn a_run_that_has_ended_goes_on_in_its_next_lap() {
    let live = Live::new();
    let run = live.ended("broken");
    let id = run.to_string();
    let said = live.ask(&args("continue", &id));
    let expected = format!("run {id} goes on in lap 2, by {}: wrong order\n", signed());
    assert_eq!((said.code, said.out), (0, expected));
    live.outcome(run);
    let folder = live.stop();
    let said = ask(
        folder.path(),
        &[args("continue", &id), vec!["--json"]].concat(),
    )
    .json();
    assert_eq!(
        (&said["command"], &said["lap"]),
        (&json!("continue"), &json!(3))
    );
    let shown = ask(folder.path(), &["run", "show", &id, "--json"]).json();
    assert_eq!(
        (&shown["lap"], &shown["outcome"]),
        (&json!(3), &json!(null))
    );
}

#[test]
fn what_is_refused_changes_nothing_and_ends_with_one() {
    let live = Live::new();
    let id = live.ended("fine").to_string();
    let before = live.ask(&["run", "show", &id, "--json"]).data();
    for (verb, code) in [
        ("cancel", "RUN_ENDED"),
        ("terminate", "RUN_ENDED"),
        ("continue", "CONTINUE_REFUSED"),
    ] {
        let error = live.ask(&[args(verb, &id), vec!["--json"]].concat());
        assert_eq!(error.json_error(1)["code"], code, "{verb}");
        let unknown = live.ask(&args(verb, "00000000-0000-7000-8000-000000000000"));
        assert_eq!((unknown.code, unknown.out.as_str()), (1, ""), "{verb}");
        assert!(unknown.err.starts_with("RUN_UNKNOWN: "), "{unknown:?}");
    }
    assert_eq!(live.ask(&["run", "show", &id, "--json"]).data(), before);
    let folder = live.stop();
    for verb in ["cancel", "terminate", "continue"] {
        let said = ask(folder.path(), &args(verb, &id));
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{verb}: {said:?}");
    }
    assert_eq!(
        ask(folder.path(), &["run", "show", &id, "--json"]).data(),
        before
    );
}

#[test]
fn who_and_why_are_short_texts_that_say_something() {
    let live = Live::new();
    let id = live.start("wait").to_string();
    let long = |bytes: usize| "x".repeat(bytes);
    let too_long = long(limits::TEXT_BYTES_MAX + 1);
    for text in ["", "\u{a0}\t ", "a\nb", "\u{1b}[31mred", &too_long] {
        for verb in [
            &["erase"][..],
            &["run", "cancel"],
            &["run", "terminate"],
            &["run", "continue"],
        ] {
            for (option, other) in [("--by", "--why"), ("--why", "--by")] {
                let args = [verb, &[&id, option, text, other, "x"]].concat();
                let said = live.ask(&args);
                assert_eq!(
                    (said.code, said.out.as_str()),
                    (2, ""),
                    "{args:?}: {said:?}"
                );
                let rule = "has to be a text of 1 to ";
                assert!(
                    said.err.starts_with(&format!("error: {option} <")),
                    "{said:?}"
                );
                assert!(said.err.contains(rule) && said.err.len() < 400, "{said:?}");
                let error = live.ask(&[&args[..], &["--json"]].concat()).json_error(2);
                assert_eq!(error["code"], "INVALID_INPUT", "{error}");
            }
        }
    }
    let shown = live.ask(&["run", "show", &id, "--json"]).json();
    assert_eq!(shown["cancel"], json!(null));
    // As long as may be, and nothing of it trimmed.
    let (by, why) = (
        long(limits::KEY_BYTES_MAX),
        format!(" {} ", long(limits::TEXT_BYTES_MAX - 2)),
    );
    let taken = live
        .ask(&["run", "cancel", &id, "--by", &by, "--why", &why, "--json"])
        .json();
    assert_eq!(taken["why"], json!(why));
}

#[test]
fn nobody_commands_without_saying_who_and_why() {
    let live = Live::new();
    let id = live.start("wait").to_string();
    let place = live.folder.path().to_str().unwrap();
    let mut anonymous = program(&["--store", place, "run", "cancel", &id, "--why", "x"]);
    let said = Said::of(anonymous.env_remove("USER").output().unwrap());
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    assert!(said.err.contains("--by"), "{said:?}");
    let said = live.ask(&["run", "cancel", &id, "--by", "anna"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    let said = live.ask(&["run", "cancel", &id, "--by", " ", "--why", "x"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    let shown = live.ask(&["run", "show", &id, "--json"]).json();
    assert_eq!(shown["cancel"], json!(null));
}
