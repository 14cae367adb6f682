//! A small volume of its own, in memory, so that a disk can be full without filling anybody's.
//!
//! Where nobody may mount one, that is an error with what to do: it must never pretend.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A volume; it is gone when it is dropped.
#[derive(Debug)]
pub struct Mounted(PathBuf);

/// Why there is no volume.
#[derive(Debug, thiserror::Error)]
#[error(
    "a full disk needs a small volume, and none can be mounted at {}: {why}\n\
     hint: run this as root, or let this user run `sudo -n mount` and `sudo -n umount`",
    .folder.display()
)]
pub struct MountError {
    folder: PathBuf,
    why: String,
}

impl Mounted {
    /// Mounts a volume of so many bytes at `folder`, which is made.
    pub fn at(folder: &Path, bytes: u64) -> Result<Self, MountError> {
        let failed = |why: String| MountError {
            folder: folder.to_owned(),
            why,
        };
        std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        let size = format!("size={bytes},mode=0777");
        let words = ["-t", "tmpfs", "-o", &size, "mainstay-fault-disk"];
        as_root("mount", |command| {
            command.args(words).arg(folder);
        })
        .map_err(failed)?;
        Ok(Self(folder.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let told = as_root("umount", |command| {
            command.arg("-l").arg(&self.0);
        });
        if let Err(why) = told {
            eprintln!("{} stays mounted: {why}", self.0.display());
        }
    }
}

/// Runs a program as this user, and as root if that may not.
fn as_root(program: &str, words: impl Fn(&mut Command)) -> Result<(), String> {
    let run = |mut command: Command| {
        words(&mut command);
        let ended = command.output().map_err(|error| error.to_string())?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&ended.stderr).trim().to_owned()),
        }
    };
    run(Command::new(program)).or_else(|refused| {
        let mut command = Command::new("sudo");
        command.args(["-n", program]);
        run(command).map_err(|_| refused)
    })
}
