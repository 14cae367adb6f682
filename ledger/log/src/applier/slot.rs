//! Where the open table is, for those who read it and the one that changes it.
//!
//! A batch is applied, and a table replaced, only while nobody reads: so what one reader sees in
//! one hold of the slot is the table after a batch, whole.

use crate::table::{Table, TableError};

/// The open table.
pub(crate) struct Slot {
    table: Option<Box<dyn Table>>,
    /// Why the table cannot be trusted to read what was begun; it will be opened again.
    failing: Option<String>,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("open", &self.table.is_some())
            .field("failing", &self.failing)
            .finish()
    }
}

impl Slot {
    pub(crate) fn new(table: Box<dyn Table>) -> Self {
        Self {
            table: Some(table),
            failing: None,
        }
    }

    /// The table; `Io` while it is being opened again.
    pub(crate) fn table(&self) -> Result<&dyn Table, TableError> {
        let table = self.table.as_deref();
        table.ok_or_else(|| {
            let why = self.failing.as_deref().unwrap_or("closed");
            TableError::Io(format!("the table is not open: {why}"))
        })
    }

    /// The table failed while it was written.
    pub(crate) fn fail(&mut self, error: &TableError) {
        self.failing = Some(error.to_string());
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// Takes the table out, to be closed.
    pub(crate) fn take(&mut self) -> Option<Box<dyn Table>> {
        self.table.take()
    }

    /// Puts a table that was opened and proven in its place.
    pub(crate) fn put(&mut self, table: Box<dyn Table>) {
        self.table = Some(table);
        self.failing = None;
    }

    /// What a reader is told. What a table that failed while it was written says of damage is not
    /// believed: it has in memory what never reached its file.
    pub(crate) fn told(&self, error: TableError) -> TableError {
        match (error, &self.failing) {
            (TableError::Damaged(detail), Some(why)) => {
                TableError::Io(format!("{detail} (the table is opened again: {why})"))
            }
            (error, _) => error,
        }
    }
}
