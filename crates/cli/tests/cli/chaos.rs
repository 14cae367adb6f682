//! `chaos experiment idempotency`, small: its table, its JSON and its picture.

use std::fs;

use serde_json::Value;

use crate::support::say;

const EXPERIMENT: [&str; 3] = ["chaos", "experiment", "idempotency"];

fn experiment(args: &[&str]) -> crate::support::Said {
    say(&[EXPERIMENT.as_slice(), args].concat())
}

#[test]
fn the_experiment_is_a_row_for_each_strategy_under_keys_that_are_relied_upon() {
    let args = ["--sessions", "120", "--seed", "3", "--json"];
    let report = experiment(&args).json();
    let late = report["late_by_load"].as_u64().unwrap();
    assert_eq!(
        (&report["sessions"], &report["seed"]),
        (&120.into(), &3.into())
    );
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["strategy"]).collect();
    assert_eq!(names, ["A", "B", "C", "D", "E", "F", "F2", "F3"]);
    for row in rows {
        let keys: Vec<&str> = row
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            keys.join(" "),
            "duplicates handed_to_people never_placed placed_but_reported_failed \
             real_orders_swallowed reordered_after_confirmation sends_per_session strategy"
        );
        assert!(1.0 <= row["sends_per_session"].as_f64().unwrap(), "{row}");
    }
    let count = |row: usize, key: &str| rows[row][key].as_u64().unwrap();
    assert_eq!(count(0, "duplicates"), 0);
    assert_eq!(count(4, "duplicates"), 0);
    assert!(count(4, "duplicates") + count(2, "duplicates") <= count(1, "duplicates") + late);
    assert!(0 < count(0, "placed_but_reported_failed"));
}

#[test]
fn the_experiment_is_a_table_and_a_picture_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.svg");
    let args = ["--sessions", "40", "--svg", file.to_str().unwrap()];
    let said = experiment(&args);
    assert_eq!(said.code, 0, "{said:?}");
    // A busy machine is said, on stderr.
    assert!(
        said.err.is_empty() || said.err.contains("hint: the machine was busy"),
        "{said:?}"
    );
    let table = said.out;
    for part in [
        "placed",
        "key per call id",
        "40 sessions each, seed 20261005",
        "late because",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let drawn = fs::read_to_string(file).unwrap();
    assert!(drawn.starts_with("<svg "), "{drawn}");
    assert!(drawn.contains("What 40 sessions came to, seed 20261005"));
    assert!(drawn.contains("C: key per call id"));
}

#[test]
fn a_picture_that_cannot_be_written_is_said_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let said = experiment(&["--sessions", "1", "--svg", folder.path().to_str().unwrap()]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("cannot be written"), "{said:?}");
    assert!(said.out.contains("F3"), "the figures are out: {said:?}");
}

#[test]
fn no_sessions_are_no_experiment() {
    let said = experiment(&["--sessions", "0"]);
    assert_eq!(said.code, 2, "{said:?}");
}
