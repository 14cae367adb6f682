//! Markup off, words on: what a reader would say aloud of a line of Markdown.
//!
//! It must never lose a word, never let a control character through to a terminal, and never be
//! slower than linear: a scan stops at the next mark of its kind, so no input makes scans overlap.

use crate::text::is_hidden;

/// Farthest place of a closing mark, in bytes.
const SPAN_BYTES_MAX: usize = 400;

/// `text` without Markdown: links by their label, no emphasis, escapes and entities resolved,
/// white space folded, control and direction-changing characters dropped.
#[must_use]
pub fn inline(text: &str) -> String {
    let mut cleaner = Cleaner {
        out: String::with_capacity(text.len()),
        rest: text,
        previous: ' ',
    };
    while let Some(c) = cleaner.rest.chars().next() {
        cleaner.one(c);
    }
    let mut out = cleaner.out;
    out.truncate(out.trim_end().len());
    out
}

struct Cleaner<'a> {
    out: String,
    rest: &'a str,
    /// The source character before `rest`; white space at the start.
    previous: char,
}

impl<'a> Cleaner<'a> {
    fn one(&mut self, c: char) {
        let taken = match c {
            '\\' => self.escape(),
            '`' => self.code(),
            '<' => self.angle(),
            '!' | '[' => self.link(),
            '*' | '~' => self.emphasis(c),
            '_' => self.underscore(),
            '&' => self.entity(),
            _ => None,
        };
        let taken = taken.unwrap_or_else(|| {
            self.push(c);
            c.len_utf8()
        });
        let (head, tail) = self.rest.split_at(taken);
        self.previous = head.chars().next_back().unwrap_or(self.previous);
        self.rest = tail;
    }

    fn push(&mut self, c: char) {
        if c.is_whitespace() {
            if !self.out.is_empty() && !self.out.ends_with(' ') {
                self.out.push(' ');
            }
        } else if !is_hidden(c) {
            self.out.push(c);
        }
    }

    fn push_all(&mut self, text: &str) {
        for c in text.chars() {
            self.push(c);
        }
    }

    /// The text up to the next `close`, if it is near and no `stop` comes first.
    fn until(&self, from: usize, close: char, stop: &[char]) -> Option<&'a str> {
        let body = &self.rest[from..];
        for (at, c) in body.char_indices() {
            if SPAN_BYTES_MAX < at || (c != close && stop.contains(&c)) {
                return None;
            }
            if c == close {
                return Some(&body[..at]);
            }
        }
        None
    }

    fn escape(&mut self) -> Option<usize> {
        let next = self.rest[1..]
            .chars()
            .next()
            .filter(char::is_ascii_punctuation)?;
        self.push(next);
        Some(2)
    }

    /// Code stays as it is, with its marks: a reader needs to see that it is literal.
    fn code(&mut self) -> Option<usize> {
        let body = self.until(1, '`', &[])?;
        self.push('`');
        self.push_all(body);
        self.push('`');
        Some(body.len() + 2)
    }

    /// `<(link)`, `<https://..>`, tags and comments.
    fn angle(&mut self) -> Option<usize> {
        if self.rest.starts_with("<(link)") {
            self.push_all("(link)");
            let whole = "<(link)".len();
            return Some(whole + usize::from(self.rest[whole..].starts_with('>')));
        }
        let body = self.until(1, '>', &['<'])?;
        if body.contains("://") || (body.contains('@') && !body.contains(' ')) {
            self.push_all(body);
            return Some(body.len() + 2);
        }
        if body.starts_with("!--") {
            return Some(body.len() + 2);
        }
        let tag = body
            .trim_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap_or("");
        TAGS.contains(&tag.to_ascii_lowercase().as_str()).then(|| {
            if tag.eq_ignore_ascii_case("br") {
                self.push(' ');
            }
            body.len() + 2
        })
    }

    /// `[label](target)`, `![alt](target)` and the anonymised `[label]((link)`.
    fn link(&mut self) -> Option<usize> {
        let open = if self.rest.starts_with("![") { 2 } else { 1 };
        if open == 1 && !self.rest.starts_with('[') {
            return None;
        }
        let label = self.until(open, ']', &['['])?;
        let target_at = open + label.len() + 1;
        let target = self.rest[target_at..].strip_prefix('(')?;
        let end = match target.strip_prefix("(link)") {
            Some(tail) => target_at + 1 + "(link)".len() + usize::from(tail.starts_with(')')),
            None => {
                let from = target_at + 1;
                let inner = self.until(from, ')', &['['])?;
                let balanced = !inner.contains('(');
                from + inner.len()
                    + 1
                    + usize::from(!balanced && self.rest[from + inner.len() + 1..].starts_with(')'))
            }
        };
        if label.starts_with('#') && self.out.ends_with(char::is_alphanumeric) {
            self.push(' ');
        }
        let plain: String = label.chars().filter(|c| !matches!(c, '*' | '`')).collect();
        self.push_all(&plain);
        Some(end)
    }

    /// Marks that touch a word are emphasis; `2 * 3` and `2*3` are not.
    fn emphasis(&mut self, mark: char) -> Option<usize> {
        let run = self.rest.chars().take_while(|c| *c == mark).count();
        let next = self.rest[run..].chars().next().unwrap_or(' ');
        let lonely = self.previous.is_whitespace() && next.is_whitespace();
        let inside = self.previous.is_alphanumeric() && next.is_alphanumeric();
        let kept = lonely || (run == 1 && (inside || mark == '~'));
        (!kept).then_some(run)
    }

    /// `_word_` is emphasis only with both its marks, so `snake_case` and `__dirname` stay.
    fn underscore(&mut self) -> Option<usize> {
        if self.previous.is_alphanumeric() || self.previous == '_' {
            return None;
        }
        let body = self.until(1, '_', &[])?;
        let after = self.rest[body.len() + 2..].chars().next().unwrap_or(' ');
        let closes = !after.is_alphanumeric() && after != '_' && !body.ends_with(' ');
        if body.is_empty() || body.starts_with(' ') || !closes {
            return None;
        }
        let plain: String = body.chars().filter(|c| !matches!(c, '*')).collect();
        self.push_all(&plain);
        Some(body.len() + 2)
    }

    fn entity(&mut self) -> Option<usize> {
        const ENTITIES: [(&str, char); 7] = [
            ("&amp;", '&'),
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&quot;", '"'),
            ("&#39;", '\''),
            ("&nbsp;", ' '),
            ("&ndash;", '–'),
        ];
        let (name, c) = ENTITIES
            .iter()
            .find(|(name, _)| self.rest.starts_with(name))?;
        self.push(*c);
        Some(name.len())
    }
}

/// Tags that minutes carry from editors; `Vec<T>` is not one.
const TAGS: [&str; 16] = [
    "br", "b", "i", "em", "strong", "u", "s", "del", "a", "p", "li", "ul", "ol", "sub", "sup",
    "span",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_goes_and_words_stay() {
        let table = [
            (
                "doc: Weak(Map|Set) behavior [#18248]((link)",
                "doc: Weak(Map|Set) behavior #18248",
            ),
            ("is a directory[#18270]((link)", "is a directory #18270"),
            ("see:<(link) there", "see:(link) there"),
            ("* **Recording**: <(link)", "* Recording: (link)"),
            (
                "nominate for the [spotlight](https://a.b/c_(d)) now",
                "nominate for the spotlight now",
            ),
            (
                "\\*Extracted from **tsc-agenda** labels\\*",
                "*Extracted from tsc-agenda labels*",
            ),
            (
                "*Extracted from **the org** before",
                "Extracted from the org before",
            ),
            ("2 * 3 and 2*3 and a ~ b", "2 * 3 and 2*3 and a ~ b"),
            (
                "use `a_b *c*` and snake_case and __dirname",
                "use `a_b *c*` and snake_case and __dirname",
            ),
            ("_Action: Avery to call_ now", "Action: Avery to call now"),
            (
                "~~gone~~ <br/>new &amp; old <b>x</b> Vec<T>",
                "gone new & old x Vec<T>",
            ),
            ("mail <a@b.org>, <https://x.y>", "mail a@b.org, https://x.y"),
            ("a\u{1b}[31m\u{202e}b\tc\u{0}", "a[31mb c"),
            ("![logo](x.png) [text only] [a](b", "logo [text only] [a](b"),
        ];
        for (from, to) in table {
            assert_eq!(inline(from), to, "{from}");
        }
    }

    #[test]
    fn a_mebibyte_of_marks_is_cleaned_in_bounded_work() {
        for mark in [
            "[", "_a ", "`", "*", "<", "[a](", "<!--", "![", "&", "\\", "[x]((",
        ] {
            let text = mark.repeat((1 << 20) / mark.len());
            assert!(inline(&text).len() <= text.len());
        }
    }
}
