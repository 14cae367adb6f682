//! How a command fails: message, hint, exit code.
//!
//! Every failure has a way out in its hint, and names the page of its code where there is one.

use std::process::ExitCode;

use mainstay_socket::{Failure, failure};
use mainstay_types::{Code, Family};

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
        self.code.map_or("later", failure::retry_helps)
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let Failure {
            code,
            message,
            hint,
        } = failure;
        Self::new(code, message, hint)
    }
}
