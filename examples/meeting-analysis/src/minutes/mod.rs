//! Minutes as they come: Markdown or plain text of any habit, checked and given a structure.
//!
//! Parsing must never fail on odd formatting and never be slower than linear: only what is no
//! text at all, or too much of it, is refused. Nothing is invented: every block keeps the line it
//! came from.

mod attendees;
mod clean;
mod date;
mod line;
mod parse;
mod table;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use attendees::is_furniture;
pub use clean::inline;
pub(crate) use parse::head;

/// The largest input the example accepts, in bytes: 1 MiB.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// Deepest nesting of bullets that is kept; deeper ones count as this deep.
pub const DEPTH_MAX: u8 = 16;

/// Longest heading that is kept, in characters. A heading is repeated in every path below it, so
/// it must be short whatever the file says.
pub const HEADING_CHARS_MAX: usize = 160;

/// Why bytes are not minutes. Each is an invalid input: the same bytes will always be refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Nothing, or nothing but white space.
    #[error("{name}: the file is empty: it holds no text")]
    Empty {
        /// The file's name as given.
        name: String,
    },
    /// A NUL byte or bytes that are not UTF-8.
    #[error("{name}: the file is binary: byte {at} is not UTF-8 text")]
    Binary {
        /// The file's name as given.
        name: String,
        /// Offset of the first byte that is no text.
        at: usize,
    },
    /// More than the limit.
    #[error("{name}: the file has {bytes} bytes; INPUT_BYTES_MAX allows {bytes_max}")]
    TooLarge {
        /// The file's name as given.
        name: String,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        bytes_max: usize,
    },
}

/// A file of minutes that passed the checks: what a run takes as its input.
///
/// Smaller than [`Minutes`] for any text, so this is the form to store; [`Meeting::minutes`] gives
/// the structure, the same every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meeting {
    /// The file's name, for titles and messages.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Meeting {
    /// Checks that `bytes` are text of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`InputError`] names the limit or the reason.
    pub fn read(name: &str, bytes: &[u8], bytes_max: usize) -> Result<Self, InputError> {
        let name = name.to_owned();
        let len = bytes.len();
        if bytes_max < len {
            return Err(InputError::TooLarge {
                name,
                bytes: len,
                bytes_max,
            });
        }
        // Control characters that no text editor writes: six bytes each once they are JSON.
        let is_text =
            |byte: u8| 0x20 <= byte || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
        if let Some(at) = bytes.iter().position(|byte| !is_text(*byte)) {
            return Err(InputError::Binary { name, at });
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(error) => {
                return Err(InputError::Binary {
                    name,
                    at: error.valid_up_to(),
                });
            }
        };
        if text.trim().is_empty() {
            return Err(InputError::Empty { name });
        }
        Ok(Self {
            name,
            text: text.to_owned(),
        })
    }

    /// The structure of the text.
    #[must_use]
    pub fn minutes(&self) -> Minutes {
        parse::minutes(&self.name, &self.text)
    }
}

/// Minutes with their structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Minutes {
    /// The first heading, else a short first line, else the file's name.
    pub title: String,
    /// The day of the meeting, `YYYY-MM-DD`, if the text or the file's name gives one.
    pub date: Option<String>,
    /// Who was there, at most [`ATTENDEES_MAX`].
    pub attendees: Vec<Attendee>,
    /// Who sent apologies.
    pub absent: Vec<Attendee>,
    /// Every section that has content, in the order of the text.
    pub sections: Vec<Section>,
}

pub use attendees::ATTENDEES_MAX;

impl Minutes {
    /// Checks and parses in one go: [`Meeting::read`], then [`Meeting::minutes`].
    ///
    /// # Errors
    /// [`InputError`] names the limit or the reason.
    pub fn parse(name: &str, bytes: &[u8], bytes_max: usize) -> Result<Self, InputError> {
        Ok(Meeting::read(name, bytes, bytes_max)?.minutes())
    }
}

/// A person in the attendance list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attendee {
    /// The name as written.
    pub name: String,
    /// The handle without its `@`.
    pub handle: Option<String>,
    /// What stands in brackets or after a dash, for example `voting member`.
    pub role: Option<String>,
}

/// The content under one heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Headings from the outermost to this one; empty before the first heading.
    pub path: Vec<String>,
    /// Paragraphs, bullets and table rows in order. Nesting is [`Block::depth`], not a tree, so
    /// that no input can make anything recurse.
    pub blocks: Vec<Block>,
}

/// What a section is for, judged by its headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Talk: where decisions and actions hide.
    Discussion,
    /// Who was there.
    Attendance,
    /// Who was not.
    Absence,
    /// A list of actions of this meeting.
    Actions,
    /// A look back at actions of earlier meetings.
    PastActions,
    /// A list of decisions.
    Decisions,
    /// Links, calendars: nothing to read.
    Boilerplate,
}

impl Section {
    /// What the section is for. The innermost heading that says so decides.
    #[must_use]
    pub fn kind(&self) -> SectionKind {
        let kinds = self
            .path
            .iter()
            .rev()
            .map(|heading| line::heading_kind(heading));
        kinds
            .into_iter()
            .find(|kind| *kind != SectionKind::Discussion)
            .unwrap_or(SectionKind::Discussion)
    }

    /// Whether the innermost heading announces a plain list of topics.
    #[must_use]
    pub fn is_agenda(&self) -> bool {
        self.path
            .last()
            .is_some_and(|heading| line::is_agenda(heading))
    }
}

/// One paragraph, bullet or table row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// Its form.
    pub kind: BlockKind,
    /// 0 for the outermost; at most [`DEPTH_MAX`].
    pub depth: u8,
    /// Number of its first line, from 1.
    pub line: u32,
    /// The content with wrapped lines joined and markup removed.
    pub text: String,
    /// The lines as they stand in the file, joined by one space.
    pub source: String,
    /// State of a checkbox (`[ ]`, `[x]`); struck-out text counts as checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
    /// The cells of a table row; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Cell>,
}

/// The form of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// Running text.
    Paragraph,
    /// A bullet or a numbered item.
    Bullet,
    /// A row of a table.
    Row,
}

/// One cell of a table row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// What its column holds, judged by the header.
    pub column: Column,
    /// The content without markup.
    pub text: String,
}

/// What a column of a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    /// Something to be done.
    Action,
    /// Who does it.
    Owner,
    /// By when.
    Due,
    /// What was decided.
    Decision,
    /// Open or done.
    Status,
    /// What it is about.
    Topic,
    /// A person's name.
    Name,
    /// Anything else, or a table without a header.
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8], bytes_max: usize) -> String {
        Minutes::parse("m.md", bytes, bytes_max)
            .expect_err("not minutes")
            .to_string()
    }

    #[test]
    fn what_is_no_text_or_too_much_of_it_is_refused_with_the_reason() {
        assert_eq!(refused(b"", 9), "m.md: the file is empty: it holds no text");
        assert_eq!(
            refused(b" \r\n\t\n", 9),
            "m.md: the file is empty: it holds no text"
        );
        assert_eq!(
            refused("\u{feff}\n".as_bytes(), 9),
            "m.md: the file is empty: it holds no text"
        );
        assert_eq!(
            refused(b"ab\0c", 9),
            "m.md: the file is binary: byte 2 is not UTF-8 text"
        );
        assert_eq!(
            refused(b"abc\xff", 9),
            "m.md: the file is binary: byte 3 is not UTF-8 text"
        );
        assert_eq!(
            refused(b"0123456789", 9),
            "m.md: the file has 10 bytes; INPUT_BYTES_MAX allows 9"
        );
    }

    #[test]
    fn text_of_exactly_the_limit_is_accepted() {
        let text = "a".repeat(INPUT_BYTES_MAX);
        assert!(Minutes::parse("m.md", text.as_bytes(), INPUT_BYTES_MAX).is_ok());
        let more = text + "b";
        assert!(Minutes::parse("m.md", more.as_bytes(), INPUT_BYTES_MAX).is_err());
    }
}
