//! The summary: the few sentences that share most words with the rest of the minutes.
//!
//! Scores are integers, ties go to the earlier sentence: the same minutes, the same summary.

use std::collections::{BTreeMap, BTreeSet};

use super::clause::{self, Clause};
use super::decisions;
use super::labels;
use super::lexicon;
use super::people::People;
use super::places;
use super::{DETAIL_CHARS_MAX, METHOD, SECTION_CHARS_MAX, SENTENCES_MAX, Sentence, Summary};
use crate::minutes::{Minutes, SectionKind, is_furniture};
use crate::text::{clip, content_words};

/// Shorter sentences are interjections, longer ones are no summary; in words.
const WORDS_MIN: usize = 6;
const WORDS_MAX: usize = 60;
/// A word said this often or more counts as said this often.
const COUNT_MAX: u64 = 12;
/// Weights the length of a sentence against the words in it.
const LENGTH_OFFSET: u64 = 16;

/// What was decided matters more than what was said.
const DECISION_FACTOR: u64 = 2;
/// Sentences that open like this say what might be, not what is.
const GUESSES: [&str; 6] = ["maybe", "perhaps", "hopefully", "also", "better", "well"];

struct Candidate {
    score: u64,
    order: usize,
    topic: String,
    sentence: Sentence,
}

/// The local summary of the minutes.
pub(super) fn local(minutes: &Minutes, people: &People) -> Summary {
    let counts = counts(minutes);
    let mut candidates = Vec::new();
    let mut order = 0;
    for place in places::of(minutes).filter(is_read) {
        for text in clause::texts(place.block) {
            let said = spoken(people, text);
            for sentence in clause::sentences(said) {
                let Some(score) = score(sentence, &counts) else {
                    continue;
                };
                let section = place.name();
                let topic = section.clone();
                let sentence = Sentence {
                    text: clip(sentence, DETAIL_CHARS_MAX),
                    section,
                };
                order += 1;
                candidates.push(Candidate {
                    score,
                    order,
                    topic,
                    sentence,
                });
                if CANDIDATES_MAX <= candidates.len() {
                    candidates = best(candidates, CANDIDATES_MAX / 2);
                }
            }
        }
    }
    let mut chosen = one_per_topic(best(candidates, CANDIDATES_MAX));
    chosen.sort_by_key(|candidate| candidate.order);
    let sentences = chosen
        .into_iter()
        .map(|candidate| candidate.sentence)
        .collect();
    Summary {
        method: METHOD.to_owned(),
        sentences,
    }
}

/// What was said, without who said it: `A: Fishrock: ..` names two.
fn spoken<'a>(people: &People, text: &'a str) -> &'a str {
    let text = ["Q: ", "A: "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text);
    people.speaker(text).1
}

/// Weak candidates are dropped once there are this many, so that memory stays bounded.
const CANDIDATES_MAX: usize = 2_000;

fn is_read(place: &places::Place<'_>) -> bool {
    let furniture = is_furniture(place.block) || place.is_title();
    !furniture && !place.is_topic() && place.kind == SectionKind::Discussion
}

fn counts(minutes: &Minutes) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for place in places::of(minutes).filter(|place| place.kind == SectionKind::Discussion) {
        for word in content_words(&place.block.text) {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

/// How much of what the minutes talk about is in the sentence; none if it is no statement.
fn score(sentence: &str, counts: &BTreeMap<String, u64>) -> Option<u64> {
    let clause = Clause::of(sentence);
    let guess = clause.lower(0).is_some_and(|word| GUESSES.contains(&word))
        || (0..3).any(|at| clause.lower(at).is_some_and(lexicon::is_hedge));
    if labels::label(sentence).is_some()
        || guess
        || clause.question
        || !(WORDS_MIN..=WORDS_MAX).contains(&clause.words.len())
    {
        return None;
    }
    let words: BTreeSet<String> = content_words(sentence).collect();
    let said: u64 = words
        .iter()
        .map(|word| counts.get(word).copied().unwrap_or(0).min(COUNT_MAX))
        .sum();
    let length = u64::try_from(clause.words.len()).expect("at most WORDS_MAX");
    let decides = if decisions::says_so(&clause) {
        DECISION_FACTOR
    } else {
        1
    };
    Some(said * 1_000 * decides / (length + LENGTH_OFFSET))
}

fn best(mut candidates: Vec<Candidate>, count: usize) -> Vec<Candidate> {
    candidates.sort_by(|a, b| b.score.cmp(&a.score).then(a.order.cmp(&b.order)));
    candidates.truncate(count);
    candidates
}

/// First one sentence of each topic, then the next best of any.
fn one_per_topic(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut topics = BTreeSet::new();
    let (first, rest): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| topics.insert(candidate.topic.clone()));
    let mut seen = BTreeSet::new();
    let mut chosen: Vec<Candidate> = first.into_iter().chain(rest).collect();
    chosen.retain(|candidate| seen.insert(candidate.sentence.text.to_lowercase()));
    chosen.truncate(SENTENCES_MAX);
    chosen
}

/// Another's summary within our bounds.
pub(super) fn bounded(summary: &Summary) -> Summary {
    let sentences = summary
        .sentences
        .iter()
        .take(SENTENCES_MAX)
        .map(|sentence| Sentence {
            text: clip(&sentence.text, DETAIL_CHARS_MAX),
            section: clip(&sentence.section, SECTION_CHARS_MAX),
        });
    Summary {
        method: clip(&summary.method, 60),
        sentences: sentences.collect(),
    }
}
