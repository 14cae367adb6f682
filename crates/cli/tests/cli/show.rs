//! `run show`.

use mainstay_ledger::Ledger;
use mainstay_runtime::view::{RunView, text};
use serde_json::json;

use crate::story::{Story, run_id};
use crate::support::{Said, ask, open, store, wait};

#[test]
fn a_stored_run_is_shown_as_its_view_says_it() {
    let story = Story::completed(1, "{}");
    let store = store(std::slice::from_ref(&story));
    let whole = RunView::of(&story.run, &story.recorded);
    let id = run_id(1).to_string();
    for (view, asked) in [
        (whole.clone(), ["run", "show", &id, "--payloads"].as_slice()),
        (whole.without_payloads(), &["run", "show", &id]),
    ] {
        assert_eq!(ask(store.path(), asked).data(), text::render(&view));
        let out = ask(store.path(), &[asked, &["--json"]].concat()).data();
        assert_eq!(out.trim_end(), serde_json::to_string(&view).unwrap());
    }
}

#[test]
fn numbers_leave_the_store_as_they_went_in() {
    let result = r#"{"big":18446744073709551615,"decimal":0.1,"deep":[-170141183460469231731687303715884105728]}"#;
    let store = store(&[Story::completed(1, result)]);
    let out = ask(
        store.path(),
        &[
            "--json",
            "run",
            "show",
            &run_id(1).to_string(),
            "--payloads",
        ],
    )
    .data();
    assert!(out.contains(&format!("\"result\":{result}")), "{out}");
    assert!(
        out.contains(r#""cost_units":{"limit":18,"used":2.2,"#),
        "{out}"
    );
}

#[test]
fn the_beginning_of_an_id_is_enough_when_it_fits_no_other_run() {
    let store = store(&[Story::completed(1, "{}"), Story::completed(0x21, "{}")]);
    let id = run_id(0x21).to_string();
    let shown = ask(store.path(), &["run", "show", &id[..35], "--json"]).json();
    assert_eq!(shown["run_id"], id.as_str());
    let shown = ask(
        store.path(),
        &["run", "show", &id.replace('-', ""), "--json"],
    )
    .json();
    assert_eq!(shown["run_id"], id.as_str());
}

#[test]
fn the_beginning_of_several_ids_names_them_and_shows_none() {
    let store = store(&[Story::completed(1, "{}"), Story::completed(2, "{}")]);
    let (one, two) = (run_id(1).to_string(), run_id(2).to_string());
    let said = ask(store.path(), &["run", "show", &one[..8]]);
    let expected = format!(
        "{} fits several runs:\n  {two}\n  {one}\n\nhint: give more characters of the id\n",
        &one[..8]
    );
    assert_eq!((said.code, said.out.as_str(), said.err), (1, "", expected));
    let error = ask(store.path(), &["run", "show", &one[..8], "--json"]).json_error(1);
    assert_eq!(error["code"], "INVALID_INPUT");
}

#[test]
fn a_run_that_is_not_there_is_refused_with_the_way_to_the_list() {
    let store = store(&[Story::completed(1, "{}")]);
    let place = store.path().display();
    for wanted in [
        run_id(9).to_string(),
        "00000000".to_owned(),
        "ffffffff".to_owned(),
    ] {
        let said = ask(store.path(), &["run", "show", &wanted]);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{wanted}");
        assert_eq!(
            said.err,
            format!(
                "RUN_UNKNOWN: there is no such run [{wanted}]\n\nhint: `mainstay --store {place} \
                 runs` lists the runs of this store; `mainstay error RUN_UNKNOWN` explains\n"
            )
        );
    }
    let error = ask(store.path(), &["--json", "run", "show", "00000000"]).json_error(1);
    assert_eq!(
        error,
        json!({
            "code": "RUN_UNKNOWN",
            "message": "there is no such run [00000000]",
            "hint": format!("`mainstay --store {place} runs` lists the runs of this store"),
            "retry_helps": "no",
        })
    );
}

#[test]
fn a_hint_can_be_pasted_into_a_shell_whatever_the_store_is_called() {
    let above = tempfile::tempdir().unwrap();
    for name in [
        "plain",
        "two words",
        "it's",
        "$(touch made)",
        "`touch made`;&|*?\"\\",
        "~",
    ] {
        let place = above.path().join(name);
        open(&place).close().unwrap();
        let error = ask(&place, &["run", "show", "00000000", "--json"]).json_error(1);
        let hint = error["hint"].as_str().unwrap();
        let command = hint.strip_prefix('`').unwrap();
        let (command, _) = command.rsplit_once("` lists the runs").unwrap();
        let mut shell = std::process::Command::new("sh");
        shell
            .arg("-c")
            .arg(command.replacen("mainstay", "\"$MAINSTAY\"", 1));
        shell.env("MAINSTAY", env!("CARGO_BIN_EXE_mainstay"));
        let said = Said::of(shell.current_dir(above.path()).output().unwrap());
        assert_eq!(
            (said.code, said.err.as_str()),
            (0, "no runs\n"),
            "{command}: {said:?}"
        );
        assert!(!above.path().join("made").exists(), "{command}");
        // And a path that means nothing to a shell stays as it is.
        let bare = format!("mainstay --store {} runs", place.display());
        assert_eq!(command == bare, name == "plain", "{command}");
    }
}

#[test]
fn looking_changes_nothing_of_what_is_stored() {
    let story = Story::completed(1, "{}");
    let store = store(std::slice::from_ref(&story));
    for args in [
        ["runs", "--json"].as_slice(),
        &["run", "show", "01a22bd1"],
        &["graph", "minutes"],
    ] {
        ask(store.path(), args).data();
    }
    let ledger = open(store.path());
    let loaded = wait(ledger.load(run_id(1))).unwrap().unwrap();
    assert_eq!(loaded.events, story.recorded);
    assert!(wait(ledger.driven(None)).unwrap().rows.is_empty());
}
