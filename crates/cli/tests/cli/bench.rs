//! `bench`: small measurements of every kind, their JSON, and that nothing of them is left behind.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Said, say};

fn bench(folder: &Path, args: &[&str]) -> Said {
    let folder = folder.to_str().unwrap();
    let mut all = vec!["bench"];
    all.extend(args);
    all.extend(["--in", folder]);
    say(&all)
}

fn calls(folder: &Path, args: &[&str]) -> Said {
    let mut all = vec!["calls", "--seconds", "0.2"];
    all.extend(args);
    bench(folder, &all)
}

fn keys(value: &Value) -> String {
    let object = value.as_object().unwrap();
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.join(" ")
}

fn is_above_zero(value: &Value) -> bool {
    value.as_f64().is_some_and(|value| 0.0 < value)
}

/// The stores that are said to stay.
fn kept(err: &str) -> Vec<&Path> {
    let lines = err.trim_start().lines();
    let path = lines.map(|line| line.strip_prefix("kept: ").unwrap());
    path.map(Path::new).collect()
}

fn left_in(folder: &TempDir) -> usize {
    fs::read_dir(folder.path()).unwrap().count()
}

#[test]
fn calls_measures_a_row_for_each_load_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "--concurrency",
        "1,4",
        "--calls-per-run",
        "1,3",
        "--fan-out",
        "5",
        "--json",
    ];
    let report = calls(folder.path(), &args).json();
    assert_eq!(keys(&report), "rows");
    let rows = report["rows"].as_array().unwrap();
    let shape = |row: &Value| {
        let number = |key: &str| row[key].as_u64().unwrap();
        (
            number("concurrency"),
            number("calls_per_run"),
            number("fan_out"),
        )
    };
    let shapes: Vec<_> = rows.iter().map(shape).collect();
    let chains = [(1, 1, 1), (4, 1, 1), (1, 3, 1), (4, 3, 1)];
    assert_eq!(shapes[..4], chains);
    assert_eq!(shapes[4..], [(8, 5, 5)]);
    for row in rows {
        assert_eq!(
            keys(row),
            "bytes_per_call calls_per_run calls_per_s concurrency fan_out p50_ms p99_ms peak_mb \
             ratio raw_grouped_per_s raw_sync_ms_p50 runs_per_s stored"
        );
        for (key, value) in row.as_object().unwrap() {
            let may_be_unknown = key == "peak_mb" && value.is_null();
            let nothing_before = key == "stored" && value == 0;
            assert!(
                may_be_unknown || nothing_before || is_above_zero(value),
                "{key}: {row}"
            );
        }
        assert!(row["p50_ms"].as_f64() <= row["p99_ms"].as_f64(), "{row}");
    }
    assert_eq!(left_in(&folder), 0);
}

#[test]
fn calls_measures_a_store_that_has_runs_before() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "--concurrency",
        "2",
        "--calls-per-run",
        "1",
        "--fan-out",
        "0",
        "--stored",
        "5,3000",
        "--keep",
    ];
    let said = calls(folder.path(), &args);
    let stores = kept(&said.err);
    assert_eq!(stores.len(), 2, "{said:?}");
    for (stored, store) in [5, 3_000].into_iter().zip(stores) {
        let stats = say(&["--store", store.to_str().unwrap(), "stats", "--json"]).json();
        assert!(stored < stats["runs_closed"].as_u64().unwrap(), "{stats}");
        let told = |line: &str| line.split_whitespace().nth(2) == Some(&stored.to_string());
        assert!(said.out.lines().any(told), "{}", said.out);
    }
}

#[test]
fn calls_is_a_table_with_a_word_on_how_to_read_it_and_may_keep_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "--concurrency",
        "2",
        "--calls-per-run",
        "1",
        "--fan-out",
        "0",
        "--keep",
    ];
    let said = calls(folder.path(), &args);
    assert_eq!(said.code, 0, "{said:?}");
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].starts_with("at once"), "{}", said.out);
    assert!(lines[1].starts_with("2 "), "{}", said.out);
    assert_eq!(lines[2], "", "{}", said.out);
    assert!(said.out.contains("`ratio` is"), "{}", said.out);
    let [store] = kept(&said.err)[..] else {
        panic!("{said:?}")
    };
    let runs = say(&[
        "--store",
        store.to_str().unwrap(),
        "runs",
        "--limit",
        "1",
        "--json",
    ])
    .json();
    assert_eq!(runs["runs"][0]["outcome"], "completed");
}

#[test]
fn without_a_disk_there_is_nothing_to_say_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let one = [
        "--concurrency",
        "1",
        "--calls-per-run",
        "1",
        "--fan-out",
        "0",
    ];
    let memory = ["--ledger", "memory", "--json"];
    let report = calls(folder.path(), &[&one[..], &memory[..]].concat()).json();
    let row = &report["rows"][0];
    assert!(is_above_zero(&row["runs_per_s"]), "{row}");
    for key in [
        "bytes_per_call",
        "raw_sync_ms_p50",
        "raw_grouped_per_s",
        "ratio",
    ] {
        assert!(row[key].is_null(), "{key}: {row}");
    }
}

#[test]
fn open_times_a_store_after_a_kill_and_after_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["open", "--closed", "30", "--driven", "5", "--json"];
    let report = bench(folder.path(), &args).json();
    let rows = report["rows"].as_array().unwrap();
    let after: Vec<&Value> = rows.iter().map(|row| &row["after"]).collect();
    assert_eq!(after, ["kill", "close"]);
    for row in rows {
        assert_eq!(
            keys(row),
            "after closed driven open_ms start_ms store_bytes"
        );
        assert_eq!((&row["closed"], &row["driven"]), (&30.into(), &5.into()));
        assert!(is_above_zero(&row["open_ms"]), "{row}");
        assert!(is_above_zero(&row["start_ms"]), "{row}");
        assert!(is_above_zero(&row["store_bytes"]), "{row}");
    }
    assert_eq!(left_in(&folder), 0);
}

#[test]
fn resume_finishes_every_run_that_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "resume",
        "--runs",
        "20",
        "--calls-per-run",
        "4",
        "--answered",
        "2",
        "--json",
    ];
    let report = bench(folder.path(), &args).json();
    assert_eq!(
        keys(&report),
        "answered_before calls_per_run completed finished_ms open_ms runs"
    );
    assert_eq!(
        (&report["runs"], &report["completed"]),
        (&20.into(), &20.into())
    );
    assert!(is_above_zero(&report["finished_ms"]), "{report}");
    assert_eq!(left_in(&folder), 0);
}

#[test]
fn a_kept_store_is_named_on_stderr_also_when_stdout_is_json() {
    let folder = tempfile::tempdir().unwrap();
    for (args, count) in [
        (&["open", "--closed", "3", "--driven", "1"][..], 1),
        (&["resume", "--runs", "2"], 1),
        (
            &[
                "calls",
                "--seconds",
                "0.01",
                "--concurrency",
                "1",
                "--calls-per-run",
                "1",
            ],
            2,
        ),
    ] {
        let said = bench(folder.path(), &[args, &["--keep", "--json"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        serde_json::from_str::<Value>(&said.out).unwrap();
        let stores = kept(&said.err);
        assert_eq!(stores.len(), count, "{said:?}");
        for store in stores {
            say(&["--store", store.to_str().unwrap(), "verify"]).data();
        }
    }
}

#[test]
fn resume_leaves_a_call_of_each_run_to_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let resume = |calls, answered: &[&str]| {
        let args = ["resume", "--runs", "2", "--calls-per-run", calls, "--json"];
        bench(folder.path(), &[&args, answered].concat())
    };
    for (calls, answered) in [("4", "4"), ("4", "5"), ("1", "1")] {
        let error = resume(calls, &["--answered", answered]).json_error(2);
        let message = error["message"].as_str().unwrap();
        let rule = format!("--answered {answered} has to be less than --calls-per-run {calls}");
        assert!(message.starts_with(&rule), "{error}");
    }
    assert_eq!(resume("5", &[]).code, 2, "the default is no exception");
    for (calls, answered) in [("1", 0), ("5", 4)] {
        let report = resume(calls, &["--answered", &answered.to_string()]).json();
        assert_eq!(report["answered_before"], answered);
    }
    assert_eq!(left_in(&folder), 0);
}

#[test]
fn a_folder_that_is_not_there_is_a_fault_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let error = calls(&folder.path().join("missing"), &["--json"]).json_error(3);
    assert!(error["hint"].as_str().unwrap().contains("--in"), "{error}");
}

#[test]
fn loads_beyond_the_bounds_of_the_engine_are_not_understood() {
    for args in [
        ["calls", "--concurrency", "0"],
        ["calls", "--concurrency", "10001"],
        ["calls", "--calls-per-run", "257"],
        ["calls", "--fan-out", "65"],
        ["calls", "--seconds", "0"],
        ["open", "--driven", "10001"],
        ["resume", "--runs", "0"],
    ] {
        let said = say(&[&["bench"], &args[..]].concat());
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
}
