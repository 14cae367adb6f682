//! The shim that tells what a process does to a folder: built here by the system's compiler, and
//! put before a program.
//!
//! Where it cannot be built that is an error: nobody may run a program without it instead.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The source; see there what it understands.
const SOURCE: &str = include_str!("../shim/volume.c");

/// A built shim.
#[derive(Clone, Debug)]
pub struct Shim(PathBuf);

/// Why there is no shim.
#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    /// Its source or the library has no place in the folder.
    #[error("the shim of a disk has no place: {0}")]
    Place(#[from] std::io::Error),
    /// The library's path has a space or a colon in it, which end a name where it is preloaded.
    #[error("a shim cannot be loaded from {}: no space or colon may be in its path", .0.display())]
    Unnameable(PathBuf),
    /// There is no compiler of this name, or it does not start.
    #[error("a loss of power needs a C compiler (`cc`, or another one named by CC): {0}: {1}")]
    NoCompiler(String, std::io::Error),
    /// The compiler has something to say.
    #[error("the shim of a disk does not compile:\n{0}")]
    DoesNotCompile(String),
}

impl Shim {
    /// Builds it into a folder that is there, in whose path there is no space and no colon.
    pub fn build(folder: &Path) -> Result<Self, ShimError> {
        let (source, library) = (folder.join("volume.c"), folder.join("volume.so"));
        let path = library.as_os_str().as_encoded_bytes();
        if path.iter().any(|byte| b" :\n\t".contains(byte)) {
            return Err(ShimError::Unnameable(library));
        }
        std::fs::write(&source, SOURCE)?;
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(&compiler);
        command.args([
            "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
        ]);
        command.arg("-o").arg(&library).arg(&source);
        command.args(["-ldl", "-lpthread"]).stdin(Stdio::null());
        let built = command
            .output()
            .map_err(|error| ShimError::NoCompiler(compiler, error))?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr);
            return Err(ShimError::DoesNotCompile(format!("{command:?}\n{said}")));
        }
        Ok(Self(library))
    }

    /// What a program has to find in its environment, so that it is told of in `journal` as far as
    /// it touches `folder`; both without links in them.
    #[must_use]
    pub fn environment(&self, folder: &Path, journal: &Path) -> [(&'static str, PathBuf); 3] {
        [
            ("LD_PRELOAD", self.0.clone()),
            ("ORDEAL_ROOT", folder.to_owned()),
            ("ORDEAL_JOURNAL", journal.to_owned()),
        ]
    }

    /// Lets syncs of files with one of `parts` in their names do nothing.
    pub fn lie(command: &mut Command, parts: &[&str]) {
        command.env("ORDEAL_LIE", parts.join(":"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_is_built_where_it_can_be_loaded_from_and_nowhere_else() {
        let place = tempfile::tempdir().expect("a folder for the test");
        assert!(Shim::build(place.path()).is_ok());
        for name in ["a b", "a:b", "a\nb"] {
            let folder = place.path().join(name);
            std::fs::create_dir(&folder).expect("a folder in it");
            let told = Shim::build(&folder).expect_err(name);
            assert!(matches!(told, ShimError::Unnameable(_)), "{told}");
        }
        let told = Shim::build(&place.path().join("none")).expect_err("no folder");
        assert!(matches!(told, ShimError::Place(_)), "{told}");
    }
}
