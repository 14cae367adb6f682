//! `graph`.

use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Parser;
use mainstay_cli::Cli;
use mainstay_graph::{TaskClass, draw};
use mainstay_ledger::{CommitRequest, Ledger, Op, Part};
use mainstay_types::{ClassVersion, Epoch, Seq, json};

use crate::story::{Story, class, run_id};
use crate::support::{Said, ask, open, store, wait};

#[test]
fn a_stored_class_is_shown_in_tables() {
    let store = store(&[Story::completed(1, "{}")]);
    let out = ask(store.path(), &["graph", "minutes"]).data();
    let expected = format!(
        "\
class minutes v3, of the store
  fingerprint     {fingerprint}
  budget          4 retry tokens, 5 concurrency tokens, 18 cost units
  times           answer by 12.0 s, work by 11.6 s, expires never, doubt wait 24 h
  reserves        synthesis 0 ms, reconcile 0 ms, deliver 400 ms
  on downtime     extend, at most 60 min
  on failure      hand_off
  on limit        degrade
  critical path   policy_rag -> draft -> ticket_write; 800 ms
  result          draft, ticket_write

CALL             KIND                NEEDS       WHEN  WITHOUT IT
policy_rag *     read                -           -     hard: not completed
related_tickets  read                -           -     soft: degraded, \"related tickets not searched\"
draft *          local               policy_rag  -     hard: not completed
ticket_write *   each of at most 50  draft       -     hard: not completed

CALL             ASKS          ATTEMPTS  ESTIMATE  TIMEOUT  COST  ELSE
policy_rag       policy: ask   2         400 ms    3.0 s    1     approved_snapshot snapshot
related_tickets  search: ask   2         400 ms    3.0 s    1     -
ticket_write     tickets: ask  2         400 ms    3.0 s    0.1   -

CALL          EFFECT  SCOPE     SAME REQUEST  RESOLVED  HORIZON  RECEIVER KNOWS KEY  KEY MEMORY
ticket_write  ticket  business  per_item      by_key    6.0 s    30 d                400 d

* on the critical path
",
        fingerprint = class().fingerprint()
    );
    assert_eq!(out, expected);
}

#[test]
fn drawings_are_those_of_the_class() {
    let store = store(&[Story::completed(1, "{}")]);
    for (format, expected) in [
        ("mermaid", draw::mermaid(&class())),
        ("dot", draw::dot(&class())),
    ] {
        let out = ask(store.path(), &["graph", "minutes", "--format", format]).data();
        assert_eq!(out, expected);
        let args = ["--json", "graph", "minutes", "--format", format];
        let shown = ask(store.path(), &args).json();
        assert_eq!(shown["drawing"]["format"], format);
        assert_eq!(shown["drawing"]["text"], expected.as_str());
    }
}

#[test]
fn json_holds_the_stored_form_byte_for_byte() {
    let store = store(&[Story::completed(1, "{}")]);
    let form = class().to_json().to_canonical();
    for args in [
        ["graph", "minutes", "--json"].as_slice(),
        &["graph", "minutes", "--format", "json"],
    ] {
        let out = ask(store.path(), args).data();
        assert!(out.contains(&format!("\"class\":{form}")), "{out}");
        let shown = json::parse(out.trim_end()).unwrap();
        let read = TaskClass::from_json(shown.get("class").unwrap()).unwrap();
        assert_eq!(read, class());
        let shown: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(shown["critical_path"]["calls"][2], "ticket_write");
        assert_eq!(shown["critical_path"]["estimate_ms"], 800);
        assert_eq!(
            (&shown["source"], &shown["drawing"]),
            (&"store".into(), &().into())
        );
    }
}

#[test]
fn the_newest_version_is_shown_unless_another_is_asked_for() {
    let store = store(&[Story::completed(1, "{}")]);
    let ledger = open(store.path());
    let newer = TaskClass {
        version: ClassVersion(12),
        ..class()
    };
    let part = Part {
        run: run_id(1),
        expected_seq: Seq(22),
        epoch: Epoch(1),
        events: Vec::new(),
        ops: vec![Op::Class(Arc::new(newer))],
    };
    wait(ledger.commit(vec![CommitRequest { parts: vec![part] }])).unwrap();
    ledger.close().unwrap();
    for (args, version) in [
        (["--json"].as_slice(), 12),
        (&["--json", "--version", "3"], 3),
    ] {
        let shown = ask(store.path(), &[&["graph", "minutes"], args].concat()).json();
        assert_eq!(shown["version"], version);
    }
    let said = ask(store.path(), &["graph", "minutes", "--version", "4"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            1,
            "CLASS_UNKNOWN: no such task class [minutes v4]\n\nhint: known are: minutes v12, \
             minutes v3; `mainstay error CLASS_UNKNOWN` explains\n"
        )
    );
}

const CHILD: &str = "MAINSTAY_CLI_TEST_ARGS";

#[test]
#[ignore = "the child of the test below; does nothing by itself"]
fn a_binary_with_a_class_of_its_own() {
    let Ok(args) = std::env::var(CHILD) else {
        return;
    };
    let cli = Cli::parse_from(["acme"].into_iter().chain(args.split(' ')));
    let code = cli.run(&[Arc::new(class())]);
    assert_eq!(code, std::process::ExitCode::SUCCESS);
}

#[test]
fn a_class_of_the_program_itself_is_shown_without_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("nowhere");
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "graph::a_binary_with_a_class_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(CHILD, format!("--store {} graph minutes", place.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = Said::of(child);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("class minutes v3, of this program\n"),
        "{said:?}"
    );
    assert!(!place.exists());
}
