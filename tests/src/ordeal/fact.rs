//! What a writer tells its parent, a line each: what it is about to ask before it asks, and what it
//! was answered after that.
//!
//! A kill may cut the last line; what is told whole has happened.

use serde::{Deserialize, Serialize};

use super::deed::Deed;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// A new process begins to open the store.
    Opening,
    /// It took so many microseconds.
    Open(u64),
    /// This is asked next.
    Try(u32, Deed),
    /// It was answered.
    Done(u32, Vec<Said>),
    /// The store is about to be closed.
    Closing,
    /// That took so many microseconds.
    Closed(u64),
    /// Written by the parent once its process is gone: of what was asked and not answered, this is
    /// what was found.
    Found(u32, Vec<bool>),
    /// The writer cannot go on.
    Failed(String),
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// It is durable: of a message too, that it is new.
    Yes,
    /// A key is held by the run with this number.
    Held(u32),
    /// The message is known already.
    Known,
    /// There is no room.
    Full,
    /// The run was moved by somebody else.
    Stale,
    /// An error, in its own words.
    Error(String),
}

impl Fact {
    /// The line, with its end.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("a fact has a text");
        line.push('\n');
        line
    }

    /// The fact of one whole line.
    ///
    /// # Panics
    /// It is none: then the line is not a writer's.
    #[must_use]
    pub fn of(line: &str) -> Self {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// All facts of a text; a last line without an end is cut off by a kill and tells nothing.
    #[must_use]
    pub fn all(text: &str) -> Vec<Self> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().filter(|line| !line.is_empty());
        lines.map(Self::of).collect()
    }
}
