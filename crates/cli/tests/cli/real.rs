//! `chaos real`: processes of this program that are killed for real; what it says, and that it sees
//! what is lost.
//!
//! `MAINSTAY_CAMPAIGN` asks for a thousand kills. One that fails is tried again with its own seed:
//! `mainstay chaos real --kills N --seed S`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Said, program, say};

const REAL: [&str; 2] = ["chaos", "real"];

fn real(args: &[&str]) -> Said {
    say(&[REAL.as_slice(), args].concat())
}

fn number(report: &Value, key: &str) -> u64 {
    let found = report.pointer(key).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number at {key}: {report}"))
}

/// A folder in which nothing may be left.
struct Stores(tempfile::TempDir);

impl Stores {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    fn left(&self) -> usize {
        std::fs::read_dir(self.0.path()).unwrap().count()
    }
}

#[test]
fn whatever_is_acknowledged_is_there_after_every_kill_and_each_key_is_done_once() {
    let kills = match std::env::var_os("MAINSTAY_CAMPAIGN") {
        Some(_) => "1000",
        None => "100",
    };
    let seed = std::env::var("MAINSTAY_SEED").unwrap_or_else(|_| "1".to_owned());
    let stores = Stores::new();
    let args = ["--kills", kills, "--seed", &seed, "--json"];
    let said = real(&[&args, ["--folder", stores.path()].as_slice()].concat());
    println!("{}", said.out);
    let report = said.json();
    assert_eq!(report["violations"], Value::Array(Vec::new()));
    assert_eq!(report["skipped"], Value::Array(Vec::new()));
    assert_eq!(number(&report, "/kills").to_string(), kills);
    assert_eq!(number(&report, "/lost"), 0);
    assert_eq!(number(&report, "/effects_more_than_once"), 0);
    // Everything that is to happen did, else nothing was shown.
    for (key, least) in [
        ("/kills_while_opening", 3),
        ("/power_losses", 10),
        ("/pauses", 1),
        ("/clock_jumps", 2),
        ("/rivals_refused", 1),
        ("/full_disks", 1),
        ("/refused_while_full", 1),
        ("/acknowledged/starts", 100),
        ("/acknowledged/cancels", 1),
        ("/acknowledged/outcomes", 100),
        ("/outcomes/completed", 50),
        ("/effects", 200),
        ("/look_ups", 50),
        ("/troubles_outside", 50),
    ] {
        assert!(least <= number(&report, key), "{key}: {report}");
    }
    assert_eq!(
        number(&report, "/runs"),
        number(&report, "/acknowledged/outcomes"),
        "each run was told to somebody: {report}"
    );
    assert_eq!(stores.left(), 0);
}

/// Without this the test above might pass because nothing is ever taken away.
#[test]
fn a_store_that_does_not_sync_is_seen_to_lose_what_it_acknowledged_and_is_kept() {
    let stores = Stores::new();
    // Enough deaths for some of them to lose something.
    let args = ["--kills", "60", "--without", "full_disk", "--without-syncs"];
    let said = real(&[&args, ["--json", "--folder", stores.path()].as_slice()].concat());
    assert_eq!(said.code, 1, "{said:?}");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let violations = report["violations"].as_array().unwrap();
    let of = |property: &str| {
        let mut all = violations.iter();
        all.any(|violation| violation["property"] == property)
    };
    assert!(of("G1") || of("G2") || of("store"), "{report}");
    assert!(0 < number(&report, "/power_losses"), "{report}");
    assert_eq!(report["skipped"][0]["what"], "full_disk");
    for violation in violations {
        let kept = violation["kept"].as_str().unwrap();
        assert!(Path::new(kept).join("store").is_dir(), "{violation}");
    }
}

#[test]
fn what_it_cannot_do_is_refused_with_the_way_out() {
    for (args, code, part) in [
        (["--kills", "0"], 2, "0 is not in 1..=1000000"),
        (["--without", "kill"], 2, "power, full_disk, pause"),
        (["--class", "none"], 2, "meeting-analysis-model"),
        (["--folder", "/nowhere/at/all"], 3, "another --folder"),
    ] {
        let said = real(&args);
        assert_eq!((said.code, said.out.as_str()), (code, ""), "{said:?}");
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn nobody_else_is_a_worker() {
    for errand in ["", "{}", "nonsense", r#"{"class":"none"}"#] {
        let said = say(&["chaos", "real-worker", errand]);
        assert_eq!(said.code, 3, "{said:?}");
        assert!(said.out.contains("ERRAND_INVALID"), "{said:?}");
        assert!(said.err.contains("`chaos real`"), "{said:?}");
    }
    let help = say(&["chaos", "--help"]).data();
    assert!(!help.contains("real-worker"), "{help}");
}

/// The campaign's process, which is told to stop in the middle.
fn begun(stores: &Stores, args: &[&str]) -> Child {
    let mut command: Command = program(&[&REAL, args].concat());
    command.args(["--folder", stores.path()]);
    let begun = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = begun.unwrap();
    until("a worker", || match workers(stores) {
        0 => None,
        _ => Some(()),
    });
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    child
}

/// How many workers have a store in this folder.
fn workers(stores: &Stores) -> usize {
    let listed = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = listed.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let is_one = |line: &Vec<u8>| {
        let line = String::from_utf8_lossy(line);
        line.contains("real-worker") && line.contains(stores.path())
    };
    lines.filter(is_one).count()
}

/// Looks until it is there; a test that waits for ever says for what.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "no {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn told_to_stop_it_leaves_nothing_behind() {
    for signal in ["-TERM", "-INT"] {
        let stores = Stores::new();
        let mut child = begun(&stores, &["--kills", "1000"]);
        kill(&child, signal);
        let ended = until("end", || child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(3), "{signal}");
        until("end of its workers", || {
            (workers(&stores) == 0).then_some(())
        });
        assert_eq!(stores.left(), 0, "{signal}");
    }
}

#[test]
fn a_campaign_that_is_killed_takes_its_workers_with_it() {
    let stores = Stores::new();
    // No volumes: a killed process unmounts none.
    let mut child = begun(&stores, &["--kills", "1000", "--without", "full_disk"]);
    child.kill().unwrap();
    child.wait().unwrap();
    until("end of its workers", || {
        (workers(&stores) == 0).then_some(())
    });
}
