//! `FORMAT`: here is a store, in this format, with this identity. Written once, after everything
//! else of a new store, and synced with its folder.
//!
//! With it, a log that is missing is damage and never a new store. It never changes.

use std::fmt;
use std::io;
use std::path::Path;

use mainstay_ledger::LedgerError;
use rand::TryRng;

use super::disk::Disk;
use super::put::{exists, put, read_all};
use crate::fault;

/// Its name in the store's folder.
pub(crate) const FORMAT_FILE: &str = "FORMAT";
/// What formats 1 and 2 had instead of it.
const FORMER_FILE: &str = "STORE";

const TITLE: &str = "mainstay store";

/// Which store this is: 16 random bytes, drawn when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreId([u8; 16]);

impl StoreId {
    /// A new store's identity, from the operating system.
    pub fn draw() -> Result<Self, LedgerError> {
        let mut bytes = [0; 16];
        rand::rngs::SysRng
            .try_fill_bytes(&mut bytes)
            .map_err(|error| LedgerError::Io {
                detail: format!("drawing a store's identity: {error}"),
            })?;
        Ok(Self(bytes))
    }

    /// The identity with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The stored bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 32 lower-case hexadecimal digits.
impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// Marks `folder` as the store `id` in this format, durably.
pub(crate) fn write_format(
    disk: &dyn Disk,
    folder: &Path,
    format: u32,
    id: StoreId,
) -> Result<(), LedgerError> {
    let path = folder.join(FORMAT_FILE);
    let text = to_text(format, id);
    put(disk, &path, text.as_bytes()).map_err(|error| fault::io_error("writing", &path, &error))
}

/// The identity of the store in `folder`; `None` when there is no store.
///
/// `Version` for a format other than `known`, before anything else is looked at; `Damaged` for
/// anything that [`write_format`] cannot have written.
pub(crate) fn read_format(
    disk: &dyn Disk,
    folder: &Path,
    known: u32,
) -> Result<Option<StoreId>, LedgerError> {
    let path = folder.join(FORMAT_FILE);
    let text = match read_all(disk, &path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return former(disk, folder, known).map(|()| None);
        }
        Err(error) => return Err(fault::io_error("reading", &path, &error)),
    };
    match parse(&text) {
        Some((found, _)) if found != known => Err(LedgerError::Version { found, known }),
        Some((_, Some(id))) => Ok(Some(id)),
        Some((_, None)) | None => Err(fault::damaged_at(
            &path,
            "it does not say what such a file says: it was changed or cut short",
        )),
    }
}

/// A store of an older format is not an empty folder.
fn former(disk: &dyn Disk, folder: &Path, known: u32) -> Result<(), LedgerError> {
    let path = folder.join(FORMER_FILE);
    let error = |error: io::Error| fault::io_error("reading", &path, &error);
    if !exists(disk, &path).map_err(error)? {
        return Ok(());
    }
    let text = read_all(disk, &path).map_err(error)?;
    let text = String::from_utf8_lossy(&text);
    let found = text
        .lines()
        .nth(1)
        .and_then(|line| number(line, "format: "));
    Err(match found {
        Some(found) if found < known => LedgerError::Version { found, known },
        Some(_) | None => fault::damaged_at(&path, "it is no marker of an older store"),
    })
}

fn to_text(format: u32, id: StoreId) -> String {
    let body = format!("{TITLE}\nformat: {format}\nid: {id}\n");
    let sum = crc32fast::hash(body.as_bytes());
    format!("{body}sum: {sum:08x}\n")
}

/// The format, and the identity when all of it is as it was written in that format. A newer format
/// may have other fields, but it has the same sum over them.
fn parse(text: &[u8]) -> Option<(u32, Option<StoreId>)> {
    let text = std::str::from_utf8(text).ok()?;
    let (body, sum) = text.rsplit_once("sum: ")?;
    let whole = format!("{:08x}\n", crc32fast::hash(body.as_bytes())) == sum;
    let mut lines = body.lines();
    let titled = lines.next() == Some(TITLE);
    let format = number(lines.next()?, "format: ").filter(|_| whole && titled)?;
    let id = lines.next().and_then(|line| line.strip_prefix("id: "));
    let id = id.and_then(|id| u128::from_str_radix(id, 16).ok());
    let id = id.map(|id| StoreId(id.to_be_bytes()));
    Some((format, id.filter(|id| to_text(format, *id) == text)))
}

fn number(line: &str, name: &str) -> Option<u32> {
    line.strip_prefix(name)?.parse().ok()
}
