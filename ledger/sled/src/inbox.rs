//! A run's inbox in sled: commands by arrival, their ids for ever, and how many wait.
//!
//! Everything here is staged, nothing is written. A command is never put twice under one id.

use std::collections::BTreeSet;

use mainstay_ledger::check::View;
use mainstay_ledger::codec;
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::{Enqueued, InboxMessage, Knocked, LedgerError};
use mainstay_types::{MessageId, RunId, Seq, limits};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::pieces::Broken;
use crate::stage::Stage;

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
    stage.knock(&Knocked {
        runs: BTreeSet::from([run]),
        ..Knocked::default()
    });
    Ok(Enqueued::New)
}

/// A command was taken: it waits no more, and its id stays known, also if it never waited.
pub(crate) fn take(
    stage: &mut Stage<'_>,
    run: RunId,
    message: MessageId,
) -> Result<(), LedgerError> {
    taken(stage, run, message).map_err(|broken| inbox_fault(run, broken))
}

fn taken(stage: &mut Stage<'_>, run: RunId, message: MessageId) -> Result<(), Broken> {
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
