//! Reading: from what stands and from the archive, in the caller's thread, every value proven
//! before it is believed.
//!
//! Nothing is seen that a loss of power could take back: rows reach the overlay, and frames the
//! archive, once they are durable. Reads of several rows are no snapshot, and need none: who acts
//! on a run that moved meanwhile is fenced by its head.

mod keep;
mod lists;
mod records;
mod scan;

use std::collections::HashSet;
use std::sync::Arc;

use mainstay_ledger::codec::value::open_value;
use mainstay_ledger::codec::{DecodeError, decode_class, decode_message};
use mainstay_ledger::{Driving, InboxMessage, LedgerError, StoredClass};
use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    ClassName, ClassVersion, Digest, EffectKey, RunId, StartKey, Tenant, Timestamp, WorkerId,
    limits,
};
use parking_lot::Mutex;

use crate::below::archived;
use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::rows::{effects, starts};
use crate::run_row::RunRow;
use crate::segment::Archive;
use crate::standing::Standing;
pub(crate) use records::records_between;
pub(crate) use scan::Rows;

/// Everything that can be read of an open store.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) standing: Arc<Standing>,
    pub(crate) archive: Arc<Archive>,
    /// Runs with a snapshot.
    snapshots: Arc<Mutex<HashSet<RunId>>>,
}

impl Reader {
    pub(crate) fn new(standing: Arc<Standing>, archive: Arc<Archive>) -> Self {
        Self {
            standing,
            archive,
            snapshots: Arc::default(),
        }
    }

    /// Where a run stands; `None` when there is none, or no more.
    pub(crate) fn row(&self, run: RunId) -> Result<Option<RunRow>, LedgerError> {
        // What stands first: a run that closes meanwhile is in the archive before it leaves here.
        match self.standing.get(&keys::run(run))? {
            Some(value) => RunRow::decode(run, &value).map(Some),
            None => archived(&self.archive, run),
        }
    }

    /// A run's row in listings.
    pub(crate) fn summary(&self, run: RunId) -> Result<Option<Summary>, LedgerError> {
        Ok(self.row(run)?.and_then(|row| row.summary))
    }

    /// Who drives one run, or drove it in an earlier process.
    pub(crate) fn driving(&self, run: RunId) -> Result<Option<Driving>, LedgerError> {
        let key = keys::driven(run);
        let value = self.standing.get(&key)?;
        value.map(|value| driving_in(run, &key, &value)).transpose()
    }

    /// A run's waiting inbox, in the order of arrival.
    pub(crate) fn inbox(&self, run: RunId) -> Result<Vec<InboxMessage>, LedgerError> {
        Rows::of(&self.standing, keys::inbox_of(run))
            .map(|row| {
                let (key, value) = row?;
                decode_message(&key, &value)
                    .map_err(|error| fault::of_run(run, "its inbox", &error))
            })
            .collect()
    }

    /// The entry of an effect key, and how often it has changed.
    pub(crate) fn effect(
        &self,
        key: &EffectKey,
    ) -> Result<Option<(EffectEntry, u64)>, LedgerError> {
        effects::read(key, |row| Ok(self.standing.look_up(row)?.value))
    }

    /// What a start key stands for.
    pub(crate) fn start_key(
        &self,
        tenant: &Tenant,
        key: &StartKey,
    ) -> Result<Option<(RunId, Digest)>, LedgerError> {
        let look = |row: &[u8]| Ok(self.standing.look_up(row)?.value);
        let start = starts::read(tenant, key, look)?;
        Ok(start.map(|start| (start.run, start.input)))
    }

    /// The stored form of a class.
    pub(crate) fn class(
        &self,
        name: &ClassName,
        version: ClassVersion,
    ) -> Result<Option<StoredClass>, LedgerError> {
        let key = keys::class(name, version);
        let value = self.standing.get(&key)?;
        value.map(|value| class_in(&key, &value)).transpose()
    }

    /// All stored classes, by name and version.
    pub(crate) fn classes(&self) -> Result<Vec<StoredClass>, LedgerError> {
        Rows::of(&self.standing, keys::classes())
            .take(limits::PAGE_ROWS_MAX)
            .map(|row| {
                let (key, value) = row?;
                class_in(&key, &value)
            })
            .collect()
    }

    /// The newest time among all events.
    pub(crate) fn newest_time(&self) -> Result<Option<Timestamp>, LedgerError> {
        let key = keys::newest_time();
        let Some(value) = self.standing.get(&key)? else {
            return Ok(None);
        };
        let newest = open_value(&key, &value).and_then(|bytes| {
            let mut fields = Fields(bytes);
            let at = fields.i64().filter(|_| fields.is_empty());
            at.map(Timestamp::from_millis).ok_or_else(no_form)
        });
        newest
            .map(Some)
            .map_err(|error| fault::of_store("the newest time", &error))
    }
}

fn no_form() -> DecodeError {
    DecodeError::Form {
        detail: "it has no valid form".to_owned(),
    }
}

fn class_in(key: &[u8], value: &[u8]) -> Result<StoredClass, LedgerError> {
    decode_class(key, value).map_err(|error| fault::of_store("a class", &error))
}

/// One process holds the store, so whoever drove a run in an earlier one is gone.
fn driving_in(run: RunId, key: &[u8], value: &[u8]) -> Result<Driving, LedgerError> {
    let worker = open_value(key, value).and_then(|bytes| {
        let worker: [u8; 16] = bytes.try_into().map_err(|_| no_form())?;
        Ok(WorkerId::from_bytes(worker))
    });
    Ok(Driving {
        run,
        worker: worker.map_err(|error| fault::of_run(run, "who drives it", &error))?,
        lease_until: None,
    })
}
