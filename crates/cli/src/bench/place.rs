//! The folder of a measurement: new, named after its process, removed when it is over.
//!
//! Nothing that was there before is opened, written or removed.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::args::PlaceArgs;
use super::outside;
use crate::error::CliError;
use crate::output::Output;

/// How much of a file is looked at, at once, for its last byte that is not zero.
const LOOK_BYTES: usize = 1 << 16;

/// A new folder.
pub(crate) struct Place {
    folder: PathBuf,
    keep: bool,
}

impl Place {
    /// Makes the folder.
    pub(crate) fn new(args: &PlaceArgs) -> Result<Self, CliError> {
        let beside = args.folder.clone().unwrap_or_else(std::env::temp_dir);
        let name = |n: u32| beside.join(format!("mainstay-bench-{}-{n}", std::process::id()));
        let mut n = 0;
        loop {
            let folder = name(n);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let keep = args.keep;
                    return Ok(Self { folder, keep });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(error) => return Err(outside(&format!("making {}", folder.display()), error)),
            }
        }
    }

    /// A folder in it, which is not made here.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Says on stderr where the stores are that stay, a line for each: these are the folders that
    /// `--store` takes.
    pub(crate) fn told(&self, output: &Output) -> Result<(), CliError> {
        if !self.keep {
            return Ok(());
        }
        let stores = folders(&self.folder);
        let stores = stores.map_err(|error| outside("looking for the stores", error))?;
        output.note("");
        for store in stores {
            output.aside(&format!("kept: {}", store.display()));
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed is left to the system, as any temporary file is.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// The folders in a folder, in the order of the numbers at the end of their names.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(folders)
}

/// What the files of a folder hold, in bytes. Room that was reserved ahead of need, which is zeros
/// at a file's end, does not count.
pub(crate) fn held_bytes(folder: &Path) -> io::Result<u64> {
    let mut held = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        held += match entry.file_type()? {
            kind if kind.is_dir() => held_bytes(&entry.path())?,
            kind if kind.is_file() => filled(&entry.path())?,
            _ => 0,
        };
    }
    Ok(held)
}

/// The length of a file up to its last byte that is not zero.
fn filled(path: &Path) -> io::Result<u64> {
    let mut file = fs::File::open(path)?;
    let mut end = file.metadata()?.len();
    let mut bytes = vec![0; LOOK_BYTES];
    while 0 < end {
        let from = end.saturating_sub(LOOK_BYTES as u64);
        let part = &mut bytes[..usize::try_from(end - from).unwrap_or(LOOK_BYTES)];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(part)?;
        if let Some(last) = part.iter().rposition(|&byte| byte != 0) {
            return Ok(from + last as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(folder: &Path, keep: bool) -> PlaceArgs {
        let folder = Some(folder.to_owned());
        PlaceArgs { folder, keep }
    }

    #[test]
    fn a_place_is_new_and_gone_afterwards_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (first, kept) = (
            Place::new(&args(folder.path(), false)).unwrap(),
            Place::new(&args(folder.path(), true)).unwrap(),
        );
        fs::create_dir(first.at("store")).unwrap();
        fs::write(first.at("store").join("file"), "x").unwrap();
        drop((first, kept));
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn room_reserved_ahead_of_need_does_not_count_as_held() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        let mut bytes = vec![0; 3 * LOOK_BYTES + 5];
        fs::write(folder.path().join("empty"), &bytes).unwrap();
        assert_eq!(held_bytes(folder.path()).unwrap(), 0);
        bytes[LOOK_BYTES + 1] = 1;
        fs::write(folder.path().join("below/part"), &bytes).unwrap();
        fs::write(folder.path().join("whole"), "abc").unwrap();
        let held = held_bytes(folder.path()).unwrap();
        assert_eq!(held, LOOK_BYTES as u64 + 2 + 3);
    }
}
