//! Lines of a text for a terminal or a file: indented, wrapped, without control characters.
//!
//! Text from providers is shown, never obeyed: an escape sequence in a message must not reach the
//! reader's terminal.

use std::fmt::Write as _;

/// Columns a line has, where its words allow it.
const COLUMNS: usize = 100;

/// A `String` takes any text; only memory bounds it.
const INFALLIBLE: &str = "writing into a String cannot fail";

/// A text that grows line by line.
#[derive(Default)]
pub(super) struct Sheet {
    out: String,
}

impl Sheet {
    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// An empty line, then a heading.
    pub(super) fn heading(&mut self, text: &str) {
        writeln!(self.out, "\n{text}").expect(INFALLIBLE);
    }

    /// `before`, then `text`; what does not fit goes on below its beginning.
    pub(super) fn line(&mut self, before: &str, text: &str) {
        let hang = before.chars().count();
        let mut column = hang;
        self.out.push_str(&plain(before));
        for (i, word) in plain(text).split(' ').enumerate() {
            let width = word.chars().count();
            if 0 < i && COLUMNS < column + 1 + width {
                write!(self.out, "\n{:hang$}{word}", "").expect(INFALLIBLE);
                column = hang + width;
            } else {
                let gap = if i == 0 { "" } else { " " };
                write!(self.out, "{gap}{word}").expect(INFALLIBLE);
                column += gap.len() + width;
            }
        }
        self.out.push('\n');
    }

    /// `before`, then `text` on the same line, however long: something to be copied.
    pub(super) fn whole(&mut self, before: &str, text: &str) {
        writeln!(self.out, "{before}{}", plain(text)).expect(INFALLIBLE);
    }

    /// A line of a list of names and values.
    pub(super) fn field(&mut self, name: &str, value: &str) {
        self.line(&format!("  {name:<18}  "), value);
    }
}

/// The text with control characters written out.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
