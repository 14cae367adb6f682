//! The file that says: here is a store, in this format, with this identity.
//!
//! It stands beside sled, written when the store is made or its format grows. With it, a sled that
//! opens empty or belongs to another store is damage and never a new store.

use std::fmt;
use std::fs;
use std::path::Path;

use mainstay_ledger::LedgerError;
use rand::TryRng;

use crate::fault;
use crate::files::{self, io_error};
use crate::settings::{FORMAT, FORMAT_OLDEST};

/// The marker's name in the store's folder.
pub(crate) const FILE: &str = "STORE";

const TITLE: &str = "mainstay store";

/// Which store this is: 16 random bytes, drawn when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreId([u8; 16]);

impl StoreId {
    /// A new store's identity, from the operating system.
    pub(crate) fn draw() -> Result<Self, LedgerError> {
        let mut bytes = [0; 16];
        rand::rngs::SysRng
            .try_fill_bytes(&mut bytes)
            .map_err(|error| LedgerError::Io {
                detail: format!("drawing a store's identity: {error}"),
            })?;
        Ok(Self(bytes))
    }

    pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 32 lower-case hexadecimal digits.
impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// Whether there is a marker in `folder`.
pub(crate) fn exists(folder: &Path) -> Result<bool, LedgerError> {
    files::exists(&folder.join(FILE))
}

/// Marks `folder` as the store `id`, durably.
pub(crate) fn write(folder: &Path, id: StoreId) -> Result<(), LedgerError> {
    let text = format!("{TITLE}\nformat: {FORMAT}\nid: {id}\n");
    files::put(&folder.join(FILE), text.as_bytes())
}

/// The identity and the format of the store in `folder`.
///
/// `Version` for a format that is not read, before anything else is looked at; `Damaged` for
/// anything that [`write`] cannot have written.
pub(crate) fn read(folder: &Path) -> Result<(StoreId, u32), LedgerError> {
    let path = folder.join(FILE);
    let text = fs::read(&path).map_err(|error| io_error("reading", &path, &error))?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    let damaged = || fault::damaged_at(&path, "it does not say what a store's marker says");
    if lines.next() != Some(TITLE) {
        return Err(damaged());
    }
    let field = |line: Option<&str>, name| {
        line.and_then(|line| line.strip_prefix(name).map(str::to_owned))
            .ok_or_else(damaged)
    };
    let found: u32 = field(lines.next(), "format: ")?
        .parse()
        .map_err(|_| damaged())?;
    if !(FORMAT_OLDEST..=FORMAT).contains(&found) {
        return Err(LedgerError::Version {
            found,
            known: FORMAT,
        });
    }
    let id = field(lines.next(), "id: ")?;
    let id = u128::from_str_radix(&id, 16).map_err(|_| damaged())?;
    Ok((StoreId(id.to_be_bytes()), found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_tells_format_and_identity_and_nothing_else_passes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let id = StoreId([0x0a; 16]);
        write(path, id).unwrap();
        assert_eq!(read(path), Ok((id, FORMAT)));
        fs::write(
            path.join(FILE),
            "mainstay store\nformat: 9\nsomething new\n",
        )
        .unwrap();
        assert_eq!(
            read(path),
            Err(LedgerError::Version {
                found: 9,
                known: FORMAT
            })
        );
        for text in [
            "",
            "mainstay",
            "mainstay store\nformat: x\n",
            "mainstay store\nformat: 1\n",
        ] {
            fs::write(path.join(FILE), text).unwrap();
            assert!(
                matches!(read(path), Err(LedgerError::Damaged { .. })),
                "{text:?}"
            );
        }
    }
}
