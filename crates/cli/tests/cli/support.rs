//! Stores to look at, and the binary that looks.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use mainstay_ledger::{CommitRequest, Ledger, Op, Part, Stamped, Verdict};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_machine::view::summary;
use mainstay_types::{Epoch, Seq};
use serde_json::Value;
use tempfile::TempDir;

use crate::story::Story;

/// A folder with a store that holds these runs.
pub(crate) fn store(stories: &[Story]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path());
    for story in stories {
        write(&ledger, story, true);
    }
    ledger.close().unwrap();
    folder
}

/// Opens the store, or makes one.
pub(crate) fn open(folder: &Path) -> SledLedger {
    SledLedger::open(folder, OpenOptions::creating()).unwrap()
}

/// Writes a run as an engine would; its class only when asked to.
pub(crate) fn write(ledger: &SledLedger, story: &Story, with_class: bool) {
    let summary = summary(&story.run).unwrap();
    let run = summary.run;
    let mut ops = vec![Op::Summary(summary)];
    if with_class {
        ops.push(Op::Class(Arc::clone(story.run.class())));
    }
    let stamp = |entry: &mainstay_ledger::Recorded| Stamped {
        at: entry.at,
        event: entry.event.clone(),
    };
    let events = story.recorded.iter().map(stamp).collect();
    let part = Part {
        run,
        expected_seq: Seq(0),
        epoch: Epoch(1),
        events,
        ops,
    };
    let committed = wait(ledger.commit(vec![CommitRequest { parts: vec![part] }])).unwrap();
    assert!(
        matches!(committed.as_slice(), [Verdict::Committed(_)]),
        "{committed:?}"
    );
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// What the program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        let said = Self {
            code: output.status.code().expect("the program was not killed"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!said.err.contains("panicked"), "{said:?}");
        assert!(
            !said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'),
            "{said:?}"
        );
        said
    }

    /// stdout, when all went well and stderr is empty.
    pub(crate) fn data(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The one JSON value on stdout.
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.data()).unwrap()
    }

    /// The one JSON object on stderr, when the program ended with `code` and said nothing else.
    pub(crate) fn json_error(self, code: i32) -> Value {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        serde_json::from_str(&self.err).unwrap()
    }
}

/// The binary with these arguments.
pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    command
        .args(args)
        .env_remove("MAINSTAY_STORE")
        .stdin(Stdio::null());
    command
}

pub(crate) fn say(args: &[&str]) -> Said {
    Said::of(program(args).output().unwrap())
}

/// The binary asked about a store.
pub(crate) fn ask(store: &Path, args: &[&str]) -> Said {
    let mut all = vec!["--store", store.to_str().unwrap()];
    all.extend(args);
    say(&all)
}
