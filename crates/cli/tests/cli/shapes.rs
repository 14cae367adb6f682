//! The JSON of every view: its keys are relied upon, and a held store says what a free one says.

use serde_json::Value;

use crate::live::Live;
use crate::support::ask;

fn keys(value: &Value) -> String {
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("no object: {value}"));
    object
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_keys_of_each_view_are_those_that_readers_rely_on() {
    let live = Live::new();
    live.ended("broken");
    let doubt = live.in_doubt("lost");
    let runs = live.ask(&["runs", "--json"]).json();
    assert_eq!(keys(&runs), "next_cursor runs");
    assert_eq!(
        keys(&runs["runs"][0]),
        "class ended_at in_doubt lap outcome run_id start_key started_at state state_reason tenant \
         took_ms"
    );
    let alerts = live.ask(&["alerts", "--json"]).json();
    assert_eq!(keys(&alerts), "alerts more next_after");
    assert_eq!(
        keys(&alerts["alerts"][0]),
        "at call class key kind lap reason run_id seq tenant"
    );
    let effects = live.ask(&["effects", "--in-doubt", "--json"]).json();
    assert_eq!(keys(&effects), "effects next_cursor");
    let effect = &effects["effects"][0];
    assert_eq!(
        keys(effect),
        "absent_after call first_sent_at key lookups next_lookup_at reason run_id state"
    );
    assert_eq!(effect["run_id"], doubt.to_string());
    let status = live.ask(&["status", "--json"]).json();
    assert_eq!(
        keys(&status),
        "appends draining drives limits live_runs mainstay not_driven not_driven_more out pid \
         runs_max started_at up_ms worker"
    );
    assert_eq!(status["pid"], std::process::id());
    assert_eq!(
        (&status["drives"], &status["draining"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn a_held_store_and_a_free_one_say_the_same() {
    let live = Live::new();
    let ids = [live.ended("fine"), live.ended("broken")].map(|run| run.to_string());
    let mut asked: Vec<Vec<&str>> = vec![
        vec!["runs"],
        vec!["runs", "--outcome", "completed"],
        vec!["runs", "--in-doubt"],
        vec!["alerts"],
        vec!["alerts", "--after", "1"],
        vec!["effects"],
        vec!["graph", "orders", "--format", "dot"],
    ];
    asked.extend(ids.iter().map(|id| vec!["run", "show", id, "--payloads"]));
    asked.extend(ids.iter().map(|id| vec!["effects", "--run", id]));
    asked.extend([vec!["run", "show", "00000000"], vec!["graph", "nothing"]]);
    let both = asked.iter().map(|args| [&args[..], &["--json"]].concat());
    let both: Vec<Vec<&str>> = asked.iter().cloned().chain(both).collect();
    // Ages in tables of people grow; everything else is the same.
    let is_told_twice =
        |args: &&Vec<&str>| args.contains(&"--json") || !["alerts", "effects"].contains(&args[0]);
    let twice: Vec<&Vec<&str>> = both.iter().filter(is_told_twice).collect();
    let held: Vec<_> = twice.iter().map(|args| live.ask(args)).collect();
    let folder = live.stop();
    for (args, held) in twice.iter().zip(held) {
        let free = ask(folder.path(), args);
        assert_eq!((free.code, &free.out), (held.code, &held.out), "{args:?}");
        assert_eq!(free.err, held.err, "{args:?}");
    }
    let status = ask(folder.path(), &["status", "--json"]).json();
    assert_eq!(status["drives"], false);
    let text = ask(folder.path(), &["status"]).data();
    assert!(text.contains("none: no process holds the store"), "{text}");
}

#[test]
fn a_run_is_explained_over_the_socket_and_over_a_free_store() {
    let live = Live::new();
    let (doubt, broken) = (live.in_doubt("lost"), live.ended("broken"));
    let (doubt, broken) = (doubt.to_string(), broken.to_string());
    let why = live.ask(&["run", "why", &doubt, "--json"]).json();
    assert_eq!(
        keys(&why),
        "admission at because blocked blocked_more changes class lap next outcome run_id spent \
         state state_reason uncertain"
    );
    assert_eq!(why["state_reason"], "EFFECT_IN_DOUBT");
    let effects = live.ask(&["effects", "--in-doubt", "--json"]).json();
    assert_eq!(why["uncertain"][0]["key"], effects["effects"][0]["key"]);
    let helps = why["changes"][0]["command"].as_str().unwrap().to_owned();
    let asked: Vec<&str> = helps.split(' ').skip(1).collect();
    assert_eq!(live.ask(&asked).code, 0, "{helps}");
    let text = live.ask(&["run", "why", &doubt]).data();
    assert!(text.contains("what nobody knows"), "{text}");
    // As it stands there it can be pasted, whatever the store is called.
    let pasted = format!(
        " --store {} effects --run {doubt} --in-doubt\n",
        live.folder.path().display()
    );
    assert!(text.contains(&pasted), "{pasted} in {text}");
    let timeless = |mut why: Value| {
        why["at"] = Value::Null;
        why["spent"]["time"] = Value::Null;
        why
    };
    let held = live.ask(&["run", "why", &broken, "--json"]).json();
    let folder = live.stop();
    let free = ask(folder.path(), &["run", "why", &broken, "--json"]).json();
    assert_eq!(timeless(held), timeless(free));
    let free = ask(folder.path(), &["run", "why", &doubt, "--json"]).json();
    let because = free["because"].as_str().unwrap();
    assert!(
        because.starts_with("no process drives the store"),
        "{because}"
    );
    assert_eq!(
        free["changes"][0]["how"],
        "start a process that drives the runs of this store"
    );
    let unknown = ask(folder.path(), &["run", "why", "00000000", "--json"]).json_error(1);
    assert_eq!(unknown["code"], "RUN_UNKNOWN");
}

#[test]
fn tables_name_runs_calls_and_keys_whole() {
    let live = Live::new();
    let broken = live.ended("broken").to_string();
    let doubt = live.in_doubt("lost").to_string();
    let alerts = live.ask(&["alerts"]).data();
    assert!(alerts.starts_with("SEQ "), "{alerts}");
    assert!(
        alerts.contains(&broken) && alerts.contains("handed_off"),
        "{alerts}"
    );
    let effects = live.ask(&["effects", "--in-doubt"]).data();
    assert!(effects.starts_with("EFFECT KEY "), "{effects}");
    assert!(
        effects.contains(&doubt) && effects.contains("in_doubt"),
        "{effects}"
    );
    let key = effects.lines().nth(1).unwrap().split("  ").next().unwrap();
    assert!(key.starts_with("acme/order/"), "{effects}");
    let runs = live.ask(&["runs", "--in-doubt"]).data();
    assert!(runs.contains(&doubt) && !runs.contains(&broken), "{runs}");
    let status = live.ask(&["status"]).data();
    let pid = format!("pid {}, running", std::process::id());
    assert!(status.contains(&pid), "{status}");
}

#[test]
fn a_store_without_anything_in_it_has_empty_lists() {
    let live = Live::new();
    for (args, note) in [
        (["runs"].as_slice(), "no runs\n"),
        (&["alerts"], "no alerts\n"),
        (&["effects"], "no effects\n"),
    ] {
        let said = live.ask(args);
        assert_eq!((said.code, said.err.as_str()), (0, note), "{args:?}");
    }
    let said = live.ask(&["alerts", "--after", "7", "--json"]).json();
    assert_eq!(
        said.to_string(),
        r#"{"alerts":[],"more":false,"next_after":7}"#
    );
}
