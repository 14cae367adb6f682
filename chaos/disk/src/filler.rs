//! A file that takes all room of a small volume, so that whoever writes there has none.
//!
//! It must never be put on a volume that anybody else uses.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file that takes all room of a volume; it is gone when it is dropped.
#[derive(Debug)]
pub struct Filler(PathBuf);

impl Filler {
    /// Takes all room in this folder.
    ///
    /// # Panics
    /// Writing ends otherwise than for want of room.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        let path = folder.join("filler");
        let filler = Self(path.clone());
        let mut file = File::create(&path).expect("a file on the volume");
        for chunk in [1 << 20, 4_096] {
            let bytes = vec![1; chunk];
            loop {
                match file.write_all(&bytes).and_then(|()| file.sync_data()) {
                    Ok(()) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::StorageFull => break,
                    Err(error) => panic!("{}: {error}", path.display()),
                }
            }
        }
        filler
    }

    /// Takes what has become free since.
    ///
    /// # Panics
    /// The file is gone.
    pub fn again(&self) {
        let file = OpenOptions::new().append(true).open(&self.0);
        let mut file = file.expect("it is still there");
        // It ends with an error: there is no room.
        while file.write_all(&[1; 4_096]).is_ok() {}
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        // Its folder may be gone before.
        let _ = std::fs::remove_file(&self.0);
    }
}
