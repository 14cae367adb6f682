//! Files of a table, copied and damaged, and what chance draws.

use std::fs;
use std::path::{Path, PathBuf};

/// `MAINSTAY_SEED` when it is set, to repeat a test.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("MAINSTAY_SEED").ok();
    let given = given.and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| u64::from(std::process::id()))
}

/// Numbers that a seed draws.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

/// Copies a folder with everything in it. Files that go meanwhile are left out.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place);
        } else if let Ok(bytes) = fs::read(&path) {
            fs::write(&place, bytes).unwrap();
        }
    }
}

/// All files in a folder and below it, sorted.
pub(crate) fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(all_files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}
