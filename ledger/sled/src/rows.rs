//! What a request becomes in sled: which keys change when a part or a command is written.
//!
//! Everything here is staged, nothing is written; a request that reaches this file was checked.

use mainstay_ledger::check::{Head, View};
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::codec::{self, start::Start};
use mainstay_ledger::record::{self, Chain, Place};
use mainstay_ledger::{Enqueued, InboxMessage, LedgerError, Op, Part};
use mainstay_machine::EffectEntry;
use mainstay_types::{Epoch, MessageId, RunId, Seq, limits};

use crate::fault;
use crate::fields::{COUNT_BYTES, Fields, push_counted};
use crate::keys::{self, Key};
use crate::pieces::Broken;
use crate::stage::Stage;

/// Records of one append that share a value: two pieces full. Beyond: the next value.
const PACK_BYTES_MAX: usize = 2 * limits::PIECE_BYTES_MAX;

/// Stages a part that was checked; says the run's new sequence number.
pub(crate) fn write_part(stage: &mut Stage<'_>, part: &Part) -> Result<Seq, LedgerError> {
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
        write_op(stage, run, op)?;
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

fn write_op(stage: &mut Stage<'_>, run: RunId, op: &Op) -> Result<(), LedgerError> {
    match op {
        Op::Summary(summary) => {
            let key = keys::summary(run);
            stage.put(key.clone(), &codec::encode_summary(&key, summary));
            Ok(())
        }
        Op::Driven(driven) => {
            write_driven(stage, run, *driven);
            Ok(())
        }
        Op::Effect(entry) => write_effect(stage, entry),
        Op::StartKey { tenant, key, input } => {
            let (tenant, start_key) = (tenant.clone(), key.clone());
            write_start(
                stage,
                &Start {
                    tenant,
                    start_key,
                    run,
                    input: *input,
                },
            );
            Ok(())
        }
        Op::Class(class) => {
            let key = keys::class(&class.name, class.version);
            write_class(stage, key, |key| codec::encode_class(key, class))
        }
        Op::InboxAck(message) => {
            take(stage, run, *message).map_err(|broken| inbox_fault(run, broken))
        }
    }
}

fn write_driven(stage: &mut Stage<'_>, run: RunId, driven: bool) {
    let key = keys::driven(run);
    match driven {
        true => stage.put(key.clone(), &seal_value(&key, &[])),
        false => stage.remove(key),
    }
}

fn write_effect(stage: &mut Stage<'_>, entry: &EffectEntry) -> Result<(), LedgerError> {
    let key = keys::effect(&entry.key);
    let version = stage.effect(&entry.key)?.map_or(0, |(_, version)| version);
    let value = codec::encode_entry(&key, entry, version.saturating_add(1));
    let replaced = stage.replace(key, &value);
    replaced.map_err(|broken| fault::of_store("an effect entry", broken))
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

/// Stages a command from outside, unless it is known or its run has no room or does not exist.
pub(crate) fn enqueue(
    stage: &mut Stage<'_>,
    run: RunId,
    message: &InboxMessage,
) -> Result<Enqueued, LedgerError> {
    if stage.head(run)?.is_none() {
        return Err(LedgerError::RunUnknown { run });
    }
    let fault = |broken| inbox_fault(run, broken);
    if stage
        .holds(&keys::message(run, message.id))
        .map_err(fault)?
    {
        return Ok(Enqueued::Known);
    }
    let count = read_count(stage, run).map_err(fault)?;
    let waiting = usize::try_from(count.waiting).unwrap_or(usize::MAX);
    if limits::INBOX_COMMANDS_MAX <= waiting {
        return Err(LedgerError::InboxFull { run, waiting });
    }
    let place = keys::inbox(run, count.arrived);
    stage.put(place.clone(), &codec::encode_message(&place, message));
    write_message(stage, run, message.id, Message::Waits(count.arrived));
    write_count(
        stage,
        run,
        Count {
            arrived: count.arrived + 1,
            waiting: count.waiting + 1,
        },
    );
    Ok(Enqueued::New)
}

/// A command was taken: it waits no more, and its id stays known, also if it never waited.
fn take(stage: &mut Stage<'_>, run: RunId, message: MessageId) -> Result<(), Broken> {
    if let Some(Message::Waits(arrival)) = read_message(stage, run, message)? {
        let count = read_count(stage, run)?;
        stage.clear(keys::inbox(run, arrival))?;
        write_count(
            stage,
            run,
            Count {
                waiting: count.waiting.saturating_sub(1),
                ..count
            },
        );
    }
    write_message(stage, run, message, Message::Taken);
    Ok(())
}

fn inbox_fault(run: RunId, broken: Broken) -> LedgerError {
    fault::of_run(run, Seq(0), "its inbox", broken)
}

/// What is known of a message id.
#[derive(Clone, Copy)]
enum Message {
    Waits(u64),
    Taken,
}

const MESSAGE_WAITS: u8 = 0;
const MESSAGE_TAKEN: u8 = 1;

fn write_message(stage: &mut Stage<'_>, run: RunId, message: MessageId, state: Message) {
    let key = keys::message(run, message);
    let mut bytes = Vec::with_capacity(9);
    match state {
        Message::Waits(arrival) => {
            bytes.push(MESSAGE_WAITS);
            bytes.extend_from_slice(&arrival.to_le_bytes());
        }
        Message::Taken => bytes.push(MESSAGE_TAKEN),
    }
    let value = seal_value(&key, &bytes);
    stage.put(key, &value);
}

fn read_message(
    stage: &Stage<'_>,
    run: RunId,
    message: MessageId,
) -> Result<Option<Message>, Broken> {
    let key = keys::message(run, message);
    let Some(value) = stage.value(&key)? else {
        return Ok(None);
    };
    let mut fields = Fields(open_value(&key, &value)?);
    let state = match fields.array() {
        Some([MESSAGE_WAITS]) => fields.u64().map(Message::Waits),
        Some([MESSAGE_TAKEN]) => Some(Message::Taken),
        Some(_) | None => None,
    };
    let state = state.filter(|_| fields.is_empty());
    state
        .map(Some)
        .ok_or_else(|| Broken::bytes("a message's state has no valid form"))
}

/// How many commands of a run arrived, and how many of them wait.
#[derive(Clone, Copy, Default)]
struct Count {
    arrived: u64,
    waiting: u64,
}

fn write_count(stage: &mut Stage<'_>, run: RunId, count: Count) {
    let key = keys::inbox_count(run);
    let mut bytes = Vec::with_capacity(16);
    bytes.extend_from_slice(&count.arrived.to_le_bytes());
    bytes.extend_from_slice(&count.waiting.to_le_bytes());
    let value = seal_value(&key, &bytes);
    stage.put(key, &value);
}

fn read_count(stage: &Stage<'_>, run: RunId) -> Result<Count, Broken> {
    let key = keys::inbox_count(run);
    let Some(value) = stage.value(&key)? else {
        return Ok(Count::default());
    };
    let mut fields = Fields(open_value(&key, &value)?);
    let count = (|| {
        let count = Count {
            arrived: fields.u64()?,
            waiting: fields.u64()?,
        };
        fields.end()?;
        Some(count)
    })();
    count.ok_or_else(|| Broken::bytes("the count of its messages has no valid form"))
}
