//! The files of the workspace, read once and shared by all rules. It must never write, and it
//! never looks into what git ignores: a build's leftovers are nobody's violation.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::source::Rust;

/// Every text file below the root, by path from the root.
pub(crate) struct Tree {
    /// The folder on disk; absent for trees made in memory by a test.
    root: Option<PathBuf>,
    files: BTreeMap<String, File>,
    modules_for_tests: OnceCell<BTreeSet<String>>,
}

/// One text file and, if it is asked for, what it parses to.
pub(crate) struct File {
    text: String,
    rust: OnceCell<Result<Rust, String>>,
}

impl File {
    fn rust(&self) -> &Result<Rust, String> {
        self.rust.get_or_init(|| Rust::parse(&self.text))
    }
}

impl Tree {
    /// Reads the tree below `root`: what git tracks or would track, else everything that does
    /// not lie in a folder known to hold leftovers.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            // Listed but deleted, or a link to a folder: not a file of this tree.
            if !full.is_file() {
                continue;
            }
            let bytes = fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            // Not text: nothing here has a rule about it.
            if let Ok(text) = String::from_utf8(bytes) {
                files.insert(
                    path,
                    File {
                        text,
                        rust: OnceCell::new(),
                    },
                );
            }
        }
        Ok(Self {
            root: Some(root.to_path_buf()),
            files,
            modules_for_tests: OnceCell::new(),
        })
    }

    /// A tree in memory.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |text: &str| File {
            text: text.to_owned(),
            rust: OnceCell::new(),
        };
        Self {
            root: None,
            files: files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), file(text)))
                .collect(),
            modules_for_tests: OnceCell::new(),
        }
    }

    /// The folder on disk, when there is one.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|file| file.text.as_str())
    }

    /// All text files: path and text, in path order.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, file)| (path.as_str(), file.text.as_str()))
    }

    /// One Rust file, if it is there and parses.
    pub(crate) fn rust_of(&self, path: &str) -> Option<&Rust> {
        let file = self.files.get(path).filter(|_| path.ends_with(".rs"))?;
        file.rust().as_ref().ok()
    }

    /// All Rust files that parse; those that do not are told by [`Tree::unparsable`].
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &Rust)> {
        self.parsed()
            .filter_map(|(path, parsed)| Some((path, parsed.as_ref().ok()?)))
    }

    /// The Rust files below one of `folders`.
    pub(crate) fn rust_below<'a>(
        &'a self,
        folders: &'a [&'a str],
    ) -> impl Iterator<Item = (&'a str, &'a Rust)> {
        self.rust()
            .filter(move |(path, _)| folders.iter().any(|folder| path.starts_with(folder)))
    }

    /// Rust files that do not parse, with the parser's words.
    pub(crate) fn unparsable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parsed()
            .filter_map(|(path, parsed)| Some((path, parsed.as_ref().err()?.as_str())))
    }

    fn parsed(&self) -> impl Iterator<Item = (&str, &Result<Rust, String>)> {
        self.files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, file)| (path.as_str(), file.rust()))
    }

    /// Whether a Rust file is compiled for tests only: it lies in a `tests` folder, or its
    /// parent declares it under `#[cfg(test)]`.
    pub(crate) fn is_test_file(&self, path: &str) -> bool {
        path.split('/')
            .rev()
            .skip(1)
            .any(|folder| folder == "tests" || folder == "benches")
            || self.modules_for_tests().iter().any(|module| {
                path.strip_prefix(module.as_str())
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            })
    }

    fn modules_for_tests(&self) -> &BTreeSet<String> {
        self.modules_for_tests.get_or_init(|| {
            self.rust()
                .flat_map(|(path, rust)| {
                    let base = module_folder(path);
                    rust.modules_for_tests()
                        .map(move |name| format!("{base}/{name}"))
                })
                .collect()
        })
    }

    /// Every package manifest of the workspace: path, parsed. A manifest that is not TOML is
    /// left out: cargo says so better and first.
    pub(crate) fn manifests(&self) -> Vec<(String, toml::Table)> {
        self.files()
            .filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml"))
            .filter_map(|(path, text)| Some((path.to_owned(), text.parse().ok()?)))
            .filter(|(_, table): &(String, toml::Table)| table.contains_key("package"))
            .collect()
    }
}

/// Where the submodules of the file at `path` live.
fn module_folder(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder,
        _ => path.trim_end_matches(".rs"),
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    // A copy without its own `.git` must not be read through a repository further up.
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(
        text.split('\0')
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// Folders that hold what a build or a run left behind.
const LEFTOVERS: [&str; 4] = [".git", "target", "mainstay-store", "node_modules"];

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if !LEFTOVERS.iter().any(|name| entry.file_name() == *name) {
                    open.push(path);
                }
            } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
                found.push(name.replace('\\', "/"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_without_git_is_walked_without_its_leftovers() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("target/debug")).unwrap();
        fs::write(root.join("src/lib.rs"), "//! Library.\n").unwrap();
        fs::write(root.join("target/debug/made.rs"), "x").unwrap();
        fs::write(root.join("picture"), [0xff, 0xfe, 0x00]).unwrap();

        let tree = Tree::load(root).unwrap();

        let paths: Vec<&str> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(paths, ["src/lib.rs"]);
    }

    #[test]
    fn a_module_declared_for_tests_is_a_test_file_and_so_are_its_children() {
        let tree = Tree::of(&[
            ("a/src/lib.rs", "mod run;"),
            ("a/src/run.rs", "#[cfg(test)]\nmod checks;\nmod plain;"),
            ("a/src/run/checks.rs", "mod deep;"),
            ("a/src/run/checks/deep.rs", ""),
            ("a/src/run/plain.rs", ""),
            ("a/tests/all.rs", ""),
        ]);

        let tests: Vec<&str> = tree
            .rust()
            .map(|(path, _)| path)
            .filter(|path| tree.is_test_file(path))
            .collect();
        assert_eq!(
            tests,
            [
                "a/src/run/checks.rs",
                "a/src/run/checks/deep.rs",
                "a/tests/all.rs"
            ]
        );
    }
}
