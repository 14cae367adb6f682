//! The shape of wire types, read from their source: none contains itself, however far down, so that
//! no bytes can make a decoder recurse; and no list has elements without bytes, so that a length is
//! bounded by what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Everything that declares wire types.
const FILES: &[&str] = &[
    "v1/call.rs",
    "v1/decision.rs",
    "v1/effect.rs",
    "v1/orphan.rs",
    "v1/run.rs",
    "v1/tools.rs",
    "v1/value.rs",
    "v1/wire.rs",
    "v1/words.rs",
    "v2.rs",
    "state.rs",
    "snapshot.rs",
];

/// A wire type's name: it ends in the version that froze it, or is one of the two that never will
/// have another.
fn is_wire(word: &str) -> bool {
    let numbered = word
        .char_indices()
        .rev()
        .find(|(_, letter)| !letter.is_ascii_digit())
        .is_some_and(|(at, letter)| at + 1 < word.len() && at != 0 && matches!(letter, 'V' | 'S'));
    numbered && word.starts_with(|first: char| first.is_ascii_uppercase())
        || ["Text", "Blob"].contains(&word)
}

fn words(source: &str) -> impl Iterator<Item = &str> {
    source.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// The source without comments.
fn code(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codec");
    let source = fs::read_to_string(folder.join(file)).expect(file);
    let lines = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands in the brackets that open first in `source`.
fn bracketed(source: &str) -> &str {
    let Some(open) = source.find(['{', '(', ';']) else {
        return "";
    };
    let mut depth = 0usize;
    for (at, letter) in source[open..].char_indices() {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &source[open..open + at];
        }
    }
    panic!("brackets that never close: {source}")
}

/// Each wire type of a file with the source of its fields: as `struct` or `enum`, or as the left
/// side of a macro's `Wire = Domain { .. }`.
fn declared(source: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (at, _) in source.match_indices(is_start) {
        let rest = &source[at..];
        let word = words(rest).next().unwrap_or_default();
        let before = source[..at].trim_end();
        let after = rest[word.len()..].trim_start();
        let by_keyword = before.ends_with("struct") || before.ends_with("enum");
        let by_macro = before.ends_with(['{', '}']) && after.starts_with("= ");
        if is_wire(word) && (by_keyword || by_macro) {
            found.insert(word.to_owned(), bracketed(after).to_owned());
        }
    }
    found
}

fn is_start(letter: char) -> bool {
    letter.is_ascii_uppercase()
}

fn all() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for file in FILES {
        let found = declared(&code(file));
        assert!(!found.is_empty(), "{file} declares no wire type");
        all.extend(found);
    }
    all
}

/// Which wire types each one has in it.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let all = all();
    let held = |fields: &String| {
        let words = words(fields).filter(|word| is_wire(word));
        words.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    all.iter()
        .map(|(name, fields)| (name.clone(), held(fields)))
        .collect()
}

#[test]
fn every_wire_type_is_seen_and_everything_in_one_too() {
    let graph = graph();
    assert!(60 < graph.len(), "{} wire types", graph.len());
    for (name, held) in &graph {
        for inner in held {
            assert!(
                graph.contains_key(inner),
                "{name} has {inner}, declared nowhere"
            );
        }
    }
    let call = &graph["CallS1"];
    assert!(
        call.contains("AttemptS1") && call.contains("PhaseS1"),
        "{call:?}"
    );
}

#[test]
fn no_wire_type_contains_itself() {
    let graph = graph();
    for name in graph.keys() {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = graph[name].iter().collect();
        while let Some(inner) = open.pop() {
            assert!(inner != name, "{name} contains itself");
            if seen.insert(inner) {
                open.extend(&graph[inner]);
            }
        }
    }
}

#[test]
fn no_list_has_elements_without_bytes() {
    let all = all();
    let has_bytes = |name: &str| words(&all[name]).any(|word| !word.is_empty());
    let mut lists = 0;
    for (name, fields) in &all {
        for (at, _) in fields.match_indices("Vec<") {
            let element = words(&fields[at + "Vec<".len()..]).find(|word| !word.is_empty());
            let element = element.expect("a list of something");
            lists += 1;
            let is_plain = ["u8", "u32"].contains(&element);
            assert!(
                is_plain || has_bytes(element),
                "{name} has a list of {element}"
            );
        }
    }
    assert!(8 < lists, "{lists} lists");
}
