//! A group as it is written: one frame for the log, and the rows that change for everyone else.
//!
//! Rows of runs are encoded here, once for all requests of the group, because only here it is known
//! which segment the frame lies in.

use std::sync::Arc;

use mainstay_ledger::codec::value::seal_value;
use mainstay_types::{RunId, Timestamp};

use crate::keys;
use crate::run_row::RunRow;
use crate::segment::{Entry, FrameBuilder, Records, SegmentNo};
use crate::settings::Settings;
use crate::stage::{Layer, NewRow, NewRun};
use crate::standing::Change;

/// What a group changes beside the log.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Rows, for the overlay.
    pub(crate) rows: Vec<Change>,
    /// Runs that are remembered.
    pub(crate) open: Vec<(RunId, Arc<RunRow>)>,
    /// Runs that are forgotten, because they rest in the archive or are gone.
    pub(crate) gone: Vec<RunId>,
}

/// Puts `kept` into `frame`, which will lie in `segment`.
pub(crate) fn write(
    frame: &mut FrameBuilder,
    segment: SegmentNo,
    kept: &mut Layer,
    settings: &Settings,
) -> Changes {
    let mut changes = Changes::default();
    for records in &kept.records {
        frame.push(&Entry::Records(Records {
            run: records.run,
            first: records.first,
            count: records.count,
            prev: Some(records.prev).filter(|prev| *prev != SegmentNo(0)),
            carried: records.carried,
            bytes: &records.bytes,
        }));
    }
    for run in &kept.pruned {
        frame.push(&Entry::Pruned { run: *run });
        changes.gone.push(*run);
    }
    if let Some(newest) = kept.newest {
        let key = keys::newest_time();
        let value = seal_value(&key, &newest.as_millis().to_le_bytes());
        kept.rows.insert(
            key,
            NewRow {
                value: Some(value.into()),
                fresh: false,
            },
        );
    }
    let runs = std::mem::take(&mut kept.runs);
    for (run, new) in runs {
        write_run(frame, (segment, settings), (run, new), &mut changes);
    }
    for (key, row) in std::mem::take(&mut kept.rows) {
        match &row.value {
            Some(value) => frame.push(&Entry::Row { key: &key, value }),
            None => frame.push(&Entry::Gone { key: &key }),
        }
        changes.rows.push(Change {
            key,
            value: row.value,
            fresh: row.fresh,
        });
    }
    changes
}

fn write_run(
    frame: &mut FrameBuilder,
    (segment, settings): (SegmentNo, &Settings),
    (run, new): (RunId, NewRun),
    changes: &mut Changes,
) {
    let NewRun {
        mut row,
        born,
        written,
    } = new;
    if written {
        row.newest = segment;
    }
    let value = row.encode(run);
    let key = keys::run(run);
    if row.rests() {
        frame.push(&Entry::Closed {
            run,
            expires_at: expires_at(&row, settings),
            row: &value,
        });
        changes.gone.push(run);
        // One that came and went within the group leaves no trace below.
        if !born {
            changes.rows.push(Change {
                key,
                value: None,
                fresh: false,
            });
        }
        return;
    }
    frame.push(&Entry::Row {
        key: &key,
        value: &value,
    });
    changes.rows.push(Change {
        key,
        value: Some(value.into()),
        fresh: born,
    });
    changes.open.push((run, Arc::new(row)));
}

/// From when on a closed run may be forgotten.
fn expires_at(row: &RunRow, settings: &Settings) -> Timestamp {
    let summary = row.summary.as_ref();
    let ended = summary.and_then(|summary| summary.ended_at.or(Some(summary.started_at)));
    ended.map_or(Timestamp::from_millis(i64::MAX), |ended| {
        ended + settings.run_memory
    })
}
