//! Minutes to run over: real ones where they are, and ones made with a known number of actions.
//!
//! What is made here is plain: it must never depend on how clever the extraction is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use meeting_analysis::minutes::Meeting;
use meeting_analysis::summarise::{Extras, summarise};

/// Where real minutes may lie beside a clone, below the workspace.
const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/meetings");
/// Those of the example.
const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/meeting-analysis/minutes"
);

/// Files of real minutes: the folder in `MEETINGS_DIR`, or the one beside the workspace, or the
/// example's own.
///
/// # Panics
/// There is none at all.
#[must_use]
pub fn real() -> Vec<PathBuf> {
    let given = std::env::var_os("MEETINGS_DIR").map(PathBuf::from);
    let folders = given.into_iter().chain([REAL, EXAMPLE].map(PathBuf::from));
    let found = folders
        .map(|folder| files(&folder))
        .find(|files| !files.is_empty());
    found.expect("the example's own minutes are there")
}

/// The example's own minutes.
///
/// # Panics
/// They are gone.
#[must_use]
pub fn example() -> PathBuf {
    let file = Path::new(EXAMPLE).join("steering-2026-03.md");
    assert!(
        file.is_file(),
        "the example's own minutes are gone: {}",
        file.display()
    );
    file
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = listed
        .map(|entry| entry.path())
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    files
}

/// The digest of a file's minutes: the source of its tickets.
///
/// # Panics
/// The file cannot be read.
#[must_use]
pub fn source(file: &Path) -> String {
    meeting_analysis::class::digest(&meeting(file))
}

/// How many actions a file's minutes have, asked without an engine.
///
/// # Panics
/// The file cannot be read.
#[must_use]
pub fn actions(file: &Path) -> usize {
    summarise(
        &meeting(file).minutes(),
        Extras {
            related: &[],
            specialist: None,
        },
    )
    .actions
    .len()
}

/// A file as a run's input.
///
/// # Panics
/// The file cannot be read.
#[must_use]
pub fn meeting(file: &Path) -> Meeting {
    let text = std::fs::read_to_string(file).expect("minutes are text");
    Meeting {
        name: "minutes".to_owned(),
        text,
    }
}

/// Minutes with this many actions, each by a named person and about a thing of its own; `tag` makes
/// them differ from others.
///
/// # Panics
/// Asked for more than there are things.
#[must_use]
pub fn with_actions(tag: &str, actions: usize) -> String {
    let mut text = format!("# Release team {tag}, 2026-03-04\n\n## Action items\n\n");
    assert!(
        actions <= THINGS.len(),
        "no more than {} different actions",
        THINGS.len()
    );
    for n in 0..actions {
        let (who, what) = (PEOPLE[n % PEOPLE.len()], VERBS[n % VERBS.len()]);
        line(
            &mut text,
            &format!(
                "* {who} to {what} the {} {}",
                THINGS[n],
                NOUNS[n % NOUNS.len()]
            ),
        );
    }
    text
}

/// Minutes of exactly `bytes` bytes, most of it talk, with a few actions.
#[must_use]
pub fn of_size(bytes: usize) -> String {
    let mut text = with_actions("large", 6);
    text.push_str("\n## Discussion\n\n");
    for n in 0_usize.. {
        let (a, b, c) = (TALK[n % 7], TALK[(n / 7) % 7], TALK[(n / 49) % 7]);
        let said = format!("- Point {n}: the {a} of the {b} depends on the {c} of last year");
        if bytes < text.len() + said.len() + 1 {
            break;
        }
        line(&mut text, &said);
    }
    text.extend(std::iter::repeat_n('\n', bytes.saturating_sub(text.len())));
    text
}

fn line(text: &mut String, said: &str) {
    writeln!(text, "{said}").expect("writing to a String cannot fail");
}

const PEOPLE: [&str; 5] = ["Amara", "Bjorn", "Chioma", "Diego", "Emi"];
const VERBS: [&str; 8] = [
    "update", "review", "publish", "document", "rewrite", "replace", "schedule", "test",
];
const NOUNS: [&str; 7] = [
    "page", "issue", "report", "draft", "script", "policy", "guide",
];
const TALK: [&str; 7] = [
    "schedule",
    "budget",
    "pipeline",
    "archive",
    "mailing list",
    "test suite",
    "website",
];
const THINGS: [&str; 50] = [
    "installer",
    "compiler",
    "debugger",
    "profiler",
    "website",
    "newsletter",
    "calendar",
    "glossary",
    "tutorial",
    "changelog",
    "roadmap",
    "survey",
    "workshop",
    "podcast",
    "mirror",
    "registry",
    "scheduler",
    "allocator",
    "parser",
    "linter",
    "formatter",
    "benchmark",
    "dashboard",
    "telemetry",
    "firewall",
    "certificate",
    "backup",
    "cluster",
    "gateway",
    "cache",
    "database",
    "migration",
    "protocol",
    "encoder",
    "decoder",
    "sandbox",
    "container",
    "package",
    "plugin",
    "template",
    "theme",
    "keyboard",
    "printer",
    "camera",
    "sensor",
    "antenna",
    "battery",
    "charger",
    "manual",
    "licence",
];
