//! Cases from the field that need real processes: replaced, aborting, killed. Named by their ids.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use mainstay_tests::binaries::program;
use mainstay_tests::place::Place;
use mainstay_tests::process::{Ended, signal_pid};
use mainstay_tests::view::View;
use mainstay_tests::wait::until_true;
use mainstay_tests::worker::written;
use rustix::process::Signal;
use serde_json::Value;

/// A worker over one store.
struct Worker {
    child: Child,
    told: BufReader<std::process::ChildStdout>,
}

impl Worker {
    fn start(place: &Place, keys: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_worker"));
        command.arg(place.store()).arg(out(place)).args(keys);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the worker starts");
        let told = BufReader::new(child.stdout.take().expect("its stdout is a pipe"));
        Self { child, told }
    }

    /// Its next line; `None` when it has ended.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.told.read_line(&mut line).expect("a line of it");
        (0 < read).then(|| serde_json::from_str(&line).expect("one JSON object"))
    }

    /// Everything else that it says, and how it ended.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        let mut told = Vec::new();
        while let Some(line) = self.next() {
            told.push(line);
        }
        (told, self.child.wait().expect("it ends").code())
    }

    fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it is gone");
    }
}

/// Where the outside keeps what it got.
fn out(place: &Place) -> PathBuf {
    place.path("written")
}

fn ask(place: &Place, words: &[&str]) -> Ended {
    let mut command = Command::new(program("mainstay"));
    Ended::of(command.arg("--store").arg(place.store()).args(words))
}

#[test]
fn f02_a_new_process_waits_for_the_store_of_one_that_drains_and_finishes_its_runs() {
    let place = Place::new();
    std::fs::create_dir_all(place.store()).expect("the store's folder");
    let keys = ["chain/A", "chain/B", "chain/C"];
    let mut old = Worker::start(&place, &keys);
    let told = [old.next(), old.next()];
    let started = told[1].as_ref().map(|told| told["started"].clone());
    assert_eq!(started, Some(keys.len().into()), "{told:?}");
    let new = Worker::start(&place, &keys);
    signal_pid(old.child.id(), Signal::TERM);
    let (told, code) = old.end();
    let left = told.last().map(|last| last["left"].clone());
    assert_eq!(code, Some(0), "{told:?}");
    assert!(
        left.is_some_and(|left| 0 < left.as_u64().unwrap_or(0)),
        "{told:?}"
    );

    let (told, code) = new.end();
    assert_eq!(code, Some(0), "{told:?}");
    let answers = told.iter().filter(|line| line["answer"] == "completed");
    assert_eq!(answers.count(), keys.len(), "{told:?}");
    let keys_written = written(&out(&place));
    let distinct: BTreeSet<&String> = keys_written.iter().collect();
    assert_eq!(
        (keys_written.len(), distinct.len()),
        (keys.len(), keys.len())
    );
}

#[test]
fn f10_a_write_that_may_be_sent_once_is_sent_once_though_its_process_is_killed() {
    let place = Place::new();
    std::fs::create_dir_all(place.store()).expect("the store's folder");
    let first = Worker::start(&place, &["mute/A"]);
    until_true("the write", || !written(&out(&place)).is_empty());
    first.kill();

    for life in 2..=3 {
        let (told, code) = Worker::start(&place, &["mute/A"]).end();
        assert_eq!(code, Some(0), "{told:?}");
        let run = told.iter().find(|line| line["key"] == "mute/A");
        let run = run.unwrap_or_else(|| panic!("life {life}: {told:?}"));
        assert_eq!(run["answer"], "later", "life {life}: {run}");
        let calls = run["run"]["calls"].as_array().expect("its calls");
        assert_eq!(
            calls[0]["effect"]["state"], "in_doubt",
            "life {life}: {run}"
        );
        assert_eq!(written(&out(&place)).len(), 1, "life {life}: sent again");
    }
    let alerts = View::printed(ask(&place, &["alerts", "--json"]).with_code(0));
    let kinds = alerts.list("/alerts").iter();
    let doubts = kinds.filter(|alert| alert["kind"] == "in_doubt").count();
    assert!(0 < doubts, "a person is asked\n{}", alerts.from);
}

#[test]
fn f33_three_aborts_in_a_row_quarantine_the_run_and_no_other() {
    let place = Place::new();
    std::fs::create_dir_all(place.store()).expect("the store's folder");
    for life in 1..=3 {
        let keys = ["aborting/abort", "chain/A"];
        let (told, code) = Worker::start(&place, &keys).end();
        assert_eq!(
            code, None,
            "life {life} was not ended by a signal: {told:?}"
        );
    }
    let (told, code) = Worker::start(&place, &["aborting/abort", "aborting/good", "chain/A"]).end();
    assert_eq!(code, Some(0), "{told:?}");
    let of = |key: &str| told.iter().find(|line| line["key"] == key);
    let of = |key: &str| {
        of(key)
            .unwrap_or_else(|| panic!("no {key}: {told:?}"))
            .clone()
    };
    assert_eq!(of("aborting/abort")["error"], "RUN_QUARANTINED", "{told:?}");
    assert_eq!(of("aborting/good")["answer"], "completed", "{told:?}");
    assert_eq!(of("chain/A")["answer"], "completed", "{told:?}");

    let listed =
        View::printed(ask(&place, &["runs", "--state", "quarantined", "--json"]).with_code(0));
    let runs = listed.list("/runs");
    assert_eq!(runs.len(), 1, "{}", listed.from);
    assert_eq!(
        runs[0]["state_reason"], "PROCESS_ABORTED",
        "{}",
        listed.from
    );
    let id = runs[0]["run_id"].as_str().expect("an id").to_owned();
    let asked = ["run", "terminate", &id, "--by", "ann", "--why", "it aborts"];
    drop(ask(&place, &asked).with_code(0));
    let view = View::printed(ask(&place, &["run", "show", &id, "--json"]).with_code(0));
    assert_eq!(view.outcome(), "terminated", "{}", view.from);
}
