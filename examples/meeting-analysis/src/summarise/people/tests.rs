//! Who is taken for a person, and who must not be.
//!
//! Each case is one text and one answer.

use super::*;
use crate::minutes::INPUT_BYTES_MAX;

fn people(text: &str) -> People {
    let text = format!("# T\n## Present\n* Avery Stone @avery\n* Kai\n* Blake\n## A\n{text}");
    let minutes = Minutes::parse("m", text.as_bytes(), INPUT_BYTES_MAX).expect("text");
    People::of(&minutes)
}

fn at(people: &People, text: &str) -> Option<(String, bool, usize)> {
    people
        .at(&Clause::of(text), 0)
        .map(|person| (person.name, person.known, person.words))
}

#[test]
fn names_are_known_by_first_name_full_name_and_handle() {
    let people = people("testing goes on\n");
    let avery = Some(("Avery Stone".to_owned(), true, 1));
    assert_eq!(at(&people, "Avery will"), avery);
    assert_eq!(at(&people, "@avery to"), avery);
    assert_eq!(at(&people, "Avery's plan"), avery);
    assert_eq!(
        at(&people, "Avery Stone to"),
        Some(("Avery Stone".to_owned(), true, 2))
    );
    assert_eq!(
        at(&people, "Rowan to"),
        Some(("Rowan".to_owned(), false, 1))
    );
    for word in [
        "Testing will",
        "GitHub will",
        "Documentation will",
        "V8 will",
        "it will",
    ] {
        assert_eq!(at(&people, word), None, "{word}");
    }
}

#[test]
fn speakers_are_taken_off_and_labels_are_not_speakers() {
    let people = people("* Fishrock: a\n* Fishrock: b\n");
    let speaker = |text| {
        let (person, rest) = people.speaker(text);
        (
            person.map(|person| (person.name, person.known)),
            rest.to_owned(),
        )
    };
    let known = |name: &str| Some((name.to_owned(), true));
    assert_eq!(
        speaker("Fishrock: x: y"),
        (known("Fishrock"), "x: y".to_owned())
    );
    assert_eq!(
        speaker("Kai (in chat): hi"),
        (known("Kai"), "hi".to_owned())
    );
    assert_eq!(
        speaker("Blake Kai - V8, please"),
        (known("Blake Kai"), "V8, please".to_owned())
    );
    assert_eq!(
        speaker("Kai and Blake: ok"),
        (known("Kai and Blake"), "ok".to_owned())
    );
    assert_eq!(speaker("Action: do"), (None, "Action: do".to_owned()));
    assert_eq!(
        speaker("doc: document it"),
        (None, "doc: document it".to_owned())
    );
}

#[test]
fn two_people_of_one_first_name_keep_the_name_as_written() {
    let text = "Present: Avery Stone, Avery Brook\n";
    let minutes = Minutes::parse("m", text.as_bytes(), INPUT_BYTES_MAX).expect("text");
    let people = People::of(&minutes);
    assert_eq!(at(&people, "Avery to"), Some(("Avery".to_owned(), true, 1)));
    assert_eq!(
        at(&people, "Avery Brook to").map(|found| found.0),
        Some("Avery Brook".into())
    );
}
