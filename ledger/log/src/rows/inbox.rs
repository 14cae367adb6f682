//! A run's inbox: commands by arrival, and their ids for as long as the run is kept.
//!
//! A command is never put twice under one id.

use std::collections::BTreeSet;

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::codec::{DecodeError, encode_message};
use mainstay_ledger::{Enqueued, InboxMessage, Knocked, LedgerError};
use mainstay_types::{MessageId, RunId, limits};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::run_row::RunRow;
use crate::stage::{NewRun, Stage};

/// Stages a command from outside, unless it is known or its run has no room or does not exist.
pub(crate) fn enqueue(
    stage: &mut Stage<'_>,
    run: RunId,
    message: &InboxMessage,
) -> Result<Enqueued, LedgerError> {
    let Some(NewRun { mut row, born, .. }) = stage.run(run)? else {
        return Err(LedgerError::RunUnknown { run });
    };
    let known = keys::message(run, message.id);
    if stage.value(&known)?.is_some() {
        return Ok(Enqueued::Known);
    }
    let waiting = usize::try_from(row.waiting).unwrap_or(usize::MAX);
    if limits::INBOX_COMMANDS_MAX <= waiting {
        return Err(LedgerError::InboxFull { run, waiting });
    }
    let place = keys::inbox(run, row.arrived);
    stage.put_fresh(place.clone(), encode_message(&place, message));
    let state = Message::Waits(row.arrived).encode(&known);
    stage.put_fresh(known, state);
    row.arrived += 1;
    row.waiting += 1;
    stage.put_run(run, row, born);
    stage.knock(&Knocked {
        runs: BTreeSet::from([run]),
        ..Knocked::default()
    });
    Ok(Enqueued::New)
}

/// A command was taken: it waits no more, and its id stays known, also if it never waited.
pub(crate) fn take(
    stage: &mut Stage<'_>,
    (run, row): (RunId, &mut RunRow),
    message: MessageId,
) -> Result<(), LedgerError> {
    let key = keys::message(run, message);
    let state = stage.value(&key)?;
    let state = state.map(|value| Message::decode(&key, &value)).transpose();
    let state = state.map_err(|error| fault::of_run(run, "a message of its inbox", &error))?;
    if let Some(Message::Waits(arrival)) = state {
        stage.remove(keys::inbox(run, arrival));
        row.waiting = row.waiting.saturating_sub(1);
    }
    // Its rows are looked for once the run goes, also those of an id that never waited.
    row.arrived = row.arrived.max(1);
    stage.put(key.clone(), Message::Taken.encode(&key));
    Ok(())
}

/// What is known of a message id.
#[derive(Clone, Copy)]
enum Message {
    Waits(u64),
    Taken,
}

const MESSAGE_WAITS: u8 = 0;
const MESSAGE_TAKEN: u8 = 1;

impl Message {
    fn encode(self, key: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(9);
        match self {
            Self::Waits(arrival) => {
                bytes.push(MESSAGE_WAITS);
                bytes.extend_from_slice(&arrival.to_le_bytes());
            }
            Self::Taken => bytes.push(MESSAGE_TAKEN),
        }
        seal_value(key, &bytes)
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Fields(open_value(key, value)?);
        let state = match fields.array() {
            Some([MESSAGE_WAITS]) => fields.u64().map(Message::Waits),
            Some([MESSAGE_TAKEN]) => Some(Message::Taken),
            Some(_) | None => None,
        };
        let state = state.filter(|_| fields.is_empty());
        state.ok_or_else(|| DecodeError::Form {
            detail: "a message's state has no valid form".to_owned(),
        })
    }
}
