//! `alerts --follow`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::live::Live;
use crate::support::{ask, program};

#[test]
fn alerts_are_told_as_they_come_until_the_program_ends() {
    let live = Live::new();
    let first = live.ended("broken a").to_string();
    let place = live.folder.path().to_str().unwrap();
    let mut child = program(&["--store", place, "alerts", "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let seen = told();
    assert_eq!(
        (&seen["run_id"], &seen["kind"]),
        (&first.into(), &"handed_off".into())
    );
    let second = live.ended("broken b").to_string();
    let seen = told();
    assert_eq!((&seen["run_id"], &seen["seq"]), (&second.into(), &2.into()));
    let _folder = live.stop();
    assert!(lines.next().is_none(), "nothing more is told");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let live = Live::new();
    live.ended("broken a");
    let place = live.folder.path().to_str().unwrap();
    let mut child = program(&["--store", place, "alerts", "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines.next().unwrap().unwrap();
    assert!(
        told.starts_with("1 20") && told.contains(" handed_off run "),
        "{told}"
    );
    drop(lines);
    live.ended("broken b");
    assert!(child.wait().unwrap().success());
}

#[test]
fn nobody_waits_for_alerts_of_a_store_that_nobody_drives() {
    let live = Live::new();
    let folder = live.stop();
    let said = ask(folder.path(), &["alerts", "--follow"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("no process holds"), "{said:?}");
}
