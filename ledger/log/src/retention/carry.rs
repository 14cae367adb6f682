//! What lives in an old segment, written forward so that the segment can go.
//!
//! A copy is never taken for something new: a row is written only while it is still the one that
//! stands, and a run's records keep their numbers, epochs and chain.

use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::RunId;

use crate::keys::Key;
use crate::segment::Pack;
use crate::stage::{NewRecords, NewRun, Stage};

/// Stages rows again that still stand as they lie in an old segment.
pub(crate) fn rows(stage: &mut Stage<'_>, rows: &[(Key, Arc<[u8]>)]) -> Result<u64, LedgerError> {
    let mut carried = 0;
    for (key, value) in rows {
        if stage.value(key)?.as_ref() == Some(value) {
            stage.put(key.clone(), value.to_vec());
            carried += 1;
        }
    }
    Ok(carried)
}

/// Stages records of a run again, and where the run stands, so that they are looked for here first
/// and in its later segments after that.
pub(crate) fn run(stage: &mut Stage<'_>, run: RunId, packs: &[Pack]) -> Result<u64, LedgerError> {
    let Some(NewRun { row, born, .. }) = stage.run(run)? else {
        return Ok(0);
    };
    let prev = row.newest;
    stage.put_run(run, row, born);
    for pack in packs {
        stage.carry(NewRecords {
            run,
            first: pack.first,
            count: pack.count,
            prev,
            carried: true,
            bytes: pack.bytes.to_vec(),
        });
    }
    Ok(packs.len() as u64)
}
