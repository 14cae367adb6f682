//! Whose item is it: owners before and after what is to be done.
//!
//! Used where a list or a label already says that a text is an action; it never decides that.

use super::clause::Clause;
use super::lexicon;
use super::people::People;

/// The owner if one is named, and what is left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) owner: Option<String>,
    pub(super) what: String,
}

/// Splits an item such as `Avery to call Kai`, `[Avery] call Kai` or `call Kai (Avery)`.
pub(super) fn item(people: &People, text: &str) -> Item {
    let text = text.trim().trim_start_matches([':', '-', '–', '—', ' ']);
    let text = trim_end(text);
    leading(people, text)
        .or_else(|| in_brackets(people, text))
        .or_else(|| trailing(people, text))
        .unwrap_or_else(|| Item {
            owner: None,
            what: text.to_owned(),
        })
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(['.', ';', ',', ' '])
}

/// `Avery to ..`, `Avery and Kai: ..`, `Avery - ..`, `@avery ..`, `Docs team to ..`, `All to ..`.
fn leading(people: &People, text: &str) -> Option<Item> {
    let clause = Clause::of(text);
    let (owner, known, next) = owner_at(people, &clause)?;
    let last_mark = clause.words.get(next.checked_sub(1)?)?.mark;
    let verb = clause.lower(next)?;
    let at = match verb {
        "to" | "will" | "should" | "is" => Some(next + 1),
        _ if matches!(last_mark, ':' | '-' | '–' | '—') => Some(next),
        _ if last_mark == ',' && known => Some(next),
        _ if known && lexicon::is_verb(verb) => Some(next),
        _ => None,
    }?;
    let at = if clause.lower(at) == Some("to") {
        at + 1
    } else {
        at
    };
    let what = clause.from(at);
    (!what.is_empty()).then(|| Item {
        owner,
        what: what.to_owned(),
    })
}

fn owner_at(people: &People, clause: &Clause<'_>) -> Option<(Option<String>, bool, usize)> {
    if matches!(
        clause.lower(0)?,
        "all" | "everyone" | "everybody" | "anyone" | "someone"
    ) {
        return Some((None, false, 1));
    }
    if let Some((group, next)) = group_at(clause, 0) {
        return Some((Some(group.to_owned()), false, next));
    }
    let (person, next) = people.list_at(clause, 0)?;
    Some((Some(person.name), person.known, next))
}

/// A group of up to four words at the start: `Docs team`, `the TSC`. Gives the next word too.
pub(super) fn group_at<'a>(clause: &Clause<'a>, at: usize) -> Option<(&'a str, usize)> {
    let from = if matches!(clause.lower(at)?, "the" | "our") {
        at + 1
    } else {
        at
    };
    let is_group = |n: &usize| clause.lower(*n).is_some_and(lexicon::is_group);
    // "Infra team" is one group though both words name one.
    let first = (from..from + 4).find(is_group)?;
    let last = (first..first + 3).take_while(is_group).last()?;
    let words = from..=last;
    let plain = words.clone().all(|n| {
        let lower = clause.lower(n).unwrap_or("");
        let marked = n != last && clause.words[n].mark != ' ';
        !marked && !lexicon::is_verb_s(lower) && !matches!(lower, "to" | "a" | "and" | "of" | "in")
    });
    plain.then(|| (clause.span(from, last), last + 1))
}

/// `[Avery] call Kai`, `(Avery) call Kai`.
fn in_brackets(people: &People, text: &str) -> Option<Item> {
    let (open, close) = [('[', ']'), ('(', ')')]
        .into_iter()
        .find(|(o, _)| text.starts_with(*o))?;
    let (inner, rest) = text[open.len_utf8()..].split_once(close)?;
    let owner = names(people, inner)?;
    let what = rest.trim_start_matches([':', '-', ' ']);
    (!what.is_empty()).then(|| Item {
        owner: Some(owner),
        what: what.to_owned(),
    })
}

/// `call Kai (Avery)`, `call Kai [owner: Avery, Friday]`, `call Kai — Avery`, `.. @avery`.
fn trailing(people: &People, text: &str) -> Option<Item> {
    let bracket = [('(', ')'), ('[', ']')]
        .into_iter()
        .find_map(|(open, close)| {
            let at = text.strip_suffix(close)?.rfind(open)?;
            Some((
                &text[..at],
                &text[at + open.len_utf8()..text.len() - close.len_utf8()],
            ))
        });
    let dash = || {
        let found = [" — ", " – ", " - ", " → ", ", owner "];
        found.iter().find_map(|dash| text.rsplit_once(dash))
    };
    let handle = || {
        text.rsplit_once(' ')
            .filter(|(_, last)| last.starts_with('@'))
    };
    let (what, tail) = bracket.or_else(dash).or_else(handle)?;
    let owner = names(people, tail)?;
    let what = trim_end(what);
    (!what.is_empty()).then(|| Item {
        owner: Some(owner),
        what: what.to_owned(),
    })
}

/// Names and nothing else, up to a comma: `owner: Avery and Kai, by Friday`.
fn names(people: &People, text: &str) -> Option<String> {
    let text = text.trim();
    let label = ["owner", "Owner", "assigned to", "Assigned to", "assignee"];
    let text = label
        .iter()
        .find_map(|label| text.strip_prefix(label))
        .unwrap_or(text);
    let clause = Clause::of(text.trim_start_matches([':', ' ']));
    if let Some((group, next)) = group_at(&clause, 0).filter(|(_, n)| *n == clause.words.len()) {
        return (next != 0).then(|| group.to_owned());
    }
    let (person, next) = people.list_at(&clause, 0)?;
    let ends = next == clause.words.len() || clause.words[next - 1].mark == ',';
    ends.then_some(person.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minutes::{INPUT_BYTES_MAX, Minutes};

    #[test]
    fn owners_stand_before_or_after_what_is_to_be_done() {
        let text = "Present: Avery, Kai @kai-b, Blake";
        let minutes = Minutes::parse("m", text.as_bytes(), INPUT_BYTES_MAX).expect("text");
        let people = People::of(&minutes);
        let table = [
            ("Avery to call Kai.", Some("Avery"), "call Kai"),
            (
                "Avery, Kai and Blake: call the host",
                Some("Avery, Kai and Blake"),
                "call the host",
            ),
            ("Rowan: send the form", Some("Rowan"), "send the form"),
            ("@kai-b fix CI", Some("Kai"), "fix CI"),
            ("@stranger to fix CI", Some("@stranger"), "fix CI"),
            ("Kai will write it up", Some("Kai"), "write it up"),
            ("Kai - write it up", Some("Kai"), "write it up"),
            ("The docs team to publish", Some("docs team"), "publish"),
            ("All to review the charter", None, "review the charter"),
            ("[Kai] rotate keys", Some("Kai"), "rotate keys"),
            ("rotate keys (Kai)", Some("Kai"), "rotate keys"),
            (
                "rotate keys [owner: Kai, by Friday]",
                Some("Kai"),
                "rotate keys",
            ),
            (
                "rotate keys — Kai and Blake",
                Some("Kai and Blake"),
                "rotate keys",
            ),
            ("rotate keys (see policy)", None, "rotate keys (see policy)"),
            ("publish release notes", None, "publish release notes"),
            ("Publish release notes", None, "Publish release notes"),
        ];
        for (text, owner, what) in table {
            let expected = Item {
                owner: owner.map(str::to_owned),
                what: what.to_owned(),
            };
            assert_eq!(item(&people, text), expected, "{text}");
        }
    }
}
