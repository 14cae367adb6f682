//! Verifying: every file of a store is read, and everything in it has to prove itself.
//!
//! It changes nothing. What it finds it names: the file, the run when it is one, and whether
//! something is lost by it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::value::open_value;
use mainstay_types::{Code, Millis, RunId};

use super::known::Known;
use super::tables;
use crate::exchange::{self, Progress};
use crate::fault::io_error;
use crate::files::{self, Acked, AckedFile, Disk, Lock, RealDisk, StoreId};
use crate::keys;
use crate::open::{LOG_FOLDER, TABLE_FOLDER};
use crate::run_row::RunRow;
use crate::segment::{self, Entry, Frame, Hole, LogError, Missing, Records, Salvaged};
use crate::settings::FORMAT;
use crate::table::TableFactory;

/// Something that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing it is.
    pub code: Code,
    /// The file it lies in.
    pub file: Option<PathBuf>,
    /// The run it is of.
    pub run: Option<RunId>,
    /// What was found.
    pub detail: String,
    /// Whether something is lost by it; else it is made again when the store is opened, once
    /// nothing is in its way.
    pub loses: bool,
}

/// What was read, and what of it is not what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames of the log.
    pub frames: u64,
    /// Runs with records or a row.
    pub runs: u64,
    /// Records.
    pub records: u64,
    /// Rows of the table.
    pub rows: u64,
    /// Runs with records and without a row: what a cut-off import left, or a repair.
    pub orphans: Vec<RunId>,
    /// Whether an import into it was cut off.
    pub unfinished_import: bool,
    /// What is wrong, in the order it was found; at most a thousand.
    pub findings: Vec<Finding>,
}

/// What may lie in a store, and whether it is a folder.
const KINDS: [(&str, bool); 6] = [
    (files::FORMAT_FILE, false),
    (LOG_FOLDER, true),
    (TABLE_FOLDER, true),
    (files::ACKED_FILE, false),
    (files::OLDEST_FILE, false),
    (files::BALLAST_FILE, false),
];

/// More findings than this tell nothing new.
const FINDINGS_MAX: usize = 1_000;

pub(super) struct Verify {
    pub(super) report: Report,
    runs: HashMap<RunId, Known>,
    file: PathBuf,
    /// One behind which nothing was read yet.
    open_hole: Option<Hole>,
    /// An import began that has not ended.
    importing: bool,
}

/// Reads all of the store in `folder`, which nobody may hold. Blocks.
///
/// `Missing`, `Locked` and `Version` when it cannot be read at all; everything else is a finding.
pub fn verify(
    folder: &Path,
    factory: &dyn TableFactory,
    progress: &mut Progress<'_>,
) -> Result<Report, LedgerError> {
    let disk = RealDisk;
    if !crate::birth::is_store(&disk, folder)? {
        return Err(LedgerError::Missing {
            folder: folder.display().to_string(),
        });
    }
    let _lock = Lock::take(folder, Millis::ZERO)?;
    let mut verify = Verify::new();
    if verify.kinds(folder) {
        return Ok(verify.report);
    }
    let Some(store) = verify.identity(&disk, folder)? else {
        return Ok(verify.report);
    };
    (verify.report.files, verify.report.bytes) = files::under(folder)?;
    let total = verify.report.bytes;
    let last = verify.log(&disk, (folder, store), (progress, total))?;
    verify.acked(&disk, (folder, store), last)?;
    verify.footers(&disk, (folder, store))?;
    verify.table(folder, store, factory)?;
    verify.runs_are_whole();
    if verify.importing {
        verify.report.unfinished_import = true;
        let detail = format!("{}; {}", exchange::cut_off(folder), exchange::IMPORT_AGAIN);
        verify.damaged(&folder.join(crate::open::LOG_FOLDER), detail, false);
    }
    Ok(verify.report)
}

/// Files where a folder has to be, and folders or links where a file has to be: nothing that a
/// store ever wrote. Each with what to do about it.
pub(super) fn in_the_way(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder.join(LOG_FOLDER));
    let segments = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let path = entry.path();
        let is_segment = path.extension().is_some_and(|ending| ending == "log");
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        (is_segment && !is_file).then(|| {
            let detail = "it is no file of its own, where one has to be; put the file itself here";
            (path, detail.to_owned())
        })
    });
    let kinds = KINDS.into_iter().filter_map(|(name, is_folder)| {
        let path = folder.join(name);
        let found = std::fs::metadata(&path).ok()?;
        let (is, must) = match is_folder {
            true => ("a file", "a folder"),
            false => ("a folder", "a file"),
        };
        let wrong = found.is_dir() != is_folder;
        wrong.then(|| {
            let detail = format!("it is {is} where {must} has to be; move it out of the way");
            (path, detail)
        })
    });
    kinds.chain(segments).collect()
}

impl Verify {
    pub(super) fn new() -> Self {
        Self {
            report: Report::default(),
            runs: HashMap::new(),
            file: PathBuf::new(),
            open_hole: None,
            importing: false,
        }
    }

    fn find(&mut self, finding: Finding) {
        if self.report.findings.len() < FINDINGS_MAX {
            self.report.findings.push(finding);
        }
    }

    fn damaged(&mut self, file: &Path, detail: impl Into<String>, loses: bool) {
        self.find(Finding {
            code: Code::StoreDamaged,
            file: Some(file.to_owned()),
            run: None,
            detail: detail.into(),
            loses,
        });
    }

    /// Whether something is in the way of what a store has to have, so that nothing can be read.
    fn kinds(&mut self, folder: &Path) -> bool {
        let mut blocks = false;
        for (path, detail) in in_the_way(folder) {
            self.damaged(&path, detail, path.starts_with(folder.join(LOG_FOLDER)));
            // Nobody reads the ballast.
            blocks |= path != folder.join(files::BALLAST_FILE);
        }
        blocks
    }

    fn identity(&mut self, disk: &dyn Disk, folder: &Path) -> Result<Option<StoreId>, LedgerError> {
        match files::read_format(disk, folder, FORMAT) {
            Ok(Some(store)) => Ok(Some(store)),
            Ok(None) => {
                let detail = "the file that says which store this is is missing";
                self.damaged(&folder.join(files::FORMAT_FILE), detail, true);
                Ok(None)
            }
            Err(LedgerError::Damaged { detail, .. }) => {
                self.damaged(&folder.join(files::FORMAT_FILE), detail, true);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Every frame, record and row; says which frame is the last.
    pub(super) fn log(
        &mut self,
        disk: &dyn Disk,
        (folder, store): (&Path, StoreId),
        (progress, total): (&mut Progress<'_>, u64),
    ) -> Result<u64, LedgerError> {
        let mut read = 0;
        let last = segment::salvage(disk, (folder, store), &mut |salvaged| {
            match salvaged {
                Salvaged::Hole(hole) => {
                    self.hole(true);
                    self.open_hole = Some(hole);
                }
                Salvaged::Frame(frame) => {
                    self.hole(true);
                    self.file = segment::file_of(folder, frame.place.segment);
                    read += u64::from(frame.bytes());
                    progress(read, total);
                    self.frame(&frame)?;
                }
            }
            Ok(())
        })?;
        Ok(last)
    }

    /// Tells of the hole before what is read now, when there was one.
    fn hole(&mut self, loses: bool) {
        if let Some(hole) = self.open_hole.take() {
            let detail = format!("{}: {}", hole.place, hole.detail);
            self.damaged(&hole.file, detail, loses || hole.kind != Missing::Bytes);
        }
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), LogError> {
        self.report.frames += 1;
        for entry in frame.entries() {
            match entry? {
                Entry::Records(records) => self.records(&records),
                Entry::Row { key, value } => self.row(key, value),
                Entry::Closed { run, row, .. } => self.head(run, row),
                Entry::Pruned { run } => {
                    let known = self.runs.entry(run).or_default();
                    (known.gone, known.stretches) = (true, Vec::new());
                }
                Entry::Gone { key } => self.importing &= key != keys::importing(),
            }
        }
        Ok(())
    }

    fn records(&mut self, records: &Records<'_>) {
        let run = records.run;
        let mut known = self.runs.remove(&run).unwrap_or_default();
        known.gone = false;
        for (seq, bytes) in records.iter() {
            self.report.records += 1;
            if let Err(error) = known.add(run, seq, bytes) {
                known.told = true;
                self.of_run(run, &error);
            }
        }
        self.runs.insert(run, known);
    }

    fn row(&mut self, key: &[u8], value: &[u8]) {
        self.importing |= key == keys::importing();
        if keys::is_run(key)
            && let Some(run) = keys::run_at_end(key)
        {
            self.head(run, value);
        } else if let Err(error) = open_value(key, value) {
            let detail = format!("{}: {error}", keys::about(key));
            let file = self.file.clone();
            self.damaged(&file, detail, true);
        }
    }

    fn head(&mut self, run: RunId, row: &[u8]) {
        match RunRow::decode(run, row) {
            Ok(row) => {
                let known = self.runs.entry(run).or_default();
                known.head = Some(row.head);
                known.gone = false;
            }
            Err(error) => self.of_run(run, &error),
        }
    }

    fn of_run(&mut self, run: RunId, error: &LedgerError) {
        self.find(Finding {
            code: error.code(),
            file: Some(self.file.clone()),
            run: Some(run),
            detail: error.to_string(),
            loses: true,
        });
    }

    /// Runs whose records are not what their rows say.
    pub(super) fn runs_are_whole(&mut self) {
        let mut hurt: Vec<(RunId, String)> = Vec::new();
        for (run, known) in &mut self.runs {
            if known.gone || known.told {
                continue;
            }
            match known.head {
                Some(head) => hurt.extend(known.missing(*run, head).map(|what| (*run, what))),
                // What an import or a repair left of it: nobody sees it.
                None => self.report.orphans.push(*run),
            }
        }
        hurt.sort();
        self.report.orphans.sort_unstable();
        self.report.runs = self.runs.values().filter(|known| !known.gone).count() as u64;
        for (run, detail) in hurt {
            self.find(Finding {
                code: Code::CorruptChain,
                file: None,
                run: Some(run),
                detail: format!("run {run}: {detail}"),
                loses: true,
            });
        }
    }

    /// Whether everything that was acknowledged is there.
    pub(super) fn acked(
        &mut self,
        disk: &dyn Disk,
        (folder, store): (&Path, StoreId),
        last: u64,
    ) -> Result<(), LedgerError> {
        let path = folder.join(files::ACKED_FILE);
        let acked = AckedFile::open(disk, folder, store);
        match &acked {
            // What a crash left behind the end was acknowledged to nobody.
            Ok((_, Some(Acked { frame, .. }))) if *frame <= last => {
                self.open_hole = self
                    .open_hole
                    .take()
                    .filter(|hole| hole.kind != Missing::Bytes);
                self.hole(true);
            }
            _ => self.hole(true),
        }
        match acked {
            Ok((_, Some(Acked { frame, .. }))) if last < frame => {
                let detail =
                    format!("frames up to {frame} were acknowledged, the log ends with {last}");
                self.damaged(&path, detail, true);
            }
            Ok((_, Some(_))) => {}
            Ok((_, None)) => {
                let detail = "the acknowledged position does not prove itself";
                self.damaged(&path, detail, false);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.damaged(&path, "the acknowledged position is missing", false);
            }
            Err(error) => return Err(io_error("reading", &path, &error)),
        }
        Ok(())
    }

    fn footers(
        &mut self,
        disk: &dyn Disk,
        (folder, store): (&Path, StoreId),
    ) -> Result<(), LedgerError> {
        for (path, detail) in segment::bad_footers(disk, (folder, store))? {
            self.damaged(&path, detail, false);
        }
        Ok(())
    }

    fn table(
        &mut self,
        folder: &Path,
        store: StoreId,
        factory: &dyn TableFactory,
    ) -> Result<(), LedgerError> {
        match tables::check(folder, store, factory)? {
            Ok(rows) => self.report.rows = rows,
            Err(detail) => {
                let path = folder.join(crate::open::TABLE_FOLDER);
                self.damaged(&path, detail, false);
            }
        }
        Ok(())
    }
}
