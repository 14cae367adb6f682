//! From minutes to an answer: the most central sentences of the whole and of each topic.
//!
//! It must never return a sentence twice, nor more than its bounds whatever the minutes hold.

use serde::{Deserialize, Serialize};

use crate::minutes::{Section, sections};
use crate::textrank::{WordSet, Words, scores, similarity};

/// Sentences of the summary, at most.
const SUMMARY_SENTENCES_MAX: usize = 5;

/// Topics, at most; those with the most central sentences stay.
const TOPICS_MAX: usize = 24;

/// Sentences of one topic, at most.
const TOPIC_SENTENCES_MAX: usize = 3;

/// Words that a sentence needs to stand for others: names and link lists have fewer.
const WORDS_MIN: usize = 5;

/// Words among them that say something.
const TELLING_WORDS_MIN: usize = 3;

/// Similarity, as a share of a sentence's similarity with itself, beyond which two say the same.
const SAME: f64 = 0.8;

/// Answer of `POST /summaries`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// At most five sentences of the minutes, in their order, one a line: not all end with a stop.
    pub summary: String,
    /// At most 24 headings, in their order, with at most three sentences each.
    pub topics: Vec<Topic>,
    /// `textrank-extractive`: no model wrote this.
    pub method: String,
    /// Of the program.
    pub version: String,
}

/// What stands under one heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// The heading; `General` for what stands under none.
    pub title: String,
    /// The most central sentences, in their order.
    pub sentences: Vec<String>,
}

struct Ranked {
    section: usize,
    sentence: String,
    words: WordSet,
    score: f64,
}

/// Summarises; `focus` prefers the sentences that name it. `None` when there is no sentence.
pub fn summarise(minutes: &str, focus: Option<&str>) -> Option<Summary> {
    let sections = sections(minutes);
    let ranked = ranked(&sections, focus.unwrap_or_default());
    if ranked.is_empty() {
        return None;
    }
    let all: Vec<&Ranked> = ranked.iter().collect();
    let summary: Vec<&str> = best(&all, SUMMARY_SENTENCES_MAX)
        .iter()
        .map(|r| r.sentence.as_str())
        .collect();
    Some(Summary {
        summary: summary.join("\n"),
        topics: topics(&sections, &ranked),
        method: "textrank-extractive".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The sentences that can stand for others; all of them when none can.
fn ranked(sections: &[Section], focus: &str) -> Vec<Ranked> {
    let mut words = Words::new();
    let everything: Vec<(usize, &str, WordSet)> = sections
        .iter()
        .enumerate()
        .flat_map(|(n, section)| section.sentences.iter().map(move |s| (n, s.as_str())))
        .map(|(n, sentence)| (n, sentence, words.of(sentence)))
        .collect();
    let stands = |sentence: &str, set: &WordSet| {
        let words = sentence
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphanumeric));
        WORDS_MIN <= words.count() && TELLING_WORDS_MIN <= set.len()
    };
    let any = everything
        .iter()
        .any(|(_, sentence, set)| stands(sentence, set));
    let kept: Vec<(usize, &str, WordSet)> = everything
        .into_iter()
        .filter(|(_, s, set)| !any || stands(s, set))
        .collect();
    let sets: Vec<WordSet> = kept.iter().map(|(_, _, set)| set.clone()).collect();
    let scores = scores(&sets, &words.of(focus));
    kept.into_iter()
        .zip(scores)
        .map(|((section, sentence, words), score)| Ranked {
            section,
            sentence: sentence.to_owned(),
            words,
            score,
        })
        .collect()
}

/// The `count` most central that do not say the same, in the order of the text.
fn best<'a>(from: &[&'a Ranked], count: usize) -> Vec<&'a Ranked> {
    let mut order: Vec<usize> = (0..from.len()).collect();
    // Stable: of two equals the earlier one stays first.
    order.sort_by(|&a, &b| from[b].score.total_cmp(&from[a].score));
    let mut chosen: Vec<usize> = Vec::new();
    for candidate in order {
        if chosen.len() == count {
            break;
        }
        if !chosen
            .iter()
            .any(|&other| say_the_same(from[candidate], from[other]))
        {
            chosen.push(candidate);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|n| from[n]).collect()
}

fn say_the_same(a: &Ranked, b: &Ranked) -> bool {
    let most = similarity(&a.words, &a.words).max(similarity(&b.words, &b.words));
    a.sentence == b.sentence || (0.0 < most && SAME * most < similarity(&a.words, &b.words))
}

fn topics(sections: &[Section], ranked: &[Ranked]) -> Vec<Topic> {
    let mut topics: Vec<(f64, usize, Topic)> = Vec::new();
    for (n, section) in sections.iter().enumerate() {
        // Sorted by section, as the text is: no pass over everything for each heading.
        let from = ranked.partition_point(|r| r.section < n);
        let to = ranked.partition_point(|r| r.section <= n);
        let own: Vec<&Ranked> = ranked[from..to].iter().collect();
        let chosen = best(&own, TOPIC_SENTENCES_MAX);
        let Some(top) = chosen.iter().map(|r| r.score).max_by(f64::total_cmp) else {
            continue;
        };
        let title = if section.title.is_empty() {
            "General"
        } else {
            &section.title
        };
        let sentences = chosen.iter().map(|r| r.sentence.clone()).collect();
        topics.push((
            top,
            n,
            Topic {
                title: title.to_owned(),
                sentences,
            },
        ));
    }
    topics.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    topics.truncate(TOPICS_MAX);
    topics.sort_by_key(|topic| topic.1);
    topics.into_iter().map(|(_, _, topic)| topic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTES: &str = "# Minutes\n\n## Present\n* Kai (TSC)\n* Lane (TSC)\n\n## Release\n\
        * The release needs a signed build before Monday.\n\
        * A signed release build goes out on Monday, Kai said.\n\
        * The release build needs to be signed before Monday.\n\
        * Lane will write the release notes.\n\n## Budget\n\
        * The travel budget is spent, no trips before Monday.\n";

    #[test]
    fn names_stay_out_and_what_says_the_same_is_said_once() {
        let answer = summarise(MINUTES, None).unwrap();
        let titles: Vec<_> = answer
            .topics
            .iter()
            .map(|topic| topic.title.as_str())
            .collect();
        assert_eq!(titles, ["Release", "Budget"]);
        assert!(!answer.summary.contains("(TSC)"), "{}", answer.summary);
        let signed = answer.summary.matches("signed").count();
        assert_eq!(signed, 2, "{}", answer.summary);
    }

    #[test]
    fn a_focus_moves_its_topic_to_the_front_of_what_is_kept() {
        let filler: String = (0..40)
            .map(|n| {
                format!("## Part {n}\n* The build server of part {n} needs more memory now.\n")
            })
            .collect();
        let text = format!("{filler}## Lunch\n* The kitchen serves noodles each Friday noon.\n");
        let named = |focus| {
            let answer = summarise(&text, focus).unwrap();
            assert_eq!(answer.topics.len(), TOPICS_MAX);
            answer.topics.iter().any(|topic| topic.title == "Lunch")
        };
        assert!(!named(None));
        assert!(named(Some("kitchen noodles friday")));
    }

    #[test]
    fn minutes_without_a_telling_sentence_are_given_back_and_empty_ones_refused() {
        assert_eq!(summarise("Kai\n\nLane", None).unwrap().summary, "Kai\nLane");
        assert_eq!(summarise(" \n\n# Title\n", None), None);
    }
}
