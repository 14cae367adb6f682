//! `effect show` and `effect settle`: what a person sees of an effect, and what they say of it.

use crate::live::{CANARY, Live};
use crate::support::{ask, say};

fn settle<'a>(key: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let said = ["--by", "anna", "--why", "it is in their list"];
    [&["effect", "settle", key], rest, &said].concat()
}

/// The key of the run's only effect.
fn key_of(live: &Live, run: &str) -> String {
    let listed = live.ask(&["effects", "--run", run, "--json"]).json();
    listed["effects"][0]["key"].as_str().unwrap().to_owned()
}

#[test]
fn an_effect_in_doubt_is_shown_settled_and_its_run_goes_on_by_itself() {
    let live = Live::new();
    let run = live.in_doubt("lost");
    let key = key_of(&live, &run.to_string());
    let shown = live.ask(&["effect", "show", &key, "--json"]).json();
    assert_eq!(shown["key"], key);
    assert_eq!(shown["run_id"], run.to_string());
    assert_eq!(shown["may_be_settled"], true);
    assert_eq!(shown["promise"]["resolution"], "by_key");
    assert_eq!(shown["call"]["attempts"][0]["failure"], "EFFECT_UNKNOWN");
    assert_eq!(shown["call"]["effect"]["state"], "in_doubt");
    assert!(shown["in_doubt_for_ms"].is_u64(), "{shown}");
    assert!(!shown.to_string().contains(CANARY), "{shown}");
    let text = live.ask(&["effect", "show", &key]).data();
    assert!(text.starts_with(&format!("effect {key}\n")), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.join(" ").contains("effect settle KEY applied"),
        "{text}"
    );
    let too_early = live.ask(&settle(&key, &["not-applied"]));
    assert_eq!(too_early.code, 1, "{too_early:?}");
    assert!(
        too_early.err.starts_with("SETTLE_REFUSED: "),
        "{too_early:?}"
    );
    assert!(too_early.err.contains("wait_ms"), "{too_early:?}");
    let said = live.ask(&settle(&key, &["applied", "--result", "\"PO-17\""]));
    let uid = own_uid();
    let expected = format!("effect {key} is applied, by anna (uid:{uid}): it is in their list\n");
    assert_eq!((said.code, said.out), (0, expected));
    assert_eq!(live.outcome(run), "completed");
    let shown = live
        .ask(&["effect", "show", &key, "--payloads", "--json"])
        .json();
    let effect = &shown["call"]["effect"];
    assert_eq!(effect["reason"], "SETTLED_BY_HAND");
    assert_eq!(effect["result"], "PO-17");
    assert_eq!(effect["settled_by"]["by"], format!("anna (uid:{uid})"));
    assert_eq!(effect["settled_by"]["ruling"], "applied");
    assert_eq!(shown["may_be_settled"], false);
    // Whoever says the same again is told how it stands.
    let again = live.ask(&settle(
        &key,
        &["applied", "--result", "\"PO-17\"", "--json"],
    ));
    assert_eq!(again.json()["state"], "applied");
    let other = live.ask(&settle(&key, &["not-applied"]));
    assert_eq!(other.code, 1, "{other:?}");
}

fn own_uid() -> u32 {
    mainstay_socket::Asker::own().uid
}

#[test]
fn a_result_that_the_class_cannot_read_changes_nothing() {
    let live = Live::new();
    let run = live.in_doubt("lost");
    let key = key_of(&live, &run.to_string());
    for (result, what) in [
        (&["--result", "17"][..], "it is no `"),
        (&["--result", "{}"], "it is no `"),
        (&[], "a result is needed"),
    ] {
        let refused = live.ask(&settle(&key, &[&["applied"], result].concat()));
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains(what), "{refused:?}");
    }
    let no_json = live.ask(&settle(&key, &["applied", "--result", "PO-17"]));
    assert_eq!(no_json.code, 2, "{no_json:?}");
    let shown = live.ask(&["effect", "show", &key, "--json"]).json();
    assert_eq!(shown["call"]["effect"]["state"], "in_doubt");
}

#[test]
fn a_store_nobody_holds_takes_not_applied_and_says_who_can_take_a_result() {
    let live = Live::new();
    let run = live.in_doubt("lost");
    let key = key_of(&live, &run.to_string());
    let folder = live.stop();
    let said = ask(
        folder.path(),
        &settle(&key, &["applied", "--result", "\"PO-17\""]),
    );
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.starts_with("WAITING_FOR_CODE: "), "{said:?}");
    let early = ask(folder.path(), &settle(&key, &["not-applied", "--json"])).json_error(1);
    assert_eq!(early["code"], "SETTLE_REFUSED");
    let live = Live::on(folder);
    let said = live.ask(&settle(&key, &["applied", "--result", "\"PO-17\""]));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(live.outcome(run), "completed");
}

#[test]
fn what_is_applied_already_is_refused_as_such_whatever_is_said_of_it() {
    let live = Live::new();
    let run = live.start("desk");
    assert_eq!(live.outcome(run), "completed");
    let key = key_of(&live, &run.to_string());
    let folder = live.stop();
    for ruling in [
        &["applied", "--result", "\"PO-17\"", "--json"][..],
        &["not-applied", "--json"],
    ] {
        let refused = ask(folder.path(), &settle(&key, ruling)).json_error(1);
        assert_eq!(refused["code"], "SETTLE_REFUSED", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("it is applied"), "{message}");
    }
}

#[test]
fn keys_that_are_none_or_belong_to_nobody_are_told_apart() {
    let live = Live::new();
    live.in_doubt("lost");
    for key in [
        "acme/order/id:PR-1/slot:1",
        "acme/order/run:0192f0c4-7d1e-7c55-9d0a-5b7c1a2f3e44:order/slot:1",
    ] {
        let refused = live.ask(&["effect", "show", key, "--json"]).json_error(1);
        assert_eq!(refused["code"], "EFFECT_NOT_THERE", "{key}");
        let refused = live
            .ask(&settle(key, &["not-applied", "--json"]))
            .json_error(1);
        assert_eq!(refused["code"], "EFFECT_NOT_THERE", "{key}");
    }
    for args in [
        &["effect", "show", "order"][..],
        &["effect", "show", "acme/order/id:PR-1/slot:one"],
        &settle("acme/order/id:PR-1/slot:1", &["perhaps"]),
    ] {
        let said = say(args);
        assert_eq!(said.code, 2, "{said:?}");
    }
}

#[test]
fn an_applied_effect_is_undone_when_somebody_says_so_and_shows_what_undid_it() {
    let live = Live::new();
    let run = live.start("desk");
    assert_eq!(live.outcome(run), "completed");
    let key = key_of(&live, &run.to_string());
    let text = live.ask(&["effect", "show", &key]).data();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.join(" ").contains("effect settle KEY compensate"),
        "{text}"
    );
    let said = ["--by", "anna", "--why", "the customer changed their mind"];
    let compensate = [&["effect", "settle", &key, "compensate"][..], &said].concat();
    let result = [&compensate[..], &["--result", "1"]].concat();
    let refused = live.ask(&result);
    assert_eq!(refused.code, 2, "{refused:?}");
    let done = live.ask(&compensate);
    let undo = key.replace("/order/", "/order-undo/");
    // The engine goes on at once, and may be done before it is asked how things stand.
    let truths = [
        format!("effect {key}, which is applied, is to be undone by {undo}, for anna (uid:"),
        format!("effect {key} is compensated: {undo} has undone it, for anna (uid:"),
    ];
    let is_true = truths.iter().any(|truth| done.out.starts_with(truth));
    assert!(is_true, "{done:?}");
    live.until(run, |view| view.state == "closed");
    let shown = live.ask(&["effect", "show", &key, "--json"]).json();
    assert_eq!(shown["call"]["effect"]["state"], "compensated");
    assert_eq!(shown["undone_by"]["key"], undo);
    assert_eq!(shown["undone_by"]["state"], "applied");
    assert_eq!(shown["run_outcome"], "completed");
    let shown = live
        .ask(&["effect", "show", &undo, "--json", "--payloads"])
        .json();
    assert_eq!(shown["undoes"]["key"], key);
    let result = shown["call"]["effect"]["result"].as_str().unwrap();
    assert!(
        result.starts_with("receipt for cancel receipt for desk"),
        "{result}"
    );
    let again = live.ask(&[&compensate[..], &["--json"]].concat()).json();
    assert_eq!(
        (&again["state"], &again["ruling"]),
        (&"compensated".into(), &"compensate".into())
    );
    let listed = live
        .ask(&["effects", "--run", &run.to_string(), "--json"])
        .json();
    assert_eq!(listed["effects"].as_array().unwrap().len(), 2);
    let text = live.ask(&["run", "show", &run.to_string()]).data();
    assert!(text.contains("wants the effect undone"), "{text}");
}

#[test]
fn a_store_nobody_holds_takes_the_wish_and_the_next_engine_undoes_it() {
    let live = Live::new();
    let run = live.start("desk");
    assert_eq!(live.outcome(run), "completed");
    let key = key_of(&live, &run.to_string());
    let folder = live.stop();
    let said = ["--by", "anna", "--why", "the customer changed their mind"];
    let compensate = [&["effect", "settle", &key, "compensate"][..], &said].concat();
    let taken = ask(folder.path(), &compensate);
    assert_eq!(taken.code, 0, "{taken:?}");
    assert!(
        taken.err.contains("no process holds the store"),
        "{taken:?}"
    );
    let again = ask(folder.path(), &[&compensate[..], &["--json"]].concat()).json_error(1);
    assert_eq!(again["code"], "SETTLE_REFUSED");
    let live = Live::on(folder);
    live.until(run, |view| view.state == "closed");
    let shown = live.ask(&["effect", "show", &key, "--json"]).json();
    assert_eq!(shown["call"]["effect"]["state"], "compensated");
}
