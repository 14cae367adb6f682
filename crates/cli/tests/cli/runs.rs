//! `runs`.

use serde_json::{Value, json};

use crate::story::{ITEM, POLICY, Story, run_id};
use crate::support::{Said, ask, program, store};

fn stories() -> [Story; 3] {
    let mut open = Story::begin(3);
    open.ask(10, POLICY);
    [Story::completed(1, "{}"), Story::completed(2, "{}"), open]
}

fn ids(listing: &Value) -> Vec<&str> {
    let runs = listing["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| run["run_id"].as_str().unwrap())
        .collect()
}

#[test]
fn the_newest_run_comes_first_and_ids_stand_whole_in_a_line_each() {
    let store = store(&stories());
    let out = ask(store.path(), &["runs"]).data();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(lines[0].starts_with("RUN "), "{out}");
    for (line, n) in lines[1..].iter().zip([3, 2, 1]) {
        assert!(line.starts_with(&format!("{}  ", run_id(n))), "{out}");
    }
    let words: Vec<&str> = lines[1].split_whitespace().skip(1).collect();
    assert_eq!(
        words,
        [
            "running",
            "-",
            "0",
            "2026-11-30T09:38:20.000Z",
            "-",
            "minutes",
            "v3",
            "acme",
            "mtg-3"
        ]
    );
    let words: Vec<&str> = lines[2].split_whitespace().skip(1).take(6).collect();
    assert_eq!(
        words,
        [
            "closed",
            "completed",
            "0",
            "2026-11-30T09:38:20.000Z",
            "900",
            "ms"
        ]
    );
}

#[test]
fn json_has_one_object_with_the_rows() {
    let store = store(&stories());
    let listing = ask(store.path(), &["--json", "runs"]).json();
    assert_eq!(listing["next_cursor"], Value::Null);
    let row = &listing["runs"][1];
    assert_eq!(
        (&row["tenant"], &row["start_key"]),
        (&json!("acme"), &json!("mtg-2"))
    );
    assert_eq!(
        (&row["class"]["name"], &row["class"]["version"]),
        (&json!("minutes"), &json!(3))
    );
    assert_eq!(
        (&row["took_ms"], &row["in_doubt"]),
        (&json!(900), &json!(0))
    );
}

#[test]
fn filters_leave_only_what_passes_them() {
    let store = store(&stories());
    let [one, two, three] = [1, 2, 3].map(|n| run_id(n).to_string());
    for (args, expected) in [
        (["--state", "running"], vec![&three]),
        (["--state", "closed"], vec![&two, &one]),
        (["--class", "minutes"], vec![&three, &two, &one]),
        (["--class", "other"], vec![]),
        (["--tenant", "nobody"], vec![]),
    ] {
        let said = ask(store.path(), &["runs", "--json", args[0], args[1]]);
        assert_eq!(ids(&said.json()), expected, "{args:?}");
    }
}

#[test]
fn pages_follow_each_other_without_a_gap() {
    let store = store(&stories());
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut args = vec!["--json", "runs", "--limit", "2"];
        if let Some(cursor) = &cursor {
            args.extend(["--cursor", cursor]);
        }
        let page = ask(store.path(), &args).json();
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, [3, 2, 1].map(|n| run_id(n).to_string()));
    let said = ask(store.path(), &["runs", "--limit", "2"]);
    let hint = format!("hint: there are more: the same with --cursor {}", run_id(2));
    assert_eq!((said.code, said.err.trim()), (0, hint.as_str()));
}

#[test]
fn an_effect_in_doubt_is_counted() {
    let mut story = Story::begin(1);
    story.draft();
    story.send_tickets();
    let lost = mainstay_types::Failure::new(
        mainstay_types::FailureKind::EffectUnknown,
        mainstay_types::Sent::MaybeSent,
    );
    story.fail(610, (ITEM, 1), lost);
    let store = store(&[story]);
    let listing = ask(store.path(), &["runs", "--json"]).json();
    assert_eq!(listing["runs"][0]["in_doubt"], 1);
}

#[test]
fn an_empty_store_is_no_error() {
    let store = store(&[]);
    let said = ask(store.path(), &["runs"]);
    assert_eq!((said.code, said.err.as_str()), (0, "no runs\n"));
    let listing = ask(store.path(), &["runs", "--json"]).json();
    assert_eq!(listing, json!({"runs": [], "next_cursor": null}));
}

#[test]
fn the_store_is_also_found_through_the_environment() {
    let store = store(&[Story::completed(1, "{}")]);
    let mut command = program(&["runs", "--json"]);
    let said = Said::of(
        command
            .env("MAINSTAY_STORE", store.path())
            .output()
            .unwrap(),
    );
    assert_eq!(ids(&said.json()), [run_id(1).to_string()]);
}
