//! An export, written into a store that has nothing of it: run by run, each as a whole.
//!
//! It can be killed at any moment: what it wrote are whole runs, and a mark says that more is
//! missing until all is there. Doing it again with the same export goes on; nothing else can be
//! done with such a store.

use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_types::{RunId, Seq, Timestamp, limits};

use super::check::{self, run_of};
use super::form::{Body, LeftOut, RecordsLine, RowLine, RunLine};
use super::lines::Lines;
use super::pieces::Piece;
use super::{ExchangeError, Progress, Unfinished};
use crate::read::Reader;
use crate::run_row::RunRow;
use crate::segment::{SegmentNo, push_record};

/// What an import wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Runs.
    pub runs: u64,
    /// Records of these.
    pub events: u64,
    /// Rows beside them: keys, alerts, classes, waiting commands.
    pub rows: u64,
    /// Runs that the export itself left out.
    pub left_out: Vec<LeftOut>,
}

/// Writes pieces as a whole, durably; says in which segment they lie.
pub(crate) type Write<'a> = dyn FnMut(Vec<Piece>) -> Result<SegmentNo, LedgerError> + 'a;

struct Import<'a, 'w> {
    write: &'a mut Write<'w>,
    /// The run at hand.
    run: Option<Run>,
    /// Rows that belong to no run, not written yet.
    rows: Vec<Piece>,
    bytes: usize,
    /// How far it is, as the store is told.
    mark: Unfinished,
    /// Alerts of the export that were read.
    alerts: u64,
    /// Whether a former import may have written some of it.
    resumes: bool,
    reader: &'a Reader,
    done: Imported,
}

struct Run {
    run: RunId,
    /// A former import wrote it, whole.
    is_there: bool,
    row: RunRow,
    rows: Vec<Piece>,
    /// Records that are not written yet.
    first: Seq,
    next: Seq,
    packed: Vec<u8>,
    newest: Timestamp,
    segment: SegmentNo,
}

/// Checks the whole export, then writes it.
pub(crate) fn import(
    reader: &Reader,
    path: &Path,
    write: &mut Write<'_>,
    progress: &mut Progress<'_>,
) -> Result<Imported, ExchangeError> {
    let checked = check::check(reader, path, progress)?;
    let mut lines = Lines::open(path)?;
    let mut import = Import {
        write,
        run: None,
        rows: Vec::new(),
        bytes: 0,
        resumes: checked.resumes.is_some(),
        mark: checked.resumes.unwrap_or(Unfinished {
            digest: checked.digest,
            alerts: 0,
        }),
        alerts: 0,
        reader,
        done: Imported::default(),
    };
    import.begin()?;
    while let Some(body) = lines.next()? {
        import.body(body).map_err(|failed| match failed {
            Failed::Form(detail) => lines.wrong(detail),
            Failed::Store(error) => error.into(),
        })?;
        progress(lines.bytes + lines.read, 2 * lines.bytes);
    }
    if (import.done.runs, lines.number()) != (checked.runs, checked.lines) {
        return Err(lines.wrong("the file changed while it was read"));
    }
    (import.write)(vec![Piece::Ended])?;
    Ok(import.done)
}

/// The first reading found nothing wrong; a form that is wrong now was changed meanwhile.
enum Failed {
    Form(String),
    Store(LedgerError),
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Self {
        Self::Store(error)
    }
}

impl Import<'_, '_> {
    /// Before anything of it is there, the store says that more is missing.
    fn begin(&mut self) -> Result<(), LedgerError> {
        if !self.resumes {
            (self.write)(vec![Piece::Mark(self.mark.clone())])?;
        }
        Ok(())
    }

    fn body(&mut self, body: Body) -> Result<(), Failed> {
        match body {
            Body::Head(_) => Ok(()),
            Body::Class(line) => self.shared(line),
            Body::Run(line) => {
                self.end_run()?;
                self.begin_run(&line)
            }
            Body::Records(line) => self.records(&line),
            Body::Row(line) => match &mut self.run {
                Some(run) if crate::keys::is_of_run(&line.key.0, run.run) => {
                    run.rows.push(piece(line));
                    Ok(())
                }
                Some(_) | None => self.shared(line),
            },
            Body::End(end) => {
                self.end_run()?;
                self.flush()?;
                self.done.left_out = end.left_out;
                Ok(())
            }
        }
    }

    fn begin_run(&mut self, line: &RunLine) -> Result<(), Failed> {
        let run = run_of(&line.run).map_err(Failed::Form)?;
        let is_there = self.resumes && self.reader.row(run)?.is_some();
        self.run = Some(Run {
            run,
            is_there,
            row: RunRow::decode(run, &line.row.0)?,
            rows: Vec::new(),
            first: Seq(1),
            next: Seq(1),
            packed: Vec::new(),
            newest: Timestamp::from_millis(i64::MIN),
            segment: SegmentNo(0),
        });
        Ok(())
    }

    fn records(&mut self, line: &RecordsLine) -> Result<(), Failed> {
        let run = self
            .run
            .as_mut()
            .ok_or_else(|| Failed::Form("records of no run".to_owned()))?;
        if run.is_there {
            return Ok(());
        }
        for record in &line.records {
            if limits::GROUP_BYTES_MAX <= run.packed.len() {
                let ahead = run.take_records();
                run.segment = (self.write)(ahead.into_iter().collect())?;
            }
            push_record(&mut run.packed, &record.bytes.0);
            run.newest = run.newest.max(Timestamp::from_millis(record.at_ms));
            run.next = run.next.next();
        }
        Ok(())
    }

    /// The run appears: its last records, its row and what belongs to it, at once.
    fn end_run(&mut self) -> Result<(), Failed> {
        let Some(mut run) = self.run.take() else {
            return Ok(());
        };
        self.done.runs += 1;
        self.done.events += run.row.head.seq.get();
        self.done.rows += run.rows.len() as u64;
        if run.is_there {
            return Ok(());
        }
        // Classes first: a run never names one that is not there.
        self.flush()?;
        let mut pieces: Vec<Piece> = run.take_records().into_iter().collect();
        run.row.newest = run.segment;
        pieces.push(Piece::Run {
            run: run.run,
            row: Box::new(run.row.clone()),
        });
        pieces.append(&mut run.rows);
        (self.write)(pieces)?;
        Ok(())
    }

    /// A row that belongs to no single run.
    fn shared(&mut self, line: RowLine) -> Result<(), Failed> {
        self.done.rows += 1;
        if crate::keys::is_alert(&line.key.0) {
            self.alerts += 1;
            if self.alerts <= self.mark.alerts {
                return Ok(());
            }
        }
        self.bytes += line.value.0.len();
        self.rows.push(piece(line));
        match limits::COMMIT_GROUP_MAX <= self.rows.len() || limits::GROUP_BYTES_MAX <= self.bytes {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), Failed> {
        self.bytes = 0;
        if !self.rows.is_empty() {
            let mut pieces = std::mem::take(&mut self.rows);
            if self.mark.alerts < self.alerts {
                self.mark.alerts = self.alerts;
                pieces.push(Piece::Mark(self.mark.clone()));
            }
            (self.write)(pieces)?;
        }
        Ok(())
    }
}

fn piece(line: RowLine) -> Piece {
    Piece::Row {
        key: line.key.0,
        value: line.value.0,
    }
}

impl Run {
    /// The records that are not written yet.
    fn take_records(&mut self) -> Option<Piece> {
        let count =
            u32::try_from(self.next.get() - self.first.get()).expect("a pack is cut at a few MiB");
        let first = std::mem::replace(&mut self.first, self.next);
        let bytes = std::mem::take(&mut self.packed);
        (0 < count).then_some(Piece::Records {
            run: self.run,
            first,
            count,
            bytes,
            prev: self.segment,
            newest: self.newest,
        })
    }
}
