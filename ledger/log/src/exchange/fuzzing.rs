//! What the fuzz target of imports calls: any file, and what must hold of it.
//!
//! It is refused, or it is imported as a whole and comes out of the store again as it went in, also
//! after the store was made anew from its log. Panics where that does not hold, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use mainstay_ledger::codec::value::seal_value;

use super::form::{Body, Bytes, RowLine, Tally, write_line};
use super::{ExportScope, Imported};
use crate::ledger::LogLedger;
use crate::open::OpenOptions;
use crate::segment::{LogSettings, SegmentNo};
use crate::settings::Settings;
use crate::table::MemoryFactory;

type Store = LogLedger<MemoryFactory>;

const CRC_BYTES: usize = 4;

/// A place for imports.
#[derive(Debug)]
pub struct Imports {
    folder: PathBuf,
    /// Nothing is ever in it.
    empty: Store,
}

impl Imports {
    /// Stores are made below `folder`, which must be there.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            empty: open(&folder.join("empty")),
        }
    }

    /// Imports `data` as it is; then with its checksums made right, so that what is inside is read
    /// too.
    pub fn run(&self, data: &[u8]) {
        self.import(data);
        if let Ok(text) = str::from_utf8(data) {
            self.import(mended(text).as_bytes());
        }
    }

    fn import(&self, text: &[u8]) {
        let file = self.folder.join("export.jsonl");
        fs::write(&file, text).expect("the folder can be written");
        let mut nowhere = |_| Ok(SegmentNo(1));
        let read = super::import(self.empty.reader(), &file, &mut nowhere, &mut |_, _| {});
        match read {
            Ok(read) if 0 < read.runs + read.rows => self.comes_out(&file, &read),
            Ok(_) | Err(_) => {}
        }
    }

    fn comes_out(&self, file: &Path, read: &Imported) {
        let folder = self.folder.join("store");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("nobody holds it any more");
        }
        let store = open(&folder);
        let imported = store.import(file, &mut |_, _| {});
        assert_eq!(
            imported.ok().as_ref(),
            Some(read),
            "what was read is written"
        );
        let before = exported(&store);
        store.close().expect("a store that can be closed");
        // A new table each time: how things stand is made anew from the log.
        let store = open(&folder);
        assert!(
            exported(&store) == before,
            "the store says the same when opened anew"
        );
        store.close().expect("a store that can be closed");
    }
}

fn exported(store: &Store) -> Vec<u8> {
    let mut out = Vec::new();
    let done = store.export(ExportScope::All, &mut out, &mut |_, _| {});
    let done = done.expect("what was imported can be exported");
    assert_eq!(done.left_out, [], "all of it");
    out
}

fn open(folder: &Path) -> Store {
    let log = LogSettings {
        segment_bytes: 256 << 10,
        first_bytes: 64 << 10,
        short_bytes: 16 << 10,
        ballast_bytes: 0,
        beside: false,
    };
    let settings = Settings {
        log,
        ..Settings::default()
    };
    let options = OpenOptions::creating().settings(settings);
    Store::open(folder, options).expect("a store can be made")
}

/// The lines with their checksums and the end's count made right, as far as they have a form.
fn mended(text: &str) -> String {
    let mut tally = Tally::default();
    let mut out = String::new();
    for line in text.lines() {
        let inside = line.split_once("\"body\":").map_or(line, |(_, body)| body);
        let body = inside.strip_suffix('}').unwrap_or(inside);
        let Ok(mut body) = serde_json::from_str::<Body>(body) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        match &mut body {
            Body::Class(row) | Body::Row(row) => seal(row),
            Body::End(end) => (end.lines, end.digest) = (tally.lines, tally.digest()),
            Body::Head(_) | Body::Run(_) | Body::Records(_) => {}
        }
        out.push_str(&write_line(&mut tally, &body).expect("memory takes it"));
    }
    out
}

/// The value with the checksum that it has to have under its key.
fn seal(row: &mut RowLine) {
    let value = &row.value.0;
    if let Some(payload) = value.get(1..value.len().saturating_sub(CRC_BYTES)) {
        row.value = Bytes(seal_value(&row.key.0, payload));
    }
}

#[cfg(test)]
#[path = "fuzzing_tests.rs"]
mod tests;
