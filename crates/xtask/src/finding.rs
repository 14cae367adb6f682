//! What a rule has to say about one place in the tree. It must never decide by itself whether
//! the check as a whole fails: that is `tidy`'s.

use std::fmt;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// A rule that could not run, and why: said aloud, so that a skip never looks like a pass.
    Note,
    /// A soft limit: think about it.
    Warning,
    /// The check fails.
    Error,
}

/// One place and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// How much it weighs.
    pub(crate) weight: Weight,
    /// Path from the workspace's root, with `/`.
    pub(crate) path: String,
    /// Line, from 1; 0 means the whole file.
    pub(crate) line: usize,
    /// The rule's name; filled in by the runner.
    pub(crate) rule: &'static str,
    /// What is wrong, in one sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: &'static str,
}

impl Finding {
    /// A violation: the check fails.
    pub(crate) fn error(path: &str, line: usize, message: String, hint: &'static str) -> Self {
        Self {
            weight: Weight::Error,
            path: path.to_owned(),
            line,
            rule: "",
            message,
            hint,
        }
    }

    /// A soft limit passed: printed, nothing fails.
    pub(crate) fn warning(path: &str, line: usize, message: String, hint: &'static str) -> Self {
        Self {
            weight: Weight::Warning,
            ..Self::error(path, line, message, hint)
        }
    }

    /// A rule that was skipped, and why.
    pub(crate) fn note(path: &str, message: String) -> Self {
        Self {
            weight: Weight::Note,
            ..Self::error(path, 0, message, "")
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            message,
            hint,
            weight,
        } = self;
        let prefix = match weight {
            Weight::Note => "NOT CHECKED: ",
            Weight::Warning => "warning: ",
            Weight::Error => "",
        };
        write!(f, "{path}:{line} {rule} {prefix}{message}")?;
        if !hint.is_empty() {
            write!(f, "\n    hint: {hint}")?;
        }
        Ok(())
    }
}
