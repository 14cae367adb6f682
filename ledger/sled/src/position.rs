//! How far the store has come: the newest group and the newest time, written with each group.
//!
//! The group number only grows; the witness beside sled compares it at open.

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_types::Timestamp;

use crate::fault;
use crate::fields::Fields;
use crate::keys::{self, Key};
use crate::pieces::{self, Broken, Source};

/// Where the store stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The newest group; 0 when nothing was committed yet.
    pub(crate) group: u64,
    /// The newest time among all events.
    pub(crate) newest: Option<Timestamp>,
}

impl Position {
    /// After one more group, with events up to `newest`.
    pub(crate) fn next(self, newest: Option<Timestamp>) -> Self {
        Self {
            group: self.group.saturating_add(1),
            newest: self.newest.max(newest),
        }
    }

    /// Its key and stored form.
    pub(crate) fn to_pair(self) -> (Key, Vec<u8>) {
        let key = keys::position();
        let mut bytes = self.group.to_le_bytes().to_vec();
        if let Some(newest) = self.newest {
            bytes.extend_from_slice(&newest.as_millis().to_le_bytes());
        }
        let stored = pieces::cut(&key, &seal_value(&key, &bytes)).stored;
        (key, stored)
    }

    /// What `source` says; `Damaged` when it says nothing.
    pub(crate) fn read(source: &dyn Source) -> Result<Self, LedgerError> {
        let key = keys::position();
        let position = pieces::read(source, &key).and_then(|value| {
            let value = value.ok_or_else(|| Broken::bytes("it is missing"))?;
            let mut fields = Fields(open_value(&key, &value)?);
            Self::parse(&mut fields).ok_or_else(|| Broken::bytes("it has no valid form"))
        });
        position.map_err(|broken| fault::of_store("the store's position", broken))
    }

    fn parse(fields: &mut Fields<'_>) -> Option<Self> {
        let group = fields.u64()?;
        let newest = match fields.is_empty() {
            true => None,
            false => Some(Timestamp::from_millis(fields.i64()?)),
        };
        fields.end()?;
        Some(Self { group, newest })
    }
}
