//! `export` and `import`: runs as lines of text that prove themselves.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, BufWriter};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use mainstay_ledger_sled::{ExchangeError, ExportScope, Exported, Imported, LeftOut};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_socket::Failure;
use mainstay_types::Code;
use serde::Serialize;

use super::{WAIT, failed, hold, run_of};
use crate::error::CliError;
use crate::operator::is_folder;
use crate::output::Output;
use crate::progress::Progress;
use crate::store::{ExportArgs, ImportArgs};

#[derive(Serialize)]
struct ExportView<'a> {
    runs: u64,
    events: u64,
    lines: u64,
    bytes: u64,
    left_out: &'a [LeftOut],
}

#[derive(Serialize)]
struct ImportView<'a> {
    runs: u64,
    events: u64,
    rows: u64,
    left_out: &'a [LeftOut],
}

/// Hears how far it is: so many of so many.
type Say<'a> = dyn FnMut(u64, u64) + 'a;

/// Writes runs to a file or to stdout.
///
/// A reader of stdout that goes away early is an error, unlike everywhere else: what it has read is
/// half a backup, which must not look like a whole one.
pub(crate) fn export(args: &ExportArgs, output: &Output) -> Result<(), CliError> {
    if let Some(path) = &args.to {
        beside_the_store(path, output)?;
    }
    let scope = match &args.run {
        Some(prefix) => ExportScope::Run(run_of(prefix, output)?),
        None => ExportScope::All,
    };
    let store = hold(output)?;
    let bar = Progress::new(output);
    let mut say = |done, total| bar.portion("exported", (done, total), "runs");
    let exported = match &args.to {
        None => to_stdout(&store, scope, &mut say),
        Some(path) => to_file(&store, scope, path, &mut say),
    };
    bar.clear();
    let exported = exported?;
    store.close().map_err(failed)?;
    tell_export(args, &exported, output)?;
    left_out(&exported.left_out)
}

fn to_stdout(
    store: &SledLedger,
    scope: ExportScope,
    say: &mut Say<'_>,
) -> Result<Exported, CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    let exported = store.export(scope, &mut out, say);
    exported.map_err(|error| match error {
        ExchangeError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => cut_off(),
        error @ (ExchangeError::Store(_)
        | ExchangeError::Output(_)
        | ExchangeError::Line { .. }
        | ExchangeError::Conflict { .. }
        | ExchangeError::Unknown { .. }) => told(error),
    })
}

/// Writes a new file; there is none afterwards when it could not be written to its end.
fn to_file(
    store: &SledLedger,
    scope: ExportScope,
    path: &Path,
    say: &mut Say<'_>,
) -> Result<Exported, CliError> {
    let file = File::create_new(path).map_err(|error| unusable(path, &error))?;
    let mut out = BufWriter::new(file);
    let exported = store.export(scope, &mut out, say);
    let synced = out
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .and_then(|file| file.sync_all());
    let exported = match (exported, synced) {
        (Ok(exported), Ok(())) => Ok(exported),
        (Ok(_), Err(error)) => Err(ExchangeError::Output(error)),
        (Err(error), _) => Err(error),
    };
    exported.map_err(|error| {
        // Half an export helps nobody, and would be in the way of the next one.
        let _ = fs::remove_file(path);
        told(error)
    })
}

/// `EXPORT_IO` when the file would lie in the store's own folder or below it, whatever links lead
/// there: among the store's own files, one that is none of them keeps it from opening.
fn beside_the_store(path: &Path, output: &Output) -> Result<(), CliError> {
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    };
    // What is not there, opening the store or making the file says in its own words.
    let (Ok(store), Ok(parent)) = (fs::metadata(&output.store), fs::canonicalize(parent)) else {
        return Ok(());
    };
    let is_store = |folder: &Path| {
        let is_same = |found: Metadata| (found.dev(), found.ino()) == (store.dev(), store.ino());
        fs::metadata(folder).is_ok_and(is_same)
    };
    if !parent.ancestors().any(is_store) {
        return Ok(());
    }
    let message = format!(
        "{}: that is in the store's own folder, {}",
        path.display(),
        output.store.display()
    );
    let hint = "write it elsewhere, best on another disk: only the store's own files may lie in its \
                folder";
    Err(CliError::new(Code::ExportIo, message, hint))
}

fn cut_off() -> CliError {
    CliError::new(
        Code::ExportIo,
        "whoever read stdout went away before the end: what it has is no whole export",
        "export again, to a reader that reads to the end, or with --to",
    )
}

fn tell_export(args: &ExportArgs, exported: &Exported, output: &Output) -> Result<(), CliError> {
    let said = format!(
        "exported {} runs, {} events, {} bytes",
        exported.runs, exported.events, exported.bytes
    );
    match (&args.to, output.json) {
        (None, _) => {
            output.note(&said);
            Ok(())
        }
        (Some(_), false) => output.print(&said),
        (Some(_), true) => output.print_json(&ExportView {
            runs: exported.runs,
            events: exported.events,
            lines: exported.lines,
            bytes: exported.bytes,
            left_out: &exported.left_out,
        }),
    }
}

/// What could not be read is no success, though all else is there.
fn left_out(runs: &[LeftOut]) -> Result<(), CliError> {
    let Some(first) = runs.first() else {
        return Ok(());
    };
    Err(CliError::new(
        Code::CorruptRecord,
        format!(
            "{} runs could not be read and are not in it, the first: {}: {}",
            runs.len(),
            first.run,
            first.why
        ),
        "everything else was exported; the last line names them all",
    ))
}

/// Reads runs from a file into a store, which is made when there is none.
pub(crate) fn import(args: &ImportArgs, output: &Output) -> Result<(), CliError> {
    regular(&args.file)?;
    is_folder(&output.store)?;
    let options = OpenOptions::creating().wait(WAIT).unfinished_import();
    let store = SledLedger::open(&output.store, options).map_err(failed)?;
    let bar = Progress::new(output);
    let imported = store.import(&args.file, &mut |done, total| {
        bar.portion("read", (done, total), "bytes");
    });
    bar.clear();
    let imported = imported.map_err(told)?;
    store.close().map_err(failed)?;
    tell_import(&imported, output)
}

fn tell_import(imported: &Imported, output: &Output) -> Result<(), CliError> {
    if output.json {
        return output.print_json(&ImportView {
            runs: imported.runs,
            events: imported.events,
            rows: imported.rows,
            left_out: &imported.left_out,
        });
    }
    output.print(&format!(
        "imported {} runs, {} events, {} rows beside them",
        imported.runs, imported.events, imported.rows
    ))?;
    for run in &imported.left_out {
        output.note(&format!("not in the export: {}: {}", run.run, run.why));
    }
    Ok(())
}

/// `EXPORT_IO` unless it is a regular file that can be read: an import reads it twice, to prove all
/// of it before anything is written. Nothing is opened that would wait for a writer.
fn regular(path: &Path) -> Result<(), CliError> {
    let found = fs::metadata(path).map_err(|error| unusable(path, &error))?;
    if found.is_file() {
        return File::open(path)
            .map(drop)
            .map_err(|error| unusable(path, &error));
    }
    let message = format!(
        "{}: it is {}; an import reads its file twice, so it has to be a regular file",
        path.display(),
        kind(found.file_type())
    );
    let hint = "write what comes to a file first, and import that";
    Err(CliError::new(Code::ExportIo, message, hint))
}

fn kind(found: FileType) -> &'static str {
    match found {
        found if found.is_dir() => "a folder",
        found if found.is_fifo() => "a pipe",
        found if found.is_socket() => "a socket",
        found if found.is_char_device() || found.is_block_device() => "a device",
        _ => "something else",
    }
}

fn unusable(path: &Path, error: &io::Error) -> CliError {
    let mut failure = Failure::new(Code::ExportIo, format!("{}: {error}", path.display()));
    if error.kind() == io::ErrorKind::AlreadyExists {
        "an export never replaces a file; choose another name".clone_into(&mut failure.hint);
    }
    failure.into()
}

fn told(error: ExchangeError) -> CliError {
    match error {
        ExchangeError::Store(error) => failed(error),
        error @ (ExchangeError::Output(_)
        | ExchangeError::Line { .. }
        | ExchangeError::Conflict { .. }
        | ExchangeError::Unknown { .. }) => {
            let code = error.code();
            let words = error.to_string();
            let words = words.strip_prefix(code.as_str()).unwrap_or(&words);
            Failure::new(code, words.trim_start_matches(": ")).into()
        }
    }
}
