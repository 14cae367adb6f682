//! The services beside the run: found by their pid files, else started; stopped at the end.
//!
//! They are processes of their own and outlive a killed run: the next one finds them again. Only
//! what stands in this store's pid files is ever stopped.

use std::fs::{File, TryLockError};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use service_kit::Announcement;

/// How long a service may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at whether it has.
const GLANCE: Duration = Duration::from_millis(20);

/// A service that answers.
pub struct Service {
    /// Its address.
    pub url: String,
    /// Its pid file, when it belongs to this store.
    pid_file: Option<PathBuf>,
    child: Option<Child>,
}

/// Which service, and how it is started.
pub struct Wanted<'a> {
    /// Its name, as in its announcement: also the argument that makes this program be it.
    pub name: &'static str,
    /// The store it belongs to.
    pub store: &'a Path,
    /// Its arguments beside address and pid file.
    pub args: Vec<String>,
}

impl Service {
    /// A service that somebody else runs.
    #[must_use]
    pub fn external(url: &str) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            pid_file: None,
            child: None,
        }
    }

    /// The store's service if one lives: a killed run leaves it behind.
    #[must_use]
    pub fn left_behind(wanted: &Wanted<'_>) -> Option<Self> {
        let pid_file = wanted.pid_file();
        let found = alive(&pid_file, wanted.name)?;
        if !is_called(found.pid, &pid_file.display().to_string()) {
            // A copied store holds the pid file of the original's service.
            return None;
        }
        let url = format!("http://{}", found.listening);
        Some(Self {
            url,
            pid_file: Some(pid_file),
            child: None,
        })
    }

    /// Finds the store's service, or starts it.
    ///
    /// There are never two: the service keeps a lock on a file of the store as its stdin, for as
    /// long as it lives. A run that was killed before its service had announced itself leaves a
    /// locked file; the next run waits for that service instead of starting another.
    ///
    /// # Errors
    /// It does not start within its time.
    pub fn ensure(wanted: &Wanted<'_>) -> anyhow::Result<Self> {
        let log = wanted.store.join(format!("{}.out", wanted.name));
        let since = Instant::now();
        let mut child: Option<Child> = None;
        loop {
            if let Some(found) = Self::left_behind(wanted) {
                return Ok(Self { child, ..found });
            }
            if let Some(status) = child.as_mut().map(Child::try_wait).transpose()?.flatten() {
                bail!(
                    "{} ended at once ({status}); see {}",
                    wanted.name,
                    log.display()
                );
            }
            if PATIENCE < since.elapsed() {
                if let Some(child) = &mut child {
                    child.kill().ok();
                }
                bail!(
                    "{} did not start in {PATIENCE:?}; see {}",
                    wanted.name,
                    log.display()
                );
            }
            if child.is_none() {
                child = wanted.start(&log)?;
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Stops the service if it belongs to this store, and waits until it is gone.
    pub fn stop(mut self) {
        let Some(pid_file) = self.pid_file.take() else {
            return;
        };
        let Some(found) = Announcement::read(&pid_file) else {
            return;
        };
        if !is_service(&found) {
            return;
        }
        let pid = i32::try_from(found.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended by itself in between.
            let _ = kill_process(pid, Signal::TERM);
        }
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            let gone = match &mut self.child {
                Some(child) => matches!(child.try_wait(), Ok(Some(_)) | Err(_)),
                None => !is_service(&found),
            };
            if gone {
                return;
            }
            std::thread::sleep(GLANCE);
        }
    }
}

impl Wanted<'_> {
    fn pid_file(&self) -> PathBuf {
        self.store.join(format!("{}.pid", self.name))
    }

    /// Starts the service in a process group of its own, so that Ctrl-C ends the run first; `None`
    /// while one lives that has not announced itself yet.
    fn start(&self, log: &Path) -> anyhow::Result<Option<Child>> {
        let lock = self.store.join(format!("{}.lock", self.name));
        let lock = File::create(&lock).with_context(|| format!("{}", lock.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error).context("locking"),
        }
        let out = File::create(log).with_context(|| format!("{}", log.display()))?;
        let program = std::env::current_exe().context("finding this program")?;
        let child = Command::new(program)
            .arg(self.name)
            .args(["--listen", "127.0.0.1:0", "--pid-file"])
            .arg(self.pid_file())
            .args(&self.args)
            .stdin(lock)
            .stdout(out.try_clone()?)
            .stderr(out)
            .process_group(0)
            .spawn();
        Ok(Some(
            child.with_context(|| format!("starting {}", self.name))?,
        ))
    }
}

/// The announcement of a pid file whose process lives and is that service.
fn alive(pid_file: &Path, name: &str) -> Option<Announcement> {
    let found = Announcement::read(pid_file)?;
    let answers =
        || std::net::TcpStream::connect_timeout(&found.listening, Duration::from_secs(1)).is_ok();
    (found.name == name && is_service(&found) && answers()).then_some(found)
}

/// Whether the announced process lives. One that has ended and was not yet waited for does not.
fn is_service(found: &Announcement) -> bool {
    is_process(found.pid) && is_called(found.pid, &found.name)
}

fn is_process(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    rustix::process::test_kill_process(pid).is_ok()
}

/// Whether the process was started as that service: a pid may have been given to another program.
/// Where the system does not tell, the name in the pid file has to do.
fn is_called(pid: u32, name: &str) -> bool {
    match std::fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(line) => line
            .split(|byte| *byte == 0)
            .any(|word| word == name.as_bytes() || word.ends_with(format!("/{name}").as_bytes())),
        Err(_) => true,
    }
}
