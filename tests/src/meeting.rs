//! The program `meeting-analysis` as a person calls it.
//!
//! It must never reach into the program: arguments in, stdout, stderr and exit code out.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binaries::program;
use crate::failpoints::{FAILPOINT, Failpoint, JOURNAL};
use crate::process::{Ended, Running};
use crate::view::View;

/// One command, to be given once or more often.
#[derive(Clone, Debug)]
pub struct Meeting {
    file: PathBuf,
    store: PathBuf,
    more: Vec<OsString>,
}

impl Meeting {
    /// `meeting-analysis FILE --json --store DIR`.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, store: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            store: store.into(),
            more: vec!["--json".into()],
        }
    }

    /// With another flag and its value.
    #[must_use]
    pub fn with(mut self, flag: &str, value: impl AsRef<OsStr>) -> Self {
        self.more.extend([flag.into(), value.as_ref().to_owned()]);
        self
    }

    /// With another word.
    #[must_use]
    pub fn and(mut self, word: &str) -> Self {
        self.more.push(word.into());
        self
    }

    /// Without `--json`.
    #[must_use]
    pub fn as_text(mut self) -> Self {
        self.more.retain(|word| word != "--json");
        self
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Starts it.
    #[must_use]
    pub fn start(&self) -> Running {
        Running::start(&mut self.command("meeting-analysis"))
    }

    /// Starts it with its appends written down in `journal`, to die at the failpoint if there is
    /// one.
    #[must_use]
    pub fn start_watched(&self, journal: &Path, dies: Option<Failpoint>) -> Running {
        let mut command = self.command("meeting-killed");
        command.env(JOURNAL, journal);
        if let Some(failpoint) = dies {
            command.env(FAILPOINT, failpoint.to_string());
        }
        Running::start(&mut command)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        command
            .arg(&self.file)
            .arg("--store")
            .arg(&self.store)
            .args(&self.more)
            .env_remove(FAILPOINT)
            .env_remove(JOURNAL);
        command
    }

    /// Runs it to its end.
    #[must_use]
    pub fn run(&self) -> Ended {
        self.start().wait()
    }

    /// Runs it to its end, with the run that it printed.
    ///
    /// # Panics
    /// It printed none.
    #[must_use]
    pub fn view(&self) -> View {
        View::printed(self.run())
    }
}
