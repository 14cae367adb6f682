//! The little grammar that cue rules share: fillers, verbs, doubts, and who stands before a verb.
//!
//! It must never decide that something is an action; rules do.

use super::Talk;
use crate::summarise::clause::Clause;
use crate::summarise::lexicon::{is_group, is_hedge, is_noun, is_state, is_verb, is_verb_s};
use crate::summarise::people::{People, Person};

/// The first word from `at` on that is no filler.
pub(super) fn skip_fillers(clause: &Clause<'_>, mut at: usize) -> usize {
    const FILLERS: [&str; 12] = [
        "also",
        "then",
        "now",
        "just",
        "still",
        "first",
        "both",
        "so",
        "therefore",
        "please",
        "either",
        "personally",
    ];
    loop {
        let filler = clause.lower(at).is_some_and(|word| FILLERS.contains(&word));
        let trying = clause.has_at(at, &["try", "to"]) || clause.has_at(at, &["aim", "to"]);
        match (filler, trying) {
            (true, _) => at += 1,
            (false, true) => at += 2,
            (false, false) => return at,
        }
    }
}

/// A verb of doing where only a verb can stand: after "to", "will", "can".
pub(super) fn deed_at(clause: &Clause<'_>, at: usize) -> bool {
    clause.lower(at).is_some_and(is_verb)
}

/// A verb of doing where a noun could stand as well: at the start of a clause.
pub(super) fn verb_at(clause: &Clause<'_>, at: usize) -> bool {
    clause
        .lower(at)
        .is_some_and(|word| is_verb(word) && !is_noun(word, clause.lower(at + 1)))
}

/// Whether a condition or a guess stands before word `end`.
pub(super) fn hedged(clause: &Clause<'_>, end: usize) -> bool {
    let conditional = matches!(
        clause.lower(0),
        Some("if" | "unless" | "whether" | "once" | "when")
    );
    conditional || (0..end).any(|at| clause.lower(at).is_some_and(is_hedge))
}

pub(super) fn denied(clause: &Clause<'_>, at: usize) -> bool {
    let before = at
        .checked_sub(1)
        .and_then(|n| clause.lower(n))
        .unwrap_or("");
    before.ends_with("n't") || matches!(before, "no" | "not" | "may" | "will")
}

/// Whether the subject before word `at` opens a part of the sentence: in "a feature we need to
/// release" it does not, and the sentence is about the feature.
pub(super) fn is_main(clause: &Clause<'_>, at: usize) -> bool {
    let subject = at.saturating_sub(1);
    let before = subject.checked_sub(1).and_then(|n| clause.words.get(n));
    before.is_none_or(|word| {
        let joins = [
            "and",
            "but",
            "so",
            "then",
            "also",
            "still",
            "therefore",
            "think",
        ];
        word.mark != ' ' || joins.contains(&word.lower.as_str())
    })
}

/// Who stands before a verb.
pub(super) enum Subject {
    Somebody { name: String, known: bool },
    Group(String),
    Me,
    We,
    Pronoun,
    Dropped,
    Thing,
}

/// The subject that ends right before word `at`.
pub(super) fn subject(clause: &Clause<'_>, at: usize, people: &People) -> Subject {
    let mut end = at;
    let passed = [
        "also", "then", "now", "just", "is", "are", "am", "was", "who", "has", "have",
    ];
    while 0 < end
        && clause
            .lower(end - 1)
            .is_some_and(|word| passed.contains(&word))
    {
        end -= 1;
    }
    let Some(last) = end.checked_sub(1) else {
        return Subject::Dropped;
    };
    match clause.lower(last).unwrap_or("") {
        "i" => return Subject::Me,
        "we" => return Subject::We,
        "he" | "she" | "they" => return Subject::Pronoun,
        word if is_group(word) => return Subject::Group(group_ending(clause, last)),
        _ => {}
    }
    let Some(person) = people.ending_at(clause, last) else {
        return Subject::Thing;
    };
    let first = (last + 1).saturating_sub(person.words);
    named_before(clause, first, &person, people)
}

/// Adds the names before `and`: `Avery and Kai will ..`.
fn named_before(clause: &Clause<'_>, first: usize, last: &Person, people: &People) -> Subject {
    let joined = first
        .checked_sub(1)
        .filter(|n| matches!(clause.lower(*n), Some("and" | "&")));
    let other = joined.and_then(|and| people.ending_at(clause, and.checked_sub(1)?));
    match other {
        Some(other) => Subject::Somebody {
            name: format!("{} and {}", other.name, last.name),
            known: other.known && last.known,
        },
        None => Subject::Somebody {
            name: last.name.clone(),
            known: last.known,
        },
    }
}

/// `async hooks team`: back to the article or the verb before a group's noun.
fn group_ending(clause: &Clause<'_>, last: usize) -> String {
    const STOPS: [&str; 16] = [
        "the", "a", "our", "this", "that", "and", "of", "to", "for", "with", "so", "let", "if",
        "when", "by", "in",
    ];
    let mut first = last;
    while 0 < first && last - first < 3 {
        let before = &clause.words[first - 1];
        if STOPS.contains(&before.lower.as_str()) || before.mark != ' ' || is_verb_s(&before.lower)
        {
            break;
        }
        first -= 1;
    }
    clause.span(first, last).to_owned()
}

/// The owner that a subject stands for; `None` if nothing can be done by it.
pub(super) fn owner(
    subject: Subject,
    clause: &Clause<'_>,
    verb: usize,
    talk: &Talk<'_>,
) -> Option<Option<String>> {
    let deed = deed_at(clause, verb);
    match subject {
        Subject::Somebody { name, known: true } => {
            let state = clause.lower(verb).is_none_or(is_state);
            let ongoing = clause.lower(verb) == Some("be")
                && clause
                    .lower(verb + 1)
                    .is_some_and(|word| word.ends_with("ing"));
            (!state || ongoing).then_some(Some(name))
        }
        Subject::Somebody { name, known: false } | Subject::Group(name) => {
            deed.then_some(Some(name))
        }
        Subject::Me | Subject::Dropped => deed.then(|| talk.me()),
        Subject::We => deed.then_some(None),
        Subject::Pronoun => deed.then(|| talk.named.clone().or_else(|| talk.me())),
        Subject::Thing => None,
    }
}
