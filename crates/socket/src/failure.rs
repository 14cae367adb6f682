//! How a question or command fails: code, message, way out; the same in JSON, over the socket and
//! on the command line.
//!
//! A message never repeats its code, and a hint is never empty: who reads it may know nothing else
//! of Mainstay.

use std::fmt;

use mainstay_ledger::LedgerError;
use mainstay_runtime::EngineError;
use mainstay_types::{Code, RetryHelps};
use serde::{Deserialize, Serialize};

/// Why nothing was answered, or not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// Without the code; may have several lines.
    pub message: String,
    /// What to do now.
    pub hint: String,
}

/// The JSON of a failure, as it is sent.
#[derive(Serialize, Deserialize)]
struct Form<'a> {
    code: &'a str,
    message: String,
    hint: String,
    #[serde(default)]
    retry_helps: String,
}

impl Failure {
    /// A failure with the hint of its code.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: way_out(code).to_owned(),
        }
    }

    /// Another hint than the code's own.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// One JSON object: `code`, `message`, `hint`, `retry_helps`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let form = Form {
            code: self.code.as_str(),
            message: self.message.clone(),
            hint: self.hint.clone(),
            retry_helps: retry_helps(self.code).to_owned(),
        };
        serde_json::to_string(&form).expect("four texts are JSON")
    }

    /// The failure that `json` says; `None` when it says none. A code of a newer version becomes
    /// SOCKET_PROTOCOL and stays in the message.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Option<Self> {
        let form: Form<'_> = serde_json::from_slice(json).ok()?;
        let Form {
            code,
            message,
            hint,
            ..
        } = form;
        Some(match Code::from_text(code) {
            Some(code) => Self {
                code,
                message,
                hint,
            },
            None => Self {
                code: Code::SocketProtocol,
                message: format!("a code that this version does not know: {code}: {message}"),
                hint,
            },
        })
    }
}

/// The stable word for whether doing the same again can help: `no`, `yes`, `later`.
#[must_use]
pub const fn retry_helps(code: Code) -> &'static str {
    match code.retry_helps() {
        RetryHelps::No => "no",
        RetryHelps::Yes => "yes",
        RetryHelps::Later => "later",
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n\nhint: {}", self.code, self.message, self.hint)
    }
}

impl std::error::Error for Failure {}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let failure = told(error.code(), &error.to_string());
        match error {
            LedgerError::Damaged { way_out, .. } => failure.hint(way_out),
            LedgerError::Locked { .. }
            | LedgerError::Missing { .. }
            | LedgerError::Version { .. }
            | LedgerError::Poisoned { .. }
            | LedgerError::Io { .. }
            | LedgerError::Full { .. }
            | LedgerError::InboxFull { .. }
            | LedgerError::TooLarge { .. }
            | LedgerError::RunUnknown { .. }
            | LedgerError::KeysCollide { .. }
            | LedgerError::CorruptRecord { .. }
            | LedgerError::CorruptChain { .. } => failure,
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Ledger(error) => error.into(),
            // Why a run is quarantined may be the words of a panic: `run show --payloads` has them.
            EngineError::NotDriven {
                run,
                code: code @ Code::RunQuarantined,
                ..
            } => Failure::new(code, format!("run {run} is quarantined")),
            EngineError::Refused { .. }
            | EngineError::NotDriven { .. }
            | EngineError::Value { .. } => told(error.code(), &error.to_string()),
        }
    }
}

/// Our errors' own words begin with the code, and some end with a hint.
fn told(code: Code, words: &str) -> Failure {
    let message = words.strip_prefix(code.as_str()).unwrap_or(words);
    let message = message.trim_start_matches(": ");
    let message = message.split("\n\nhint: ").next().unwrap_or(message);
    Failure::new(code, message)
}

/// What to do about a code that a question or command can meet.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "codes without a way out of their own have their page"
)]
fn way_out(code: Code) -> &'static str {
    match code {
        Code::StoreLocked => {
            "wait until that process has ended, or ask it: it has the newest state of its runs"
        }
        Code::StoreMissing => {
            "check --store and the current folder; a command that reads makes no store"
        }
        Code::StoreVersion => "use the version of this program that wrote the store",
        Code::StorePoisoned => "check the disk, then ask again",
        Code::StoreIo => {
            "check that this user may read and write the folder (opening takes its lock), and the \
             disk"
        }
        Code::RunOpen => "`run terminate` ends it; an engine has to look up what is in doubt",
        Code::ImportConflict => "import into a folder without a store",
        Code::ExportIo => "check the path, its room and its rights",
        Code::ExportDamaged => "nothing was imported; copy or export it again",
        Code::StoreFull => "make room on the store's volume, outside its folder; then ask again",
        Code::InboxFull => "start an engine that drives the run",
        Code::RunUnknown => "`runs` lists the runs of this store",
        Code::RunEnded => "`run show` tells how it ended",
        Code::RunQuarantined => "`run show` tells why; `run terminate` ends it",
        Code::WaitingForCode => "start the program that has the run's task class",
        Code::EngineStopping => "ask again once the process has ended, or its successor is there",
        Code::CorruptRecord | Code::CorruptChain => {
            "copy the whole folder before anything else, then check the disk; other runs can still \
             be read"
        }
        Code::InvalidInput => "see --help",
        Code::SocketBusy => "ask again in a moment",
        Code::SocketForbidden => "ask as the user that the service runs as",
        Code::SocketFailed => "look with `run show` whether a command was taken, then ask again",
        Code::SocketProtocol => "use the program of that version",
        _ => "its page says what to do",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_goes_over_the_socket_unchanged() {
        let failure = Failure::new(Code::RunUnknown, "there is no \"such\" run\n[x]");
        assert_eq!(
            Failure::from_json(failure.to_json().as_bytes()),
            Some(failure)
        );
    }

    #[test]
    fn a_code_of_a_newer_version_is_not_lost() {
        let json = br#"{"code":"NEWER","message":"m","hint":"h","retry_helps":"no"}"#;
        let failure = Failure::from_json(json).unwrap();
        assert_eq!(failure.code, Code::SocketProtocol);
        assert!(failure.message.contains("NEWER: m"), "{failure}");
        assert_eq!(Failure::from_json(b"<html>"), None);
    }

    #[test]
    fn the_ledgers_words_lose_their_code_and_their_hint() {
        let damaged = LedgerError::Damaged {
            detail: "cut short".to_owned(),
            way_out: "copy it".to_owned(),
        };
        let failure = Failure::from(damaged);
        assert_eq!(
            (failure.message.as_str(), failure.hint.as_str()),
            ("cut short", "copy it")
        );
    }
}
