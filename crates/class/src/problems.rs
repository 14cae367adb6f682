//! Everything that is wrong with a class, at once.
//!
//! Stopping at the first problem would make its author compile ten times for ten problems.

use std::fmt;

use mainstay_graph::Problem;

/// All problems of a class that cannot be used, errors and warnings, in the order of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    pub(crate) class: String,
    pub(crate) problems: Vec<Problem>,
}

impl Problems {
    /// The problems, each with its code and a hint.
    #[must_use]
    pub fn all(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        let word = if count == 1 { "problem" } else { "problems" };
        write!(f, "the task class `{}` has {count} {word}", self.class)?;
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n\n{problem}"))
    }
}

impl std::error::Error for Problems {}
