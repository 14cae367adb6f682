//! What stands below a group: everything durable, wherever it lies.
//!
//! Looked for where it costs least first: rows remembered from earlier groups, the overlay, what
//! the caller looked up before it got in line, the table, the archive. Only the committer uses it,
//! and only the committer writes, so that nothing moves while it looks.

use std::collections::HashSet;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::RunId;
use parking_lot::Mutex;

use crate::heads::Heads;
use crate::keys::{self, Key};
use crate::look::Looked;
use crate::run_row::RunRow;
use crate::segment::Archive;
use crate::settings::Settings;
use crate::standing::Standing;

/// Everything durable.
#[derive(Clone, Copy)]
pub(crate) struct Below<'a> {
    pub(crate) standing: &'a Standing,
    pub(crate) archive: &'a Archive,
    pub(crate) heads: &'a Mutex<Heads>,
    /// Keys of classes that are stored, so that no start looks one up twice.
    pub(crate) classes: &'a HashSet<Key>,
    pub(crate) settings: &'a Settings,
}

impl Below<'_> {
    /// The value under `key`.
    pub(crate) fn value(
        &self,
        looked: &Looked,
        key: &[u8],
    ) -> Result<Option<Arc<[u8]>>, LedgerError> {
        if let Some(known) = self.standing.in_memory(key) {
            return Ok(known);
        }
        match looked.row(key) {
            Some(looked) => Ok(looked),
            None => Ok(self.standing.look_up(key)?.value),
        }
    }

    /// Where a run stands.
    pub(crate) fn run(
        &self,
        looked: &Looked,
        run: RunId,
    ) -> Result<Option<Arc<RunRow>>, LedgerError> {
        if let Some(row) = self.heads.lock().get(run) {
            return Ok(Some(Arc::clone(row)));
        }
        let row = match self.value(looked, &keys::run(run))? {
            Some(value) => RunRow::decode(run, &value)?,
            None => match archived(self.archive, run)? {
                Some(row) => row,
                None => return Ok(None),
            },
        };
        Ok(Some(Arc::new(row)))
    }
}

/// Where a closed run stands that rests in the archive.
pub(crate) fn archived(archive: &Archive, run: RunId) -> Result<Option<RunRow>, LedgerError> {
    let closed = archive.closed(run)?;
    closed
        .map(|closed| RunRow::decode(run, &closed.row))
        .transpose()
}
