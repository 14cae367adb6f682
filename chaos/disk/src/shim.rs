//! The shim that tells what a process does to a folder: built here by the system's compiler, and
//! put before a program.
//!
//! Where it cannot be built a test is red: it must never run a program without it instead.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The source; see there what it understands.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shim/volume.c");

/// A built shim.
#[derive(Clone, Debug)]
pub struct Shim(PathBuf);

impl Shim {
    /// Builds it into a folder of the test.
    ///
    /// # Panics
    /// There is no C compiler, or it has something to say.
    #[must_use]
    pub fn build(folder: &Path) -> Self {
        let library = folder.join("volume.so");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(&compiler);
        command.args([
            "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
        ]);
        command.arg("-o").arg(&library).arg(SOURCE);
        command.args(["-ldl", "-lpthread"]);
        let built = command.output().unwrap_or_else(|error| {
            panic!("a loss of power needs a C compiler: {compiler}: {error}")
        });
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{command:?}\n{said}");
        Self(library)
    }

    /// Lets `command` be told of in `journal`, as far as it touches `folder`.
    pub fn before(&self, command: &mut Command, folder: &Path, journal: &Path) {
        command
            .env("LD_PRELOAD", &self.0)
            .env("ORDEAL_ROOT", folder)
            .env("ORDEAL_JOURNAL", journal);
    }

    /// Lets syncs of files with one of `parts` in their names do nothing.
    pub fn lie(command: &mut Command, parts: &[&str]) {
        command.env("ORDEAL_LIE", parts.join(":"));
    }
}
