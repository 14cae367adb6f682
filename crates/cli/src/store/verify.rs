//! `verify`: whether every file of the store is what was written.

use mainstay_ledger_sled::{Finding, SledFactory, verify as verify_store};
use mainstay_types::Code;
use serde::Serialize;

use super::failed;
use crate::error::CliError;
use crate::operator::is_folder;
use crate::output::Output;
use crate::progress::Progress;

#[derive(Serialize)]
struct View {
    ok: bool,
    files: u64,
    bytes: u64,
    frames: u64,
    runs: u64,
    records: u64,
    rows: u64,
    findings: Vec<FindingView>,
}

#[derive(Serialize)]
struct FindingView {
    code: &'static str,
    file: Option<String>,
    run_id: Option<String>,
    detail: String,
    loses: bool,
}

/// Reads everything, changes nothing.
pub(crate) fn verify(output: &Output) -> Result<(), CliError> {
    is_folder(&output.store)?;
    let bar = Progress::new(output);
    let report = verify_store(&output.store, &SledFactory, &mut |done, total| {
        bar.portion("read", (done, total), "bytes");
    });
    bar.clear();
    let report = report.map_err(failed)?;
    let view = View {
        ok: report.findings.is_empty(),
        files: report.files,
        bytes: report.bytes,
        frames: report.frames,
        runs: report.runs,
        records: report.records,
        rows: report.rows,
        findings: report.findings.iter().map(finding).collect(),
    };
    match output.json {
        true => output.print_json(&view)?,
        false => output.print(&text(&view))?,
    }
    match report.findings.first() {
        None => Ok(()),
        Some(first) => Err(hurt(report.findings.len(), first)),
    }
}

fn finding(found: &Finding) -> FindingView {
    FindingView {
        code: found.code.as_str(),
        file: found.file.as_ref().map(|file| file.display().to_string()),
        run_id: found.run.map(|run| run.to_string()),
        detail: found.detail.clone(),
        loses: found.loses,
    }
}

fn text(view: &View) -> String {
    let mut out = format!(
        "{} files, {} bytes: {} frames, {} runs with {} records, {} rows\n",
        view.files, view.bytes, view.frames, view.runs, view.records, view.rows
    );
    for found in &view.findings {
        let file = found.file.as_deref().unwrap_or("-");
        let run = found.run_id.as_deref().unwrap_or("-");
        out.push_str(&format!(
            "{}  {file}  run {run}  {}\n",
            found.code, found.detail
        ));
    }
    if view.ok {
        out.push_str("everything is what was written\n");
    }
    out
}

fn hurt(count: usize, first: &Finding) -> CliError {
    let code = match first.run {
        Some(_) => Code::CorruptRecord,
        None => Code::StoreDamaged,
    };
    let mut error = CliError::new(
        code,
        format!(
            "{count} things are not what was written, the first: {}",
            first.detail
        ),
        "copy the whole folder first; `repair` says what it can bring back",
    );
    error.exit = crate::error::Exit::Corrupt;
    error
}
