//! What was decided: sentences in which people agree, approve, confirm or raise no objection.
//!
//! A condition, a hope or a denial of agreement must never become a decision.

use std::collections::BTreeSet;

use super::clause::{self, Clause};
use super::people::People;
use super::places::{self, Place};
use super::{Bounded, DECISIONS_MAX, DETAIL_CHARS_MAX, Decision};
use crate::minutes::{BlockKind, Column, Minutes, SectionKind};
use crate::text::{capitalised, clip};

/// Words that say something was settled.
const CUES: [&[&str]; 30] = [
    &["agreed", "to"],
    &["agreed", "that"],
    &["agreed", "on"],
    &["was", "agreed"],
    &["agreed"],
    &["agreement", "that"],
    &["agreement", "to"],
    &["agreement", "on"],
    &["consensus", "is"],
    &["consensus", "was"],
    &["consensus", "to"],
    &["consensus", "that"],
    &["consensus", "on"],
    &["decided"],
    &["approved"],
    &["adopted"],
    &["ratified"],
    &["unanimous"],
    &["unanimously"],
    &["confirmed"],
    &["no", "objections"],
    &["no", "objection"],
    &["none", "voiced"],
    &["none", "raised"],
    &["motion", "carried"],
    &["motion", "passed"],
    &["motion", "carries"],
    &["vote", "passed"],
    &["voted", "to"],
    &["raised", "their", "hand"],
];

/// Before a cue, these turn it into a condition, a wish or its opposite.
const DOUBTS: [&str; 31] = [
    "if",
    "unless",
    "until",
    "till",
    "once",
    "when",
    "whether",
    "not",
    "no",
    "without",
    "lack",
    "finding",
    "find",
    "reach",
    "reaching",
    "seek",
    "seeking",
    "need",
    "needs",
    "seem",
    "seems",
    "pending",
    "before",
    "would",
    "could",
    "should",
    "may",
    "might",
    "never",
    "nobody",
    "hopefully",
];

/// The decisions of the minutes, in order, the same one once.
pub(super) fn find(minutes: &Minutes, people: &People) -> Bounded<Decision> {
    let mut out = Bounded {
        kept: Vec::new(),
        left_out: 0,
    };
    let mut seen = BTreeSet::new();
    for place in places::of(minutes) {
        match place.kind {
            SectionKind::Attendance | SectionKind::Absence | SectionKind::Boilerplate => continue,
            SectionKind::Discussion
            | SectionKind::Actions
            | SectionKind::PastActions
            | SectionKind::Decisions => {}
        }
        for text in of_place(&place, people) {
            let topic = place.topic.map_or("", |topic| topic.text.as_str());
            if !seen.insert((text.to_lowercase(), clip(topic, 200))) {
                continue;
            }
            if DECISIONS_MAX <= out.kept.len() {
                out.left_out = out.left_out.saturating_add(1);
                continue;
            }
            let text = clip(&capitalised(&text), DETAIL_CHARS_MAX);
            out.kept.push(Decision {
                text,
                section: place.name(),
                evidence: place.evidence(),
            });
        }
    }
    out
}

fn of_place(place: &Place<'_>, people: &People) -> Vec<String> {
    let block = place.block;
    if let Some(cell) = block
        .cells
        .iter()
        .find(|cell| cell.column == Column::Decision)
    {
        let text = cell.text.trim();
        let filled = text.chars().any(char::is_alphanumeric) && !is_none(text);
        return filled.then(|| text.to_owned()).into_iter().collect();
    }
    let listed = place.kind == SectionKind::Decisions;
    if listed && block.kind == BlockKind::Bullet && block.depth == 0 && !is_none(&block.text) {
        return vec![block.text.clone()];
    }
    clause::texts(block)
        .into_iter()
        .flat_map(|text| of_text(text, people, place.is_topic()))
        .collect()
}

fn is_none(text: &str) -> bool {
    let bare = text.trim_end_matches('.').to_lowercase();
    matches!(
        bare.as_str(),
        "none" | "no decisions" | "n/a" | "nothing" | "-" | "tbd"
    )
}

fn of_text(text: &str, people: &People, topic: bool) -> Vec<String> {
    let (_, said) = people.speaker(text);
    let sentences = clause::sentences(said);
    let found = sentences
        .into_iter()
        .filter_map(|sentence| match labelled(sentence) {
            Some(rest) => Some(rest.to_owned()),
            None => (!topic && says_so(&Clause::of(sentence))).then(|| trimmed(sentence)),
        });
    found.collect()
}

fn trimmed(sentence: &str) -> String {
    sentence
        .trim_matches(|c: char| c == '*' || c.is_whitespace())
        .to_owned()
}

/// `Decision: ..`, `RESOLVED: ..`, `AGREED: ..`.
fn labelled(sentence: &str) -> Option<&str> {
    let (label, rest) = sentence
        .split_once(':')
        .filter(|(label, _)| label.len() <= 16)?;
    let lower = label.trim().to_lowercase();
    let label = matches!(
        lower.as_str(),
        "decision" | "decisions" | "resolved" | "agreed" | "resolution"
    );
    let rest = rest.trim();
    (label && !rest.is_empty()).then_some(rest)
}

/// Whether a clause says that something was settled.
pub(super) fn says_so(clause: &Clause<'_>) -> bool {
    if clause.question {
        return false;
    }
    CUES.iter().any(|cue| {
        let at = clause.find(cue);
        at.is_some_and(|at| holds(clause, cue, at))
    }) || refused(clause)
}

/// Whether a cue at word `at` is meant as said.
fn holds(clause: &Clause<'_>, cue: &[&str], at: usize) -> bool {
    match cue {
        // Counting hands counts only if nobody raised one.
        ["raised", ..] => matches!(clause.lower(0), Some("nobody" | "none")),
        ["none", ..] => clause
            .words
            .iter()
            .any(|word| word.lower.starts_with("objection")),
        ["no", ..] => !doubted(clause, at),
        // "Approved" before a noun describes it: "the approved budget".
        ["approved" | "adopted" | "confirmed" | "agreed"] => {
            let before = at
                .checked_sub(1)
                .and_then(|n| clause.lower(n))
                .unwrap_or("");
            let described = matches!(
                before,
                "the" | "an" | "a" | "every" | "each" | "any" | "all"
            );
            !described && !doubted(clause, at)
        }
        _ => !doubted(clause, at),
    }
}

/// Whether a doubting word stands before word `at` in the same part of the sentence.
fn doubted(clause: &Clause<'_>, at: usize) -> bool {
    let start = (0..at)
        .rev()
        .find(|n| matches!(clause.words[*n].mark, ';' | ':'))
        .map_or(0, |n| n + 1);
    (start..at).any(|n| {
        let word = clause.words[n].lower.as_str();
        DOUBTS.contains(&word)
            || word.ends_with("n't")
            || (word == "to" && clause.lower(n + 1) == Some("be"))
    })
}

/// `We will not backport this`.
fn refused(clause: &Clause<'_>) -> bool {
    clause
        .find(&["we", "will", "not"])
        .is_some_and(|at| !doubted(clause, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(sentence: &str) -> bool {
        says_so(&Clause::of(sentence))
    }

    #[test]
    fn agreement_approval_and_silence_without_objection_are_decisions() {
        for sentence in [
            "agreed to remove tsc-agenda for now",
            "agreement that it should not abort",
            "Moderation Team consensus is to leave the block in place indefinitely.",
            "Casey asked if there were any objections to using HackerOne, none voiced.",
            "Nobody in the meeting raised their hand",
            "Dates have been confirmed.",
            "The budget was approved unanimously.",
            "The vote passed with six in favour.",
            "No objections, so it goes ahead.",
            "We will not backport globs to 20.",
        ] {
            assert!(says(sentence), "{sentence}");
        }
    }

    #[test]
    fn conditions_hopes_and_denials_are_not_decisions() {
        for sentence in [
            "Land the PR if there are no objections on Monday",
            "finding consensus around initial api",
            "might be renamed if there's consensus",
            "nothing for TSC to decide at this point.",
            "If we want to backport, we need to agree on a solution",
            "that seems to have been agreed by OpenJS before",
            "There was no consensus on the API.",
            "it needs another TSC approval",
            "Has the budget been approved?",
            "The charter is to be approved next month.",
            "See the approved budget.",
            "The dates are not confirmed.",
            "two people raised their hand",
        ] {
            assert!(!says(sentence), "{sentence}");
        }
    }
}
