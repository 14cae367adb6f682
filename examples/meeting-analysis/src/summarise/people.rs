//! Who is a person here: the attendance list first, then names that the text itself gives away.
//!
//! It must never make an owner of a common word: a capitalised word that the text also writes in
//! lower case is not taken for a name.

use std::collections::{BTreeMap, BTreeSet};

use super::clause::{self, Clause};
use super::lexicon;
use crate::minutes::{Attendee, Minutes};

/// How often an unlisted name must speak before it counts as known.
const SPEAKS_MIN: u32 = 2;
/// Farthest place of the colon after a speaker, in bytes.
const PREFIX_BYTES_MAX: usize = 48;

/// Labels that stand where a speaker would.
const NO_SPEAKERS: [&str; 24] = [
    "a",
    "action",
    "actions",
    "ai",
    "answer",
    "apologies",
    "attendees",
    "background",
    "chair",
    "date",
    "decision",
    "decisions",
    "fyi",
    "location",
    "minutes",
    "note",
    "notes",
    "objection",
    "present",
    "q",
    "question",
    "status",
    "todo",
    "update",
];

/// Names and what is known about the words of one text.
#[derive(Debug)]
pub(super) struct People {
    /// A name, first name or handle in lower case, and the name to show; `None` if two share it.
    aliases: BTreeMap<String, Option<String>>,
    /// Words that stand in lower case somewhere.
    common: BTreeSet<String>,
    /// Capitalised words from within sentences.
    inner: BTreeSet<String>,
}

/// A person found at a place in a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) name: String,
    /// On the attendance list, or speaking in these minutes.
    pub(super) known: bool,
    /// How many words the name takes.
    pub(super) words: usize,
}

impl People {
    pub(super) fn of(minutes: &Minutes) -> Self {
        let mut people = Self {
            aliases: BTreeMap::new(),
            common: BTreeSet::new(),
            inner: BTreeSet::new(),
        };
        for person in minutes.attendees.iter().chain(&minutes.absent) {
            people.enrol(person);
        }
        let mut speaks: BTreeMap<String, u32> = BTreeMap::new();
        for block in minutes.sections.iter().flat_map(|section| &section.blocks) {
            people.note_words(&block.text);
            if let Some(label) = label_before_colon(&block.text) {
                *speaks.entry(label.to_owned()).or_default() += 1;
            }
        }
        for (name, times) in speaks {
            let lower = name.to_lowercase();
            if SPEAKS_MIN <= times && people.is_name_like(&name) && people.find(&lower).is_none() {
                people.aliases.insert(lower, Some(name));
            }
        }
        people
    }

    fn enrol(&mut self, person: &Attendee) {
        let lower = person.name.to_lowercase();
        let first = lower.split_whitespace().next().unwrap_or("").to_owned();
        let handle = person
            .handle
            .as_ref()
            .map(|handle| format!("@{}", handle.to_lowercase()));
        for alias in [
            Some(lower.clone()),
            Some(first).filter(|first| *first != lower),
            handle,
        ] {
            let Some(alias) = alias.filter(|alias| !alias.is_empty()) else {
                continue;
            };
            self.aliases
                .entry(alias)
                .and_modify(|name| {
                    // Two Averys: nobody can tell which one a bare "Avery" is.
                    if name.as_ref() != Some(&person.name) {
                        *name = None;
                    }
                })
                .or_insert_with(|| Some(person.name.clone()));
        }
    }

    fn note_words(&mut self, text: &str) {
        let mut inside = false;
        for token in text.split_whitespace() {
            let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '@');
            if bare.starts_with(char::is_lowercase) && !self.common.contains(bare) {
                self.common.insert(bare.to_owned());
            } else if inside && bare.starts_with(char::is_uppercase) {
                let lower = bare.to_lowercase();
                self.inner
                    .insert(lower.strip_suffix("'s").unwrap_or(&lower).to_owned());
            }
            inside = !token.ends_with(['.', '!', '?', ':']);
        }
    }

    fn find(&self, lower: &str) -> Option<&Option<String>> {
        self.aliases.get(lower)
    }

    /// Whether a word of the source looks like a name that nobody listed.
    fn is_name_like(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let letters = word
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'));
        let shape = word.starts_with(char::is_uppercase) && 2 <= word.chars().count() && letters;
        let endings = ["ing", "tion", "ment", "ness", "ity"];
        shape
            && !lexicon::is_no_person(&lower)
            && !lexicon::is_verb(&lower)
            && !lexicon::is_group(&lower)
            && !self.common.contains(&lower)
            && !endings.iter().any(|ending| lower.ends_with(ending))
            && !NO_SPEAKERS.contains(&lower.as_str())
    }

    /// The person whose name starts at word `at`.
    pub(super) fn at(&self, clause: &Clause<'_>, at: usize) -> Option<Person> {
        let word = clause.words.get(at)?;
        if let Some(next) = clause.words.get(at + 1).filter(|_| word.mark == ' ') {
            let two = format!("{} {}", word.lower, bare(&next.lower));
            if let Some(name) = self.find(&two) {
                let name = name
                    .clone()
                    .unwrap_or_else(|| clause.span(at, at + 1).to_owned());
                return Some(Person {
                    name,
                    known: true,
                    words: 2,
                });
            }
        }
        self.single(word.text, &word.lower)
    }

    fn single(&self, text: &str, lower: &str) -> Option<Person> {
        let lower = bare(lower);
        if let Some(name) = self.find(lower) {
            let shown = text
                .strip_suffix("'s")
                .or(text.strip_suffix("’s"))
                .unwrap_or(text);
            let name = name.clone().unwrap_or_else(|| shown.to_owned());
            // "will" and "mark" are words too: in lower case only a handle is a name.
            let written = text.starts_with(char::is_uppercase) || text.starts_with('@');
            return written.then_some(Person {
                name,
                known: true,
                words: 1,
            });
        }
        if text.starts_with('@') && 1 < text.len() {
            // A handle that nobody listed is often the first name of somebody who is listed.
            let listed = self.find(&lower[1..]).cloned().flatten();
            let name = listed.unwrap_or_else(|| text.to_owned());
            return Some(Person {
                name,
                known: true,
                words: 1,
            });
        }
        self.is_name_like(text).then(|| Person {
            name: text.to_owned(),
            known: false,
            words: 1,
        })
    }

    /// The person whose name ends at word `at`.
    pub(super) fn ending_at(&self, clause: &Clause<'_>, at: usize) -> Option<Person> {
        let two = at.checked_sub(1).and_then(|before| self.at(clause, before));
        two.filter(|person| person.words == 2).or_else(|| {
            let word = clause.words.get(at)?;
            self.single(word.text, &word.lower)
        })
    }

    /// Whether an unlisted name is also used inside sentences: less likely a chance capital.
    pub(super) fn is_used_inside(&self, name: &str) -> bool {
        self.inner.contains(&name.to_lowercase())
    }

    /// The names from word `at` on, joined as written (`Avery and Blake`), and the next word.
    pub(super) fn list_at(&self, clause: &Clause<'_>, at: usize) -> Option<(Person, usize)> {
        let first = self.at(clause, at)?;
        let mut next = at + first.words;
        let mut names = vec![first.name];
        let mut known = first.known;
        loop {
            let joined = matches!(clause.lower(next), Some("and" | "&"));
            let listed = clause
                .words
                .get(next - 1)
                .is_some_and(|word| word.mark == ',');
            let from = if joined { next + 1 } else { next };
            let person = if joined || listed {
                self.at(clause, from)
            } else {
                None
            };
            // After a comma an unlisted capital is more likely the next sentence than a name.
            let Some(person) = person.filter(|person| joined || person.known) else {
                break;
            };
            next = from + person.words;
            known &= person.known;
            names.push(person.name);
        }
        let words = next - at;
        Some((
            Person {
                name: join(&names),
                known,
                words,
            },
            next,
        ))
    }

    /// The first known person named in the clause before word `end`.
    pub(super) fn first_known(&self, clause: &Clause<'_>, end: usize) -> Option<String> {
        let found = (0..end)
            .filter_map(|at| self.at(clause, at))
            .find(|person| person.known);
        found.map(|person| person.name)
    }

    /// The last person named anywhere in a sentence, for a pronoun in the next one.
    pub(super) fn last_named(&self, clause: &Clause<'_>) -> Option<String> {
        let found = (0..clause.words.len())
            .rev()
            .filter_map(|at| self.at(clause, at));
        found
            .into_iter()
            .find(|person| person.known)
            .map(|person| person.name)
    }

    /// Takes `Avery:`, `Avery (in chat):` or `Avery -` off the front of a text.
    pub(super) fn speaker<'a>(&self, text: &'a str) -> (Option<Person>, &'a str) {
        if let Some(label) = label_before_colon(text) {
            let colon = text.find(':').unwrap_or(0);
            let clause = Clause::of(label);
            let listed = self
                .list_at(&clause, 0)
                .filter(|(_, next)| *next == clause.words.len());
            if let Some((person, _)) = listed.or_else(|| self.run_of_known(&clause)) {
                return (Some(person), text[colon + 1..].trim_start());
            }
        }
        for dash in [" - ", " – ", " — "] {
            let Some((name, rest)) = text.split_once(dash) else {
                continue;
            };
            if PREFIX_BYTES_MAX < name.len() {
                continue;
            }
            let clause = Clause::of(name);
            let listed = self
                .list_at(&clause, 0)
                .filter(|(_, next)| *next == clause.words.len());
            let person = listed
                .or_else(|| self.run_of_known(&clause))
                .map(|(person, _)| person);
            if let Some(person) = person.filter(|person| person.known) {
                return (Some(person), rest.trim_start());
            }
        }
        (None, text)
    }

    /// `Ellis Kai`: known names side by side are one person whose full name nobody listed.
    fn run_of_known(&self, clause: &Clause<'_>) -> Option<(Person, usize)> {
        let count = clause.words.len();
        let all = (0..count).all(|at| self.at(clause, at).is_some_and(|person| person.known));
        ((1..=3).contains(&count) && all).then(|| {
            let name = clause.text.to_owned();
            (
                Person {
                    name,
                    known: true,
                    words: count,
                },
                count,
            )
        })
    }
}

/// What stands before a colon near the start, brackets left out: `Kai` of `Kai (in chat): hi`.
fn label_before_colon(text: &str) -> Option<&str> {
    let colon = text
        .char_indices()
        .take(PREFIX_BYTES_MAX)
        .find(|(_, c)| *c == ':')?
        .0;
    let follows = text[colon + 1..]
        .chars()
        .next()
        .is_none_or(char::is_whitespace);
    let label = text[..colon].split('(').next().unwrap_or("").trim();
    let short = label.split_whitespace().count() <= 5 && !label.is_empty();
    (follows && short).then_some(label)
}

fn bare(lower: &str) -> &str {
    lower.strip_suffix("'s").unwrap_or(lower)
}

fn join(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Whether a text is nothing but names: the head of a list of that person's actions.
pub(super) fn only_names(people: &People, text: &str) -> Option<String> {
    let text = text.trim_end_matches(':');
    let first = clause::sentences(text).first().copied().unwrap_or("");
    let clause = Clause::of(first);
    let (person, next) = people.list_at(&clause, 0)?;
    (next == clause.words.len() && first.len() == text.len()).then_some(person.name)
}

#[cfg(test)]
mod tests;
