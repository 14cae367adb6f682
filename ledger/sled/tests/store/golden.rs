//! A store that this format's first version wrote, checked in: every later version opens it and
//! finds in it what was there then.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::{
    CommitRequest, Drive, InboxCommand, Ledger, Op, Part, RunFilter, Verdict, sample,
};
use mainstay_ledger_sled::{LogSettings, OpenOptions, Settings, SledLedger};
use mainstay_machine::{EntryState, RunState};
use mainstay_types::{AlertSeq, Epoch, Payload, Seq};

use crate::folders::copy_all;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/store-3")
}

fn must(ledger: &SledLedger, request: impl Into<CommitRequest>) {
    let verdicts = block_on(ledger.commit(vec![request.into()])).unwrap();
    assert!(
        matches!(verdicts[..], [Verdict::Committed(_)]),
        "{verdicts:?}"
    );
}

/// One of everything that a store can hold: events of every kind, a closed run, a parked one, one
/// that is driven, a waiting command, keys in every state, alerts, a class.
fn fill(ledger: &SledLedger) {
    let start = |n| {
        sample::start_part(n)
            .with(Op::Summary(sample::summary(n, RunState::Running)))
            .with(sample::take_start_key(&format!("start-{n}"), "{}"))
            .with(sample::store_class("meeting-analysis", 3))
            .with(sample::driven_by(1))
    };
    must(ledger, start(1));
    let events = sample::events().into_iter().skip(2).filter(|event| {
        // A take-over and a start stand in their own places only.
        !matches!(
            event,
            mainstay_machine::Event::RunStarted(_) | mainstay_machine::Event::LeaseTaken(_)
        )
    });
    let part = Part {
        run: sample::run(1),
        expected_seq: Seq(1),
        epoch: Epoch(1),
        events: sample::stamped(50, events),
        ops: Vec::new(),
    };
    must(ledger, part);
    let states = [
        EntryState::Open,
        EntryState::InDoubt,
        EntryState::Applied(Payload::from("\"done\"")),
        EntryState::PartlyApplied,
        EntryState::NotApplied,
    ];
    must(ledger, start(2));
    for (seq, state) in (1..).zip(states) {
        let key = sample::effect_key("mtg-1", u32::try_from(seq).unwrap());
        let entry = sample::entry(key, 2, 4, state);
        must(
            ledger,
            sample::next_part(2, seq)
                .with(sample::effect(entry))
                .with(Op::Alert(sample::alert(2))),
        );
    }
    must(
        ledger,
        sample::next_part(2, 6).with(sample::parked_until(5_000)),
    );
    must(ledger, start(3));
    must(
        ledger,
        sample::next_part(3, 1)
            .with(Op::Summary(sample::summary(3, RunState::Closed)))
            .with(Op::Drive(Drive::Off)),
    );
    let command = InboxCommand::Cancel {
        by: "ann".to_owned(),
        why: "because".to_owned(),
    };
    block_on(ledger.enqueue(sample::run(1), sample::message(1), command)).unwrap();
}

/// Everything that can be asked, as text.
fn dump(ledger: &SledLedger) -> String {
    let mut text = String::new();
    let mut line = |what: &str, value: &dyn std::fmt::Debug| {
        writeln!(text, "{what}: {value:?}").unwrap();
    };
    for n in 1..=3 {
        line("run", &block_on(ledger.load(sample::run(n))).unwrap());
        line(
            "summary",
            &block_on(ledger.summary(sample::run(n))).unwrap(),
        );
        line(
            "driving",
            &block_on(ledger.driving(sample::run(n))).unwrap(),
        );
        let key = sample::start_key(&format!("start-{n}"));
        line(
            "start",
            &block_on(ledger.start_key(sample::tenant("acme"), key)).unwrap(),
        );
    }
    line(
        "runs",
        &block_on(ledger.runs(RunFilter::default(), None)).unwrap(),
    );
    line("wakes", &block_on(ledger.wakes(None)).unwrap());
    line("alerts", &block_on(ledger.alerts(AlertSeq(0))).unwrap());
    // By its stored form: what it is in memory gains fields.
    for stored in block_on(ledger.classes()).unwrap() {
        let form = stored.class.to_json().to_canonical();
        line("class", &(stored.fingerprint.to_string(), form));
    }
    line("newest", &block_on(ledger.last_time()).unwrap());
    without_new_fields(&text)
}

/// What events have gained since this store was written, and what a read of it fills in: nothing of
/// it was in the store.
fn without_new_fields(text: &str) -> String {
    let (first, late) = match text.split_once("LateResult {") {
        None => return text.to_owned(),
        Some((first, late)) => (first, late.split("LateResult {")),
    };
    let late = late.map(|of_one| of_one.replacen(", client_retries: 0 }", " }", 1));
    std::iter::once(first.to_owned())
        .chain(late)
        .collect::<Vec<String>>()
        .join("LateResult {")
}

fn open(folder: &Path) -> SledLedger {
    let settings = Settings {
        log: LogSettings {
            segment_bytes: 16 << 10,
            first_bytes: 16 << 10,
            ballast_bytes: 0,
            ..LogSettings::default()
        },
        ..Settings::default()
    };
    SledLedger::open(folder, OpenOptions::creating().settings(settings)).unwrap()
}

#[test]
fn a_store_of_this_format_opens_with_all_that_was_in_it_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    copy_all(&golden().join("store"), folder.path());
    let expected = fs::read_to_string(golden().join("holds.txt")).unwrap();
    let ledger = open(folder.path());
    assert_eq!(dump(&ledger), expected);
    let held = block_on(ledger.commit(vec![
        sample::start_part(9)
            .with(sample::effect(sample::entry(
                sample::effect_key("mtg-1", 3),
                9,
                1,
                EntryState::Open,
            )))
            .into(),
    ]));
    assert!(
        matches!(held.unwrap()[..], [Verdict::KeyHeld(_)]),
        "its keys are taken"
    );
    must(&ledger, sample::start_part(10));
    ledger.close().unwrap();
    let report = mainstay_ledger_sled::verify(
        folder.path(),
        &mainstay_ledger_sled::SledFactory,
        &mut |_, _| {},
    );
    // Events of every kind one after the other are no run that could be, but each is whole.
    assert_eq!(report.unwrap().findings, []);
}

#[test]
#[ignore = "writes the golden store anew, by hand, for a new format version only"]
fn the_golden_store_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path());
    fill(&ledger);
    let holds = dump(&ledger);
    ledger.close().unwrap();
    let _ = fs::remove_dir_all(golden());
    let store = golden().join("store");
    fs::create_dir_all(store.join("log")).unwrap();
    for name in ["FORMAT", "ACKED", "OLDEST"] {
        fs::copy(folder.path().join(name), store.join(name)).unwrap();
    }
    for entry in fs::read_dir(folder.path().join("log")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "log") {
            fs::copy(&path, store.join("log").join(path.file_name().unwrap())).unwrap();
        }
    }
    // The table is left out: it is made of the log, and sled's files are sled's.
    fs::write(golden().join("holds.txt"), holds).unwrap();
}
