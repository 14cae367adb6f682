//! A folder for one test: minutes, store, databases; nothing that was started from it stays.
//!
//! No two tests share one.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use service_kit::Announcement;
use tempfile::TempDir;

use crate::process::{of_folder, runs, signal_pid};

/// The services a store may have.
pub const SERVICES: [&str; 2] = ["ticket-service", "specialist-service"];

/// The folder.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// A new one.
    ///
    /// # Panics
    /// There is no room for it.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "it makes a folder, which a default must not"
    )]
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder for the test"),
        }
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the store is unless a test says otherwise.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.path("store")
    }

    /// Writes a file into it.
    ///
    /// # Panics
    /// It cannot be written.
    #[must_use]
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file of the test");
        path
    }

    /// What the pid file of a service of the store says.
    #[must_use]
    pub fn announced(&self, service: &str) -> Option<Announcement> {
        Announcement::read(&self.store().join(format!("{service}.pid")))
    }

    /// The pids of a service's processes that were started from here.
    #[must_use]
    pub fn pids(&self, service: &str) -> Vec<u32> {
        of_folder(self.folder.path(), service)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let left: Vec<u32> = SERVICES
            .iter()
            .flat_map(|service| self.pids(service))
            .collect();
        for pid in left.into_iter().filter(|&pid| runs(pid)) {
            signal_pid(pid, Signal::KILL);
        }
    }
}
