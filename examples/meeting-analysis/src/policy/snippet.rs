//! The part of a policy that answers a query: whole paragraphs or list items, never a cut-out
//! that starts in the middle of a sentence.
//!
//! Weights are integers and ties go to the earlier part: the same query, the same snippet.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::tokenizer::TextAnalyzer;

use super::SNIPPET_CHARS_MAX;
use crate::minutes::inline;
use crate::text::{clip, printable};

/// A part shorter than this, in characters, is shown with the part after it.
const SHORT_CHARS_MAX: usize = 140;

/// How much each term of a query counts: rare ones more. Keys are as the index holds them.
pub(super) type Weights = BTreeMap<String, u64>;

/// The part of `body` with most weight, at most [`SNIPPET_CHARS_MAX`] characters.
pub(super) fn best(body: &str, weights: &Weights, analyzer: &mut TextAnalyzer) -> String {
    let parts = parts(body);
    let mut chosen = (0, 0);
    for (at, part) in parts.iter().enumerate() {
        let weight = weight(part, weights, analyzer);
        if chosen.1 < weight {
            chosen = (at, weight);
        }
    }
    let mut snippet = parts.get(chosen.0).cloned().unwrap_or_default();
    if snippet.chars().count() <= SHORT_CHARS_MAX
        && let Some(next) = parts.get(chosen.0 + 1)
    {
        snippet = format!("{snippet} {next}");
    }
    clip(&printable(&snippet), SNIPPET_CHARS_MAX)
}

fn weight(part: &str, weights: &Weights, analyzer: &mut TextAnalyzer) -> u64 {
    let mut found = BTreeSet::new();
    let mut tokens = analyzer.token_stream(part);
    while tokens.advance() {
        found.insert(tokens.token().text.clone());
    }
    found.iter().filter_map(|token| weights.get(token)).sum()
}

/// Paragraphs and list items without their marks; headings are left out.
fn parts(body: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut open = false;
    for line in body.lines() {
        let text = line.trim();
        let item = text.strip_prefix("- ").or_else(|| {
            text.split_once(". ")
                .filter(|(n, _)| is_number(n))
                .map(|(_, rest)| rest)
        });
        match (item, parts.last_mut()) {
            _ if text.is_empty() || text.starts_with('#') => open = false,
            (None, Some(part)) if open => {
                part.push(' ');
                part.push_str(text);
            }
            (item, _) => {
                parts.push(item.unwrap_or(text).to_owned());
                open = true;
            }
        }
    }
    parts.iter().map(|part| inline(part)).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "# Title\n\nAn *opening* that goes\non here.\n\n## Part\n\n- first item\n  goes \
                        on\n- second: rotate keys\n2. third\n";

    fn best_for(terms: &[(&str, u64)]) -> String {
        let weights = terms
            .iter()
            .map(|(term, weight)| ((*term).to_owned(), *weight))
            .collect();
        let manager = tantivy::tokenizer::TokenizerManager::default();
        let mut analyzer = manager
            .get("en_stem")
            .expect("the stemmer is a feature we ask for");
        best(BODY, &weights, &mut analyzer)
    }

    #[test]
    fn parts_are_whole_paragraphs_and_items_without_marks() {
        let expected = [
            "An opening that goes on here.",
            "first item goes on",
            "second: rotate keys",
            "third",
        ];
        assert_eq!(parts(BODY), expected);
    }

    #[test]
    fn the_part_with_most_weight_is_shown_and_a_short_one_with_its_successor() {
        assert_eq!(
            best_for(&[("key", 5), ("open", 2)]),
            "second: rotate keys third"
        );
        assert_eq!(best_for(&[("third", 1)]), "third");
        assert_eq!(
            best_for(&[]),
            "An opening that goes on here. first item goes on"
        );
    }
}
