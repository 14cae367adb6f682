//! The minutes line by line, for statements that were not made here and have to rest on one.

use super::Evidence;
use super::places::{self, Place};
use crate::minutes::Minutes;

/// A line of the minutes: a paragraph, a bullet or a row, wrapped lines joined.
pub(crate) struct Line<'a>(Place<'a>);

/// Every line that something can rest on, in the order of the minutes.
pub(crate) fn lines(minutes: &Minutes) -> impl Iterator<Item = Line<'_>> {
    places::of(minutes).map(Line)
}

impl<'a> Line<'a> {
    /// Its number, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.0.block.line
    }

    /// As it stands in the file.
    pub(crate) fn source(&self) -> &'a str {
        &self.0.block.source
    }

    /// Headings and topic above it, joined by ` > `.
    pub(crate) fn section(&self) -> String {
        self.0.name()
    }

    /// It, as evidence.
    pub(crate) fn evidence(&self) -> Evidence {
        self.0.evidence()
    }
}
