//! A folder with all that is in it, in memory.
//!
//! It knows nothing of stores but for the kinds of their files, which it tells by their names. It
//! must never follow a link.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A folder's content by the names below it; parents come before what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image(pub BTreeMap<String, Item>);

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A folder.
    Folder,
    /// A file with this content.
    File(Arc<Vec<u8>>),
}

impl Image {
    /// Reads a folder; one that is not there has nothing in it.
    ///
    /// # Panics
    /// Something in it cannot be read.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut image = Self::default();
        if folder.exists() {
            image.add(folder, "");
        }
        image
    }

    fn add(&mut self, folder: &Path, above: &str) {
        let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        for found in listed {
            let found = found.expect("a folder is listed");
            let name = found
                .file_name()
                .into_string()
                .expect("stores have plain names");
            let name = format!("{above}{name}");
            let kind = found.file_type().expect("a file has a type");
            if kind.is_dir() {
                self.add(&found.path(), &format!("{name}/"));
                self.0.insert(name, Item::Folder);
            } else {
                assert!(kind.is_file(), "{name} is neither a file nor a folder");
                let content = fs::read(found.path()).unwrap_or_else(|e| panic!("{name}: {e}"));
                self.0.insert(name, Item::File(Arc::new(content)));
            }
        }
    }

    /// Makes a folder of it, in place of what is there.
    ///
    /// # Panics
    /// There is no room for it.
    pub fn write(&self, folder: &Path) {
        if folder.exists() {
            fs::remove_dir_all(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        }
        self.add_to(folder);
    }

    /// Puts all of it into a folder, which is made if it is not there.
    ///
    /// # Panics
    /// There is no room for it.
    pub fn add_to(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        for (name, item) in &self.0 {
            let path = folder.join(name);
            match item {
                Item::Folder => fs::create_dir_all(&path),
                Item::File(content) => fs::write(&path, content.as_slice()),
            }
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    /// Its files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Arc<Vec<u8>>)> {
        self.0.iter().filter_map(|(name, item)| match item {
            Item::File(content) => Some((name.as_str(), content)),
            Item::Folder => None,
        })
    }

    /// Its kinds of files, each with the names of those that have some bytes.
    #[must_use]
    pub fn kinds(&self) -> BTreeMap<String, Vec<String>> {
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, content) in self.files().filter(|(_, content)| !content.is_empty()) {
            let has_some = content.iter().any(|byte| *byte != 0);
            if has_some {
                kinds.entry(kind(name)).or_default().push(name.to_owned());
            }
        }
        kinds
    }

    /// The bytes of all files whose names begin so, without zeros at their ends.
    #[must_use]
    pub fn used_bytes(&self, begin: &str) -> usize {
        let files = self.files().filter(|(name, _)| name.starts_with(begin));
        files.map(|(_, content)| trimmed(content).len()).sum()
    }

    /// What is not as in `other`, by name; zeros at the end of a file do not count, because room
    /// that is reserved is not always told.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut names: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let differs = |name: &&String| match (self.0.get(*name), other.0.get(*name)) {
            (Some(Item::File(one)), Some(Item::File(two))) => trimmed(one) != trimmed(two),
            (one, two) => one != two,
        };
        names.into_iter().filter(differs).cloned().collect()
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    &bytes[..end]
}

/// The kind of a file: its folder, and its name without numbers.
#[must_use]
pub fn kind(name: &str) -> String {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let folder = folder.split('/').next().unwrap_or_default();
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = file
        .split('.')
        .map(|part| {
            if 3 < part.len() && is_number(part) {
                "N"
            } else {
                part
            }
        })
        .collect();
    match folder {
        "" => parts.join("."),
        folder => format!("{folder}/{}", parts.join(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_kind_differ_in_their_numbers_only() {
        assert_eq!(kind("log/00000001.seg"), kind("log/00000102.seg"));
        assert_eq!(kind("table/snap.000000000569F8DD"), "table/snap.N");
        assert_eq!(kind("ACKED"), "ACKED");
        assert_ne!(kind("table/db"), kind("table/conf"));
    }

    #[test]
    fn an_image_is_a_folder_and_back() {
        let place = tempfile::tempdir().expect("a folder for the test");
        let mut image = Image::default();
        image.0.insert("a".to_owned(), Item::Folder);
        let content = Item::File(Arc::new(vec![1, 2, 3]));
        image.0.insert("a/b".to_owned(), content);
        let folder = place.path().join("x");
        image.write(&folder);
        image.write(&folder);
        assert_eq!(Image::read(&folder), image);
    }
}
