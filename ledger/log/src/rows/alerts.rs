//! Alerts: by number, dense, with the newest number in a row of its own.
//!
//! A number is never used twice, and a reader is never led past a gap: either is damage, and said.

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::codec::{DecodeError, decode_alert, encode_alert};
use mainstay_ledger::{Knocked, LedgerError};
use mainstay_machine::Alert;
use mainstay_types::AlertSeq;

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::stage::Stage;

/// Stages an alert under the next number.
pub(crate) fn write(stage: &mut Stage<'_>, alert: &Alert) -> Result<(), LedgerError> {
    let newest = keys::newest_alert();
    let seq = number_in(&newest, stage.value(&newest)?.as_deref())?.next();
    let key = keys::alert(seq);
    stage.put(key.clone(), encode_alert(&key, alert));
    let key = newest;
    let value = seal_value(&key, &seq.get().to_le_bytes());
    stage.put(key, value);
    stage.knock(&Knocked {
        alerts: true,
        ..Knocked::default()
    });
    Ok(())
}

/// Stages an alert of another store, under the next number of this one.
pub(crate) fn import(stage: &mut Stage<'_>, key: &[u8], value: &[u8]) -> Result<(), LedgerError> {
    let alert =
        decode_alert(key, value).map_err(|error| fault::of_store("an imported alert", &error))?;
    write(stage, &alert)
}

/// The number of an alert in the row under `key`; 0 when there never was one.
pub(crate) fn number_in(key: &[u8], value: Option<&[u8]>) -> Result<AlertSeq, LedgerError> {
    let Some(value) = value else {
        return Ok(AlertSeq(0));
    };
    let seq = open_value(key, value).and_then(|bytes| {
        let mut fields = Fields(bytes);
        let seq = fields.u64().filter(|_| fields.is_empty());
        seq.ok_or_else(|| DecodeError::Form {
            detail: "it has no valid form".to_owned(),
        })
    });
    seq.map(AlertSeq)
        .map_err(|error| fault::of_store("a number of alerts", &error))
}
