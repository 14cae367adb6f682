//! Opening: lock, marker, sled, its identity, the witness, in this order.
//!
//! A store is made beside its place and renamed into it, so a crash while making one leaves no
//! half store. What contradicts the marker is damage; nothing here repairs or begins anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_types::Millis;

use crate::disk::{DataFile, Disk};
use crate::engine::{self, DATA_FILE};
use crate::fault;
use crate::fields::Fields;
use crate::files::{self, io_error};
use crate::keys;
use crate::lock::Lock;
use crate::marker::{self, StoreId};
use crate::marks::Marks;
use crate::pieces::{self, Broken};
use crate::position::Position;
use crate::settings::{FORMAT, FORMAT_OLDEST};
use crate::witness::Witness;

const SLED: &str = "sled";
const SLED_IN_THE_MAKING: &str = "sled.new";

/// How a store is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Whether a store is made when there is none; otherwise that is `Missing`.
    pub create: bool,
    /// How long to wait for another process that holds the store, for example one that drains
    /// during a rolling restart. Default: not at all. After it, `Locked`.
    pub wait: Millis,
}

impl OpenOptions {
    /// Makes a store when there is none; does not wait for one that is held.
    #[must_use]
    pub const fn creating() -> Self {
        Self {
            create: true,
            wait: Millis::ZERO,
        }
    }

    /// Waits for so long while another process holds the store.
    #[must_use]
    pub const fn wait(self, wait: Millis) -> Self {
        Self { wait, ..self }
    }
}

/// Everything of an open store.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) db: sled::Db,
    pub(crate) data: DataFile,
    pub(crate) witness: Witness,
    pub(crate) position: Position,
    pub(crate) sled_folder: PathBuf,
    pub(crate) marks: Arc<Marks>,
    pub(crate) lock: Lock,
}

/// Opens the store in `folder`.
pub(crate) fn open(folder: &Path, options: OpenOptions) -> Result<Opened, LedgerError> {
    if options.create {
        make_folder(folder)?;
    } else if !marker::exists(folder)? && !files::exists(&folder.join(SLED))? {
        return Err(LedgerError::Missing {
            folder: folder.display().to_string(),
        });
    }
    let lock = Lock::take(folder, options.wait)?;
    let sled_folder = folder.join(SLED);
    let (store, format) = match marker::exists(folder)? {
        true => marker::read(folder)?,
        false => (create(folder)?, FORMAT),
    };
    settle_name(folder)?;
    if !files::exists(&sled_folder.join(DATA_FILE))? {
        return Err(fault::damaged_at(
            folder,
            "the marker says that a store is here, and sled's \
            files are not",
        ));
    }
    let db = engine::open(&sled_folder)?;
    match prove(&db, folder, store).and_then(|proven| upgraded(&db, folder, format, proven)) {
        Ok(Proven {
            position,
            witness,
            data,
        }) => Ok(Opened {
            db,
            data,
            witness,
            position,
            sled_folder,
            marks: Arc::new(Marks::open(folder, store)),
            lock,
        }),
        Err(error) => {
            engine::close(db, &sled_folder);
            Err(error)
        }
    }
}

/// A store that is what its marker says.
struct Proven {
    position: Position,
    witness: Witness,
    data: DataFile,
}

/// Makes sure that what sled opened is the store that was acknowledged, and durable as it is.
fn prove(db: &sled::Db, folder: &Path, store: StoreId) -> Result<Proven, LedgerError> {
    let sled_folder = folder.join(SLED);
    engine::sync_files(&sled_folder)?;
    let position = fault::guarded(|| {
        check_identity(db, &sled_folder, store)?;
        Position::read(&**db)
    })?;
    let witness = Witness::open(folder, store, position.group)?;
    let data = DataFile::open(&sled_folder.join(DATA_FILE))?;
    Ok(Proven {
        position,
        witness,
        data,
    })
}

/// Makes a store of an older format one of this format. All of what is in it stays as it is; a
/// crash in between leaves a marker of the older format, and this is done again.
fn upgraded(
    db: &sled::Db,
    folder: &Path,
    format: u32,
    proven: Proven,
) -> Result<Proven, LedgerError> {
    if format == FORMAT {
        return Ok(proven);
    }
    let error = |error: sled::Error| fault::of_store("a store of an older format", error.into());
    let store = proven.witness.store();
    let (key, value) = format_pair(store);
    db.insert(key, value).map_err(error)?;
    db.flush().map_err(error)?;
    proven
        .data
        .sync()
        .map_err(|error| io_error("syncing sled in", folder, &error))?;
    marker::write(folder, store)?;
    Ok(proven)
}

/// Makes the store's folder, durably, with every folder above it that was not there.
fn make_folder(folder: &Path) -> Result<(), LedgerError> {
    let mut made = Vec::new();
    for above in folder
        .ancestors()
        .filter(|path| !path.as_os_str().is_empty())
    {
        if files::exists(above)? {
            break;
        }
        made.push(above);
    }
    fs::create_dir_all(folder).map_err(|error| io_error("making", folder, &error))?;
    made.into_iter().try_for_each(files::sync_name)
}

/// Makes an empty store beside its place, then its witness and its marker.
fn create(folder: &Path) -> Result<StoreId, LedgerError> {
    if files::exists(&folder.join(SLED))? {
        let detail = "sled's files are here without the marker STORE that is written before them";
        return Err(fault::damaged_at(folder, detail));
    }
    let making = folder.join(SLED_IN_THE_MAKING);
    if files::exists(&making)? {
        // Left by a crash before the marker: nothing was ever committed to it.
        fs::remove_dir_all(&making).map_err(|error| io_error("removing", &making, &error))?;
    }
    let store = StoreId::draw()?;
    let db = engine::open(&making)?;
    let filled = fill(&db, &making, store);
    let closed = engine::close(db, &making);
    filled?;
    if !closed {
        return Err(LedgerError::Io {
            detail: "a new sled does not close".to_owned(),
        });
    }
    engine::sync_files(&making)?;
    Witness::create(folder, store, 0)?;
    marker::write(folder, store)?;
    Ok(store)
}

fn fill(db: &sled::Db, folder: &Path, store: StoreId) -> Result<(), LedgerError> {
    let error = |error: sled::Error| fault::of_store("a new store", Broken::from(error));
    let (position_key, position) = Position::default().to_pair();
    let (format_key, format) = format_pair(store);
    db.insert(position_key, position).map_err(error)?;
    db.insert(format_key, format).map_err(error)?;
    db.flush().map_err(error)?;
    files::sync(&folder.join(DATA_FILE))
}

/// Gives sled's folder its name, when a crash came between the marker and that.
fn settle_name(folder: &Path) -> Result<(), LedgerError> {
    let (making, place) = (folder.join(SLED_IN_THE_MAKING), folder.join(SLED));
    if files::exists(&place)? || !files::exists(&making)? {
        return Ok(());
    }
    fs::rename(&making, &place).map_err(|error| io_error("renaming to", &place, &error))?;
    files::sync_name(&place)
}

fn format_pair(store: StoreId) -> (keys::Key, Vec<u8>) {
    let key = keys::format();
    let mut bytes = FORMAT.to_le_bytes().to_vec();
    bytes.extend_from_slice(store.as_bytes());
    let stored = pieces::cut(&key, &seal_value(&key, &bytes)).stored;
    (key, stored)
}

/// What is inside must be the store that the marker names. A sled that was cut short can open
/// empty and without an error: then there is nothing here.
fn check_identity(db: &sled::Db, folder: &Path, store: StoreId) -> Result<(), LedgerError> {
    let key = keys::format();
    let found = pieces::read(&**db, &key).and_then(|value| {
        let value = value.ok_or_else(|| Broken::bytes("sled opened without it"))?;
        let mut fields = Fields(open_value(&key, &value)?);
        let format = fields.u32().zip(fields.array().map(StoreId::from_bytes));
        format.ok_or_else(|| Broken::bytes("it has no valid form"))
    });
    let (format, id) = found.map_err(|broken| fault::of_store("the store's identity", broken))?;
    if !(FORMAT_OLDEST..=FORMAT).contains(&format) {
        return Err(LedgerError::Version {
            found: format,
            known: FORMAT,
        });
    }
    if id != store {
        let detail = format!("it holds store {id}, the marker says {store}: files were mixed");
        return Err(fault::damaged_at(folder, detail));
    }
    Ok(())
}
