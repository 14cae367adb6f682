//! How a command fails: message, hint, exit code.
//!
//! Every failure has a way out in its hint, and names the page of its code where there is one.

use std::process::ExitCode;

use mainstay_ledger::LedgerError;
use mainstay_types::{Code, Family, RetryHelps};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    Refused,
    Usage,
    Fault,
    Corrupt,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Fault => 3,
            Exit::Corrupt => 4,
        })
    }
}

/// A command that did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CliError {
    /// `None` for what has no page: the terminal, the operating system.
    pub(crate) code: Option<Code>,
    /// Without the code.
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) exit: Exit,
}

impl CliError {
    /// A refusal or fault with a code, which decides the exit code.
    pub(crate) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let exit = match code.family() {
            Family::Refusal | Family::Problem => Exit::Refused,
            Family::Fault => Exit::Fault,
            Family::Corrupt => Exit::Corrupt,
        };
        Self {
            code: Some(code),
            message: message.into(),
            hint: hint.into(),
            exit,
        }
    }

    /// Arguments that cannot be understood.
    pub(crate) fn usage(message: &str) -> Self {
        let hint = "--help lists what can be asked";
        Self {
            exit: Exit::Usage,
            ..Self::new(Code::InvalidInput, message, hint)
        }
    }

    /// Something outside of the store failed.
    pub(crate) fn outside(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code: None,
            message: message.into(),
            hint: hint.into(),
            exit: Exit::Fault,
        }
    }

    /// Whether doing the same again can help.
    pub(crate) fn retry_helps(&self) -> &'static str {
        self.code
            .map_or("later", |code| retry_helps(code.retry_helps()))
    }
}

/// The stable word.
pub(crate) const fn retry_helps(helps: RetryHelps) -> &'static str {
    match helps {
        RetryHelps::No => "no",
        RetryHelps::Yes => "yes",
        RetryHelps::Later => "later",
    }
}

impl From<LedgerError> for CliError {
    fn from(error: LedgerError) -> Self {
        let code = error.code();
        let told = error.to_string();
        // The ledger's own words begin with the code, and for damage they end with a hint.
        let message = told
            .strip_prefix(code.as_str())
            .unwrap_or(&told)
            .trim_start_matches(": ");
        let message = message
            .split("\n\nhint: ")
            .next()
            .unwrap_or(message)
            .to_owned();
        Self::new(code, message, way_out(&error))
    }
}

fn way_out(error: &LedgerError) -> String {
    match error {
        LedgerError::Locked { .. } => {
            "wait until that process has ended, or ask it: it has the newest state of its runs"
        }
        LedgerError::Missing { .. } => {
            "check --store and the current folder; a command that reads makes no store"
        }
        LedgerError::Version { .. } => "use the version of this program that wrote the store",
        LedgerError::Damaged { way_out, .. } => way_out,
        LedgerError::Poisoned { .. } => "check the disk, then ask again",
        LedgerError::Io { .. } => {
            "check that this user may read and write the folder (opening takes its lock), and the \
             disk"
        }
        LedgerError::InboxFull { .. } => "start an engine that drives the run",
        LedgerError::RunUnknown { .. } => "`runs` lists the runs of this store",
        LedgerError::CorruptRecord { .. } | LedgerError::CorruptChain { .. } => {
            "copy the whole folder before anything else, then check the disk; other runs can still \
             be read"
        }
    }
    .to_owned()
}
