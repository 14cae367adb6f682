//! What a request becomes in sled: which keys change when a part or a command is written.
//!
//! Everything here is staged, nothing is written; a request that reaches this file was checked.

use mainstay_ledger::check::{Head, View};
use mainstay_ledger::codec::{self, start::Start};
use mainstay_ledger::record::{self, Chain, Place};
use mainstay_ledger::wait::is_settled;
use mainstay_ledger::{LedgerError, Op, Part};
use mainstay_machine::EffectEntry;
use mainstay_types::{EffectKey, Epoch, RunId, Seq, limits};

use crate::fields::{COUNT_BYTES, Fields, push_counted};
use crate::keys::{self, Key};
use crate::pieces::Broken;
use crate::stage::Stage;
use crate::{alerts, drive, fault, inbox, waits};

/// Records of one append that share a value: two pieces full. Beyond: the next value.
const PACK_BYTES_MAX: usize = 2 * limits::PIECE_BYTES_MAX;

/// Effect keys that a request settled, with the version they have by it.
pub(crate) type Settled = Vec<(EffectKey, u64)>;

/// Stages a part that was checked; says the run's new sequence number.
pub(crate) fn write_part(
    stage: &mut Stage<'_>,
    part: &Part,
    settled: &mut Settled,
) -> Result<Seq, LedgerError> {
    let run = part.run;
    let before = stage.head(run)?.unwrap_or(Head {
        seq: Seq(0),
        epoch: Epoch(0),
        chain: Chain::start(run),
    });
    let head = write_records(stage, part, before);
    if head != before {
        stage.set_head(run, head);
    }
    for op in &part.ops {
        settled.extend(write_op(stage, run, op)?);
    }
    Ok(head.seq)
}

/// The records of a part go into few values; a large one has a value of its own.
fn write_records(stage: &mut Stage<'_>, part: &Part, before: Head) -> Head {
    let run = part.run;
    let mut head = Head {
        epoch: part.epoch,
        ..before
    };
    let mut pack = Vec::new();
    let mut first = before.seq.next();
    for stamped in &part.events {
        let seq = head.seq.next();
        let place = Place {
            run,
            seq,
            epoch: part.epoch,
            chain: head.chain,
        };
        let (record, chain) = record::seal(place, stamped);
        if !pack.is_empty() && PACK_BYTES_MAX < pack.len() + COUNT_BYTES + record.len() {
            stage.put(keys::records(run, first), &std::mem::take(&mut pack));
            first = seq;
        }
        push_counted(&mut pack, &record);
        head = Head {
            seq,
            epoch: part.epoch,
            chain,
        };
    }
    if !pack.is_empty() {
        stage.put(keys::records(run, first), &pack);
        stage.count_append(part.events.iter().map(|stamped| stamped.at).max());
    }
    head
}

/// The records in a value made by [`write_part`]; each proves itself, their frame does not.
pub(crate) fn records_in(pack: &[u8]) -> Result<Vec<&[u8]>, Broken> {
    let mut fields = Fields(pack);
    let mut records = Vec::new();
    while !fields.is_empty() {
        let record = fields.counted();
        records.push(record.ok_or_else(|| Broken::bytes("a value of records is cut short"))?);
    }
    Ok(records)
}

/// Stages one operation; says which key it settled, when it did.
fn write_op(
    stage: &mut Stage<'_>,
    run: RunId,
    op: &Op,
) -> Result<Option<(EffectKey, u64)>, LedgerError> {
    match op {
        Op::Summary(summary) => {
            let key = keys::summary(run);
            stage.put(key.clone(), &codec::encode_summary(&key, summary));
        }
        Op::Drive(to) => drive::write(stage, run, *to)?,
        Op::Effect(entry) => return write_effect(stage, entry),
        Op::Wait { key, version } => waits::register(stage, run, key, *version)?,
        Op::Alert(alert) => alerts::write(stage, alert)?,
        Op::StartKey { tenant, key, input } => {
            let start = Start {
                tenant: tenant.clone(),
                start_key: key.clone(),
                run,
                input: *input,
            };
            write_start(stage, &start);
        }
        Op::Class(class) => {
            let key = keys::class(&class.name, class.version);
            write_class(stage, key, |key| codec::encode_class(key, class))?;
        }
        Op::InboxAck(message) => inbox::take(stage, run, *message)?,
    }
    Ok(None)
}

fn write_effect(
    stage: &mut Stage<'_>,
    entry: &EffectEntry,
) -> Result<Option<(EffectKey, u64)>, LedgerError> {
    let key = keys::effect(&entry.key);
    let version = stage.effect(&entry.key)?.map_or(0, |(_, version)| version);
    let version = version.saturating_add(1);
    let replaced = stage.replace(key.clone(), &codec::encode_entry(&key, entry, version));
    replaced.map_err(|broken| fault::of_store("an effect entry", broken))?;
    Ok(is_settled(&entry.state).then(|| (entry.key.clone(), version)))
}

fn write_start(stage: &mut Stage<'_>, start: &Start) {
    let key = keys::start(&start.tenant, &start.start_key);
    stage.put(key.clone(), &codec::encode_start(&key, start));
}

/// A class is stored with its first run and never again.
fn write_class(
    stage: &mut Stage<'_>,
    key: Key,
    encode: impl FnOnce(&[u8]) -> Vec<u8>,
) -> Result<(), LedgerError> {
    if !stage
        .holds(&key)
        .map_err(|broken| fault::of_store("a class", broken))?
    {
        let value = encode(&key);
        stage.put(key, &value);
    }
    Ok(())
}
