//! What erasing a run means, entry by entry: what goes, what stays without its contents.
//!
//! Keys of effects stay, so that a later run does not do them again; what a receiver answered goes.
//! Alerts stay: they name the run, its class and a code, and nothing that was said in it.

use std::collections::HashSet;

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::value::seal_value;
use mainstay_machine::EntryState;
use mainstay_types::{Payload, RunId};

use crate::fault;
use crate::keys::{self, Key};
use crate::maintain::Erasure;
use crate::rows::effects::EffectRow;
use crate::rows::expiry;
use crate::rows::starts::StartRow;
use crate::segment::{Entry, Records, Verdict};
use crate::stage::Stage;

/// What stands for a result that was erased.
const ERASED: &[u8] = br#"{"erased":true}"#;

/// The row without what the receiver answered.
pub(crate) fn scrubbed(row: EffectRow) -> EffectRow {
    let mut row = row;
    if let EntryState::Applied(result) = &mut row.entry.state {
        *result = Payload::new(ERASED);
        row.version += 1;
    }
    row
}

/// Stages that a run goes, and that its traces in older files have to go.
pub(crate) fn erase(
    stage: &mut Stage<'_>,
    erasure: &Erasure,
    (effects, start): (&[Key], Option<&Key>),
) -> Result<u64, LedgerError> {
    let run = erasure.run;
    let found = stage.run(run)?.filter(|_| !stage.is_touched(run));
    let Some(found) = found else {
        let detail = format!("run {run} moved while it was to be erased; ask again");
        return Err(LedgerError::Io { detail });
    };
    if !found.row.rests() {
        // Open and unreadable: nobody drives it, and no archive has its row.
        for prefix in keys::rows_of_run(run, found.row.drive) {
            for key in stage.keys_of(&prefix)? {
                stage.remove(key);
            }
        }
        stage.remove(keys::run(run));
    }
    let error = |error| fault::of_store("a row of an erased run", &error);
    for key in effects {
        if let Some(value) = stage.value(key)? {
            let row = scrubbed(EffectRow::decode(key, &value).map_err(error)?);
            stage.put(key.clone(), row.encode(key));
        }
    }
    if let Some(key) = start
        && let Some(value) = stage.value(key)?
    {
        let row = StartRow::decode(key, &value).map_err(error)?;
        if row.start.run == run {
            expiry::replace(stage, key, row.expires_at, None);
            stage.remove(key.clone());
        }
    }
    for key in stage.keys_of(&keys::messages_of(run))? {
        stage.remove(key);
    }
    stage.prune(run);
    let key = keys::erasing(run);
    stage.put(key.clone(), seal_value(&key, &[]));
    let key = keys::erased(run);
    stage.put(key.clone(), seal_value(&key, &erasure.encode()));
    Ok(1)
}

/// Whether an entry of the log belongs to one of these runs and has to go.
pub(crate) fn condemned(runs: &HashSet<RunId>, entry: &Entry<'_>) -> Verdict {
    let goes = match entry {
        Entry::Records(Records { run, .. }) | Entry::Closed { run, .. } => runs.contains(run),
        // That they are gone has to stay said.
        Entry::Pruned { .. } | Entry::Gone { .. } => false,
        Entry::Row { key, value } => row_goes(runs, key, value),
    };
    if goes { Verdict::Erase } else { Verdict::Keep }
}

fn row_goes(runs: &HashSet<RunId>, key: &[u8], value: &[u8]) -> bool {
    if keys::is_effect(key) {
        return EffectRow::decode(key, value).is_ok_and(|row| {
            let whole = match &row.entry.state {
                EntryState::Applied(result) => result.as_bytes() != ERASED,
                EntryState::Open
                | EntryState::InDoubt
                | EntryState::PartlyApplied
                | EntryState::NotApplied
                | EntryState::Compensated => false,
            };
            whole && runs.contains(&row.entry.run)
        });
    }
    if keys::is_start(key) {
        return StartRow::decode(key, value).is_ok_and(|row| runs.contains(&row.start.run));
    }
    let of = match keys::is_run(key) {
        true => keys::run_at_end(key),
        false => keys::run_of_row(key),
    };
    of.is_some_and(|run| runs.contains(&run))
}
