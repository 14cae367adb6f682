//! Start keys: the run that one stands for, and until when it is remembered.
//!
//! The key of a run that is not closed never expires.

use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::start::Start;
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::codec::{DecodeError, decode_start, encode_start};
use mainstay_types::{StartKey, Tenant, Timestamp};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::rows::expiry;
use crate::stage::Stage;

/// A start key as it lies in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartRow {
    pub(crate) start: Start,
    /// From when on it may be forgotten; `None`: not while the run is open.
    pub(crate) expires_at: Option<Timestamp>,
}

impl StartRow {
    fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut bytes = expiry::encode(self.expires_at).to_vec();
        bytes.extend_from_slice(&encode_start(key, &self.start));
        seal_value(key, &bytes)
    }

    /// The start key's entry in `key`'s value.
    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Fields(open_value(key, value)?);
        let expires_at = expiry::decode(&mut fields)?;
        Ok(Self {
            start: decode_start(key, fields.0)?,
            expires_at,
        })
    }
}

/// What a start key stands for, from the row that `get` finds.
pub(crate) fn read(
    tenant: &Tenant,
    key: &StartKey,
    get: impl FnOnce(&[u8]) -> Result<Option<Arc<[u8]>>, LedgerError>,
) -> Result<Option<Start>, LedgerError> {
    Ok(read_row(tenant, key, get)?.map(|row| row.start))
}

fn read_row(
    tenant: &Tenant,
    key: &StartKey,
    get: impl FnOnce(&[u8]) -> Result<Option<Arc<[u8]>>, LedgerError>,
) -> Result<Option<StartRow>, LedgerError> {
    let place = keys::start(tenant, key);
    let Some(value) = get(&place)? else {
        return Ok(None);
    };
    let row =
        StartRow::decode(&place, &value).map_err(|error| fault::of_store("a start key", &error))?;
    if row.start.tenant != *tenant || row.start.start_key != *key {
        let held = keys::start(&row.start.tenant, &row.start.start_key);
        return Err(fault::in_the_place(
            &named(&row.start.start_key, &held),
            &named(key, &place),
        ));
    }
    Ok(Some(row))
}

fn named<'a>(key: &'a StartKey, place: &'a [u8]) -> fault::Named<'a> {
    fault::Named {
        what: "start key",
        name: key,
        place,
    }
}

/// Stages what a start key stands for.
pub(crate) fn write(stage: &mut Stage<'_>, start: Start) {
    let key = keys::start(&start.tenant, &start.start_key);
    let row = StartRow {
        start,
        expires_at: None,
    };
    stage.put(key.clone(), row.encode(&key));
}

/// Stages that the key of a run may be forgotten from `expires_at` on; `None`: the run is open
/// again. A key that stands for another run by now, or for none, is left alone.
pub(crate) fn expire(
    stage: &mut Stage<'_>,
    summary: &mainstay_machine::Summary,
    expires_at: Option<Timestamp>,
) -> Result<(), LedgerError> {
    let Some(start_key) = &summary.start_key else {
        return Ok(());
    };
    let row = read_row(&summary.tenant, start_key, |row| stage.value(row))?;
    let Some(row) = row.filter(|row| row.start.run == summary.run) else {
        return Ok(());
    };
    let key = keys::start(&summary.tenant, start_key);
    expiry::replace(stage, &key, row.expires_at, expires_at);
    let row = StartRow { expires_at, ..row };
    stage.put(key.clone(), row.encode(&key));
    Ok(())
}
