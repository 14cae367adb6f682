//! Sentences, clauses and words: the pieces that cue rules look at.
//!
//! Sentences end where a reader would end them, not at the dot of `Node.js` or `6.4`. No piece is
//! longer than [`SENTENCE_BYTES_MAX`], so that no rule ever looks at 1 MiB at once.

use crate::minutes::Block;

/// Longest sentence that is looked at in one piece, in bytes.
pub(super) const SENTENCE_BYTES_MAX: usize = 2_000;

/// Dots after these do not end a sentence.
const ABBREVIATIONS: [&str; 10] = [
    "e.g", "i.e", "etc", "vs", "approx", "dr", "mr", "ms", "mrs", "resp",
];
/// Dots after these do not either, if a number follows.
const BEFORE_NUMBERS: [&str; 4] = ["no", "fig", "p", "sec"];

/// A word of a clause.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    /// Without punctuation around it.
    pub(super) text: &'a str,
    /// In lower case, with plain apostrophes.
    pub(super) lower: String,
    /// Where it starts in the clause, in bytes.
    pub(super) start: usize,
    /// The punctuation that follows it directly: one of `,:;` or a dash, else a space.
    pub(super) mark: char,
}

/// A sentence or a part of it, cut into words.
#[derive(Clone, Debug)]
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    pub(super) words: Vec<Word<'a>>,
    pub(super) question: bool,
}

impl<'a> Clause<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.trim();
        Self {
            text,
            words: words(text),
            question: text.trim_end_matches([')', '"']).ends_with('?'),
        }
    }

    pub(super) fn lower(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.lower.as_str())
    }

    /// Where `pattern` stands as whole words.
    pub(super) fn find(&self, pattern: &[&str]) -> Option<usize> {
        let fits = |at: &usize| self.has_at(*at, pattern);
        (0..self.words.len()).find(fits)
    }

    /// Whether `pattern` stands at word `at`.
    pub(super) fn has_at(&self, at: usize, pattern: &[&str]) -> bool {
        pattern
            .iter()
            .enumerate()
            .all(|(n, word)| self.lower(at + n) == Some(*word))
    }

    /// The text from word `at` on.
    pub(super) fn from(&self, at: usize) -> &'a str {
        self.words
            .get(at)
            .map_or("", |word| &self.text[word.start..])
    }

    /// The text from word `from` to the end of word `to`.
    pub(super) fn span(&self, from: usize, to: usize) -> &'a str {
        match (self.words.get(from), self.words.get(to)) {
            (Some(first), Some(last)) if first.start <= last.start => {
                &self.text[first.start..last.start + last.text.len()]
            }
            (_, _) => "",
        }
    }
}

/// Words with contractions taken apart: `I'll` is `i` and `will`, `we're` is `we` and `are`.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut out = Vec::new();
    for (start, token) in tokens(text) {
        let trimmed = token.trim_matches(|c: char| !c.is_alphanumeric() && !"@#`&/".contains(c));
        let trimmed = if trimmed.is_empty() { token } else { trimmed };
        let lead = token.find(trimmed).unwrap_or(0);
        let mark = token[lead + trimmed.len()..]
            .chars()
            .find(|c| ",:;–—-".contains(*c));
        let dash = matches!(token, "-" | "–" | "—");
        if dash {
            if let Some(last) = out.last_mut() {
                let last: &mut Word<'_> = last;
                last.mark = '-';
            }
            continue;
        }
        let lower = trimmed.to_lowercase().replace('’', "'");
        let start = start + lead;
        let mark = mark.unwrap_or(' ');
        match split_contraction(&lower) {
            Some((subject, verb)) => {
                let text = &trimmed[..subject.len().min(trimmed.len())];
                out.push(Word {
                    text,
                    lower: subject.to_owned(),
                    start,
                    mark: ' ',
                });
                let text = "";
                out.push(Word {
                    text,
                    lower: verb.to_owned(),
                    start: start + trimmed.len(),
                    mark,
                });
            }
            None => out.push(Word {
                text: trimmed,
                lower,
                start,
                mark,
            }),
        }
    }
    out
}

fn split_contraction(lower: &str) -> Option<(&str, &'static str)> {
    const ENDS: [(&str, &str); 3] = [("'ll", "will"), ("'re", "are"), ("'m", "am")];
    ENDS.iter().find_map(|(end, verb)| {
        let subject = lower.strip_suffix(end)?;
        (!subject.is_empty() && subject.is_ascii()).then_some((subject, *verb))
    })
}

fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace()
        .map(move |token| (token.as_ptr() as usize - text.as_ptr() as usize, token))
}

/// The sentences of a text, in order.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next_is_space = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let too_long = SENTENCE_BYTES_MAX <= end - start && c.is_whitespace();
        // Without any space, a cut inside a word is better than a piece without a bound.
        let far_too_long = SENTENCE_BYTES_MAX * 2 <= end - start;
        let ends = matches!(c, '.' | '!' | '?') && next_is_space && ends_here(text, start, at, c);
        if ends || too_long || far_too_long {
            push_trimmed(&mut out, &text[start..end]);
            start = end;
        }
    }
    push_trimmed(&mut out, &text[start..]);
    out
}

fn push_trimmed<'a>(out: &mut Vec<&'a str>, text: &'a str) {
    let text = text.trim();
    if text.chars().any(char::is_alphanumeric) {
        out.push(text);
    }
}

/// Whether the mark at `at` ends a sentence: not after an abbreviation, an initial or a list
/// number, and not before a word in lower case.
fn ends_here(text: &str, start: usize, at: usize, mark: char) -> bool {
    let next = text[at + 1..].trim_start().chars().next();
    if mark != '.' {
        return true;
    }
    if next.is_some_and(char::is_lowercase) {
        return false;
    }
    let word = text[start..at]
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or("");
    let bare = word.trim_start_matches('(').to_lowercase();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let number = start + word.len() == at && word.chars().all(|c| c.is_ascii_digit());
    let counted = next.is_some_and(|c| c.is_ascii_digit());
    let counted = counted && BEFORE_NUMBERS.contains(&bare.as_str());
    !(ABBREVIATIONS.contains(&bare.as_str()) || initial || number || counted)
}

/// The texts of a block that are read on their own: its cells, or its text.
pub(super) fn texts(block: &Block) -> Vec<&str> {
    if block.cells.is_empty() {
        return vec![&block.text];
    }
    block
        .cells
        .iter()
        .map(|cell| cell.text.as_str())
        .filter(|text| !text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let text = "Node.js 6.4 landed on 4 May. See e.g. Kai. J. Doe asked: why? ok (really!) \
                    Done. will do it. 10. of May";
        assert_eq!(
            sentences(text),
            [
                "Node.js 6.4 landed on 4 May.",
                "See e.g. Kai.",
                "J. Doe asked: why?",
                "ok (really!) Done. will do it.",
                "10. of May",
            ]
        );
    }

    #[test]
    fn no_piece_is_longer_than_the_bound_whatever_the_text() {
        for text in [
            "a ".repeat(500_000),
            "ä".repeat(500_000),
            "Avery will. ".repeat(80_000),
        ] {
            let pieces = sentences(&text);
            assert!(
                pieces
                    .iter()
                    .all(|piece| piece.len() <= 2 * SENTENCE_BYTES_MAX)
            );
            let kept: usize = pieces.iter().map(|piece| piece.len()).sum();
            assert!(text.split_whitespace().map(str::len).sum::<usize>() <= kept);
        }
    }

    #[test]
    fn words_know_their_place_and_their_mark() {
        let clause = Clause::of("Jules, I’ll ask @kai - ok?");
        let lower: Vec<&str> = clause
            .words
            .iter()
            .map(|word| word.lower.as_str())
            .collect();
        assert_eq!(lower, ["jules", "i", "will", "ask", "@kai", "ok"]);
        assert_eq!(clause.words[0].mark, ',');
        assert_eq!(clause.words[4].mark, '-');
        assert_eq!(clause.from(3), "ask @kai - ok?");
        assert_eq!(clause.span(3, 4), "ask @kai");
        assert!(clause.question);
    }
}
