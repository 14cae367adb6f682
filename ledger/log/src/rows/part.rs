//! One part of a request: its events as sealed records, its operations as rows.
//!
//! Nothing here is decided; the rules were checked before.

use mainstay_ledger::check::Head;
use mainstay_ledger::codec::encode_class;
use mainstay_ledger::codec::start::Start;
use mainstay_ledger::record::{self, Place};
use mainstay_ledger::{LedgerError, Op, Part};
use mainstay_machine::RunState;
use mainstay_types::{EffectKey, RunId, Seq, limits};

use crate::keys;
use crate::rows::{Settled, alerts, drive, effects, inbox, starts, waits};
use crate::run_row::RunRow;
use crate::segment::push_record;
use crate::stage::{NewRecords, NewRun, Stage};

/// Stages a part that was checked; says the run's new sequence number.
pub(crate) fn write_part(
    stage: &mut Stage<'_>,
    part: &Part,
    settled: &mut Settled,
) -> Result<Seq, LedgerError> {
    let run = part.run;
    let before = stage.run(run)?.unwrap_or_else(|| NewRun {
        row: RunRow::unborn(run),
        born: true,
        written: false,
    });
    let NewRun { mut row, born, .. } = before.clone();
    let records = seal(part, &mut row);
    for op in &part.ops {
        settled.extend(write_op(stage, (run, &mut row), op)?);
    }
    drive::write(stage, run, (before.row.drive, row.drive), born);
    expire_start(stage, &before.row, &row)?;
    let seq = row.head.seq;
    if row != before.row || born {
        stage.put_run(run, row, born);
    }
    if let Some(records) = records {
        let newest = part.events.iter().map(|stamped| stamped.at).max();
        stage.append(records, newest.expect("there are records of events"));
    }
    Ok(seq)
}

/// The records of a part's events, and the run's head after them.
fn seal(part: &Part, row: &mut RunRow) -> Option<NewRecords> {
    let first = row.head.seq.next();
    row.head.epoch = part.epoch;
    let mut bytes = Vec::with_capacity(part.events.len() * 160);
    for stamped in &part.events {
        let place = Place {
            run: part.run,
            seq: row.head.seq.next(),
            epoch: part.epoch,
            chain: row.head.chain,
        };
        let (record, chain) = record::seal(place, stamped);
        push_record(&mut bytes, &record);
        row.head = Head {
            seq: place.seq,
            epoch: part.epoch,
            chain,
        };
    }
    let count = u32::try_from(part.events.len()).expect("at most APPEND_EVENTS_MAX");
    (0 < count).then_some(NewRecords {
        run: part.run,
        first,
        count,
        prev: row.newest,
        carried: false,
        bytes,
    })
}

/// The start key of a run is kept while the run is, and for its time after the run is closed.
fn expire_start(stage: &mut Stage<'_>, before: &RunRow, after: &RunRow) -> Result<(), LedgerError> {
    let is_closed = |row: &RunRow| {
        let summary = row.summary.as_ref();
        summary.is_some_and(|summary| summary.state == RunState::Closed)
    };
    if is_closed(before) == is_closed(after) {
        return Ok(());
    }
    let Some(summary) = &after.summary else {
        return Ok(());
    };
    let memory = stage.below.settings.start_key_memory;
    let expires_at = is_closed(after)
        .then(|| summary.ended_at.map(|ended| ended + memory))
        .flatten();
    starts::expire(stage, summary, expires_at)
}

/// Stages one operation; says which key it settled, when it did.
fn write_op(
    stage: &mut Stage<'_>,
    (run, row): (RunId, &mut RunRow),
    op: &Op,
) -> Result<Option<(EffectKey, u64)>, LedgerError> {
    match op {
        Op::Summary(summary) => row.summary = Some(summary.clone()),
        Op::Drive(to) => row.drive = *to,
        Op::Effect { entry, memory, .. } => return effects::write(stage, entry, *memory),
        Op::Wait { key, version } => waits::register(stage, run, key, *version)?,
        Op::Alert(alert) => alerts::write(stage, alert)?,
        Op::StartKey { tenant, key, input } => {
            let (tenant, start_key) = (tenant.clone(), key.clone());
            let start = Start {
                tenant,
                start_key,
                run,
                input: *input,
            };
            starts::write(stage, start);
        }
        Op::Class(class) => {
            let key = keys::class(&class.name, class.version);
            // Stored with its first run and never again.
            if !stage.holds_class(&key)? {
                stage.put(key.clone(), encode_class(&key, class));
            }
        }
        Op::InboxAck(message) => inbox::take(stage, (run, row), *message)?,
    }
    Ok(None)
}

const _: () = assert!(limits::APPEND_EVENTS_MAX <= u32::MAX as usize);
