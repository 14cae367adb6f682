//! The number of the newest acknowledged group, outside of sled.
//!
//! A file of sled's that was cut short can open without an error, with older data or with none.
//! The witness tells: it is written after each sync, so sled never knows less than it says. It is
//! not synced itself; after a loss of power it may only say less.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use mainstay_ledger::LedgerError;

use crate::fault;
use crate::files::{self, io_error};
use crate::marker::StoreId;

const FILE: &str = "ACKED";
const BYTES: usize = 12;

/// The open witness.
#[derive(Debug)]
pub(crate) struct Witness {
    path: PathBuf,
    file: File,
    store: StoreId,
}

impl Witness {
    /// Writes a durable witness that says `group`.
    pub(crate) fn create(folder: &Path, store: StoreId, group: u64) -> Result<(), LedgerError> {
        files::put(&folder.join(FILE), &to_bytes(store, group))
    }

    /// Opens the witness and compares: `group` is the newest that sled knows.
    ///
    /// `Damaged` when sled knows less than was acknowledged, or when the witness is not whole. One
    /// that is not there is made: removing it is how a person opens a store without it.
    pub(crate) fn open(folder: &Path, store: StoreId, group: u64) -> Result<Self, LedgerError> {
        let path = folder.join(FILE);
        if !files::exists(&path)? {
            Self::create(folder, store, group)?;
        }
        let bytes = std::fs::read(&path).map_err(|error| io_error("reading", &path, &error))?;
        let Some(acknowledged) = parse(store, &bytes) else {
            return Err(fault::damaged_at(
                &path,
                "it is not whole, or belongs to another store. The other files may be whole: once \
                 it is removed from a copy of the folder, that copy opens without this check",
            ));
        };
        if group < acknowledged {
            return Err(fault::damaged_at(
                folder,
                format_args!(
                    "sled opened with commit group {group} as its newest, but group {acknowledged} \
                     was acknowledged: a file was cut short, or is older than the others"
                ),
            ));
        }
        let file = OpenOptions::new().write(true).open(&path);
        let file = file.map_err(|error| io_error("opening", &path, &error))?;
        Ok(Self { path, file, store })
    }

    /// Which store it belongs to.
    pub(crate) const fn store(&self) -> StoreId {
        self.store
    }

    /// Says that `group` is durable.
    pub(crate) fn note(&self, group: u64) -> Result<(), LedgerError> {
        self.file
            .write_all_at(&to_bytes(self.store, group), 0)
            .map_err(|error| io_error("writing", &self.path, &error))
    }
}

fn to_bytes(store: StoreId, group: u64) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&group.to_le_bytes());
    bytes[8..].copy_from_slice(&crc(store, group).to_le_bytes());
    bytes
}

fn parse(store: StoreId, bytes: &[u8]) -> Option<u64> {
    let (group, sum) = bytes.split_first_chunk::<8>()?;
    let group = u64::from_le_bytes(*group);
    (*sum == crc(store, group).to_le_bytes()).then_some(group)
}

fn crc(store: StoreId, group: u64) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(store.as_bytes());
    crc.update(&group.to_le_bytes());
    crc.finalize()
}
