//! What is wrong with a task class: code, place, numbers and the way out.
//!
//! A problem is for the person who writes the class. It never carries values of a run, and its
//! numbers are exact: a rounded time could read as "2 s is longer than 2 s".

use std::fmt;

use mainstay_types::{Code, Millis, NodeName};

/// Whether a class with this problem can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot: building it fails.
    Error,
    /// It can, but not everything it says can be kept.
    Warning,
}

impl Severity {
    /// The stable word: `error` or `warning`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding about a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The stable code; its page tells cause and way out at length.
    pub code: Code,
    /// Whether the class can be used all the same.
    pub severity: Severity,
    /// The node it was found at; `None` when it concerns the class as a whole.
    pub node: Option<NodeName>,
    /// What contradicts what, with its numbers.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Problem {
    /// A problem that makes the class unusable.
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// A problem that the class can live with.
    #[must_use]
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self {
            code,
            severity,
            node: None,
            message,
            hint: String::new(),
        }
    }

    /// Names the node it was found at.
    #[must_use]
    pub fn at(mut self, node: &NodeName) -> Self {
        self.node = Some(node.clone());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Whether a class with this problem is unusable.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        match self.severity {
            Severity::Error => true,
            Severity::Warning => false,
        }
    }
}

/// `error NAME_TAKEN [draft]: message`, an empty line, `hint: what to do`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.severity, self.code)?;
        if let Some(node) = &self.node {
            write!(f, " [{node}]")?;
        }
        write!(f, ": {}", self.message)?;
        if self.hint.is_empty() {
            Ok(())
        } else {
            write!(f, "\n\nhint: {}", self.hint)
        }
    }
}

impl std::error::Error for Problem {}

/// A length of time without rounding, in the largest unit that divides it, else in seconds with
/// as many decimals as are needed: `20 min`, `12 s`, `1.8 s`, `400 ms`.
pub(crate) fn exact(length: Millis) -> String {
    const UNITS: [(u64, &str); 4] = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "min"),
        (1_000, "s"),
    ];
    let ms = length.get();
    if ms < 1_000 {
        return format!("{ms} ms");
    }
    let unit = UNITS.into_iter().find(|(size, _)| ms.is_multiple_of(*size));
    unit.map_or_else(
        || {
            let decimals = format!("{:03}", ms % 1_000);
            format!("{}.{} s", ms / 1_000, decimals.trim_end_matches('0'))
        },
        |(size, name)| format!("{} {name}", ms / size),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_prints_its_message_then_the_way_out() {
        let node = NodeName::new("draft").expect("a valid name");
        let problem = Problem::error(Code::NameTaken, "two of them")
            .at(&node)
            .hint("rename one");
        assert_eq!(
            problem.to_string(),
            "error NAME_TAKEN [draft]: two of them\n\nhint: rename one"
        );
        assert_eq!(
            Problem::warning(Code::TimesInvalid, "late").to_string(),
            "warning TIMES_INVALID: late"
        );
    }

    #[test]
    fn times_in_messages_are_never_rounded() {
        let shown = [
            0, 1, 1_800, 12_000, 90_000, 1_200_000, 86_400_000, 86_400_001,
        ]
        .map(|ms| exact(Millis::new(ms)));
        let want = [
            "0 ms",
            "1 ms",
            "1.8 s",
            "12 s",
            "90 s",
            "20 min",
            "1 d",
            "86400.001 s",
        ];
        assert_eq!(shown, want);
    }
}
