//! How a service shows itself to other processes: one line on stdout, a pid file, signals.
//!
//! It must never leave a half-written pid file, nor remove one that another process wrote.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};

/// The line on stdout and the content of the pid file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The bound address.
    pub listening: SocketAddr,
    /// The process.
    pub pid: u32,
    /// The service's name.
    pub name: String,
    /// The database, absolute, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db: Option<PathBuf>,
}

/// The service could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The pid file could not be written.
    #[error("pid file {path}: {source}")]
    PidFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Nobody reads stdout.
    #[error("stdout: {0}")]
    Stdout(#[source] std::io::Error),
    /// Signal handlers could not be installed.
    #[error("signals: {0}")]
    Signals(#[source] std::io::Error),
}

/// A written pid file, removed when dropped unless another process has replaced it.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    pid: u32,
}

impl Announcement {
    /// For this process.
    pub fn new(name: impl Into<String>, listening: SocketAddr) -> Announcement {
        Announcement {
            listening,
            pid: std::process::id(),
            name: name.into(),
            db: None,
        }
    }

    /// Reads a pid file; `None` when it is absent or no announcement.
    pub fn read(path: &Path) -> Option<Announcement> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

/// Writes the pid file, if any, then the line on stdout. Call it once the service can answer.
///
/// The pid file comes into being whole and lasts as long as the returned guard.
pub fn announce(
    announcement: &Announcement,
    pid_file: Option<&Path>,
) -> Result<Option<PidFile>, StartError> {
    let line = serde_json::to_string(announcement).expect("strings and numbers only");
    let guard = match pid_file {
        Some(path) => {
            write_whole(path, line.as_bytes()).map_err(|source| StartError::PidFile {
                path: path.to_owned(),
                source,
            })?;
            Some(PidFile {
                path: path.to_owned(),
                pid: announcement.pid,
            })
        }
        None => None,
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(StartError::Stdout)?;
    Ok(guard)
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if Announcement::read(&self.path).is_some_and(|found| found.pid == self.pid) {
            // Nothing to do about a failure: a reader checks that the process lives anyway.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Installs handlers for SIGTERM and SIGINT at once; the future is ready when one arrives.
pub fn stop_signal() -> Result<impl Future<Output = ()>, StartError> {
    let mut term = signal(SignalKind::terminate()).map_err(StartError::Signals)?;
    let mut int = signal(SignalKind::interrupt()).map_err(StartError::Signals)?;
    Ok(async move {
        tokio::select! {
            biased;
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let fresh = beside(path, &format!(".{}.new", std::process::id()));
    let mut file = File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)
}

/// `path` with `suffix` added to its file name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_removed_by_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("svc.pid");
        let ours = Announcement::new("svc", "127.0.0.1:9".parse().unwrap());
        let guard = announce(&ours, Some(&path)).unwrap();
        assert_eq!(Announcement::read(&path), Some(ours.clone()));
        drop(guard);
        assert!(!path.exists());

        let guard = announce(&ours, Some(&path)).unwrap();
        let other = Announcement {
            pid: ours.pid + 1,
            ..ours
        };
        std::fs::write(&path, serde_json::to_vec(&other).unwrap()).unwrap();
        drop(guard);
        assert_eq!(Announcement::read(&path), Some(other));
    }
}
