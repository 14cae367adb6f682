//! What to look for: the words that set these minutes apart.
//!
//! A query is data and the same for the same minutes: it identifies a snapshot later.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::minutes::{Minutes, SectionKind, is_furniture};
use crate::summarise::{Extras, summarise};
use crate::text::content_words;

/// Most terms of a query.
pub const TERMS_MAX: usize = 32;
/// Passages asked for by [`PolicyQuery::about`].
const TOP: u32 = 8;
/// A word at the head of a topic counts as this many in the talk.
const TOPIC_WEIGHT: u32 = 2;
/// A word in a decision, over and above its place in the talk.
const DECISION_WEIGHT: u32 = 2;
/// A word in an action: policies are looked up to handle actions well.
const ACTION_WEIGHT: u32 = 4;
/// Longer words are links and identifiers, in bytes.
const TERM_BYTES_MAX: usize = 40;

/// A query for policy passages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyQuery {
    /// Words in lower case, sorted; at most [`TERMS_MAX`]. More are ignored.
    pub terms: Vec<String>,
    /// How many passages at most.
    pub top: u32,
}

impl PolicyQuery {
    /// The query for the policies that bear on these minutes.
    #[must_use]
    pub fn about(minutes: &Minutes) -> Self {
        Self {
            terms: distinctive_terms(minutes, TERMS_MAX),
            top: TOP,
        }
    }

    /// Identifies the query: BLAKE3 of its terms and size, lower-case hex.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.top.to_le_bytes());
        for term in &self.terms {
            hasher.update(&u64::try_from(term.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(term.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// The `count` words that weigh most, sorted by alphabet. Names of people are left out.
pub(crate) fn distinctive_terms(minutes: &Minutes, count: usize) -> Vec<String> {
    let mut weights = Weights::default();
    for section in &minutes.sections {
        match section.kind() {
            SectionKind::Attendance | SectionKind::Absence | SectionKind::Boilerplate => continue,
            SectionKind::Discussion
            | SectionKind::Actions
            | SectionKind::PastActions
            | SectionKind::Decisions => {}
        }
        for block in section.blocks.iter().filter(|block| !is_furniture(block)) {
            weights.add(&block.text, if block.depth == 0 { TOPIC_WEIGHT } else { 1 });
        }
    }
    let draft = summarise(minutes, Extras::default());
    for decision in &draft.decisions {
        weights.add(&decision.text, DECISION_WEIGHT);
    }
    for action in &draft.actions {
        weights.add(&action.detail, ACTION_WEIGHT);
    }
    weights.heaviest(count, &names(minutes))
}

/// How much each word counts so far.
#[derive(Default)]
struct Weights(BTreeMap<String, u32>);

impl Weights {
    fn add(&mut self, text: &str, weight: u32) {
        for word in content_words(text).filter(|word| word.len() <= TERM_BYTES_MAX) {
            // Dates and counts find nothing in a policy.
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let entry = self.0.entry(word).or_default();
            *entry = entry.saturating_add(weight);
        }
    }

    /// The heaviest words but for `names`; of equal ones the first by alphabet. Sorted.
    fn heaviest(self, count: usize, names: &BTreeSet<String>) -> Vec<String> {
        let mut ranked: Vec<(String, u32)> = self
            .0
            .into_iter()
            .filter(|(word, _)| !names.contains(word))
            .collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut terms: Vec<String> = ranked
            .into_iter()
            .take(count)
            .map(|(word, _)| word)
            .collect();
        terms.sort();
        terms
    }
}

fn names(minutes: &Minutes) -> BTreeSet<String> {
    let people = minutes.attendees.iter().chain(&minutes.absent);
    people
        .flat_map(|person| {
            let handle = person.handle.as_deref().unwrap_or("");
            content_words(&person.name)
                .chain(content_words(handle))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minutes::INPUT_BYTES_MAX;

    #[test]
    fn terms_are_about_the_talk_not_about_who_talked() {
        let text = "# Sync\n## Present\n* Avery @avery-s\n## Security release\n\
                    * Avery: key rotation of a release is \
                    due, rotation of signing keys\n* the rotation policy\n";
        let minutes = Minutes::parse("m", text.as_bytes(), INPUT_BYTES_MAX).expect("text");
        let query = PolicyQuery::about(&minutes);
        assert!(query.terms.contains(&"rotation".to_owned()), "{query:?}");
        assert!(query.terms.contains(&"release".to_owned()), "{query:?}");
        assert!(
            !query
                .terms
                .iter()
                .any(|term| term.starts_with("avery") || term == "the")
        );
        assert!(query.terms.is_sorted());
        assert_eq!(query, PolicyQuery::about(&minutes));
        assert_eq!(query.digest(), PolicyQuery::about(&minutes).digest());
    }

    #[test]
    fn different_queries_have_different_digests() {
        let query = |terms: &[&str], top| PolicyQuery {
            terms: terms.iter().map(|term| (*term).to_owned()).collect(),
            top,
        };
        let digests: BTreeSet<String> = [
            query(&["ab", "c"], 5),
            query(&["a", "bc"], 5),
            query(&["ab", "c"], 6),
        ]
        .iter()
        .map(PolicyQuery::digest)
        .collect();
        assert_eq!(digests.len(), 3);
    }
}
