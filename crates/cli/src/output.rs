//! stdout for data, stderr for the rest; text for people, JSON for programs.
//!
//! A reader that closes stdout early has read enough: that is no error of what is printed here. An
//! export, which has to be whole, is not.

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use mainstay_runtime::view::text::plain;
use mainstay_types::Code;
use serde::Serialize;

use crate::error::CliError;
use crate::shell;

/// How this call of the program speaks.
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) store: PathBuf,
    pub(crate) program: String,
}

/// Whether what is printed is still read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    There,
    Gone,
}

#[derive(Serialize)]
struct Failure<'a> {
    code: Option<&'static str>,
    message: &'a str,
    hint: &'a str,
    retry_helps: &'static str,
}

impl Output {
    /// How this program is called for the same store, for hints; to be pasted into a shell.
    pub(crate) fn call(&self, words: &str) -> String {
        let (program, store) = (shell::word(&self.program), shell::path(&self.store));
        format!("{program} --store {store} {words}")
    }

    /// Prints data; a line feed is added when it has none at its end.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        self.offer(text).map(drop)
    }

    /// The same, and whether anybody still reads.
    pub(crate) fn offer(&self, text: &str) -> Result<Reader, CliError> {
        let mut out = io::stdout().lock();
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let written = out
            .write_all(text.as_bytes())
            .and_then(|()| out.write_all(end.as_bytes()))
            .and_then(|()| out.flush());
        match written {
            Ok(()) => Ok(Reader::There),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(CliError::outside(
                format!("stdout cannot be written: {error}"),
                "check where the output goes",
            )),
        }
    }

    /// Prints one JSON value.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(|error| {
            CliError::outside(format!("the answer is no JSON: {error}"), "report this")
        })?;
        self.print(&text)
    }

    /// Says something beside the data; not in JSON, where stderr is for errors alone.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            complain(text);
        }
    }

    /// Says something beside the data, also in JSON: what was asked for and is no data.
    pub(crate) fn aside(&self, text: &str) {
        complain(&plain(text));
    }

    /// Says how to go on, when there is more than was printed.
    pub(crate) fn more(&self, option: &str, next: Option<&str>) {
        if let Some(next) = next {
            self.note(&format!(
                "\nhint: there are more: the same with {option} {next}"
            ));
        }
    }

    /// Says why nothing was done: message, empty line, hint.
    pub(crate) fn fail(&self, error: &CliError) {
        if self.json {
            let failure = Failure {
                code: error.code.map(Code::as_str),
                message: &error.message,
                hint: &error.hint,
                retry_helps: error.retry_helps(),
            };
            complain(&serde_json::to_string(&failure).unwrap_or_else(|_| error.message.clone()));
            return;
        }
        let message: Vec<String> = error.message.lines().map(plain).collect();
        let message = message.join("\n");
        let hint = plain(&error.hint);
        complain(&match error.code {
            Some(Code::InvalidInput) => format!("{message}\n\nhint: {hint}"),
            Some(code) => {
                let page = format!("`{} error {code}` explains", shell::word(&self.program));
                format!("{code}: {message}\n\nhint: {hint}; {page}")
            }
            None => format!("{message}\n\nhint: {hint}"),
        });
    }
}

/// Writes to stderr; when that is gone, nobody is left to tell.
fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
