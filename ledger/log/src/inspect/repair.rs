//! Repairing: a log that is refused is written anew from everything in it that proves itself; a
//! table that is not what was written is moved aside and made anew from the log.
//!
//! What the table knows and the log has lost is written into the new log, so that no key is free
//! that was taken. What cannot be brought back is named. What is replaced is kept.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::{Code, Millis};

use super::rebuild;
use super::verify::{Finding, Report, in_the_way, verify};
use crate::exchange::{self, Progress};
use crate::fault::io_error;
use crate::files::{self, Lock, RealDisk, sync_name};
use crate::ledger::LogLedger;
use crate::open::{LOG_FOLDER, OpenOptions, TABLE_FOLDER};
use crate::settings::FORMAT;
use crate::table::TableFactory;

/// What a repair did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// In words, in order.
    pub actions: Vec<String>,
    /// What cannot be brought back, in words.
    pub lost: Vec<String>,
    /// Where what was replaced is kept.
    pub kept_in: Option<PathBuf>,
}

/// Brings back what can be brought back of the store in `folder`, which nobody may hold; only says
/// what it would do unless `apply`. Blocks.
///
/// `Missing`, `Locked` and `Version` when the store cannot be read at all; `Damaged` when nothing
/// says which store it is.
pub fn repair<F: TableFactory + Default + 'static>(
    folder: &Path,
    factory: &F,
    apply: bool,
    progress: &mut Progress<'_>,
) -> Result<Repair, LedgerError> {
    if rebuild::is_unfinished(folder)? {
        return end_unfinished::<F>(folder, apply);
    }
    nothing_in_the_way(folder)?;
    no_links(folder)?;
    let report = verify(folder, factory, progress)?;
    let plan = Plan::of(folder, &report);
    let mut repair = Repair {
        actions: plan.actions(),
        lost: report
            .findings
            .iter()
            .filter(|found| found.loses)
            .map(said)
            .collect(),
        kept_in: None,
    };
    plan.may_be_done(folder, &report)?;
    if !apply || repair.actions.is_empty() {
        return Ok(repair);
    }
    let lock = Lock::take(folder, Millis::ZERO)?;
    if plan.log {
        let store = files::read_format(&RealDisk, folder, FORMAT)?;
        let store = store.ok_or_else(|| crate::fault::damaged_at(folder, "it has no name"))?;
        let kept = keep_place(folder)?;
        let rescued = rebuild::rebuild(folder, store, Arc::new(F::default()), &kept)?;
        repair.lost.extend(rescued);
        repair.kept_in = Some(kept);
    } else if plan.table {
        let kept = keep_place(folder)?;
        make(&kept)?;
        move_into(&folder.join(TABLE_FOLDER), &kept)?;
        repair.kept_in = Some(kept);
    }
    drop(lock);
    // Opening makes the table anew, and footers; that it opens is the proof of the repair.
    let options = OpenOptions::default().unfinished_import();
    let store = LogLedger::<F>::open(folder, options)?;
    store.close()?;
    if plan.log {
        let after = verify(folder, factory, progress)?;
        let hurt = after.findings.iter().filter(|found| found.run.is_some());
        repair.lost.extend(hurt.map(said));
        let orphans = after.orphans.iter();
        repair
            .lost
            .extend(orphans.map(|run| format!("run {run}: where it stood is not known")));
    }
    let mut told = HashSet::new();
    repair.lost.retain(|lost| told.insert(lost.clone()));
    Ok(repair)
}

/// What is in the way of a store's files is put aside by nobody but a person.
fn nothing_in_the_way(folder: &Path) -> Result<(), LedgerError> {
    if let Some((path, detail)) = in_the_way(folder).into_iter().next() {
        return Err(LedgerError::Damaged {
            detail: format!("{}: {detail}", path.display()),
            way_out: "move it away, put back what was there if you have it, and repair again"
                .into(),
        });
    }
    Ok(())
}

fn has_segments(folder: &Path) -> bool {
    let entries = fs::read_dir(folder.join(LOG_FOLDER));
    let mut names = entries.into_iter().flatten().flatten();
    names.any(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "log")
    })
}

/// What is replaced is moved: of a link only the link would be.
fn no_links(folder: &Path) -> Result<(), LedgerError> {
    for name in REPLACED {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            let shown = path.display();
            return Err(LedgerError::Damaged {
                detail: format!("{shown} is a link: a repair would move it, not what it names"),
                way_out: "put what it names in its place, and repair again".to_owned(),
            });
        }
    }
    Ok(())
}

/// Ends a repair that was cut off.
fn end_unfinished<F: TableFactory + Default + 'static>(
    folder: &Path,
    apply: bool,
) -> Result<Repair, LedgerError> {
    let mut repair = Repair {
        actions: vec!["put the log in place that a former repair has written".to_owned()],
        ..Repair::default()
    };
    if apply {
        let lock = Lock::take(folder, Millis::ZERO)?;
        let store = files::read_format(&RealDisk, folder, FORMAT)?;
        let store = store.ok_or_else(|| crate::fault::damaged_at(folder, "it has no name"))?;
        let kept = keep_place(folder)?;
        rebuild::rebuild(folder, store, Arc::new(F::default()), &kept)?;
        repair.kept_in = Some(kept);
        drop(lock);
        LogLedger::<F>::open(folder, OpenOptions::default())?.close()?;
    }
    Ok(repair)
}

/// What has to be done.
#[derive(Default)]
struct Plan {
    log: bool,
    table: bool,
    again: Vec<String>,
    names_no_store: bool,
}

impl Plan {
    fn of(folder: &Path, report: &Report) -> Self {
        let mut plan = Self::default();
        for found in &report.findings {
            let file = found.file.as_deref().unwrap_or(folder);
            if file == folder.join(files::FORMAT_FILE) {
                plan.names_no_store = true;
            } else if file == folder.join(TABLE_FOLDER) {
                plan.table = true;
            } else if file == folder.join(LOG_FOLDER) {
                // An import that was cut off: no repair knows what is missing.
            } else if found.loses && found.code == Code::StoreDamaged {
                plan.log = true;
            } else if !found.loses {
                plan.again.push(found.detail.clone());
            }
        }
        plan
    }

    /// Refuses what would only put everything aside, and what no repair knows anything of.
    fn may_be_done(&self, folder: &Path, report: &Report) -> Result<(), LedgerError> {
        if self.log && report.frames == 0 && has_segments(folder) {
            return Err(LedgerError::Damaged {
                detail: format!(
                    "{}: no frame of the log proves itself as one of this store",
                    folder.display()
                ),
                way_out:
                    "FORMAT may be another store's: put back its own; or move `log` away, and \
                repair what the table knows"
                        .to_owned(),
            });
        }
        if self.names_no_store {
            return Err(crate::fault::damaged_at(
                folder,
                "nothing says which store it is, so nothing in it can be proven; import an export",
            ));
        }
        if self.actions().is_empty() && report.unfinished_import {
            return Err(exchange::refused(folder));
        }
        Ok(())
    }

    fn actions(&self) -> Vec<String> {
        let mut actions = Vec::new();
        if self.log {
            actions.push(
                "write the log anew from every frame in it that proves itself, and from what the \
                 table knows beyond that"
                    .to_owned(),
            );
        }
        if self.table || self.log {
            actions.push("make the table anew from the log".to_owned());
        }
        let again = self.again.iter();
        actions.extend(again.map(|what| format!("make again: {what}")));
        actions
    }
}

fn said(found: &Finding) -> String {
    let run = found
        .run
        .map_or_else(String::new, |run| format!("run {run} stops: "));
    format!("{run}{}", found.detail)
}

/// A folder beside what is replaced that is not there yet.
fn keep_place(folder: &Path) -> Result<PathBuf, LedgerError> {
    for n in 1..1_000 {
        let place = folder.join(format!("replaced-{n}"));
        match place.try_exists() {
            Ok(false) => return Ok(place),
            Ok(true) => {}
            Err(error) => return Err(io_error("looking for", &place, &error)),
        }
    }
    Err(LedgerError::Io {
        detail: format!("{}: too many folders of former repairs", folder.display()),
    })
}

pub(super) fn make(folder: &Path) -> Result<(), LedgerError> {
    fs::create_dir(folder)
        .and_then(|()| sync_name(folder))
        .map_err(|error| io_error("making", folder, &error))
}

/// Moves a file or folder into another folder, durably; one that is not there is no error.
pub(super) fn move_into(what: &Path, folder: &Path) -> Result<(), LedgerError> {
    let Some(name) = what.file_name() else {
        return Ok(());
    };
    let to = folder.join(name);
    match fs::rename(what, &to) {
        Ok(()) => sync_name(&to)
            .and_then(|()| sync_name(what))
            .map_err(|error| io_error("moving", what, &error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_error("moving", what, &error)),
    }
}

/// What a repair of the log replaces.
pub(super) const REPLACED: [&str; 4] = [
    LOG_FOLDER,
    TABLE_FOLDER,
    files::ACKED_FILE,
    files::OLDEST_FILE,
];
