//! What a store holds, as lines: classes, runs with their records and rows, keys, alerts.
//!
//! Caches and queues are left out: an import makes them anew. A run that cannot be read is left
//! out, named at the end, and keeps no other from being exported.

use std::io::Write;

use mainstay_ledger::codec::Kind;
use mainstay_ledger::query::open_all;
use mainstay_ledger::{LedgerError, Recorded};
use mainstay_machine::Summary;
use mainstay_types::{RunId, Seq};

use super::form::{
    Body, Bytes, EndLine, FORM, HeadLine, LeftOut, RecordForm, RecordsLine, RowLine, RunLine,
    Tally, write_line,
};
use super::{ExchangeError, Progress};
use crate::files::StoreId;
use crate::keys::{self, Key};
use crate::read::{Reader, Rows, records_between};
use crate::rows::effects::EffectRow;
use crate::rows::starts::StartRow;
use crate::run_row::RunRow;

/// Records of one line end at so many bytes.
const LINE_BYTES: usize = 1 << 20;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// Everything.
    All,
    /// One run, with its class, its keys and what waits for it.
    Run(RunId),
}

/// What an export holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Runs in it.
    pub runs: u64,
    /// Records of these.
    pub events: u64,
    /// Lines, the last included.
    pub lines: u64,
    /// Bytes of all lines.
    pub bytes: u64,
    /// Runs that could not be read and are not in it.
    pub left_out: Vec<LeftOut>,
}

struct Export<'a> {
    reader: &'a Reader,
    out: &'a mut dyn Write,
    tally: Tally,
    done: Exported,
}

/// Writes what `scope` says to `out`.
pub(crate) fn export(
    reader: &Reader,
    (store, scope): (StoreId, ExportScope),
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Exported, ExchangeError> {
    let mut export = Export {
        reader,
        out,
        tally: Tally::default(),
        done: Exported::default(),
    };
    if let ExportScope::Run(run) = scope
        && reader.row(run)?.is_none()
    {
        return Err(ExchangeError::Unknown { run });
    }
    export.head(store, scope)?;
    match scope {
        ExportScope::All => export.everything(progress)?,
        ExportScope::Run(run) => export.one(run)?,
    }
    export.end()
}

impl Export<'_> {
    fn line(&mut self, body: &Body) -> Result<(), ExchangeError> {
        let line = write_line(&mut self.tally, body)?;
        self.done.lines += 1;
        self.done.bytes += line.len() as u64;
        self.out
            .write_all(line.as_bytes())
            .map_err(ExchangeError::Output)
    }

    fn head(&mut self, store: StoreId, scope: ExportScope) -> Result<(), ExchangeError> {
        self.line(&Body::Head(HeadLine {
            mainstay_export: FORM,
            by: format!("mainstay {}", env!("CARGO_PKG_VERSION")),
            store: store.to_string(),
            only: match scope {
                ExportScope::All => None,
                ExportScope::Run(run) => Some(run.to_string()),
            },
        }))
    }

    fn end(mut self) -> Result<Exported, ExchangeError> {
        let end = EndLine {
            lines: self.tally.lines,
            runs: self.done.runs,
            left_out: self.done.left_out.clone(),
            digest: self.tally.digest(),
        };
        self.line(&Body::End(end))?;
        self.out.flush().map_err(ExchangeError::Output)?;
        Ok(self.done)
    }

    fn everything(&mut self, progress: &mut Progress<'_>) -> Result<(), ExchangeError> {
        let reader = self.reader;
        for row in Rows::of(&reader.standing, keys::classes()) {
            let (key, value) = row?;
            self.class(key, value.to_vec())?;
        }
        let closed = reader.archive.segments();
        let closed: u64 = closed.iter().map(|segment| u64::from(segment.closed)).sum();
        let total = closed + reader.open_runs()?;
        for found in reader.run_rows(None) {
            let (run, row) = found?;
            self.run(run, &row)?;
            progress(self.done.runs, total);
        }
        for prefix in [
            keys::effects(),
            keys::starts(),
            keys::all_waiters(),
            keys::alerts(),
        ] {
            for row in Rows::of(&reader.standing, prefix) {
                let (key, value) = row?;
                self.row(&key, &value)?;
            }
        }
        Ok(())
    }

    fn one(&mut self, run: RunId) -> Result<(), ExchangeError> {
        let reader = self.reader;
        let row = reader.row(run)?.ok_or(ExchangeError::Unknown { run })?;
        if let Some(summary) = &row.summary {
            let key = keys::class(&summary.class.name, summary.class.version);
            if let Some(value) = reader.standing.get(&key)? {
                self.class(key, value.to_vec())?;
            }
        }
        if let Err(error) = reader.proven(run, &row) {
            return Err(error.into());
        }
        self.run(run, &row)?;
        for found in Rows::of(&reader.standing, keys::effects()) {
            let (key, value) = found?;
            let effect = EffectRow::decode(&key, &value)
                .map_err(|error| crate::fault::of_store("an effect entry", &error))?;
            if effect.entry.run == run {
                self.row(&key, &value)?;
            }
        }
        let Some(summary) = &row.summary else {
            return Ok(());
        };
        if let Some(start_key) = &summary.start_key {
            let key = keys::start(&summary.tenant, start_key);
            if let Some(value) = reader.standing.get(&key)? {
                self.row(&key, &value)?;
            }
        }
        Ok(())
    }

    fn class(&mut self, key: Key, value: Vec<u8>) -> Result<(), ExchangeError> {
        let about = keys::about(&key);
        self.line(&Body::Class(RowLine {
            about,
            key: Bytes(key),
            value: Bytes(value),
        }))
    }

    fn row(&mut self, key: &[u8], value: &[u8]) -> Result<(), ExchangeError> {
        self.line(&Body::Row(RowLine {
            about: about(key, value),
            key: Bytes(key.to_vec()),
            value: Bytes(value.to_vec()),
        }))
    }

    /// One run with its records and rows; left out when it cannot be read.
    fn run(&mut self, run: RunId, row: &RunRow) -> Result<(), ExchangeError> {
        let packed = match self.reader.proven(run, row) {
            Ok(packed) => packed,
            Err(error) => {
                self.done.left_out.push(LeftOut {
                    run: run.to_string(),
                    why: error.to_string(),
                });
                return Ok(());
            }
        };
        self.line(&Body::Run(RunLine {
            run: run.to_string(),
            events: row.head.seq.get(),
            about: row.summary.as_ref().map_or_else(String::new, about_run),
            row: Bytes(row.encode(run)),
        }))?;
        for line in lines_of(packed) {
            self.line(&Body::Records(line))?;
        }
        for prefix in keys::rows_of_run(run, row.drive) {
            for found in Rows::of(&self.reader.standing, prefix) {
                let (key, value) = found?;
                self.row(&key, &value)?;
            }
        }
        self.done.runs += 1;
        self.done.events += row.head.seq.get();
        Ok(())
    }
}

impl Reader {
    /// All records of a run, each with what it says; proven by their checksums and their chain.
    pub(crate) fn proven(
        &self,
        run: RunId,
        row: &RunRow,
    ) -> Result<Vec<(Recorded, Vec<u8>)>, LedgerError> {
        let packs = self.packs(run, row, Seq(1))?;
        let records = records_between(run, &packs, Seq(0), row.head.seq)?;
        let events = open_all(run, row.head, records.iter().copied())?;
        let bytes = records.into_iter().map(<[u8]>::to_vec);
        Ok(events.into_iter().zip(bytes).collect())
    }

    /// How many runs have a row among what stands.
    fn open_runs(&self) -> Result<u64, LedgerError> {
        let mut count = 0;
        for row in Rows::of(&self.standing, keys::runs()) {
            row?;
            count += 1;
        }
        Ok(count)
    }
}

fn lines_of(records: Vec<(Recorded, Vec<u8>)>) -> Vec<RecordsLine> {
    let mut lines: Vec<RecordsLine> = Vec::new();
    let mut bytes = LINE_BYTES;
    for (recorded, record) in records {
        if LINE_BYTES <= bytes {
            bytes = 0;
            lines.push(RecordsLine {
                first: recorded.seq.get(),
                records: Vec::new(),
            });
        }
        bytes += record.len();
        let last = lines.last_mut().expect("one was begun");
        last.records.push(RecordForm {
            at_ms: recorded.at.as_millis(),
            event: Kind::of(&recorded.event).name().to_owned(),
            bytes: Bytes(record),
        });
    }
    lines
}

fn about_run(summary: &Summary) -> String {
    let class = &summary.class;
    let state = summary.state.as_str();
    let outcome = summary
        .outcome
        .map_or("no outcome yet", |outcome| outcome.as_str());
    format!(
        "{} version {} of {}: {state}, {outcome}",
        class.name, class.version, summary.tenant
    )
}

/// What a row is about, for readers.
fn about(key: &[u8], value: &[u8]) -> String {
    if keys::is_effect(key)
        && let Ok(row) = EffectRow::decode(key, value)
    {
        return format!("effect {} of run {}", row.entry.key, row.entry.run);
    }
    if keys::is_start(key)
        && let Ok(row) = StartRow::decode(key, value)
    {
        return format!("start key {} of run {}", row.start.start_key, row.start.run);
    }
    keys::about(key)
}
