//! Opening the table: at first, again within the process, and anew.
//!
//! A table is put in place only once it is proven. One that is not what was written is never
//! repaired: it is emptied, and the log is replayed into it. Nothing is emptied before it is
//! written down that it will be, since half of a table may look like a whole one.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use mainstay_ledger::LedgerError;

use crate::fault::damaged_at;
use crate::segment::Place;
use crate::table::{KeyRange, Order, Table, TableError, TableFactory};

use super::checkpoint::{self, Checkpoint};
use super::{Shared, Site, marker};

/// A table that is open and proven.
pub(crate) struct Opened {
    pub(crate) table: Box<dyn Table>,
    pub(crate) checkpoint: Checkpoint,
    /// Why it was made anew, when it was.
    pub(crate) anew: Option<String>,
}

/// Opens the table, an empty one when there is none or when it is not what was written.
pub(crate) fn open(site: &Site, factory: &Arc<dyn TableFactory>) -> Result<Opened, LedgerError> {
    if let Some(why) = marker::read(site)? {
        return open_anew(site, factory, why);
    }
    match open_proven(site, factory) {
        // What a former process began and did not get anywhere with; pieces may be left of it.
        Ok(Proven {
            table,
            checkpoint,
            new: false,
        }) if checkpoint.place.is_none() => {
            table
                .close()
                .map_err(|error| io(site, &error.to_string()))?;
            let opened = open_anew(site, factory, "it has nothing of the log".to_owned())?;
            Ok(Opened {
                anew: None,
                ..opened
            })
        }
        Ok(Proven {
            table, checkpoint, ..
        }) => Ok(Opened {
            table,
            checkpoint,
            anew: None,
        }),
        Err(TableError::Damaged(why)) => open_anew(site, factory, why),
        Err(TableError::Io(detail) | TableError::Unsynced(detail)) => Err(io(site, &detail)),
    }
}

fn io(site: &Site, detail: &str) -> LedgerError {
    LedgerError::Io {
        detail: format!("the table in {}: {detail}", site.folder.display()),
    }
}

/// Empties the table and opens it.
pub(crate) fn open_anew(
    site: &Site,
    factory: &Arc<dyn TableFactory>,
    why: String,
) -> Result<Opened, LedgerError> {
    marker::try_put(site, &why)?;
    let made = factory
        .destroy(&site.folder)
        .and_then(|()| open_proven(site, factory));
    let Proven {
        table, checkpoint, ..
    } = made.map_err(|error| match error {
        TableError::Damaged(detail) => {
            let detail = format!("a table that was made anew is damaged: {detail}");
            damaged_at(&site.folder, detail)
        }
        TableError::Io(detail) | TableError::Unsynced(detail) => io(site, &detail),
    })?;
    marker::remove(site)?;
    Ok(Opened {
        table,
        checkpoint,
        anew: Some(why),
    })
}

struct Proven {
    table: Box<dyn Table>,
    checkpoint: Checkpoint,
    /// There was none before.
    new: bool,
}

/// Opens the table as it is; `Damaged` when it is not what was written, or was never finished.
fn open_proven(site: &Site, factory: &Arc<dyn TableFactory>) -> Result<Proven, TableError> {
    let table = factory.open(&site.folder)?;
    let (checkpoint, new) = match proven(&*table, site) {
        Ok(proven) => proven,
        Err(error) => {
            // What it says of itself is known; how it closes is not of interest any more, and its
            // files must be free before it is emptied.
            let _ = table.close();
            return Err(error);
        }
    };
    Ok(Proven {
        table,
        checkpoint,
        new,
    })
}

/// The checkpoint of a table that it proves, and whether it was made just now.
fn proven(table: &dyn Table, site: &Site) -> Result<(Checkpoint, bool), TableError> {
    match Checkpoint::read(table, site.store)? {
        Some(checkpoint) => {
            checkpoint.prove(table)?;
            Ok((checkpoint, false))
        }
        None if is_empty(table)? => Ok((checkpoint::begin(table, site.store)?, true)),
        None => Err(TableError::damaged("it has rows and no checkpoint")),
    }
}

fn is_empty(table: &dyn Table) -> Result<bool, TableError> {
    let mut empty = true;
    let all = KeyRange {
        from: Bound::Unbounded,
        to: Bound::Unbounded,
    };
    table.scan(all, Order::Forward, &mut |_, _| {
        empty = false;
        ControlFlow::Break(())
    })?;
    Ok(empty)
}

/// Closes the table and opens it again, in its place; everybody who reads it waits meanwhile.
/// `before` is what it said of itself when it was last written, `synced` how far it had everything,
/// durably.
pub(super) fn reopen(
    shared: &Shared,
    before: &Checkpoint,
    synced: Option<Place>,
) -> Result<Checkpoint, TableError> {
    let mut slot = shared.slot_mut();
    let failed = slot.is_failing();
    if let Some(table) = slot.take() {
        let closed = table.close();
        if !failed {
            closed?;
        }
    }
    let Proven {
        table, checkpoint, ..
    } = open_proven(&shared.site, &shared.factory)?;
    if checkpoint.place < synced {
        // Closed with what it has, or nobody could empty it.
        let _ = table.close();
        return Err(TableError::damaged("it lost what it had made durable"));
    }
    if failed || checkpoint != *before {
        shared.known.lock().forget();
    }
    slot.put(table);
    Ok(checkpoint)
}
