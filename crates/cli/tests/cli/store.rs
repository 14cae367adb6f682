//! `stats`, `verify`, `repair`, `export`, `import`, `prune`, `erase`: a store as a whole.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::story::{POLICY, Story, run_id};
use crate::support::{ask, store};

fn stories() -> [Story; 3] {
    let mut open = Story::begin(3);
    open.ask(10, POLICY);
    [Story::completed(1, "{}"), Story::completed(2, "{}"), open]
}

fn json(store: &Path, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    ask(store, &args).json()
}

#[test]
fn stats_count_what_is_there() {
    let store = store(&stories());
    let stats = json(store.path(), &["stats"]);
    assert_eq!(stats["runs_open"], 1, "{stats}");
    assert_eq!(stats["runs_closed"], 2, "{stats}");
    assert_eq!(stats["classes"], 1, "{stats}");
    assert!(0 < stats["log_bytes"].as_u64().unwrap(), "{stats}");
    let text = ask(store.path(), &["stats"]).data();
    assert!(
        text.contains("runs          1 open (0 driven), 2 closed"),
        "{text}"
    );
}

#[test]
fn a_whole_store_verifies_and_needs_no_repair() {
    let store = store(&stories());
    let report = json(store.path(), &["verify"]);
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["runs"], 3, "{report}");
    let text = ask(store.path(), &["verify"]).data();
    assert!(text.ends_with("everything is what was written\n"), "{text}");
    let repair = json(store.path(), &["repair"]);
    assert_eq!(repair["actions"], serde_json::json!([]), "{repair}");
    assert_eq!(ask(store.path(), &["repair"]).data(), "nothing to repair\n");
}

#[test]
fn verify_names_what_is_a_file_and_has_to_be_a_folder_and_the_other_way_round() {
    let files = ["FORMAT", "ACKED", "OLDEST", "BALLAST"].map(|name| (name, false));
    for (name, is_folder) in [("log", true), ("table", true)].into_iter().chain(files) {
        let store = store(&stories());
        let path = store.path().join(name);
        let aside = store.path().with_extension("aside");
        // Where there is none, one of the wrong kind is wrong all the same.
        let _ = fs::rename(&path, &aside);
        match is_folder {
            true => fs::write(&path, "").unwrap(),
            false => fs::create_dir(&path).unwrap(),
        }
        let said = ask(store.path(), &["verify"]);
        assert_eq!(said.code, 4, "{name}: {said:?}");
        assert!(said.out.contains(name), "{name}: {said:?}");
        for args in [&["repair"][..], &["repair", "--apply"]] {
            let said = ask(store.path(), args);
            assert_ne!(said.code, 0, "{name}: {said:?}");
            assert!(said.err.contains("move it away"), "{name}: {said:?}");
        }
        let _ = fs::remove_dir_all(&aside).or_else(|_| fs::remove_file(&aside));
    }
}

#[test]
fn verify_names_the_file_and_ends_with_4_and_repair_brings_the_rest_back() {
    let store = store(&stories());
    let segment = store.path().join("log/0000000001.log");
    let mut bytes = fs::read(&segment).unwrap();
    let half = bytes.iter().rposition(|byte| *byte != 0).unwrap() / 2;
    bytes[half] ^= 0x40;
    fs::write(&segment, bytes).unwrap();
    let said = ask(store.path(), &["verify"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.out.contains("0000000001.log"), "{said:?}");
    assert!(
        said.err.contains("`repair` says what it can bring back"),
        "{said:?}"
    );
    let refused = ask(store.path(), &["runs"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.starts_with("STORE_DAMAGED: "), "{refused:?}");
    let dry = ask(store.path(), &["repair"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.out.starts_with("to be done:\n"), "{dry:?}");
    assert!(
        dry.out
            .contains("\ndoing it may find more runs that stop: "),
        "{dry:?}"
    );
    let lines: Vec<&str> = dry.out.lines().collect();
    let once: BTreeSet<&str> = lines.iter().copied().collect();
    assert_eq!(once.len(), lines.len(), "{dry:?}");
    assert!(
        dry.err.contains("nothing was changed; --apply does it"),
        "{dry:?}"
    );
    assert_eq!(ask(store.path(), &["runs"]).code, 3, "nothing was changed");
    let done = ask(store.path(), &["repair", "--apply"]).data();
    assert!(done.contains("what was replaced is kept in "), "{done}");
    assert!(!done.contains("doing it may find more"), "{done}");
    assert!(store.path().join("replaced-1/log/0000000001.log").exists());
    assert_eq!(ask(store.path(), &["runs"]).code, 0);
}

#[test]
fn a_damaged_table_is_made_anew_and_what_was_there_is_kept() {
    let store = store(&stories());
    let before = ask(store.path(), &["runs"]).data();
    let db = store.path().join("table/db");
    let mut bytes = fs::read(&db).unwrap();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[last / 2..=last].fill(0x55);
    fs::write(&db, bytes).unwrap();
    assert_eq!(ask(store.path(), &["verify"]).code, 4);
    let done = ask(store.path(), &["repair", "--apply"]).data();
    assert!(done.contains("nothing is lost"), "{done}");
    assert!(store.path().join("replaced-1/table/db").exists());
    assert_eq!(ask(store.path(), &["runs"]).data(), before);
}

#[test]
fn what_is_exported_can_be_imported_once() {
    let store = store(&stories());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.jsonl");
    let file = file.to_str().unwrap();
    let exported = json(store.path(), &["export", "--to", file]);
    assert_eq!(exported["runs"], 3, "{exported}");
    let lines = fs::read_to_string(file).unwrap();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(
            line["check"].is_string() && line["body"].is_object(),
            "{line}"
        );
    }
    let again = ask(store.path(), &["export", "--to", file, "--json"]).json_error(3);
    assert_eq!(again["code"], "EXPORT_IO");
    let copy = folder.path().join("copy");
    let imported = json(&copy, &["import", file]);
    assert_eq!(imported["runs"], 3, "{imported}");
    assert_eq!(
        ask(&copy, &["runs"]).data(),
        ask(store.path(), &["runs"]).data()
    );
    let refused = ask(&copy, &["import", file, "--json"]).json_error(1);
    assert_eq!(refused["code"], "IMPORT_CONFLICT");
    let cut = folder.path().join("cut.jsonl");
    fs::write(&cut, &lines[..lines.len() / 2]).unwrap();
    let cut = cut.to_str().unwrap();
    let other = folder.path().join("other");
    let refused = ask(&other, &["import", cut, "--json"]).json_error(3);
    assert_eq!(refused["code"], "EXPORT_DAMAGED");
    // One run, to stdout, by the beginning of its id.
    let one = ask(store.path(), &["export", &run_id(2).to_string()]);
    assert!(one.err.contains("exported 1 runs"), "{one:?}");
    let one_file = folder.path().join("one.jsonl");
    fs::write(&one_file, one.out).unwrap();
    let third = folder.path().join("third");
    let imported = json(&third, &["import", one_file.to_str().unwrap()]);
    assert_eq!(imported["runs"], 1, "{imported}");
}

#[test]
fn pruning_takes_closed_runs_out_and_leaves_the_others() {
    let store = store(&stories());
    let pruned = json(store.path(), &["prune"]);
    assert_eq!(pruned["runs"], 0, "their time is not over: {pruned}");
    let pruned = json(store.path(), &["prune", "--keep", "0s"]);
    assert_eq!(pruned["runs"], 2, "{pruned}");
    let left = ask(store.path(), &["runs"]).data();
    assert_eq!(left.lines().count(), 2, "{left}");
    assert!(left.contains(&run_id(3).to_string()), "{left}");
    let wrong = ask(store.path(), &["prune", "--keep", "soon"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

#[test]
fn erasing_needs_a_closed_run_a_name_and_a_reason() {
    let mut secret = Story::begin(4);
    secret.ask(10, POLICY);
    let store = store(&[Story::completed(1, r#""canary-1f9c""#), secret]);
    let id = run_id(1).to_string();
    assert_eq!(
        ask(store.path(), &["erase", &id]).code,
        2,
        "by whom, and why"
    );
    let asked = |id: &str| {
        let args = ["erase", id, "--by", "ann", "--why", "ticket 4711", "--json"];
        ask(store.path(), &args)
    };
    let open = asked(&run_id(4).to_string()).json_error(1);
    assert_eq!(open["code"], "RUN_OPEN");
    let unknown = asked(&run_id(9).to_string()).json_error(1);
    assert_eq!(unknown["code"], "RUN_UNKNOWN");
    let erased = asked(&id).json();
    assert_eq!(erased["run_id"], id.as_str(), "{erased}");
    assert_eq!(erased["by"], "ann", "{erased}");
    let left = ask(store.path(), &["runs"]).data();
    assert!(!left.contains(&id), "{left}");
    for entry in walk(store.path()) {
        let bytes = fs::read(&entry).unwrap();
        let found = bytes.windows(11).any(|bytes| bytes == b"canary-1f9c");
        assert!(!found, "{}", entry.display());
    }
    assert_eq!(json(store.path(), &["verify"])["ok"], true);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn a_folder_without_a_store_is_told_so_by_each() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    for args in [
        &["stats"][..],
        &["verify"],
        &["repair"],
        &["prune"],
        &["export"],
    ] {
        let said = ask(&none, args);
        assert_eq!(said.code, 3, "{args:?}: {said:?}");
        assert!(
            said.err.starts_with("STORE_MISSING: "),
            "{args:?}: {said:?}"
        );
    }
    assert!(!none.exists(), "looking makes nothing");
}

#[test]
fn a_file_in_the_stores_place_is_said_to_be_no_folder_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let export = folder.path().join("export.jsonl");
    fs::write(&export, "").unwrap();
    for (place, what) in [
        (file.clone(), "that is no folder"),
        (file.join("below"), "a part of it is no folder"),
    ] {
        for args in [
            &["runs"][..],
            &["run", "show", "01a22bd1"],
            &["status"],
            &["graph", "minutes"],
            &["stats"],
            &["verify"],
            &["repair"],
            &["prune"],
            &["export"],
            &["import", export.to_str().unwrap()],
        ] {
            let error = ask(&place, &[args, &["--json"]].concat()).json_error(3);
            assert_eq!(error["code"], "STORE_MISSING", "{args:?}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.ends_with(what), "{args:?}: {error}");
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}
