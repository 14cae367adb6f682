//! Stores that cannot be looked at, and outputs that cannot be written.

use std::fs::{self, File};
use std::process::Stdio;

use serde_json::json;

use crate::story::{Story, run_id};
use crate::support::{Said, ask, open, program, store, write};

#[test]
fn a_store_that_is_held_names_its_holder() {
    let store = store(&[Story::completed(1, "{}")]);
    let holder = open(store.path());
    let pid = format!("pid {}, program ", std::process::id());
    for args in [
        ["runs"].as_slice(),
        &["run", "show", "01a22bd1"],
        &["status"],
        &["graph", "minutes"],
    ] {
        let said = ask(store.path(), args);
        assert_eq!((said.code, said.out.as_str()), (3, ""), "{args:?}");
        assert!(
            said.err
                .starts_with("STORE_LOCKED: the store is held by pid "),
            "{}",
            said.err
        );
        assert!(said.err.contains(&pid), "{}", said.err);
        assert!(
            said.err.contains(&format!(
                "[{}]\nits local socket cannot be asked: nobody listens there\n\nhint: ",
                store.path().display()
            )),
            "{}",
            said.err
        );
    }
    let error = ask(store.path(), &["runs", "--json"]).json_error(3);
    assert_eq!(
        (&error["code"], &error["retry_helps"]),
        (&json!("STORE_LOCKED"), &json!("later"))
    );
    assert!(error["message"].as_str().unwrap().contains(&pid), "{error}");
    drop(holder);
    ask(store.path(), &["runs"]).data();
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("store");
    let said = ask(&place, &["runs"]);
    assert_eq!((said.code, said.out.as_str()), (3, ""));
    let begin = format!(
        "STORE_MISSING: there is no store in {}\n\nhint: ",
        place.display()
    );
    assert!(said.err.starts_with(&begin), "{}", said.err);
    assert!(
        said.err
            .ends_with("`mainstay error STORE_MISSING` explains\n"),
        "{}",
        said.err
    );
    assert!(!place.exists());
    let error = ask(folder.path(), &["--json", "run", "show", "01a22bd1"]).json_error(3);
    assert_eq!(
        (&error["code"], &error["retry_helps"]),
        (&json!("STORE_MISSING"), &json!("no"))
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_store_of_another_format_or_without_its_files_is_left_as_it_is() {
    let store = store(&[]);
    fs::remove_dir_all(store.path().join("log")).unwrap();
    let error = ask(store.path(), &["runs", "--json"]).json_error(3);
    assert_eq!(error["code"], "STORE_DAMAGED");
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .contains("copy the whole folder"),
        "{error}"
    );
    assert!(!store.path().join("log").exists());
}

#[test]
fn a_run_that_contradicts_itself_is_corrupt_and_the_listing_still_works() {
    let folder = store(&[]);
    let ledger = open(folder.path());
    write(&ledger, &Story::completed(1, "{}"), false);
    ledger.close().unwrap();
    let said = ask(folder.path(), &["run", "show", "01a22bd1"]);
    assert_eq!((said.code, said.out.as_str()), (4, ""));
    let begin = format!(
        "CORRUPT_RECORD: run {}, record 1: class minutes v3 is not stored",
        run_id(1)
    );
    assert!(said.err.starts_with(&begin), "{}", said.err);
    assert!(
        ask(folder.path(), &["runs"])
            .data()
            .contains(&run_id(1).to_string())
    );
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let store = store(&[Story::completed(1, "{}")]);
    let place = store.path().to_str().unwrap();
    for args in [
        ["--store", place, "runs"].as_slice(),
        &["error"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let said = Said::of(
            program(args)
                .stdout(writer)
                .stderr(Stdio::piped())
                .output()
                .unwrap(),
        );
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_said() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = program(&["error"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = Said::of(child);
    assert_eq!(said.code, 3);
    assert!(
        said.err.starts_with("stdout cannot be written: "),
        "{}",
        said.err
    );
    assert!(
        said.err
            .ends_with("\n\nhint: check where the output goes\n"),
        "{}",
        said.err
    );
}
