//! The mark of an import that has begun and not ended: which export, and how far its alerts are.
//!
//! While it stands, nobody takes the store for a whole one: keys of runs that are there may still
//! be missing. Importing the same export again goes on.

use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::DecodeError;
use mainstay_ledger::codec::value::{open_value, seal_value};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::stage::Stage;
use crate::standing::Standing;

/// An import that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The export's own digest.
    pub(crate) digest: String,
    /// How many of its alerts are there; they have new numbers, so nothing else tells.
    pub(crate) alerts: u64,
}

impl Unfinished {
    /// The mark in the store, when there is one.
    pub(crate) fn of(standing: &Standing) -> Result<Option<Self>, LedgerError> {
        let key = keys::importing();
        let value = standing.get(&key)?;
        let mark = value.map(|value| Self::decode(&key, &value)).transpose();
        mark.map_err(|error| fault::of_store("the mark of an import", &error))
    }

    pub(super) fn stage(&self, stage: &mut Stage<'_>) {
        let key = keys::importing();
        let mut bytes = self.alerts.to_le_bytes().to_vec();
        bytes.extend_from_slice(self.digest.as_bytes());
        stage.put(key.clone(), seal_value(&key, &bytes));
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Fields(open_value(key, value)?);
        let mark = (|| {
            let alerts = fields.u64()?;
            let digest = str::from_utf8(fields.0).ok()?.to_owned();
            Some(Self { digest, alerts })
        })();
        mark.ok_or_else(|| DecodeError::Form {
            detail: "it has no valid form".to_owned(),
        })
    }
}

/// What a person does about it.
pub(crate) const IMPORT_AGAIN: &str = "import the same file again: it goes on where it was";

/// What such a store is, in words.
pub(crate) fn cut_off(folder: &Path) -> String {
    let folder = folder.display();
    format!("{folder}: an import into it was cut off, so runs and keys may be missing")
}

/// What everybody is told who opens such a store for anything else.
pub(crate) fn refused(folder: &Path) -> LedgerError {
    LedgerError::Damaged {
        detail: cut_off(folder),
        way_out: IMPORT_AGAIN.to_owned(),
    }
}
