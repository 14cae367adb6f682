//! `erase`: everything of one run goes, also from files written long ago.

use mainstay_ledger_sled::{EraseError, Erasure};
use mainstay_socket::Failure;
use mainstay_types::Code;
use serde::Serialize;

use super::{failed, hold, now, run_of};
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::store::EraseArgs;

#[derive(Serialize)]
struct View {
    run_id: String,
    by: String,
    why: String,
    segments: u64,
    keys_kept: u64,
}

/// Takes everything of a run out of every file of the store.
pub(crate) fn erase(args: &EraseArgs, output: &Output) -> Result<(), CliError> {
    let run = run_of(&args.run, output)?;
    let store = hold(output)?;
    let erasure = Erasure {
        run,
        by: args.by.clone(),
        why: args.why.clone(),
        at: now(),
    };
    let bar = Progress::new(output);
    let erased = store.erase(&erasure, &mut |done, total| {
        bar.portion("looked through", (done, total), "segments");
    });
    bar.clear();
    let (store, erased) = erased.map_err(|error| match error {
        EraseError::Store(error) => failed(error),
        EraseError::Unknown => args.run.unknown(output),
        EraseError::Open => Failure::new(Code::RunOpen, format!("run {run} is not closed")).into(),
        EraseError::Pending => Failure::new(
            Code::StoreFull,
            format!(
                "run {run} is gone from all that is shown, and older files still hold it for want \
                 of room; opening the store with room ends it"
            ),
        )
        .into(),
        EraseError::InDoubt { key } => Failure::new(
            Code::EffectInDoubt,
            format!("nobody knows yet what became of effect {key} of run {run}"),
        )
        .into(),
    })?;
    store.close().map_err(failed)?;
    let view = View {
        run_id: run.to_string(),
        by: erasure.by,
        why: erasure.why,
        segments: erased.segments,
        keys_kept: erased.keys_kept,
    };
    match output.json {
        true => output.print_json(&view),
        false => output.print(&format!(
            "run {run} is erased, by {}: {}; {} segments were written again, {} effect keys stay \
             without their results",
            view.by, view.why, view.segments, view.keys_kept
        )),
    }
}
