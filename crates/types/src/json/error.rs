//! Why a text is not JSON, or a value has no canonical JSON, and where.
//!
//! It must never print the offending data itself beyond key names: values may be sensitive.

use std::fmt;

use super::write::write_text;
use crate::Code;

/// Where in a text reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it, from 0.
    pub byte: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
}

/// Where a problem lies: in a text that was read, or in a value that was to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a text.
    Text(Position),
    /// In a value, as a path from its root: `$.lines[3].price`, `$["odd key"]`.
    Path(String),
}

/// A text is not JSON we accept, or a value has no canonical JSON.
///
/// Its error code is always `INVALID_INPUT`; [`JsonError::reason`] says which rule was broken.
/// Trying again without changing the input never helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The text breaks the grammar.
    Syntax {
        /// Where reading stopped.
        at: Position,
        /// What could have stood there.
        expected: &'static str,
    },
    /// A number is NaN or infinite, or a number in a text is beyond every finite double.
    NotFinite {
        /// Where the number stands.
        at: Place,
    },
    /// One object has the same key twice; which entry would win is anybody's guess.
    DuplicateKey {
        /// Where the second entry stands.
        at: Place,
        /// The key.
        key: String,
    },
    /// Lists and objects lie deeper inside each other than `max`.
    TooDeep {
        /// Where the bound was passed.
        at: Place,
        /// The bound, in levels.
        max: usize,
    },
    /// The text is longer than `max`.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
        /// The bound in bytes.
        max: usize,
    },
    /// A map has a key that has no text form, such as a float or a struct.
    KeyNotText {
        /// The map.
        at: Place,
        /// What the key was.
        found: &'static str,
    },
    /// A value's own `Serialize` refused, or broke the protocol of serde.
    Refused {
        /// The value.
        at: Place,
        /// What it said.
        message: String,
    },
}

impl JsonError {
    /// The stable error code of the whole family.
    pub fn code(&self) -> Code {
        Code::InvalidInput
    }

    /// The stable reason within the family.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "JSON_SYNTAX",
            Self::NotFinite { .. } => "JSON_NOT_FINITE",
            Self::DuplicateKey { .. } => "JSON_DUPLICATE_KEY",
            Self::TooDeep { .. } => "JSON_TOO_DEEP",
            Self::TooLarge { .. } => "JSON_TOO_LARGE",
            Self::KeyNotText { .. } => "JSON_KEY_NOT_TEXT",
            Self::Refused { .. } => "JSON_REFUSED",
        }
    }

    /// The path inside the value, when a value was to be written; `None` for a text.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::NotFinite { at }
            | Self::DuplicateKey { at, .. }
            | Self::TooDeep { at, .. }
            | Self::KeyNotText { at, .. }
            | Self::Refused { at, .. } => at.path(),
            Self::Syntax { .. } | Self::TooLarge { .. } => None,
        }
    }

    /// The position in the text, when a text was read; `None` for a value.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::Syntax { at, .. } => Some(*at),
            Self::NotFinite { at }
            | Self::DuplicateKey { at, .. }
            | Self::TooDeep { at, .. }
            | Self::KeyNotText { at, .. }
            | Self::Refused { at, .. } => at.position(),
            Self::TooLarge { .. } => None,
        }
    }

    /// The same error seen from the object that holds the failing value under `key`.
    #[cfg(feature = "serde")]
    pub(super) fn within_key(self, key: &str) -> Self {
        self.within(&key_segment(key))
    }

    /// The same error seen from the list that holds the failing value at `index`.
    #[cfg(feature = "serde")]
    pub(super) fn within_index(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    #[cfg(feature = "serde")]
    fn within(mut self, segment: &str) -> Self {
        match &mut self {
            Self::NotFinite { at }
            | Self::DuplicateKey { at, .. }
            | Self::TooDeep { at, .. }
            | Self::KeyNotText { at, .. }
            | Self::Refused { at, .. } => at.prefix(segment),
            Self::Syntax { .. } | Self::TooLarge { .. } => {}
        }
        self
    }
}

impl Place {
    /// The root of a value.
    pub(super) fn root() -> Self {
        Self::Path("$".to_owned())
    }

    fn path(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            Self::Text(_) => None,
        }
    }

    fn position(&self) -> Option<Position> {
        match self {
            Self::Text(position) => Some(*position),
            Self::Path(_) => None,
        }
    }

    /// Puts `segment` between the root and the rest of the path.
    #[cfg(feature = "serde")]
    fn prefix(&mut self, segment: &str) {
        match self {
            Self::Path(path) => path.insert_str("$".len(), segment),
            Self::Text(_) => {}
        }
    }
}

/// `.name` for a plain name, `["any text"]` otherwise, so that a path has one reading.
#[cfg(feature = "serde")]
fn key_segment(key: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_plain = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_plain && key.chars().all(is_word) {
        return format!(".{key}");
    }
    let mut segment = String::from("[");
    write_text(key, &mut segment);
    segment.push(']');
    segment
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} column {} (byte {})",
            self.line, self.column, self.byte
        )
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(position) => position.fmt(f),
            Self::Path(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { at, expected } => write!(f, "expected {expected} at {at}"),
            Self::NotFinite { at } => write!(f, "the number at {at} is not finite"),
            Self::DuplicateKey { at, key } => {
                let mut quoted = String::new();
                write_text(key, &mut quoted);
                write!(f, "the key {quoted} occurs twice at {at}")
            }
            Self::TooDeep { at, max } => write!(f, "nested deeper than {max} levels at {at}"),
            Self::TooLarge { bytes, max } => {
                write!(f, "{bytes} bytes of JSON, more than the bound of {max}")
            }
            Self::KeyNotText { at, found } => {
                write!(
                    f,
                    "a key of the map at {at} is {found}, which has no text form"
                )
            }
            Self::Refused { at, message } => write!(f, "the value at {at} refused: {message}"),
        }
    }
}

impl std::error::Error for JsonError {}
