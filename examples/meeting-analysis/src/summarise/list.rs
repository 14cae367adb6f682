//! The list of actions: no repeats, bounded, each with a title that says something by itself.
//!
//! Order is the order of the minutes; what does not fit is counted, never dropped unseen.

use std::collections::BTreeSet;

use super::clause::Clause;
use super::cues::Found;
use super::places::Place;
use super::{ACTIONS_MAX, Action, Bounded, DETAIL_CHARS_MAX, TITLE_CHARS_MAX};
use crate::text::{capitalised, clip, content_words};

/// What was found, by when it is due, and the sentence that says so.
pub(super) struct Hit {
    pub(super) found: Found,
    pub(super) due: Option<String>,
    pub(super) said: String,
}

impl Hit {
    pub(super) fn of(found: Found, said: &str) -> Self {
        Self {
            found,
            due: None,
            said: clip(said, DETAIL_CHARS_MAX),
        }
    }
}

/// The list so far and what makes a repeat.
pub(super) struct Collector {
    pub(super) list: Bounded<Action>,
    seen: BTreeSet<(String, String)>,
    words: Vec<BTreeSet<String>>,
}

/// What an action says: its words that carry meaning, and every number.
fn words_of(what: &str) -> BTreeSet<String> {
    let numbers = what.split(|c: char| !c.is_alphanumeric());
    let numbers = numbers.filter(|word| word.chars().any(|c| c.is_ascii_digit()));
    content_words(what)
        .chain(numbers.map(str::to_lowercase))
        .collect()
}

impl Default for Collector {
    fn default() -> Self {
        let list = Bounded {
            kept: Vec::new(),
            left_out: 0,
        };
        Self {
            list,
            seen: BTreeSet::new(),
            words: Vec::new(),
        }
    }
}

impl Collector {
    pub(super) fn add(&mut self, place: &Place<'_>, hits: Vec<Hit>) {
        let mut last: Option<usize> = None;
        for hit in hits {
            if let Some(at) = last.filter(|at| self.continues(*at, &hit.found)) {
                self.extend(at, &hit);
                continue;
            }
            if self.is_new(place, &hit.found) {
                last = self.push(place, hit);
            }
        }
    }

    /// `Jules will try to get to it this week` goes on about what Jules already does.
    fn continues(&self, at: usize, found: &Found) -> bool {
        let owner = found.owner.is_some() && self.list.kept[at].owner == found.owner;
        let clause = Clause::of(&found.what);
        let about =
            (1..5).any(|n| matches!(clause.lower(n), Some("it" | "this" | "them" | "that")));
        owner && about && clause.words.len() <= 10
    }

    fn extend(&mut self, at: usize, hit: &Hit) {
        let detail = &mut self.list.kept[at].detail;
        if !detail.contains(&hit.said) {
            *detail = clip(&format!("{detail} {}", hit.said), DETAIL_CHARS_MAX);
        }
    }

    fn is_new(&mut self, place: &Place<'_>, found: &Found) -> bool {
        let topic = place.topic.map_or("", |topic| topic.text.as_str());
        let scope = found
            .owner
            .clone()
            .unwrap_or_else(|| clip(topic, DETAIL_CHARS_MAX));
        let said = found.what.trim().to_lowercase();
        self.seen.insert((said, scope)) && !self.is_repeated(found)
    }

    /// The same owner, and one says no word that the other does not: the talk and the list at its
    /// end, for example. Two that differ in a single number or name are two actions.
    fn is_repeated(&self, found: &Found) -> bool {
        let words = words_of(&found.what);
        let others = self.list.kept.iter().zip(&self.words);
        others
            .filter(|(action, _)| found.owner.is_some() && action.owner == found.owner)
            .any(|(_, other)| {
                let (few, many) = if words.len() < other.len() {
                    (&words, other)
                } else {
                    (other, &words)
                };
                2 <= few.len() && few.is_subset(many)
            })
    }

    fn push(&mut self, place: &Place<'_>, hit: Hit) -> Option<usize> {
        let detail = detail(place, &hit);
        let Hit {
            found,
            due,
            said: _,
        } = hit;
        let title = title(&found.what, place.topic.map(|topic| topic.text.as_str()));
        if title.is_empty() {
            return None;
        }
        if ACTIONS_MAX <= self.list.kept.len() {
            self.list.left_out = self.list.left_out.saturating_add(1);
            return None;
        }
        self.words.push(words_of(&found.what));
        self.list.kept.push(Action {
            title,
            detail,
            owner: found.owner,
            due,
            section: place.name(),
            evidence: place.evidence(),
            cue: found.cue,
            related: Vec::new(),
        });
        Some(self.list.kept.len() - 1)
    }
}

/// Shorter beginnings say too little to be a title, in bytes.
const TITLE_BYTES_MIN: usize = 24;

fn tidy(what: &str) -> &str {
    what.trim().trim_matches(['.', ',', ';', ':', '*', ' '])
}

/// A short title: the whole if it fits, else up to the last comma that does. One that says little
/// by itself, such as "Go back to GitHub", gets its topic.
fn title(what: &str, topic: Option<&str>) -> String {
    const SHORT_CHARS_MAX: usize = 46;
    let title = first_part(what);
    let topic = topic.map(|topic| {
        tidy(
            topic
                .trim_end_matches("(link)")
                .trim_end_matches([' ', '-']),
        )
    });
    match topic.filter(|topic| !topic.is_empty() && title.chars().count() <= SHORT_CHARS_MAX) {
        Some(topic) if !title.is_empty() => clip(&format!("{title} — {topic}"), TITLE_CHARS_MAX),
        Some(_) | None => title,
    }
}

fn first_part(what: &str) -> String {
    const REASONS: [&str; 5] = [", since ", ", because ", ", so that ", ", as ", ", it is "];
    let what = tidy(what);
    let reason = REASONS.iter().filter_map(|reason| what.find(reason)).min();
    let what = reason
        .filter(|at| TITLE_BYTES_MIN <= *at)
        .map_or(what, |at| &what[..at]);
    let clipped = clip(what, TITLE_CHARS_MAX);
    if clipped.len() == what.len() {
        return capitalised(what);
    }
    let cut = [", ", "; ", " so ", " because ", " – ", " - "]
        .iter()
        .filter_map(|at| clipped.rfind(at))
        .max();
    match cut.filter(|cut| TITLE_BYTES_MIN <= *cut) {
        Some(cut) => capitalised(tidy(&clipped[..cut])),
        None => capitalised(&clipped),
    }
}

/// What was said, and the nested lines below it.
fn detail(place: &Place<'_>, hit: &Hit) -> String {
    let mut detail = capitalised(&hit.said);
    let below = place.section.blocks[place.at + 1..].iter();
    for child in below.take_while(|below| place.block.depth < below.depth) {
        if DETAIL_CHARS_MAX <= detail.len() {
            break;
        }
        if child.text == "(link)" {
            continue;
        }
        detail.push_str(" / ");
        detail.push_str(&clip(&child.text, DETAIL_CHARS_MAX));
    }
    clip(&detail, DETAIL_CHARS_MAX)
}
