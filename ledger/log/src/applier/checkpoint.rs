//! The checkpoint: up to where in the log the table has everything, and the sums that prove it.
//!
//! The sums change in the batch that changes the rows, the place only after a sync of all of them:
//! a crash between two batches leaves a table that adds up and is replayed from the older place.
//!
//! Row `01`; sealed: format (4), store (16), whether there is a place (1), place (12), then kind
//! (1), count (8) and sum (16) for each kind with rows. Without a place the table is in the making.

use mainstay_ledger::codec::value::{open_value, seal_value};

use crate::fields::Fields;
use crate::files::StoreId;
use crate::proof::{self, BUCKETED, Bucket, CHECKPOINT, Sums, hash_of_row};
use crate::segment::Place;
use crate::table::{StoredChange, Table, TableError};

/// The form of the table's rows as a whole. Another one makes the table anew.
const FORMAT: u32 = 1;

const KEY: [u8; 1] = [CHECKPOINT];

/// What the table says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) store: StoreId,
    pub(crate) place: Option<Place>,
    pub(crate) sums: Sums,
}

impl Checkpoint {
    /// Its row.
    pub(crate) fn to_row(&self) -> StoredChange {
        let mut bytes = FORMAT.to_le_bytes().to_vec();
        bytes.extend_from_slice(self.store.as_bytes());
        bytes.push(u8::from(self.place.is_some()));
        bytes.extend_from_slice(&self.place.unwrap_or_default().to_bytes());
        self.sums.put(&mut bytes);
        let stored = seal_value(&KEY, &bytes);
        (KEY.to_vec(), Some(stored))
    }

    /// Bytes of its row, from above.
    pub(crate) fn bytes(&self) -> usize {
        let fixed = 128;
        fixed + self.sums.bytes()
    }

    /// The table's checkpoint; `None` when it has none.
    ///
    /// `Damaged` also for another store's table and for another form: neither can be used.
    pub(crate) fn read(table: &dyn Table, store: StoreId) -> Result<Option<Self>, TableError> {
        let Some(stored) = table.get(&KEY)? else {
            return Ok(None);
        };
        let broken = |what: &str| TableError::Damaged(format!("its checkpoint: {what}"));
        let bytes = open_value(&KEY, &stored).map_err(|error| broken(&error.to_string()))?;
        let mut fields = Fields(bytes);
        let form = fields.u32();
        if form != Some(FORMAT) {
            return Err(broken(&format!(
                "it has the form {form:?}, this version makes {FORMAT}"
            )));
        }
        let checkpoint = (|| {
            let store = StoreId::from_bytes(fields.array()?);
            let [has_place] = fields.array()?;
            let place = Place::from_bytes(fields.array()?);
            Some(Self {
                store,
                place: (has_place == 1).then_some(place),
                sums: Sums::take(&mut fields)?,
            })
        })();
        match checkpoint {
            Some(checkpoint) if checkpoint.store == store => Ok(Some(checkpoint)),
            Some(other) => Err(broken(&format!("it belongs to the store {}", other.store))),
            None => Err(broken("it has no valid form")),
        }
    }

    /// Proves that every kind which is proven whole has the rows it should; returns how many.
    pub(crate) fn prove(&self, table: &dyn Table) -> Result<u64, TableError> {
        proof::prove(table, &self.sums)
    }
}

/// Proves all of a table: the kinds that are proven whole, and every bucket. Says how many rows and
/// buckets that were.
pub(crate) fn prove(table: &dyn Table, store: StoreId) -> Result<u64, TableError> {
    let checkpoint = Checkpoint::read(table, store)?;
    let checkpoint = checkpoint.ok_or_else(|| TableError::damaged("its checkpoint is gone"))?;
    let mut read = checkpoint.prove(table)?;
    for kind in BUCKETED {
        read += proof::prove_all(table, kind)?;
    }
    Ok(read)
}

/// Makes an empty table one that has nothing of the log: its buckets, and a checkpoint without a
/// place.
pub(crate) fn begin(table: &dyn Table, store: StoreId) -> Result<Checkpoint, TableError> {
    let mut sums = Sums::default();
    let mut rows: Vec<StoredChange> = Vec::new();
    for kind in BUCKETED {
        let (key, stored) = Bucket::root(kind).to_row();
        let hash = stored.as_deref().map(|stored| hash_of_row(&key, stored));
        sums.change(proof::BUCKET).replace(None, hash);
        rows.push((key, stored));
    }
    let checkpoint = Checkpoint {
        store,
        place: None,
        sums,
    };
    rows.push(checkpoint.to_row());
    table.apply(rows)?;
    table.sync()?;
    Ok(checkpoint)
}
