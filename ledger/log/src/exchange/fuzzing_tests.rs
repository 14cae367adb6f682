//! The corpus of the import's fuzz target, replayed; and the seeds it grew from.

use mainstay_ledger::{Drive, InboxCommand, Ledger, Op, Part, Verdict, sample};
use mainstay_machine::{EntryState, RunState};
use mainstay_types::{CallId, Payload, Rung};

use super::*;
use crate::blocking::wait;
use crate::exchange::Piece;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/import")
}

fn must(store: &Store, part: Part) {
    let verdicts = wait(store.commit(vec![part.into()])).unwrap();
    assert!(
        matches!(verdicts[..], [Verdict::Committed(_)]),
        "{verdicts:?}"
    );
}

/// A store with a run that is closed and one that waits, and with a row of every kind.
fn filled(folder: &Path) -> Store {
    let store = open(folder);
    let row = |n, state| Op::Summary(sample::summary(n, state));
    let entry = sample::entry(sample::effect_key("mtg-1", 0), 1, 1, EntryState::Open);
    let begun = sample::start_part(1)
        .with(sample::store_class("meeting-analysis", 3))
        .with(sample::take_start_key("mtg-4711", "a"))
        .with(sample::effect(entry.clone()))
        .with(row(1, RunState::Running));
    must(&store, begun.with(sample::driven_by(1)));
    must(&store, sample::start_part(2).with(sample::parked_until(9)));
    let waits = Op::Wait {
        key: entry.key.clone(),
        version: 1,
    };
    must(
        &store,
        sample::next_part(2, 1)
            .with(waits)
            .with(row(2, RunState::Waiting)),
    );
    let (by, why) = ("ann".to_owned(), "because".to_owned());
    let cancel = InboxCommand::Cancel { by, why };
    wait(store.enqueue(sample::run(2), sample::message(1), cancel)).unwrap();
    let doubt = sample::entry(entry.key, 1, 1, EntryState::InDoubt);
    let settled = mainstay_machine::Event::CallSettled {
        call: CallId(0),
        rung: Rung(0),
        result: Payload::from("\"done\""),
    };
    let closing = Part {
        events: sample::stamped(200, [settled]),
        ..sample::next_part(1, 1)
    };
    let closing = closing
        .with(sample::effect(doubt))
        .with(Op::Alert(sample::alert(1)));
    must(
        &store,
        closing
            .with(row(1, RunState::Closed))
            .with(Op::Drive(Drive::Off)),
    );
    store
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let export = |store: &Store, scope| {
        let mut out = Vec::new();
        store.export(scope, &mut out, &mut |_, _| {}).unwrap();
        out
    };
    let full = filled(&folder.path().join("full"));
    let none = open(&folder.path().join("none"));
    let one = |n| ExportScope::Run(sample::run(n));
    vec![
        ("all", export(&full, ExportScope::All)),
        ("closed", export(&full, one(1))),
        ("waiting", export(&full, one(2))),
        ("nothing", export(&none, ExportScope::All)),
    ]
}

#[test]
fn everything_that_a_fuzzer_found_interesting_is_refused_or_comes_out_again() {
    let folder = tempfile::tempdir().unwrap();
    let imports = Imports::below(folder.path());
    let files = fs::read_dir(corpus()).expect("the target has a corpus");
    let mut count = 0;
    for file in files {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(
            bytes.len() <= 16 << 10,
            "{}: it is not small",
            path.display()
        );
        println!("{}", path.display());
        imports.run(&bytes);
        count += 1;
    }
    assert!(seeds().len() <= count, "{count} files");
}

#[test]
fn the_seeds_are_imported_as_they_are_and_again_when_their_checksums_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let imports = Imports::below(folder.path());
    for (name, seed) in seeds() {
        let text = String::from_utf8(seed).unwrap();
        let lost = text.replace("\"check\":\"", "\"check\":\"f");
        assert_eq!(mended(&lost), text, "{name}");
        let file = folder.path().join(name);
        fs::write(&file, &text).unwrap();
        let mut pieces = 0;
        let mut count = |new: Vec<Piece>| {
            let counts = |piece: &&Piece| !matches!(piece, Piece::Mark(_) | Piece::Ended);
            pieces += new.iter().filter(counts).count();
            Ok(SegmentNo(1))
        };
        let read =
            crate::exchange::import(imports.empty.reader(), &file, &mut count, &mut |_, _| {});
        assert_eq!(read.unwrap().runs > 0, 0 < pieces, "{name}");
        imports.run(text.as_bytes());
    }
}

#[test]
fn the_target_calls_this() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let source = fs::read_to_string(targets.join("import.rs")).unwrap();
    assert!(source.contains("Imports::below"), "{source}");
}

#[test]
#[ignore = "writes the seeds that are missing in the corpus"]
fn missing_seeds_are_written() {
    fs::create_dir_all(corpus()).unwrap();
    for (name, bytes) in seeds() {
        let path = corpus().join(name);
        if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    }
}
