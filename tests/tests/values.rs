//! User values: one digest in every process, and bytes that are made once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use mainstay_tests::echo::{Made, Received, received};
use mainstay_tests::place::Place;
use mainstay_tests::process::{Ended, Running};
use mainstay_tests::values::Everything;
use mainstay_tests::wait::until_true;

const PROCESSES: usize = 1_000;

#[test]
fn the_same_value_has_the_same_digest_in_a_thousand_fresh_processes() {
    let mut digests: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..PROCESSES {
        let printed = Command::new(env!("CARGO_BIN_EXE_digest"))
            .output()
            .expect("it starts");
        let digest = String::from_utf8(printed.stdout).expect("a digest is text");
        *digests.entry(digest).or_default() += 1;
    }
    let expected = format!("{}\n", Everything::sample().digest());
    assert_eq!(digests, BTreeMap::from([(expected, PROCESSES)]));
    // The sample would show it: its maps do come in another order.
    let orders = (0..8).map(|_| Everything::sample().weights.into_keys().collect::<Vec<_>>());
    let orders: std::collections::BTreeSet<_> = orders.collect();
    assert!(1 < orders.len(), "eight maps in one order show nothing");
}

#[test]
fn a_value_comes_back_as_it_was() {
    let sample = Everything::sample();
    let text = mainstay::types::json::to_canonical(&sample).expect("it has a canonical form");
    let back: Everything = serde_json::from_str(&text).expect("it is read back");
    assert_eq!(back, sample, "{text}");
    assert_eq!(back.digest(), sample.digest());
    assert!(text.contains("18446744073709551615") && text.contains("-9223372036854775808"));
    assert!(!text.contains("absent"), "{text}");
}

/// One process whose closures are those of `variant`.
fn echo(place: &Place, variant: &str, hangs: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_echo"));
    Running::start(
        command
            .arg(place.store())
            .arg(log(place))
            .args([variant, hangs]),
    )
}

fn log(place: &Place) -> std::path::PathBuf {
    place.path("received.jsonl")
}

fn sent_to(log: &Path, dependency: &str) -> Vec<Received> {
    received(log)
        .into_iter()
        .filter(|entry| entry.dependency == dependency)
        .collect()
}

/// Kills a process of the old code while `dependency` has its request and does not answer; new
/// code goes on. Gives what the dependency got and what the run resulted in.
fn restarted_with_other_code(dependency: &str) -> (Vec<Received>, Vec<Made>, Ended) {
    let place = Place::new();
    let old = echo(&place, "old", dependency);
    until_true("the request of the old code", || {
        !sent_to(&log(&place), dependency).is_empty()
    });
    drop(old.kill());
    let ended = echo(&place, "new", "").wait().with_code(0);
    let result: Option<Vec<Made>> = serde_json::from_str(&ended.stdout).expect("a result");
    let result = result.unwrap_or_else(|| panic!("no result\n{ended}"));
    (sent_to(&log(&place), dependency), result, ended)
}

fn made(by: &str, from: &str) -> Made {
    Made {
        by: by.to_owned(),
        from: from.to_owned(),
    }
}

#[test]
fn code_changed_between_kill_and_restart_does_not_change_the_bytes_of_a_read() {
    let (got, result, ended) = restarted_with_other_code("first");
    let requests: Vec<&Made> = got.iter().map(|entry| &entry.request).collect();
    assert_eq!(
        requests,
        [&made("old", "text"), &made("old", "text")],
        "{ended}"
    );
    // What is made for the first time after the restart is made by the new code.
    let expected = [made("old", "text"), made("new", "old"), made("new", "new")];
    assert_eq!(result, expected, "{ended}");
}

#[test]
fn code_changed_between_kill_and_restart_does_not_change_a_write_nor_its_look_up() {
    let (got, result, ended) = restarted_with_other_code("second");
    let sent = got.iter().filter(|entry| !entry.is_look_up).count();
    assert!(
        sent == 1 && 1 < got.len(),
        "one write, then look-ups: {got:?}\n{ended}"
    );
    assert!(
        got.iter().all(|entry| entry.request == made("old", "old")),
        "{got:?}\n{ended}"
    );
    assert!(
        got.iter().all(|entry| entry.key == got[0].key),
        "{got:?}\n{ended}"
    );
    let expected = [made("old", "text"), made("old", "old"), made("new", "old")];
    assert_eq!(result, expected, "{ended}");
}
