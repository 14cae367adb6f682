//! Files that `export` must not write and `import` must not read, and readers that go away early.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::story::{Story, run_id};
use crate::support::{Said, ask, program, store};

#[test]
fn an_export_whose_reader_goes_away_is_no_success() {
    let store = store(&[Story::completed(1, "{}")]);
    let place = store.path().to_str().unwrap();
    let gone = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut export = program(&[&["--store", place, "export"], args].concat());
        Said::of(
            export
                .stdout(writer)
                .stderr(Stdio::piped())
                .output()
                .unwrap(),
        )
    };
    let id = run_id(1).to_string();
    for args in [&[][..], &[id.as_str()]] {
        let said = gone(args);
        assert_eq!(said.code, 3, "{said:?}");
        assert!(
            said.err
                .starts_with("EXPORT_IO: whoever read stdout went away"),
            "{said:?}"
        );
    }
    assert_eq!(gone(&["--json"]).json_error(3)["code"], "EXPORT_IO");
}

#[test]
fn an_export_does_not_go_into_the_stores_own_folder_whatever_leads_there() {
    let store = store(&[Story::completed(1, "{}")]);
    let beside = tempfile::tempdir().unwrap();
    let (link, below) = (beside.path().join("link"), beside.path().join("below"));
    symlink(store.path(), &link).unwrap();
    symlink(store.path().join("log"), &below).unwrap();
    let before = names(store.path());
    for folder in [
        store.path(),
        &store.path().join("log"),
        &link,
        &below,
        &link.join("log/.."),
    ] {
        let file = folder.join("backup.jsonl");
        let said = ask(store.path(), &["export", "--to", file.to_str().unwrap()]);
        assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
        assert!(said.err.starts_with("EXPORT_IO: "), "{said:?}");
        assert!(said.err.contains("in the store's own folder"), "{said:?}");
    }
    // The store by way of a link, and a file without a folder in its name.
    let mut inside = program(&[
        "--store",
        link.to_str().unwrap(),
        "export",
        "--to",
        "here.jsonl",
    ]);
    let said = Said::of(inside.current_dir(store.path()).output().unwrap());
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
    assert_eq!(names(store.path()), before);
    assert_eq!(ask(store.path(), &["verify"]).code, 0);
    let file = beside.path().join("backup.jsonl");
    ask(store.path(), &["export", "--to", file.to_str().unwrap()]).data();
}

/// All that lies in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.display().to_string());
        if path.is_dir() {
            names.extend(self::names(&path));
        }
    }
    names.sort();
    names
}

#[test]
fn an_import_reads_a_regular_file_and_makes_no_store_for_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new");
    let fifo = folder.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let refused = |said: Said, what: &str| {
        assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
        assert!(said.err.starts_with("EXPORT_IO: "), "{said:?}");
        assert!(said.err.contains(what), "{said:?}");
        assert!(!new.exists(), "{said:?}");
    };
    refused(
        ask(&new, &["import", fifo.to_str().unwrap()]),
        "it is a pipe; an import reads",
    );
    let here = folder.path().to_str().unwrap();
    refused(
        ask(&new, &["import", here]),
        "it is a folder; an import reads",
    );
    let missing = folder.path().join("missing");
    refused(
        ask(&new, &["import", missing.to_str().unwrap()]),
        "No such file",
    );
    let mut piped = program(&["--store", new.to_str().unwrap(), "import", "/dev/stdin"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(writer);
    refused(
        Said::of(piped.stdin(reader).output().unwrap()),
        "has to be a regular file",
    );
}
