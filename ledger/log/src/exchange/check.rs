//! An export as it is checked before anything of it is written: every byte proves itself, no run is
//! there twice, nothing of it is in the store already.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::codec::value::open_value;
use mainstay_ledger::codec::{decode_alert, decode_class, decode_message, decode_waiters};
use mainstay_ledger::query::open_from;
use mainstay_ledger::record::Chain;
use mainstay_types::{RunId, Seq};

use super::form::{Body, RecordsLine, RowLine, RunLine};
use super::lines::Lines;
use super::{ExchangeError, Progress, Unfinished};
use crate::keys;
use crate::read::Reader;
use crate::rows::effects::EffectRow;
use crate::rows::starts::StartRow;
use crate::run_row::RunRow;

/// What was found.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) runs: u64,
    pub(super) lines: u64,
    /// The import goes on that was cut off.
    pub(super) resumes: Option<Unfinished>,
    pub(super) digest: String,
}

struct Check<'a> {
    reader: &'a Reader,
    lines: Lines,
    runs: HashSet<RunId>,
    keys: HashSet<Vec<u8>>,
    /// The import that was cut off.
    unfinished: Option<Unfinished>,
    /// The digest at the end of the export.
    digest: String,
    /// What is in the store already and would be in the way of an import that begins.
    there: Option<String>,
    /// The run whose lines are read, and how far its records go.
    at: Option<(RunId, RunRow, Seq, Chain)>,
}

/// Reads the whole export; nothing is written.
pub(super) fn check(
    reader: &Reader,
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<Checked, ExchangeError> {
    let mut check = Check {
        reader,
        lines: Lines::open(path)?,
        runs: HashSet::new(),
        keys: HashSet::new(),
        unfinished: Unfinished::of(&reader.standing)?,
        digest: String::new(),
        there: None,
        at: None,
    };
    while let Some(body) = check.lines.next()? {
        check.body(&body)?;
        progress(check.lines.read, 2 * check.lines.bytes);
    }
    let Check {
        unfinished,
        digest,
        there,
        ..
    } = check;
    let detail = match &unfinished {
        // What is there is its own work.
        Some(begun) if begun.digest == digest => None,
        Some(_) => Some("an import of another export was cut off; go on with that one".to_owned()),
        None => there,
    };
    match detail {
        Some(detail) => Err(ExchangeError::Conflict { detail }),
        None => Ok(Checked {
            runs: check.runs.len() as u64,
            lines: check.lines.number(),
            resumes: unfinished,
            digest,
        }),
    }
}

/// The run in a line's words.
pub(super) fn run_of(text: &str) -> Result<RunId, String> {
    text.parse().map_err(|_| format!("{text:?} is no run id"))
}

impl Check<'_> {
    fn body(&mut self, body: &Body) -> Result<(), ExchangeError> {
        match body {
            Body::Head(_) => Ok(()),
            Body::Class(line) => self.class(line),
            Body::Run(line) => {
                self.run_is_whole()?;
                self.run(line)
            }
            Body::Records(line) => self.records(line),
            Body::Row(line) => self.row(line),
            Body::End(end) => {
                self.run_is_whole()?;
                self.digest.clone_from(&end.digest);
                match end.runs == self.runs.len() as u64 {
                    true => Ok(()),
                    false => Err(self.lines.wrong("the end counts other runs")),
                }
            }
        }
    }

    fn class(&self, line: &RowLine) -> Result<(), ExchangeError> {
        let (key, value) = (&line.key.0, &line.value.0);
        if !keys::is_class(key) {
            return Err(self.lines.wrong("it is no class"));
        }
        let class =
            decode_class(key, value).map_err(|error| self.lines.wrong(error.to_string()))?;
        let (name, version) = (&class.class.name, class.class.version);
        if let Some(there) = self.reader.class(name, version)?
            && there.fingerprint != class.fingerprint
        {
            return Err(ExchangeError::Conflict {
                detail: format!("class {name} version {version} is another one in this store"),
            });
        }
        Ok(())
    }

    fn run(&mut self, line: &RunLine) -> Result<(), ExchangeError> {
        let run = run_of(&line.run).map_err(|detail| self.lines.wrong(detail))?;
        let row = RunRow::decode(run, &line.row.0)
            .map_err(|error| self.lines.wrong(error.to_string()))?;
        if row.head.seq.get() != line.events {
            return Err(self.lines.wrong("its row counts other events"));
        }
        if !self.runs.insert(run) {
            return Err(self.lines.wrong(format!("run {run} is there twice")));
        }
        if self.reader.standing.get(&keys::erased(run))?.is_some() {
            let detail = format!("run {run} was erased in this store, and does not come back");
            return Err(ExchangeError::Conflict { detail });
        }
        match self.reader.row(run)? {
            Some(there) if self.unfinished.is_some() && there.head == row.head => {}
            Some(_) if self.unfinished.is_some() => {
                // Nobody but that import wrote here meanwhile.
                let detail = format!("run {run} is in this store with another end");
                return Err(ExchangeError::Conflict { detail });
            }
            Some(_) => self.is_there(|| format!("run {run} is in this store")),
            None => {}
        }
        self.at = Some((run, row, Seq(0), Chain::start(run)));
        Ok(())
    }

    fn records(&mut self, line: &RecordsLine) -> Result<(), ExchangeError> {
        let Some((run, _, seq, chain)) = &mut self.at else {
            return Err(self.lines.wrong("records of no run"));
        };
        if line.first != seq.next().get() {
            return Err(self.lines.wrong(format!(
                "record {} should follow, record {} does",
                seq.next(),
                line.first
            )));
        }
        let records = line.records.iter().map(|record| record.bytes.0.as_slice());
        match open_from(*run, (*seq, *chain), records) {
            Ok((_, end)) => {
                (*seq, *chain) = end;
                Ok(())
            }
            Err(error) => Err(self.lines.wrong(error.to_string())),
        }
    }

    /// The run before this line has all its records.
    fn run_is_whole(&mut self) -> Result<(), ExchangeError> {
        match self.at.take() {
            Some((run, row, seq, chain)) if (seq, chain) != (row.head.seq, row.head.chain) => {
                Err(self.lines.wrong(format!(
                    "run {run} ends at record {seq}, its row says {}",
                    row.head.seq
                )))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn row(&mut self, line: &RowLine) -> Result<(), ExchangeError> {
        let (key, value) = (&line.key.0, &line.value.0);
        if !keys::is_alert(key) && !self.keys.insert(key.clone()) {
            return Err(self.lines.wrong("a row is there twice"));
        }
        let ours = self.at.as_ref().map(|(run, ..)| *run);
        let proven = match ours {
            Some(run) if keys::is_of_run(key, run) => open_row(key, value),
            Some(_) | None if keys::is_shared(key) => open_row(key, value),
            Some(_) | None => Err("it belongs to no run of the export".to_owned()),
        };
        proven.map_err(|detail| self.lines.wrong(detail))?;
        if keys::is_shared(key) && !keys::is_alert(key) && self.is_taken(key, value)? {
            self.is_there(|| format!("{} is in this store", line.about));
        }
        Ok(())
    }

    /// The first of what is in the way is named, once it is known that the export itself is whole.
    fn is_there(&mut self, what: impl FnOnce() -> String) {
        self.there.get_or_insert_with(what);
    }

    fn is_taken(&self, key: &[u8], value: &[u8]) -> Result<bool, ExchangeError> {
        let there: Option<Arc<[u8]>> = self.reader.standing.look_up(key)?.value;
        // Waiters of a key are lists by key, not somebody's own.
        Ok(there.is_some_and(|there| &*there != value || !keys::is_waiters(key)))
    }
}

/// Whether the value proves itself and has its kind's form.
fn open_row(key: &[u8], value: &[u8]) -> Result<(), String> {
    let form = if keys::is_effect(key) {
        EffectRow::decode(key, value).map(drop)
    } else if keys::is_start(key) {
        StartRow::decode(key, value).map(drop)
    } else if keys::is_alert(key) {
        decode_alert(key, value).map(drop)
    } else if keys::is_waiters(key) {
        decode_waiters(key, value).map(drop)
    } else if keys::is_inbox(key) {
        decode_message(key, value).map(drop)
    } else {
        open_value(key, value).map(drop)
    };
    form.map_err(|error| error.to_string())
}
