//! Rules for somebody who is named: told to do it, or having said so.
//!
//! None may fire on a remark about a person; each wants a verb of doing where it belongs.

use super::grammar::{Subject, deed_at, hedged, owner, skip_fillers, subject, verb_at};
use super::{Found, Talk};
use crate::summarise::Cue;
use crate::summarise::assign;
use crate::summarise::clause::Clause;
use crate::summarise::lexicon::{is_opener, is_state, is_verb};

/// `@avery to ..`, `@avery please ..`, `@avery can you ..`.
pub(super) fn mention(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    if !clause.lower(0)?.starts_with('@') {
        return None;
    }
    let (person, next) = talk.people.list_at(clause, 0)?;
    let at = asked_at(clause, next)?;
    Found::some(Some(person.name), clause.from(at), Cue::Mention)
}

/// The verb of `to ..`, `will ..`, `please ..`, `can you ..` or of a bare instruction.
fn asked_at(clause: &Clause<'_>, next: usize) -> Option<usize> {
    let begged = [
        ["can", "you"],
        ["could", "you"],
        ["would", "you"],
        ["will", "you"],
    ]
    .iter()
    .any(|pair| clause.has_at(next, pair));
    let sure = match clause.lower(next)? {
        _ if begged => Some(next + 2),
        "to" | "will" if !clause.question => Some(next + 1),
        "please" => Some(next + 1),
        _ if clause.question => return None,
        _ => None,
    };
    let at = skip_fillers(clause, sure.unwrap_or(next));
    let deed = if sure.is_some() {
        deed_at(clause, at)
    } else {
        verb_at(clause, at)
    };
    deed.then_some(at)
}

/// `Jules, invite Rowan`: an instruction, unlike `Jules, main problem is ..`, which is a remark.
pub(super) fn addressed(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let (person, next) = talk.people.list_at(clause, 0)?;
    let trusted = person.known || talk.people.is_used_inside(&person.name);
    if !trusted || clause.words[next - 1].mark != ',' {
        return None;
    }
    let at = asked_at(clause, next)?;
    Found::some(Some(person.name), clause.from(at), Cue::Addressed)
}

/// `Avery to draft ..`, `Docs team to publish ..` at the start of a clause.
pub(super) fn assigned(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let group = assign::group_at(clause, 0).map(|(name, next)| (name.to_owned(), false, next));
    let person = || {
        let (person, next) = talk.people.list_at(clause, 0)?;
        Some((person.name, person.known, next))
    };
    let (owner, known, next) = group.or_else(person)?;
    if clause.lower(next) != Some("to") {
        return None;
    }
    let verb = clause.lower(next + 1)?;
    let article = matches!(verb, "the" | "a" | "an" | "be" | "me" | "us");
    if article || !(known || is_verb(verb)) {
        return None;
    }
    Found::some(
        Some(owner),
        clause.from(skip_fillers(clause, next + 1)),
        Cue::Assigned,
    )
}

/// `Avery will ..`, `I'll ..`, `we will ..`, and `Will ..` with its subject dropped.
pub(super) fn will(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let candidates = (0..clause.words.len()).filter(|at| clause.lower(*at) == Some("will"));
    let mut found = candidates.filter_map(|at| {
        let verb = skip_fillers(clause, at + 1);
        let owner = owner(subject(clause, at, talk.people), clause, verb, talk)?;
        Found::some(owner, clause.from(verb), Cue::Will)
    });
    found.next()
}

/// `going to ask ..`, `Kai is going to ..`.
pub(super) fn going_to(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let at = clause.find(&["going", "to"])?;
    let verb = skip_fillers(clause, at + 2);
    let owner = owner(subject(clause, at, talk.people), clause, verb, talk)?;
    Found::some(owner, clause.from(verb), Cue::GoingTo)
}

/// `I can PR ..`, `happy to review ..`.
pub(super) fn offer(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let can = clause.find(&["i", "can"]).map(|at| at + 2);
    let happy = || {
        ["happy", "glad", "able"]
            .iter()
            .find_map(|word| clause.find(&[word, "to"]))
    };
    let at = match can {
        Some(at) => at,
        None => happy().filter(|at| matches!(subject(clause, *at, talk.people), Subject::Me))? + 2,
    };
    let verb = skip_fillers(clause, at);
    if !deed_at(clause, verb) || hedged(clause, verb) {
        return None;
    }
    Found::some(talk.me(), clause.from(verb), Cue::Offer)
}

/// `planning to ..`, `volunteered to ..`, `was asked to ..`, `asked Kai to ..`.
pub(super) fn commitment(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    promised(clause, talk)
        .or_else(|| asked_person(clause, talk))
        .or_else(|| assigned_to(clause, talk))
}

fn promised(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    /// Words before "to", and whether the person must stand right before them.
    const PROMISES: [(&[&str], bool); 17] = [
        (&["planning", "to"], false),
        (&["plans", "to"], false),
        (&["intends", "to"], false),
        (&["volunteered", "to"], false),
        (&["volunteers", "to"], false),
        (&["offered", "to"], false),
        (&["offers", "to"], false),
        (&["committed", "to"], false),
        (&["promised", "to"], false),
        (&["was", "asked", "to"], false),
        (&["were", "asked", "to"], false),
        (&["action", "to"], false),
        (&["agreed", "to"], true),
        (&["is", "to"], true),
        (&["are", "to"], true),
        (&["has", "to"], true),
        (&["plan", "to"], true),
    ];
    PROMISES.iter().find_map(|(pattern, close)| {
        let at = clause.find(pattern)?;
        let verb = skip_fillers(clause, at + pattern.len());
        let subject = subject(clause, at, talk.people);
        let word = clause.lower(verb)?;
        // What somebody known takes on is a deed even if no list has the verb.
        let known = matches!(subject, Subject::Somebody { known: true, .. });
        let any = known && !is_state(word) && word.chars().all(char::is_alphabetic);
        if !any && !is_verb(word) {
            return None;
        }
        let owner = match subject {
            Subject::Somebody { name, known } if known || is_opener(word) => Some(name),
            Subject::Group(name) => Some(name),
            Subject::Me => talk.me(),
            Subject::Dropped if !close => talk.me(),
            Subject::Pronoun if !close => talk.named.clone(),
            Subject::Somebody { .. }
            | Subject::We
            | Subject::Thing
            | Subject::Dropped
            | Subject::Pronoun => {
                let named = talk.people.first_known(clause, at).filter(|_| !close);
                Some(named?)
            }
        };
        Found::some(owner, clause.from(verb), Cue::Commitment)
    })
}

/// `Avery asked Kai to review ..`: the owner is Kai.
fn asked_person(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let at = clause.words.iter().position(|word| {
        matches!(
            word.lower.as_str(),
            "asked" | "requested" | "tasked" | "instructed" | "directed"
        )
    })?;
    let group = assign::group_at(clause, at + 1).map(|(name, next)| (name.to_owned(), next));
    let person = || {
        let (person, next) = talk.people.list_at(clause, at + 1)?;
        Some((person.name, next))
    };
    let (owner, next) = group.or_else(person)?;
    let to = clause.lower(next) == Some("to") && deed_at(clause, next + 1);
    if !to {
        return None;
    }
    Found::some(Some(owner), clause.from(next + 1), Cue::Commitment)
}

/// `The release notes were assigned to Kai`.
fn assigned_to(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let at = clause.find(&["assigned", "to"])?;
    let (person, _) = talk
        .people
        .list_at(clause, at + 2)
        .filter(|(person, _)| person.known)?;
    Found::some(Some(person.name), clause.text, Cue::Commitment)
}

/// `suggestion is that he opens specific issues`.
pub(super) fn suggested(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let at = clause
        .find(&["suggestion", "is"])
        .or_else(|| clause.find(&["suggestion", "was"]))?;
    let from = if clause.lower(at + 2) == Some("that") {
        at + 3
    } else {
        at + 2
    };
    let (owner, next) = match clause.lower(from)? {
        "he" | "she" | "they" => (talk.me().or_else(|| talk.named.clone()), from + 1),
        _ => {
            let (person, next) = talk.people.list_at(clause, from)?;
            (Some(person.name), next)
        }
    };
    let verb = clause.words.get(next)?;
    if is_verb(&verb.lower) {
        return Found::some(owner, clause.from(next), Cue::Suggested);
    }
    let stem = verb.lower.strip_suffix('s').filter(|stem| is_verb(stem))?;
    let what = format!("{stem} {}", clause.from(next + 1));
    Found::some(owner, &what, Cue::Suggested)
}

/// `Let the async hooks team address ..`.
pub(super) fn delegated(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    if clause.lower(0)? != "let" {
        return None;
    }
    let group = assign::group_at(clause, 1).map(|(name, next)| (name.to_owned(), next));
    let person = || {
        let (person, next) = talk
            .people
            .list_at(clause, 1)
            .filter(|(person, _)| person.known)?;
        Some((person.name, next))
    };
    let (owner, next) = group.or_else(person)?;
    deed_at(clause, next).then(|| Found::some(Some(owner), clause.text, Cue::Delegated))?
}

/// `Harper: summary coming next week`: the speaker owes it.
pub(super) fn coming(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let owner = talk
        .speaker
        .as_ref()
        .filter(|person| person.known)?
        .name
        .clone();
    let at = clause.find(&["coming"])?;
    let when = ["next", "this", "tomorrow", "soon", "by", "later", "shortly"];
    let dated = clause
        .lower(at + 1)
        .is_some_and(|word| when.contains(&word));
    (dated && 0 < at).then(|| Found::some(Some(owner), clause.text, Cue::Coming))?
}
