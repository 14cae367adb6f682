//! One line on stderr that says how far long work is, for people at a terminal.
//!
//! Where stderr is no terminal, and with `--json`, nothing is written.

use std::io::{self, IsTerminal, Write};

use crate::output::Output;

/// Columns that the line may have.
const WIDTH: usize = 79;

/// Marks of a whole bar.
const BAR: u64 = 24;

/// The line.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    shows: bool,
}

impl Progress {
    pub(crate) fn new(output: &Output) -> Self {
        Self {
            shows: !output.json && io::stderr().is_terminal(),
        }
    }

    /// Replaces the line.
    pub(crate) fn say(&self, text: &str) {
        if self.shows {
            let text: String = text.chars().take(WIDTH).collect();
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r{text:<WIDTH$}");
            let _ = err.flush();
        }
    }

    /// Says how much of something is done; a total of 0 is one that nobody knows.
    pub(crate) fn portion(&self, what: &str, (done, total): (u64, u64), unit: &str) {
        if !self.shows {
            return;
        }
        let Some(percent) = (done * 100).checked_div(total) else {
            return self.say(&format!("{what} {done} {unit}"));
        };
        let percent = percent.min(100);
        let full = usize::try_from(percent * BAR / 100).unwrap_or(0);
        let empty = usize::try_from(BAR).unwrap_or(0) - full;
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(empty));
        self.say(&format!(
            "[{bar}] {percent:>3} %  {what} {done} of {total} {unit}"
        ));
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if self.shows {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r{:WIDTH$}\r", "");
            let _ = err.flush();
        }
    }
}
