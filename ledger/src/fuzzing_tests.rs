//! The corpora of the fuzz targets, replayed; and the seeds they grew from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mainstay_machine::{EntryState, Event, RunState};
use mainstay_types::{Digest, Epoch, Payload};

use super::*;
use crate::check::Head;
use crate::codec::start::Start;
use crate::inbox::InboxMessage;
use crate::wait::Waiters;

/// A target by its name in `fuzz/fuzz_targets` and its function.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 5] = [
    ("record", record),
    ("event", event),
    ("value", value),
    ("snapshot", snapshot),
    ("story", story),
];

fn corpus(target: &str) -> PathBuf {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    fuzz.join("corpus").join(target)
}

/// Replays what is checked in of one target; says how much that was.
fn replayed((name, run): Target) -> usize {
    let folder = corpus(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| {
        panic!("{}: {error}; each target has a corpus", folder.display());
    });
    let mut count = 0;
    for file in files {
        let path = file.expect("a folder that can be read").path();
        let bytes = fs::read(&path).expect("a file that can be read");
        assert!(
            bytes.len() <= 16 << 10,
            "{}: it is not small",
            path.display()
        );
        println!("{}", path.display());
        run(&bytes);
        count += 1;
    }
    count
}

#[test]
fn everything_that_a_fuzzer_found_interesting_holds() {
    for target in TARGETS {
        let (count, seeds) = (replayed(target), seeds(target.0).len());
        assert!(seeds <= count, "{}: {count} of {seeds} seeds", target.0);
    }
}

#[test]
fn each_function_is_called_by_the_target_of_its_name() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    for (name, _) in TARGETS {
        let source = fs::read_to_string(targets.join(format!("{name}.rs"))).expect(name);
        assert!(
            source.contains(&format!("fuzzing::{name}(data)")),
            "{source}"
        );
    }
}

#[test]
fn the_seeds_of_each_target_are_read_not_only_refused() {
    for bytes in seeds("record").values() {
        let run = sample::run(1);
        let opened = record::open(run, SEQ, bytes, Chain::start(run));
        assert!(opened.is_ok(), "{opened:?}");
    }
    for (name, bytes) in seeds("event") {
        let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        assert!(
            decode_event(number(0), number(2), &bytes[4..]).is_ok(),
            "{name}"
        );
    }
    for (name, bytes) in seeds("snapshot") {
        assert!(bytes[0] < 251, "{name}: its number is one byte");
    }
}

/// The inputs that each target begins with, by name.
fn seeds(target: &str) -> BTreeMap<String, Vec<u8>> {
    let seeds: Vec<(String, Vec<u8>)> = match target {
        "record" => records(),
        "event" => events(),
        "value" => values(),
        "snapshot" => states(),
        "story" => stories(),
        other => panic!("there is no target {other}"),
    };
    let count = seeds.len();
    let seeds: BTreeMap<_, _> = seeds.into_iter().collect();
    assert_eq!(seeds.len(), count, "two seeds with one name");
    seeds
}

fn payload_of(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_event(event, &mut bytes);
    bytes
}

/// A name for each of these events.
fn named(events: Vec<Event>) -> Vec<(String, Event)> {
    let named = events.into_iter().enumerate();
    named
        .map(|(n, event)| (format!("{n:02}-{}", event.name()), event))
        .collect()
}

fn records() -> Vec<(String, Vec<u8>)> {
    let seal = |event| {
        let run = sample::run(1);
        let (seq, epoch, chain) = (SEQ, Epoch(2), Chain::start(run));
        let at = sample::at(5);
        let place = Place {
            run,
            seq,
            epoch,
            chain,
        };
        record::seal(place, &Stamped { at, event }).0
    };
    let events = named(sample::events()).into_iter();
    events.map(|(name, event)| (name, seal(event))).collect()
}

fn events() -> Vec<(String, Vec<u8>)> {
    let bytes = |event: &Event| {
        let kind = Kind::of(event);
        let head = [kind.number().to_le_bytes(), kind.version().to_le_bytes()].concat();
        [head, payload_of(event)].concat()
    };
    let mut seeds: Vec<_> = named(sample::events())
        .into_iter()
        .map(|(name, event)| (name, bytes(&event)))
        .collect();
    let text = "TURN_PANICKED: index out of bounds";
    let older = [&[27, 0, 1, 0, 34][..], text.as_bytes()].concat();
    seeds.push(("older-RunQuarantined".to_owned(), older));
    seeds
}

fn values() -> Vec<(String, Vec<u8>)> {
    let key = || sample::effect_key("mtg-4711", 4);
    let entry = sample::entry(key(), 1, 301, EntryState::Applied(Payload::from("1")));
    let mut waiters = Waiters::default();
    assert!(waiters.register(sample::run(2), 3));
    let start = Start {
        tenant: sample::tenant("acme"),
        start_key: sample::start_key("mtg-4711"),
        run: sample::run(1),
        input: Digest::of(b"input"),
    };
    let head = Head {
        seq: Seq(300),
        epoch: Epoch(2),
        chain: Chain::from_u32(7),
    };
    let row = sample::summary(1, RunState::Waiting);
    let class = sample::class("meeting-analysis", 3);
    let mut seeds = vec![
        ("entry".to_owned(), 0, encode_entry(KEY, &entry, 3)),
        ("summary".to_owned(), 1, encode_summary(KEY, &row)),
        ("start".to_owned(), 2, encode_start(KEY, &start)),
        ("head".to_owned(), 3, encode_head(KEY, &head)),
        ("alert".to_owned(), 5, encode_alert(KEY, &sample::alert(1))),
        (
            "waiters".to_owned(),
            6,
            encode_waiters(KEY, &key(), &waiters),
        ),
        ("class".to_owned(), 7, encode_class(KEY, &class)),
    ];
    for (name, command) in sample::commands() {
        let id = sample::message(1);
        let message = encode_message(KEY, &InboxMessage { id, command });
        seeds.push((format!("message-{name}"), 4, message));
    }
    let bare = |(name, which, value): (String, u8, Vec<u8>)| {
        // Without the checksum, which the target makes itself.
        let inside = &value[..value.len() - 4];
        (name, [&[which], inside].concat())
    };
    seeds.into_iter().map(bare).collect()
}

fn states() -> Vec<(String, Vec<u8>)> {
    let logs = [
        sample::story(1),
        sample::short_story(2),
        sample::repaired_story(3),
    ];
    let mut seeds = Vec::new();
    for (n, log) in logs.into_iter().enumerate() {
        let mut run = Run::unborn(Arc::new(sample::class("meeting-analysis", 3)));
        for (at, stamped) in log.iter().enumerate() {
            apply(&mut run, &stamped.event).expect("the story's events follow each other");
            let snapshot = encode_snapshot(&run, stamped.at).expect("it has started");
            if at % 6 == 5 || at + 1 == log.len() {
                seeds.push((format!("{n}-after-{:02}", at + 1), snapshot.state));
            }
        }
    }
    seeds
}

fn stories() -> Vec<(String, Vec<u8>)> {
    let piece = |stamped: &Stamped| {
        let payload = payload_of(&stamped.event);
        let kind = Kind::of(&stamped.event).number().to_le_bytes()[0];
        let length = u16::try_from(payload.len()).expect("the samples are small");
        [&[kind], &length.to_le_bytes()[..], &payload].concat()
    };
    let bytes = |log: Vec<Stamped>| log.iter().flat_map(piece).collect();
    vec![
        ("long".to_owned(), bytes(sample::story(1))),
        ("short".to_owned(), bytes(sample::short_story(2))),
        ("repaired".to_owned(), bytes(sample::repaired_story(3))),
    ]
}

#[test]
#[ignore = "writes the seeds that are missing in the corpora"]
fn missing_seeds_are_written() {
    for (target, _) in TARGETS {
        fs::create_dir_all(corpus(target)).expect("the folder can be made");
        for (name, bytes) in seeds(target) {
            let path = corpus(target).join(name);
            if !path.exists() {
                fs::write(path, bytes).expect("the file can be written");
            }
        }
    }
}
