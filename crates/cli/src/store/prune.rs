//! `prune`: what has expired, or has ended long enough ago, goes.

use serde::Serialize;

use super::{failed, hold, now};
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::store::PruneArgs;

#[derive(Serialize)]
struct View {
    runs: u64,
    keys: u64,
    segments: u64,
    bytes: u64,
}

/// Takes closed runs and expired keys out of the store.
pub(crate) fn prune(args: &PruneArgs, output: &Output) -> Result<(), CliError> {
    let store = hold(output)?;
    let bar = Progress::new(output);
    let pruned = store.prune(args.keep, now(), &mut |done, total| {
        bar.portion("pruned", (done, total), "runs");
    });
    bar.clear();
    let pruned = pruned.map_err(failed)?;
    store.close().map_err(failed)?;
    let view = View {
        runs: pruned.runs,
        keys: pruned.keys,
        segments: pruned.segments,
        bytes: pruned.bytes,
    };
    match output.json {
        true => output.print_json(&view),
        false => output.print(&format!(
            "pruned {} runs and {} keys; {} segments of the log, {} bytes, are free",
            view.runs, view.keys, view.segments, view.bytes
        )),
    }
}
