//! Takes minutes apart: sections by heading, and the sentences of each, without markup.
//!
//! It must never reword: what it leaves out is markup, what it keeps stands in the text.

/// Words of a sentence at most; a longer one, say a pasted table, is cut into such pieces.
const SENTENCE_WORDS_MAX: usize = 80;

/// Longest line, in characters, that counts as a heading because it ends with a colon.
const COLON_HEADING_CHARS_MAX: usize = 60;

/// Abbreviations whose full stop ends no sentence; lower case, without the stop.
const ABBREVIATIONS: [&str; 16] = [
    "e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "ms", "dr", "prof", "st", "no", "approx", "dept",
    "fig", "resp",
];

/// A heading and what stands under it, up to the next heading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Empty for what stands before the first heading.
    pub(crate) title: String,
    pub(crate) sentences: Vec<String>,
}

/// The sections with at least one sentence, in the order of the text.
pub(crate) fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section {
        title: String::new(),
        sentences: Vec::new(),
    }];
    let mut block = String::new();
    for line in text.lines() {
        let line = line.trim();
        let (starts_block, content) = bullet(line);
        if let Some(title) = heading(line) {
            end_block(&mut sections, &mut block);
            sections.push(Section {
                title,
                sentences: Vec::new(),
            });
            continue;
        }
        if content.is_empty() || starts_block {
            end_block(&mut sections, &mut block);
        }
        block.push_str(content);
        block.push(' ');
    }
    end_block(&mut sections, &mut block);
    sections.retain(|section| !section.sentences.is_empty());
    sections
}

fn end_block(sections: &mut [Section], block: &mut String) {
    let section = sections
        .last_mut()
        .expect("the first section is always there");
    section.sentences.extend(sentences(&without_markup(block)));
    block.clear();
}

fn heading(line: &str) -> Option<String> {
    let marked = line.trim_start_matches('#');
    let hashes = line.len() - marked.len();
    if (1..=6).contains(&hashes) && marked.starts_with(' ') {
        return Some(without_markup(marked.trim_end_matches('#')));
    }
    let (is_bullet, _) = bullet(line);
    let named = line.trim_end_matches('*').strip_suffix(':')?;
    let short = named.chars().count() <= COLON_HEADING_CHARS_MAX && !named.contains(". ");
    (!is_bullet && short).then(|| without_markup(named))
}

/// Whether the line starts a list item, and the line without the item's mark.
fn bullet(line: &str) -> (bool, &str) {
    let unmarked = line
        .strip_prefix(['*', '-', '+', '•'])
        .filter(|rest| rest.starts_with(' '));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest
            .strip_prefix(['.', ')'])
            .filter(|_| rest.len() < line.len())?;
        rest.starts_with(' ').then_some(rest)
    };
    match unmarked.or_else(numbered) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    }
}

/// The text of links instead of links, no emphasis marks, single spaces.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        plain.push_str(&rest[..at]);
        let target = &rest[at + 2..];
        // An unclosed target is text; everything up to its end stays.
        rest = match target.find(')') {
            Some(end) => &target[end + 1..],
            None => target,
        };
    }
    plain.push_str(rest);
    let plain = plain.replace(['*', '`', '[', ']', '\\'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let mut ahead = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = ahead.next() {
        words.push(word);
        let next = ahead
            .peek()
            .and_then(|next| next.chars().find(|c| c.is_alphanumeric()));
        if ends_sentence(word, next) || words.len() == SENTENCE_WORDS_MAX {
            sentences.push(words.join(" "));
            words.clear();
        }
    }
    if !words.is_empty() {
        sentences.push(words.join(" "));
    }
    sentences
}

fn ends_sentence(word: &str, next: Option<char>) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '”', '’']);
    if bare.ends_with(['!', '?', '。', '！', '？']) {
        return true;
    }
    let Some(stem) = bare.strip_suffix('.') else {
        return false;
    };
    let stem = stem
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let initial = stem.chars().count() == 1 && stem.chars().all(char::is_alphabetic);
    let goes_on = next.is_some_and(char::is_lowercase);
    !initial && !goes_on && !ABBREVIATIONS.contains(&stem.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(title: &str, sentences: &[&str]) -> Section {
        let sentences = sentences.iter().map(|&s| s.to_owned()).collect();
        Section {
            title: title.to_owned(),
            sentences,
        }
    }

    #[test]
    fn headings_bullets_and_wrapped_lines_are_taken_apart() {
        let text = "Opening words.\n\n# Title #\n\n## Present\n\n* Kai (TSC)\n* Lane\n\n\
            ### Budget **now**\n* esm: named [exports](http://x/y) are fine. They ship\n  \
            on `Monday`.\n  * Nested one\n1. first point\nModeration team:\nAll quiet.";
        let expected = [
            section("", &["Opening words."]),
            section("Present", &["Kai (TSC)", "Lane"]),
            section(
                "Budget now",
                &[
                    "esm: named exports are fine.",
                    "They ship on Monday.",
                    "Nested one",
                    "first point",
                ],
            ),
            section("Moderation team", &["All quiet."]),
        ];
        assert_eq!(sections(text), expected);
    }

    #[test]
    fn full_stops_inside_a_sentence_do_not_end_it() {
        for (text, count) in [
            ("We use Node.js v18.2 today. It works.", 2),
            ("Ask Dr. Kim, e.g. About it.", 1),
            ("J. Doe agreed. (So did we.) Done!", 3),
            ("The build takes approx. 5 min. on average.", 1),
            ("no end", 1),
            ("", 0),
        ] {
            assert_eq!(
                sentences(text).len(),
                count,
                "{text}: {:?}",
                sentences(text)
            );
        }
    }

    #[test]
    fn a_sentence_without_end_is_cut_into_pieces() {
        let text = "word ".repeat(SENTENCE_WORDS_MAX * 2 + 1);
        assert_eq!(sections(&text)[0].sentences.len(), 3);
    }

    #[test]
    fn a_broken_link_keeps_its_text() {
        assert_eq!(without_markup("see [#18]((link) now"), "see #18 now");
        assert_eq!(without_markup("see [it](http://x"), "see ithttp://x");
    }
}
