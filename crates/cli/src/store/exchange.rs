//! `export` and `import`: runs as lines of text that prove themselves.

use std::fs::File;
use std::io::{self, BufWriter};

use mainstay_ledger_sled::{ExchangeError, ExportScope, Exported, Imported, LeftOut};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_socket::Failure;
use mainstay_types::Code;
use serde::Serialize;

use super::{WAIT, failed, hold, run_of};
use crate::error::CliError;
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

/// Writes runs to a file or to stdout.
pub(crate) fn export(args: &ExportArgs, output: &Output) -> Result<(), CliError> {
    let scope = match &args.run {
        Some(prefix) => ExportScope::Run(run_of(prefix, output)?),
        None => ExportScope::All,
    };
    let store = hold(output)?;
    let bar = Progress::new(output);
    let mut say = |done, total| bar.portion("exported", (done, total), "runs");
    let exported = match &args.to {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            store.export(scope, &mut out, &mut say)
        }
        Some(path) => {
            let file = File::create_new(path).map_err(|error| unusable(path, &error))?;
            let mut out = BufWriter::new(file);
            let exported = store.export(scope, &mut out, &mut say);
            let synced = out
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|file| file.sync_all());
            match (exported, synced) {
                (Ok(exported), Ok(())) => Ok(exported),
                (Ok(_), Err(error)) => Err(ExchangeError::Output(error)),
                (Err(error), _) => Err(error),
            }
            .inspect_err(|_| {
                // Half an export helps nobody, and would be in the way of the next one.
                let _ = std::fs::remove_file(path);
            })
        }
    };
    bar.clear();
    let exported = match exported {
        Err(ExchangeError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(());
        }
        exported => exported.map_err(told)?,
    };
    store.close().map_err(failed)?;
    tell_export(args, &exported, output)?;
    left_out(&exported.left_out)
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
    File::open(&args.file).map_err(|error| unusable(&args.file, &error))?;
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

fn unusable(path: &std::path::Path, error: &io::Error) -> CliError {
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
