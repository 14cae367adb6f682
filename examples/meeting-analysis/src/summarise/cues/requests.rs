//! Rules for what is asked of nobody in particular: agreed, needed, begged, told to all.
//!
//! None may fire on an opinion, a condition or the title of a topic.

use super::grammar::{Subject, deed_at, denied, hedged, is_main, skip_fillers, subject};
use super::{Found, Talk};
use crate::summarise::Cue;
use crate::summarise::clause::Clause;
use crate::summarise::lexicon::{is_noun, is_opener};
use crate::summarise::people::People;

/// `agreed to remove ..`: a decision that is something to do as well.
pub(super) fn agreed(clause: &Clause<'_>, _talk: &Talk<'_>) -> Option<Found> {
    const PATTERNS: [&[&str]; 5] = [
        &["agreed", "to"],
        &["decided", "to"],
        &["resolved", "to"],
        &["consensus", "is", "to"],
        &["consensus", "was", "to"],
    ];
    PATTERNS.iter().find_map(|pattern| {
        let at = clause.find(pattern)?;
        let denied = at.checked_sub(1).and_then(|n| clause.lower(n));
        let denied = denied.is_some_and(|word| matches!(word, "not" | "never" | "no" | "without"));
        let verb = skip_fillers(clause, at + pattern.len());
        // "Agreed to keep it" leaves things as they are; only strong verbs are things to do.
        if denied || !clause.lower(verb).is_some_and(is_opener) {
            return None;
        }
        Found::some(None, clause.from(verb), Cue::Agreed)
    })
}

/// `take back to GitHub`, `take this offline`.
pub(super) fn take_back(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    const STARTS: [&str; 6] = ["take", "go", "bring", "move", "push", "send"];
    let fits = |at: &usize| {
        let object = matches!(
            clause.lower(at + 1),
            Some("it" | "this" | "that" | "discussion")
        );
        let next = if object { at + 2 } else { at + 1 };
        let back = clause.has_at(next, &["back", "to"]) || clause.has_at(next, &["offline"]);
        clause.lower(*at).is_some_and(|word| STARTS.contains(&word)) && back
    };
    let at = (0..clause.words.len()).find(fits)?;
    let before = at.checked_sub(1);
    let free = before.is_none_or(|n| {
        let joins = [
            "so", "then", "better", "and", "should", "to", "let's", "will", "just", "must",
        ];
        clause.words[n].mark != ' ' || joins.contains(&clause.words[n].lower.as_str())
    });
    if !free || hedged(clause, at) {
        return None;
    }
    let owner = talk.people.first_known(clause, at);
    Found::some(owner, clause.from(at), Cue::TakeBack)
}

/// `please review and comment`: asked of everybody who reads it.
pub(super) fn please(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let at = clause.find(&["please"])? + 1;
    let helps = clause.lower(at) == Some("help");
    if !helps && !deed_at(clause, at) {
        return None;
    }
    // "Help me" says nothing to somebody who was not there.
    match talk.me().filter(|_| clause.lower(at + 1) == Some("me")) {
        Some(me) => {
            let what = format!("{} {me} {}", clause.span(at, at), clause.from(at + 2));
            Found::some(None, &what, Cue::Please)
        }
        None => {
            let (called, what) = vocative(clause, at, talk.people);
            Found::some(called, what, Cue::Please)
        }
    }
}

/// Takes a name called at the end off an instruction: `add the reload, Bram`.
fn vocative<'a>(clause: &Clause<'a>, at: usize, people: &People) -> (Option<String>, &'a str) {
    let last = clause.words.len().saturating_sub(1);
    let before = last
        .checked_sub(1)
        .filter(|before| at < *before && clause.words[*before].mark == ',');
    let called = before.and_then(|before| {
        let person = people.at(clause, last).filter(|person| person.known)?;
        Some((Some(person.name), clause.span(at, before)))
    });
    called.unwrap_or_else(|| (None, clause.from(at)))
}

/// `Remember to nominate ..`, `Reminder to propose sessions`.
pub(super) fn reminder(clause: &Clause<'_>, _talk: &Talk<'_>) -> Option<Found> {
    const PATTERNS: [&[&str]; 4] = [
        &["remember", "to"],
        &["reminder", "to"],
        &["don't", "forget", "to"],
        &["reminded", "to"],
    ];
    PATTERNS.iter().find_map(|pattern| {
        let at = clause.find(pattern)? + pattern.len();
        Found::some(None, clause.from(at), Cue::Reminder)
    })
}

/// `we need to ..`, `the guide needs to be ..`, `Needs reviews`, `Kai should ..`.
pub(super) fn needed(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    wanted(clause).or_else(|| must(clause, talk))
}

/// `Needs reviews`, `Need more volunteers`.
fn wanted(clause: &Clause<'_>) -> Option<Found> {
    const OBJECTS: [&str; 14] = [
        "approval",
        "approvals",
        "champion",
        "feedback",
        "help",
        "owner",
        "rebase",
        "review",
        "reviewer",
        "reviewers",
        "reviews",
        "volunteer",
        "volunteers",
        "input",
    ];
    let opens = matches!(clause.lower(0), Some("need" | "needs"));
    let object = (1..4).any(|at| clause.lower(at).is_some_and(|word| OBJECTS.contains(&word)));
    (opens && object).then(|| Found::some(None, clause.text, Cue::Needed))?
}

fn must(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    let modal = |at: &usize| match clause.lower(*at) {
        Some("need" | "needs") => clause.lower(at + 1) == Some("to"),
        Some("should" | "must") => true,
        Some(_) | None => false,
    };
    let at = (0..clause.words.len()).find(modal)?;
    let need = matches!(clause.lower(at), Some("need" | "needs"));
    let verb = skip_fillers(clause, if need { at + 2 } else { at + 1 });
    if hedged(clause, at) || denied(clause, at) {
        return None;
    }
    let somebody = at.checked_sub(1).and_then(|n| clause.lower(n));
    if matches!(somebody, Some("someone" | "somebody")) {
        return Found::some(None, clause.from(verb), Cue::Needed);
    }
    let deed = deed_at(clause, verb);
    match subject(clause, at, talk.people) {
        Subject::Somebody { name, known: true } if deed => {
            Found::some(Some(name), clause.from(verb), Cue::Needed)
        }
        Subject::Group(name) if deed => Found::some(Some(name), clause.from(verb), Cue::Needed),
        // "We should" is an opinion, "we need to" is what is to be done.
        Subject::We | Subject::Dropped if deed && need && is_main(clause, at) => {
            Found::some(None, clause.from(verb), Cue::Needed)
        }
        Subject::Thing | Subject::Somebody { .. }
            if clause.lower(at) == Some("needs") && clause.lower(verb) == Some("be") =>
        {
            Found::some(None, clause.text, Cue::Needed)
        }
        Subject::Somebody { .. }
        | Subject::Group(_)
        | Subject::We
        | Subject::Me
        | Subject::Dropped
        | Subject::Pronoun
        | Subject::Thing => None,
    }
}

/// `Invite Toby to the next meeting`.
pub(super) fn imperative(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    const PHRASES: [(&str, &str); 14] = [
        ("set", "up"),
        ("sign", "off"),
        ("reach", "out"),
        ("look", "into"),
        ("work", "with"),
        ("work", "out"),
        ("talk", "to"),
        ("talk", "with"),
        ("speak", "to"),
        ("speak", "with"),
        ("take", "over"),
        ("find", "a"),
        ("find", "out"),
        ("call", "for"),
    ];
    let at = skip_fillers(clause, 0);
    let verb = clause.lower(at)?;
    let next = clause.lower(at + 1)?;
    let opens = (is_opener(verb) && !is_noun(verb, Some(next))) || PHRASES.contains(&(verb, next));
    // "Schedule a call will help" is about a call, not an instruction to schedule it.
    let statement = clause.find(&["will"]).is_some() || clause.find(&["would"]).is_some();
    if !talk.opens
        || !opens
        || statement
        || clause.words.len() < at + 3
        || clause.words[at].mark != ' '
    {
        return None;
    }
    // "Kai: update the docs" assigns; "Kai: Update the docs" quotes what Kai said.
    let written_small = clause.words[at].text.starts_with(char::is_lowercase);
    let speaker = talk
        .speaker
        .as_ref()
        .filter(|person| person.known && written_small && at == 0);
    let speaker = speaker.map(|person| person.name.clone());
    let (called, what) = vocative(clause, at, talk.people);
    Found::some(called.or(speaker), what, Cue::Imperative)
}
