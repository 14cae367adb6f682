//! Names people choose: classes, nodes, dependencies, effects, tenants, keys.
//!
//! A name is checked once, where it enters; inside, holding one means it is valid. Names never
//! come from a model's output.

use std::fmt;
use std::sync::Arc;

use crate::limits;

/// Why a text is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// Which kind of name was meant, for example "node name".
    pub what: &'static str,
    /// The rule that was broken.
    pub rule: &'static str,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a valid {}: {}", self.what, self.rule)
    }
}

impl std::error::Error for NameError {}

/// An identifier: ASCII letters, digits, `_`, `-` and `.`, starting with a letter or digit.
fn check_identifier(what: &'static str, text: &str) -> Result<(), NameError> {
    let error = |rule| Err(NameError { what, rule });
    if text.is_empty() {
        return error("it is empty");
    }
    if limits::NAME_BYTES_MAX < text.len() {
        return error("it is longer than 64 bytes");
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return error("it must start with a letter or a digit");
    }
    if !text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    {
        return error("only ASCII letters, digits, '_', '-' and '.' are allowed");
    }
    Ok(())
}

/// A key from the user's world: any text without control characters.
fn check_key(what: &'static str, text: &str) -> Result<(), NameError> {
    let error = |rule| Err(NameError { what, rule });
    if text.is_empty() {
        return error("it is empty");
    }
    if limits::KEY_BYTES_MAX < text.len() {
        return error("it is longer than 200 bytes");
    }
    if text.chars().any(char::is_control) {
        return error("it has a control character");
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and wraps it.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, NameError> {
                let text = text.into();
                $check($what, &text)?;
                Ok(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, shared with this name.
            #[must_use]
            pub fn shared(&self) -> Arc<str> {
                Arc::clone(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// A task class's name, for example `meeting-analysis-draft`.
    ClassName, "class name", check_identifier
}
name! {
    /// A node's name, unique in its class, for example `ticket_write`.
    NodeName, "node name", check_identifier
}
name! {
    /// A dependency's name: the port that tests and simulations replace.
    DependencyName, "dependency name", check_identifier
}
name! {
    /// An effect's name: what is changed in the outside world, for example `ticket`.
    EffectName, "effect name", check_identifier
}
name! {
    /// Who a run belongs to; part of every effect key.
    Tenant, "tenant", check_key
}
name! {
    /// The caller's key for a start: the same key finds the same run.
    StartKey, "start key", check_key
}
name! {
    /// An id of the business known before the run, for example a purchase request number.
    BusinessId, "business id", check_key
}

/// A task class's version, chosen by its author; from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassVersion(pub u32);

impl fmt::Display for ClassVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_refused_with_the_rule_they_broke() {
        for (text, rule) in [
            ("", "it is empty"),
            ("-a", "it must start with a letter or a digit"),
            (
                "a b",
                "only ASCII letters, digits, '_', '-' and '.' are allowed",
            ),
        ] {
            assert_eq!(NodeName::new(text).expect_err(text).rule, rule);
        }
        assert!(NodeName::new("n".repeat(65)).is_err());
        assert!(NodeName::new("ticket_write").is_ok());
    }

    #[test]
    fn keys_take_any_text_but_control_characters() {
        assert!(StartKey::new("회의/2026-11 №1").is_ok());
        assert!(StartKey::new("a\nb").is_err());
        assert!(StartKey::new("k".repeat(201)).is_err());
    }
}
