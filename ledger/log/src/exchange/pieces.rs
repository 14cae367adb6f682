//! What an import writes, a bounded handful at a time, through the one committer.
//!
//! Records of a large run go ahead of its row: without the row nobody sees them, so that a run
//! appears as a whole or not at all.

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::DecodeError;
use mainstay_types::{RunId, Seq, Timestamp};

use super::Unfinished;
use crate::fault;
use crate::keys::{self, Key};
use crate::rows::effects::EffectRow;
use crate::rows::starts::StartRow;
use crate::rows::{alerts, expiry};
use crate::run_row::RunRow;
use crate::segment::SegmentNo;
use crate::stage::{NewRecords, Stage};

/// Something that is written.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Records of a run, before its row or with it.
    Records {
        run: RunId,
        first: Seq,
        count: u32,
        bytes: Vec<u8>,
        /// The segment of those before.
        prev: SegmentNo,
        newest: Timestamp,
    },
    /// A run's row; its last records come with it.
    Run { run: RunId, row: Box<RunRow> },
    /// A row as it was.
    Row { key: Key, value: Vec<u8> },
    /// How far the import is.
    Mark(Unfinished),
    /// All of it is there.
    Ended,
}

/// Stages the pieces; says how many.
pub(crate) fn stage(stage: &mut Stage<'_>, pieces: &[Piece]) -> Result<u64, LedgerError> {
    // A run's row first: records beside it say that its newest segment is the one they get.
    for piece in pieces {
        if let Piece::Run { run, row } = piece {
            stage.put_run(*run, RunRow::clone(row), true);
        }
    }
    for piece in pieces {
        match piece {
            Piece::Run { .. } => {}
            Piece::Records {
                run,
                first,
                count,
                bytes,
                prev,
                newest,
            } => stage.import(
                NewRecords {
                    run: *run,
                    first: *first,
                    count: *count,
                    prev: *prev,
                    carried: false,
                    bytes: bytes.clone(),
                },
                *newest,
            ),
            Piece::Row { key, value } => row(stage, key, value)?,
            Piece::Mark(mark) => mark.stage(stage),
            Piece::Ended => stage.remove(keys::importing()),
        }
    }
    Ok(pieces.len() as u64)
}

fn row(stage: &mut Stage<'_>, key: &Key, value: &[u8]) -> Result<(), LedgerError> {
    if keys::is_alert(key) {
        // Numbers of alerts belong to the store they are in.
        return alerts::import(stage, key, value);
    }
    let error = |error: DecodeError| fault::of_store("an imported row", &error);
    let due = if keys::is_effect(key) {
        EffectRow::decode(key, value).map_err(error)?.expires_at
    } else if keys::is_start(key) {
        StartRow::decode(key, value).map_err(error)?.expires_at
    } else {
        None
    };
    expiry::replace(stage, key, None, due);
    stage.put(key.clone(), value.to_vec());
    Ok(())
}
