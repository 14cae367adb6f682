//! Which connections a rule is for.

use std::fmt;
use std::str::FromStr;

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::PlanError;

/// Which connections a rule is for. They are numbered from 1, from when the plan was set.
///
/// In data and in text: `every`, `3`, `2-5`, `2-` (to the last one there will be).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// All of them.
    #[default]
    Every,
    /// One.
    Nth(u64),
    /// Those from one to another, both included; without an end, all from there on.
    Span {
        /// The first one.
        first: u64,
        /// The last one.
        last: Option<u64>,
    },
}

impl Connections {
    /// Whether connection `number` is one of them.
    #[must_use]
    pub fn hold(self, number: u64) -> bool {
        match self {
            Self::Every => true,
            Self::Nth(n) => number == n,
            Self::Span { first, last } => first <= number && last.is_none_or(|last| number <= last),
        }
    }

    /// Whether there can be any.
    pub(crate) fn check(self) -> Result<(), PlanError> {
        let is_any = match self {
            Self::Every => true,
            Self::Nth(n) => 0 < n,
            Self::Span { first, last } => 0 < first && last.is_none_or(|last| first <= last),
        };
        if !is_any {
            return Err(PlanError::Connections {
                text: self.to_string(),
            });
        }
        Ok(())
    }
}

impl FromStr for Connections {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let refused = |_| PlanError::Connections {
            text: text.to_owned(),
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(refused);
        let read = match text.split_once('-') {
            _ if text == "every" => Self::Every,
            None => Self::Nth(number(text)?),
            Some((first, "")) => Self::Span {
                first: number(first)?,
                last: None,
            },
            Some((first, last)) => Self::Span {
                first: number(first)?,
                last: Some(number(last)?),
            },
        };
        read.check().map(|()| read)
    }
}

impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every => f.write_str("every"),
            Self::Nth(n) => write!(f, "{n}"),
            Self::Span { first, last: None } => write!(f, "{first}-"),
            Self::Span {
                first,
                last: Some(last),
            } => write!(f, "{first}-{last}"),
        }
    }
}

impl Serialize for Connections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Connections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrText)
    }
}

/// `3` is as good as `"3"`.
struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Connections;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connections: \"every\", 3, \"2-5\" or \"2-\"")
    }

    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Connections, E> {
        Ok(Connections::Nth(n))
    }

    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Connections, E> {
        let number =
            u64::try_from(n).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))?;
        Ok(Connections::Nth(number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Connections, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_is_written_and_says_which_connections() {
        for (text, inside, outside) in [
            ("every", [1, 2, 1_000].as_slice(), [].as_slice()),
            ("3", &[3], &[1, 2, 4]),
            ("2-5", &[2, 3, 5], &[1, 6]),
            ("2-", &[2, 1_000], &[1]),
        ] {
            let read: Connections = text.parse().expect("it can be read");
            assert_eq!(read.to_string(), text);
            assert!(inside.iter().all(|&n| read.hold(n)), "{text}");
            assert!(!outside.iter().any(|&n| read.hold(n)), "{text}");
        }
    }

    #[test]
    fn what_names_no_connection_is_refused_with_what_can_be_written() {
        for text in ["", "0", "0-3", "5-2", "-3", "all", "2..5", "1-2-3"] {
            let error = text.parse::<Connections>().expect_err(text).to_string();
            assert!(error.contains("every, 3, 2-5 or 2-"), "{text}: {error}");
        }
    }
}
