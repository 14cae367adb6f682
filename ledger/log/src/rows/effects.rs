//! Entries of effect keys: who holds one, how it stands, until when it is remembered.
//!
//! An entry in doubt never expires, and a key is never free because its row cannot be read.

use std::sync::Arc;

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::codec::{DecodeError, decode_entry, encode_entry};
use mainstay_ledger::wait::is_settled;
use mainstay_ledger::{LedgerError, check::View};
use mainstay_machine::EffectEntry;
use mainstay_types::{EffectKey, Millis, Timestamp};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::rows::expiry;
use crate::stage::Stage;

/// An entry as it lies in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EffectRow {
    pub(crate) entry: EffectEntry,
    /// How often the entry has changed, 1 when it is new.
    pub(crate) version: u64,
    /// From when on it may be forgotten; `None`: never, as it stands.
    pub(crate) expires_at: Option<Timestamp>,
}

impl EffectRow {
    pub(crate) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut bytes = expiry::encode(self.expires_at).to_vec();
        bytes.extend_from_slice(&encode_entry(key, &self.entry, self.version));
        seal_value(key, &bytes)
    }

    /// The entry in `key`'s value.
    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Fields(open_value(key, value)?);
        let expires_at = expiry::decode(&mut fields)?;
        let (entry, version) = decode_entry(key, fields.0)?;
        Ok(Self {
            entry,
            version,
            expires_at,
        })
    }
}

/// The entry under `key` and its version, from the row that `get` finds.
pub(crate) fn read(
    key: &EffectKey,
    get: impl FnOnce(&[u8]) -> Result<Option<Arc<[u8]>>, LedgerError>,
) -> Result<Option<(EffectEntry, u64)>, LedgerError> {
    let row = read_row(key, get)?;
    Ok(row.map(|row| (row.entry, row.version)))
}

/// The row under `key`, which `get` finds.
fn read_row(
    key: &EffectKey,
    get: impl FnOnce(&[u8]) -> Result<Option<Arc<[u8]>>, LedgerError>,
) -> Result<Option<EffectRow>, LedgerError> {
    let place = keys::effect(key);
    let Some(value) = get(&place)? else {
        return Ok(None);
    };
    let row = EffectRow::decode(&place, &value)
        .map_err(|error| fault::of_store("an effect entry", &error))?;
    if row.entry.key != *key {
        return Err(fault::in_the_place(
            &named(&row.entry.key, &keys::effect(&row.entry.key)),
            &named(key, &place),
        ));
    }
    Ok(Some(row))
}

fn named<'a>(key: &'a EffectKey, place: &'a [u8]) -> fault::Named<'a> {
    fault::Named {
        what: "effect",
        name: key,
        place,
    }
}

/// Stages an entry; says which key it settled, when it did.
pub(crate) fn write(
    stage: &mut Stage<'_>,
    entry: &EffectEntry,
    memory: Millis,
) -> Result<Option<(EffectKey, u64)>, LedgerError> {
    let before = read_row(&entry.key, |row| stage.value(row))?;
    let key = keys::effect(&entry.key);
    let settled = is_settled(&entry.state);
    let row = EffectRow {
        entry: entry.clone(),
        version: before.as_ref().map_or(0, |row| row.version) + 1,
        expires_at: settled.then(|| entry.at + memory),
    };
    let due = before.and_then(|row| row.expires_at);
    expiry::replace(stage, &key, due, row.expires_at);
    stage.put(key.clone(), row.encode(&key));
    debug_assert!(stage.effect(&entry.key).is_ok(), "what was staged is read");
    Ok(settled.then(|| (entry.key.clone(), row.version)))
}
