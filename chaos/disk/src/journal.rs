//! What the shim (`shim/volume.c`) told of a process, record by record.
//!
//! A kill may cut the last record; what is told whole has happened. It must never guess: a record
//! that is not the shim's, or a call that the shim could not follow, is a panic.

use std::ops::Range;
use std::path::Path;

const MAGIC: u32 = 0x4c44_524f;
const HEADER_BYTES: usize = 40;

/// What happened to the files, in order. Names are below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file or folder was opened, and made if it was not there.
    Opened {
        /// Its number while it is there.
        ino: u64,
        /// It was cut to nothing.
        cut: bool,
        /// It is a folder.
        folder: bool,
        /// Its name.
        name: String,
    },
    /// Bytes were written.
    Written {
        /// To which file.
        ino: u64,
        /// From where on.
        at: u64,
        /// Where they lie in the journal.
        bytes: Range<usize>,
    },
    /// Zeros were written.
    Zeroed {
        /// To which file.
        ino: u64,
        /// From where on.
        at: u64,
        /// How many.
        count: u64,
    },
    /// A file has a new length.
    Cut {
        /// Which.
        ino: u64,
        /// The length.
        bytes: u64,
    },
    /// A file or folder was synced.
    Synced {
        /// Which.
        ino: u64,
        /// All entries before this one came before the sync.
        before: usize,
    },
    /// A name was changed; what had the new one is gone.
    Renamed(String, String),
    /// A file's name is gone.
    Unlinked(String),
    /// A folder was made.
    Folder(String),
    /// A folder is gone.
    NoFolder(String),
    /// The process said so.
    Told(Range<usize>),
}

/// A journal.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Journal {
    /// Reads a journal; one that is not there is empty.
    ///
    /// # Panics
    /// It is not the shim's, or says that the shim could not follow.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let mut entries = Vec::new();
        let mut at = 0;
        while let Some((entry, end)) = entry(&bytes, at) {
            entries.push(entry);
            at = end;
        }
        Self { bytes, entries }
    }

    /// These entries, whose bytes lie in `bytes`.
    #[cfg(test)]
    pub(super) const fn of(entries: Vec<Entry>, bytes: Vec<u8>) -> Self {
        Self { bytes, entries }
    }

    /// What happened.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The bytes of an entry.
    #[must_use]
    pub fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }

    /// What the process had said before entry `cut`.
    #[must_use]
    pub fn told(&self, cut: usize) -> String {
        let mut told = Vec::new();
        for entry in &self.entries[..cut] {
            if let Entry::Told(range) = entry {
                told.extend_from_slice(self.bytes(range));
            }
        }
        String::from_utf8(told).expect("facts are text")
    }
}

/// The entry at `at` and where the next one begins; `None` at the end.
fn entry(bytes: &[u8], at: usize) -> Option<(Entry, usize)> {
    let header = bytes.get(at..at + HEADER_BYTES)?;
    let u32_at = |from: usize| u32::from_le_bytes(header[from..from + 4].try_into().expect("4"));
    let u64_at = |from: usize| u64::from_le_bytes(header[from..from + 8].try_into().expect("8"));
    assert_eq!(u32_at(0), MAGIC, "no record at {at}");
    let (ino, a, b) = (u64_at(8), u64_at(16), u64_at(24));
    let name = at + HEADER_BYTES..at + HEADER_BYTES + u32_at(32) as usize;
    let data = name.end..name.end + u32_at(36) as usize;
    let end = data.end;
    bytes.get(at..end)?;
    let text = |range: Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let entry = match u32_at(4) {
        1 => Entry::Opened {
            ino,
            cut: a == 1,
            folder: b == 1,
            name: text(name),
        },
        2 => Entry::Written {
            ino,
            at: a,
            bytes: data,
        },
        3 => Entry::Zeroed {
            ino,
            at: a,
            count: b,
        },
        4 => Entry::Cut { ino, bytes: a },
        5 => Entry::Synced {
            ino,
            before: usize::try_from(a).expect("a count of entries"),
        },
        6 => Entry::Renamed(text(name), text(data)),
        7 => Entry::Unlinked(text(name)),
        8 => Entry::Folder(text(name)),
        9 => Entry::NoFolder(text(name)),
        10 => Entry::Told(data),
        11 => panic!("the shim could not follow: {}", text(name)),
        kind => panic!("a record of kind {kind} at {at}"),
    };
    Some((entry, end))
}
