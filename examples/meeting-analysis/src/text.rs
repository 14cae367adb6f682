//! Small helpers on text that more than one module needs: clipping, words, ids.
//!
//! Nothing here may be slower than linear in its input: minutes can be one line of 1 MiB.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// `text` cut to at most `chars_max` characters, at a word boundary where one is near, with `…`.
///
/// Text that fits is returned as it is. The result has at most `chars_max` characters.
#[must_use]
pub fn clip(text: &str, chars_max: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(chars_max) else {
        return text.to_owned();
    };
    // One character is given up for the ellipsis.
    let head = text[..cut]
        .char_indices()
        .next_back()
        .map_or("", |(last, _)| &text[..last]);
    let whole = text[head.len()..].starts_with(char::is_whitespace);
    // A boundary in the first half would throw too much away.
    let end = head
        .rfind(char::is_whitespace)
        .filter(|at| !whole && at * 2 >= head.len());
    let mut out = head[..end.unwrap_or(head.len())].trim_end().to_owned();
    while out.ends_with([',', ';', ':', '-', '–', '(']) {
        out.pop();
        out.truncate(out.trim_end().len());
    }
    out.push('…');
    out
}

/// `text` with its first letter in upper case.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        let mut out: String = first.to_uppercase().collect();
        out.push_str(chars.as_str());
        out
    })
}

/// The content words of `text`: lower case, three letters or more, no stop words, no link marks.
pub fn content_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '-')
        .map(|word| word.trim_matches(['\'', '’', '-']))
        .filter(|word| word.len() >= 3 && word.chars().any(char::is_alphabetic))
        .map(str::to_lowercase)
        .filter(|word| !is_stop_word(word))
}

/// A lower-case word without its commonest endings, so that "releases" meets "release".
///
/// For comparing words with each other only; the result is not always a word.
#[must_use]
pub fn stem(word: &str) -> &str {
    const STEM_BYTES_MIN: usize = 3;
    let endings = ["ions", "ion", "ing", "ed", "es", "s", "e"];
    let stem = |ending: &&str| {
        word.strip_suffix(*ending)
            .filter(|s| STEM_BYTES_MIN <= s.len())
    };
    endings.iter().find_map(stem).unwrap_or(word)
}

/// Whether a lower-case word says nothing about a topic.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Characters that must not reach a terminal: controls and those that turn the reading direction.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    const TURNS: [char; 4] = ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'];
    c.is_control()
        || (TURNS[0] <= c && c <= TURNS[1])
        || (TURNS[2] <= c && c <= TURNS[3])
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || c == '\u{feff}'
}

/// `text` on one line that is safe to print, whoever wrote it.
#[must_use]
pub fn printable(text: &str) -> String {
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced.filter(|c| !is_hidden(*c)).collect()
}

/// The UTC form of a moment in milliseconds since 1970, for example `2026-03-04T10:00:00Z`.
///
/// A moment that no calendar holds is shown as its number.
#[must_use]
pub fn utc(at_ms: u64) -> String {
    i64::try_from(at_ms)
        .ok()
        .and_then(chrono::DateTime::from_timestamp_millis)
        .map_or_else(
            || format!("{at_ms} ms"),
            |at| at.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
        )
}

/// Words that stand in every text.
static STOP_WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let words = "about above added after again all already also although always and another any \
                 anybody anyone anything anyway are aren't around ask asked asking away back \
                 because been before being better between both bring but can can't could \
                 currently did didn't different does doesn't doing don't done during each either \
                 else even ever every everybody everyone few first for from further get getting \
                 give goes going good got had has have haven't having her here him his how \
                 however i'll i'm instead into isn't it's its itself just last later least less \
                 let let's like likely link look looks lot made make making many may maybe \
                 meeting meetings might more most much must need needs new next nobody not \
                 nothing now off one only other others our out over own people per please \
                 possible put quite rather really remember said same say see seem seems she \
                 should since some somebody someone something still such take than that that's \
                 the their them then there there's these they thing things think this those time \
                 today too two under until update updates upon use used using very via want was \
                 wasn't way we'll we're we've week well went were what when where whether which \
                 while who why will with within without won't would year yes yet you your";
    words.split_whitespace().collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipping_counts_characters_and_keeps_words_whole() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("take it back to GitHub", 16), "take it back to…");
        assert_eq!(clip("ääääääääää", 4), "äää…");
        assert_eq!(clip("", 3), "");
    }

    #[test]
    fn forms_of_one_word_share_a_stem() {
        for (a, b) in [
            ("releases", "release"),
            ("inviting", "invite"),
            ("rotation", "rotate"),
        ] {
            assert_eq!(stem(a), stem(b));
        }
        assert_eq!(stem("bed"), "bed");
    }

    #[test]
    fn a_moment_is_shown_in_utc() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(u64::MAX), "18446744073709551615 ms");
    }
}
