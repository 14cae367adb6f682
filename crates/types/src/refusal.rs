//! How the core says no, and how stored bytes are found wrong.
//!
//! A refusal changes nothing and is safe to repeat; a corruption stops the run it was found in.

use std::fmt;

use crate::code::Code;

/// Policy said no: a stable code and the numbers that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What was compared, by name, in the order compared: for example `need`, `left`.
    pub numbers: Vec<(&'static str, i64)>,
    /// Which call, key or name it is about.
    pub about: Option<String>,
}

impl Refusal {
    /// A refusal with this code.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            numbers: Vec::new(),
            about: None,
        }
    }

    /// Adds a number that decided.
    #[must_use]
    pub fn with(mut self, name: &'static str, number: impl TryInto<i64>) -> Self {
        self.numbers
            .push((name, number.try_into().unwrap_or(i64::MAX)));
        self
    }

    /// Adds what it is about.
    #[must_use]
    pub fn about(mut self, what: impl Into<String>) -> Self {
        self.about = Some(what.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.code.summary())?;
        if let Some(about) = &self.about {
            write!(f, " [{about}]")?;
        }
        for (i, (name, number)) in self.numbers.iter().enumerate() {
            write!(f, "{}{name} {number}", if i == 0 { " (" } else { ", " })?;
        }
        if self.numbers.is_empty() {
            Ok(())
        } else {
            f.write_str(")")
        }
    }
}

impl std::error::Error for Refusal {}

/// A stored event contradicts the state it is applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// The event's kind.
    pub event: &'static str,
    /// What contradicts what.
    pub detail: String,
}

impl Corrupt {
    /// The event `event` cannot follow: `detail`.
    #[must_use]
    pub fn new(event: &'static str, detail: impl Into<String>) -> Self {
        Self {
            event,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: event {} cannot follow: {}",
            Code::CorruptTransition,
            self.event,
            self.detail
        )
    }
}

impl std::error::Error for Corrupt {}
