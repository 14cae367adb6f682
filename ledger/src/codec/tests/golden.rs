//! The golden files: bytes and numbers of released forms.
//!
//! A file is never rewritten. A changed form is a new version with a file of its own.

use std::fs;
use std::path::{Path, PathBuf};

use mainstay_machine::{EntryState, Event, RunState, StateReason, Summary};
use mainstay_types::{Code, Digest, Epoch, Payload, RunId, Seq};

use crate::check::Head;
use crate::codec::events::OLDER;
use crate::codec::start::Start;
use crate::codec::v1::ENUMS;
use crate::codec::{
    Kind, decode_alert, decode_class, decode_entry, decode_head, decode_message, decode_start,
    decode_summary, decode_waiters, encode_alert, encode_class, encode_entry, encode_head,
    encode_message, encode_start, encode_summary, encode_waiters,
};
use crate::commit::Stamped;
use crate::inbox::{InboxCommand, InboxMessage};
use crate::record::{self, Chain, Place};
use crate::sample;
use crate::wait::Waiters;

const KEY: &[u8] = b"golden key";
const SEQ: Seq = Seq(7);
/// The registry as it is now.
const REGISTRY: &str = "registry-9.txt";
/// The registries of released versions, each of whose lines holds for ever.
const REGISTRIES: [&str; 8] = [
    "registry.txt",
    "registry-2.txt",
    "registry-3.txt",
    "registry-4.txt",
    "registry-5.txt",
    "registry-6.txt",
    "registry-7.txt",
    "registry-8.txt",
];
const CHAIN: Chain = Chain::from_u32(0x1234_5678);

fn run() -> RunId {
    sample::run(1)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

pub(super) fn read(name: &str) -> String {
    let path = folder().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(line: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&line[at..at + 2], 16).expect("two hex digits");
    (0..line.len()).step_by(2).map(digits).collect()
}

fn file_of(kind: Kind, version: u16) -> String {
    format!("event-{}-{version}.hex", kind.name())
}

/// The events in a golden file of records.
pub(super) fn recorded(name: &str) -> Vec<Event> {
    let golden = read(name);
    let opened = golden.lines().map(|line| {
        let opened = record::open(run(), SEQ, &unhex(line), CHAIN);
        opened
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .0
            .event
    });
    opened.collect()
}

fn seal(event: Event) -> Vec<u8> {
    let stamped = Stamped {
        at: sample::at(5),
        event,
    };
    record::seal(
        Place {
            run: run(),
            seq: SEQ,
            epoch: Epoch(2),
            chain: CHAIN,
        },
        &stamped,
    )
    .0
}

fn samples(kind: Kind) -> Vec<Event> {
    sample::events()
        .into_iter()
        .filter(|event| Kind::of(event) == kind)
        .collect()
}

/// Every golden file and what this build would write into it.
fn files() -> Vec<(String, String)> {
    let lines = |records: Vec<Vec<u8>>| -> String {
        records.iter().map(|bytes| hex(bytes) + "\n").collect()
    };
    let mut files = vec![
        (REGISTRY.to_owned(), registry()),
        ("chain-1.txt".to_owned(), chain()),
    ];
    for &kind in Kind::ALL {
        let records = samples(kind).into_iter().map(seal).collect();
        files.push((file_of(kind, kind.version()), lines(records)));
    }
    for (name, values) in values() {
        files.push((format!("value-{name}.hex"), lines(values)));
    }
    files
}

fn registry() -> String {
    let kinds = Kind::ALL.iter().flat_map(|kind| {
        let (number, name) = (kind.number(), kind.name());
        let versions = 1..=kind.version();
        versions.map(move |version| format!("event {number} {name} version {version}\n"))
    });
    let enums = ENUMS.iter().flat_map(|(name, variants)| {
        let numbered = variants.iter().enumerate();
        numbered.map(move |(number, variant)| format!("enum {name} {number} {variant}\n"))
    });
    kinds.chain(enums).collect()
}

/// The chain values before and after each of the first three sample events of one run.
fn chain() -> String {
    let mut chain = Chain::start(run());
    let mut lines = format!("{:08x}\n", chain.as_u32());
    for (seq, event) in (1..).map(Seq).zip(sample::events().into_iter().take(3)) {
        let stamped = Stamped {
            at: sample::at(5),
            event,
        };
        chain = record::seal(
            Place {
                run: run(),
                seq,
                epoch: Epoch(1),
                chain,
            },
            &stamped,
        )
        .1;
        lines += &format!("{:08x}\n", chain.as_u32());
    }
    lines
}

fn entry_states() -> [EntryState; 5] {
    [
        EntryState::Open,
        EntryState::InDoubt,
        EntryState::Applied(Payload::from(r#"{"id":"T-1"}"#)),
        EntryState::PartlyApplied,
        EntryState::NotApplied,
    ]
}

fn start() -> Start {
    Start {
        tenant: sample::tenant("acme"),
        start_key: sample::start_key("mtg-4711"),
        run: run(),
        input: Digest::of(b"input"),
    }
}

fn head() -> Head {
    Head {
        seq: Seq(300),
        epoch: Epoch(2),
        chain: CHAIN,
    }
}

fn message(command: InboxCommand) -> InboxMessage {
    InboxMessage {
        id: sample::message(1),
        command,
    }
}

/// The name of a command's golden file; the first had no other beside it.
fn message_file(command: &str) -> String {
    match command {
        "cancel" => "message-1".to_owned(),
        name => format!("message-{name}-1"),
    }
}

/// One row in every state and with every kind of reason.
fn summaries() -> Vec<Summary> {
    let with = |state, reason| Summary {
        reason,
        ..sample::summary(1, state)
    };
    let states = [
        RunState::Running,
        RunState::Ended,
        RunState::Closed,
        RunState::Quarantined,
        RunState::Waiting,
        RunState::WaitingForCode,
    ];
    let bare = states.into_iter().map(|state| with(state, None));
    let waiting = [
        StateReason::EffectInDoubt,
        StateReason::KeyHeld,
        StateReason::Backoff,
    ];
    let waiting = waiting.map(|reason| with(RunState::Waiting, Some(reason)));
    let poison = Some(StateReason::Code(Code::TurnPanicked));
    let poisoned = with(RunState::Quarantined, poison);
    bare.chain(waiting).chain([poisoned]).collect()
}

fn paused() -> Summary {
    Summary {
        reason: Some(StateReason::Code(Code::CostExhausted)),
        ..sample::summary(1, RunState::Paused)
    }
}

fn waiters() -> Waiters {
    let mut waiters = Waiters::default();
    assert!(waiters.register(sample::run(2), 3) && waiters.register(sample::run(3), 300));
    waiters
}

fn values() -> Vec<(String, Vec<Vec<u8>>)> {
    let entry = |state| {
        encode_entry(
            KEY,
            &sample::entry(sample::effect_key("mtg-4711", 4), 1, 301, state),
            3,
        )
    };
    let summary = |summary: &Summary| encode_summary(KEY, summary);
    let (class, key) = (
        sample::class("meeting-analysis", 3),
        sample::effect_key("mtg-4711", 4),
    );
    let values = [
        ("entry-1", entry_states().into_iter().map(entry).collect()),
        ("summary-2", summaries().iter().map(summary).collect()),
        ("summary-2-paused", vec![summary(&paused())]),
        ("start-1", vec![encode_start(KEY, &start())]),
        ("head-1", vec![encode_head(KEY, &head())]),
        ("class-1", vec![encode_class(KEY, &class)]),
        ("alert-1", vec![encode_alert(KEY, &sample::alert(1))]),
        ("waiters-1", vec![encode_waiters(KEY, &key, &waiters())]),
    ];
    let values = values.map(|(name, values)| (name.to_owned(), values));
    let messages = sample::commands().into_iter().map(|(name, command)| {
        let value = encode_message(KEY, &message(command));
        (message_file(name), vec![value])
    });
    values.into_iter().chain(messages).collect()
}

#[test]
fn each_kind_of_event_has_a_sample_and_its_own_number() {
    let mut numbers = std::collections::BTreeSet::new();
    for &kind in Kind::ALL {
        assert!(
            numbers.insert(kind.number()),
            "number {} twice",
            kind.number()
        );
        assert_eq!(Kind::from_number(kind.number()), Some(kind));
        let samples = samples(kind);
        assert!(!samples.is_empty(), "{} has no sample", kind.name());
        assert!(samples.iter().all(|event| event.name() == kind.name()));
    }
}

#[test]
fn what_is_written_today_is_what_the_golden_files_say() {
    for (name, now) in files() {
        assert_eq!(
            read(&name),
            now,
            "{name}: a changed form needs a new version"
        );
    }
}

#[test]
fn golden_records_read_as_the_samples_they_were_made_from() {
    for &kind in Kind::ALL {
        let events = recorded(&file_of(kind, kind.version()));
        assert_eq!(events, samples(kind), "{}", kind.name());
    }
}

#[test]
fn every_version_before_the_newest_of_a_kind_is_read_and_has_its_golden_file() {
    for &kind in Kind::ALL {
        let older: Vec<u16> = OLDER
            .iter()
            .filter_map(|&(of, version)| (of == kind).then_some(version))
            .collect();
        let all: Vec<u16> = (1..kind.version()).collect();
        assert_eq!(older, all, "{}", kind.name());
        for version in older {
            let events = recorded(&file_of(kind, version));
            assert!(!events.is_empty());
            assert!(events.iter().all(|event| Kind::of(event) == kind));
        }
    }
}

#[test]
fn golden_values_read_as_the_samples_they_were_made_from() {
    let lines = |name: &str| -> Vec<Vec<u8>> {
        read(&format!("value-{name}.hex"))
            .lines()
            .map(unhex)
            .collect()
    };
    for (bytes, state) in lines("entry-1").iter().zip(entry_states()) {
        let entry = sample::entry(sample::effect_key("mtg-4711", 4), 1, 301, state);
        assert_eq!(decode_entry(KEY, bytes), Ok((entry, 3)));
    }
    for (bytes, summary) in lines("summary-2").iter().zip(summaries()) {
        assert_eq!(decode_summary(KEY, bytes), Ok(summary));
    }
    assert_eq!(decode_start(KEY, &lines("start-1")[0]), Ok(start()));
    assert_eq!(decode_head(KEY, &lines("head-1")[0]), Ok(head()));
    for (name, command) in sample::commands() {
        let value = &lines(&message_file(name))[0];
        assert_eq!(decode_message(KEY, value), Ok(message(command)));
    }
    let alert = decode_alert(KEY, &lines("alert-1")[0]);
    assert_eq!(alert, Ok(sample::alert(1)));
    let key = sample::effect_key("mtg-4711", 4);
    let found = decode_waiters(KEY, &lines("waiters-1")[0]);
    assert_eq!(found, Ok((key, waiters())));
    let class = decode_class(KEY, &lines("class-1")[0]).expect("the golden class reads");
    let sample = sample::class("meeting-analysis", 3);
    assert_eq!(class.fingerprint, sample.fingerprint());
    assert_eq!(*class.class, sample);
}

#[test]
fn rows_without_a_reason_are_still_read() {
    let golden = read("value-summary-1.hex");
    let states = [
        RunState::Running,
        RunState::Ended,
        RunState::Closed,
        RunState::Quarantined,
    ];
    assert_eq!(golden.lines().count(), states.len());
    for (line, state) in golden.lines().zip(states) {
        let read = decode_summary(KEY, &unhex(line));
        assert_eq!(read, Ok(sample::summary(1, state)));
    }
}

#[test]
fn no_number_of_a_released_registry_has_changed_its_meaning() {
    let now = registry();
    for released in REGISTRIES {
        for line in read(released).lines() {
            let holds = now.lines().any(|now| now == line);
            assert!(holds, "{released}: {line}");
        }
    }
}

#[test]
#[ignore = "writes the golden files that are missing, for a new kind or version"]
fn missing_golden_files_are_written() {
    fs::create_dir_all(folder()).expect("the folder can be made");
    for (name, text) in files() {
        let path = folder().join(name);
        if !path.exists() {
            fs::write(&path, text).expect("the file can be written");
        }
    }
}
