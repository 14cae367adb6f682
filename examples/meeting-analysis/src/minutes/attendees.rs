//! Who was there: attendance lists as bullets, tables or one line of names.
//!
//! It must never take a sentence for a person: a part that does not look like a name is left out.

use super::{Attendee, Block, Column, Section, SectionKind};
use crate::text::clip;

/// Most attendees that are kept.
pub const ATTENDEES_MAX: usize = 500;
/// Longest name or role, in characters.
const NAME_CHARS_MAX: usize = 60;
/// Most words of a name.
const NAME_WORDS_MAX: usize = 5;

const PRESENT_LABELS: [&str; 6] = [
    "present",
    "attendees",
    "attendance",
    "participants",
    "in attendance",
    "attending",
];
const ABSENT_LABELS: [&str; 3] = ["apologies", "regrets", "absent"];

/// Those present and those absent.
pub(super) fn find(sections: &[Section]) -> (Vec<Attendee>, Vec<Attendee>) {
    let mut present = Vec::new();
    let mut absent = Vec::new();
    for section in sections {
        match section.kind() {
            SectionKind::Attendance => collect(section, &mut present, &mut absent),
            SectionKind::Absence => collect_all(section, &mut absent),
            SectionKind::Discussion
            | SectionKind::Actions
            | SectionKind::PastActions
            | SectionKind::Decisions
            | SectionKind::Boilerplate => labelled(section, &mut present, &mut absent),
        }
    }
    (unique(present), unique(absent))
}

/// A section of attendance may hold its absentees as well, behind a label.
fn collect(section: &Section, present: &mut Vec<Attendee>, absent: &mut Vec<Attendee>) {
    for block in &section.blocks {
        match label(block) {
            Some((true, names)) => absent.extend(list(names)),
            Some((false, names)) => present.extend(list(names)),
            None => present.extend(of_block(block)),
        }
    }
}

fn collect_all(section: &Section, into: &mut Vec<Attendee>) {
    into.extend(section.blocks.iter().flat_map(of_block));
}

/// `Present: Avery, Blake` anywhere outside an attendance section.
fn labelled(section: &Section, present: &mut Vec<Attendee>, absent: &mut Vec<Attendee>) {
    for block in &section.blocks {
        match label(block) {
            Some((true, names)) => absent.extend(list(names)),
            Some((false, names)) => present.extend(list(names)),
            None => {}
        }
    }
}

/// Whether the block only says who was there, when, or where the agenda came from.
pub(crate) fn is_furniture(block: &Block) -> bool {
    let dated = [
        "date:",
        "time:",
        "location:",
        "place:",
        "extracted ",
        "*extracted ",
    ];
    let head = crate::minutes::head(&block.text, 16).to_lowercase();
    label(block).is_some() || dated.iter().any(|word| head.starts_with(word))
}

/// Whether the block is labelled as a list of the absent (true) or the present, and its names.
fn label(block: &Block) -> Option<(bool, &str)> {
    let (label, names) = block
        .text
        .split_once(':')
        .filter(|(label, _)| label.len() <= 24)?;
    let lower = label.trim().to_lowercase();
    if ABSENT_LABELS.contains(&lower.as_str()) {
        return Some((true, names));
    }
    PRESENT_LABELS
        .contains(&lower.as_str())
        .then_some((false, names))
}

fn of_block(block: &Block) -> Vec<Attendee> {
    if let Some(cell) = block.cells.iter().find(|cell| cell.column == Column::Name) {
        return person(&cell.text).into_iter().collect();
    }
    if let Some(cell) = block.cells.first() {
        return person(&cell.text).into_iter().collect();
    }
    // `Voting members: Avery, Blake`.
    match block.text.split_once(": ") {
        Some((_, names)) => list(names),
        None => list(&block.text),
    }
}

/// Names separated by commas, semicolons or "and", outside brackets.
fn list(text: &str) -> Vec<Attendee> {
    let mut found: Vec<Attendee> = Vec::new();
    for part in parts(text).iter().take(ATTENDEES_MAX) {
        let role = part.chars().next().is_some_and(char::is_lowercase);
        match (role, found.last_mut()) {
            // `Avery Stone, chair`: what follows in lower case is said about the last name.
            (true, Some(last)) if last.role.is_none() && part.len() <= NAME_CHARS_MAX => {
                last.role = Some((*part).to_owned());
            }
            (true, _) => {}
            (false, _) => found.extend(person(part)),
        }
    }
    found
}

fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let split = text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, ',' | ';')
    });
    split
        .flat_map(|part| part.split(" and "))
        .map(|part| part.trim().trim_start_matches("and ").trim_end_matches('.'))
        .filter(|part| !part.is_empty())
        .collect()
}

/// `Avery Stone @avery (voting member)`, `Avery Stone - chair`, `@avery`.
fn person(text: &str) -> Option<Attendee> {
    let text = text.trim();
    let name_end = [" @", " (", " - ", " – ", " — ", "@", "(", "<"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()
        .unwrap_or(text.len());
    let handle = text
        .find('@')
        .map(|at| handle(&text[at + 1..]))
        .filter(|h| !h.is_empty());
    let role = bracketed(text).or_else(|| after_dash(text));
    // `@mirela (Mirela Ionescu)`: the brackets hold the name.
    let named = role.filter(|role| is_full_name(role));
    let (name, role) = match (text[..name_end].trim(), &handle) {
        ("", Some(handle)) => match named {
            Some(name) => (name.to_owned(), None),
            None => (handle.clone(), role),
        },
        (name, _) => (name.to_owned(), role),
    };
    let words = name.split_whitespace().count();
    let starts = name.chars().next().is_some_and(|c| c.is_uppercase()) || handle.is_some();
    if !starts || !(1..=NAME_WORDS_MAX).contains(&words) || name.contains([':', '?', '!']) {
        return None;
    }
    Some(Attendee {
        name: clip(&name, NAME_CHARS_MAX),
        handle,
        role: role.map(|role| clip(role, NAME_CHARS_MAX)),
    })
}

fn is_full_name(text: &str) -> bool {
    let mut words = text.split_whitespace();
    2 <= text.split_whitespace().count() && words.all(|word| word.starts_with(char::is_uppercase))
}

fn handle(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .take(NAME_CHARS_MAX)
        .collect()
}

fn bracketed(text: &str) -> Option<&str> {
    let (_, inner) = text.split_once('(')?;
    let inner = inner
        .rsplit_once(')')
        .map_or(inner, |(inner, _)| inner)
        .trim();
    (!inner.is_empty()).then_some(inner)
}

fn after_dash(text: &str) -> Option<&str> {
    let (_, role) = [" - ", " – ", " — "]
        .iter()
        .find_map(|dash| text.split_once(dash))?;
    let role = role.trim();
    (!role.is_empty() && !role.starts_with('@')).then_some(role)
}

fn unique(mut people: Vec<Attendee>) -> Vec<Attendee> {
    let mut seen = std::collections::BTreeSet::new();
    people.retain(|person| seen.insert(person.name.to_lowercase()));
    people.truncate(ATTENDEES_MAX);
    people
}

#[cfg(test)]
mod tests {
    use crate::minutes::{INPUT_BYTES_MAX, Minutes};

    fn names(text: &str) -> (String, String) {
        let minutes = Minutes::parse("m.md", text.as_bytes(), INPUT_BYTES_MAX).expect("text");
        let show = |people: &[super::Attendee]| {
            let one = |p: &super::Attendee| {
                let handle = p.handle.as_ref().map_or(String::new(), |h| format!("@{h}"));
                format!("{}{handle}/{}", p.name, p.role.as_deref().unwrap_or(""))
            };
            people.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        (show(&minutes.attendees), show(&minutes.absent))
    }

    #[test]
    fn attendance_lists_of_every_habit_give_their_people() {
        let table = [
            (
                "# T\n## Present\n* Avery @avery (TSC)\n* Jules @jules (Guest - CPC rep)\n",
                "Avery@avery/TSC Jules@jules/Guest - CPC rep",
                "",
            ),
            (
                "Present: Avery Stone, chair, Blake and Kai (minutes, late).\nApologies: Lane\n",
                "Avery Stone/chair Blake/ Kai/minutes, late",
                "Lane/",
            ),
            (
                "Attendees:\n- Avery Stone - chair\n- @blake\n- @kk (Kai Kern)\n\
                 - we were all a bit tired\n",
                "Avery Stone/chair blake@blake/ Kai Kern@kk/",
                "",
            ),
            (
                "# T\n## Attendees\n| Name | Org |\n|--|--|\n| Avery | X |\n\n\
                 ## Apologies\nBlake; Kai",
                "Avery/",
                "Blake/ Kai/",
            ),
            (
                "# T\n## Attendance\nVoting members: Avery, Blake\nRegrets: Kai\n",
                "Avery/ Blake/",
                "Kai/",
            ),
        ];
        for (text, present, absent) in table {
            assert_eq!(
                names(text),
                (present.to_owned(), absent.to_owned()),
                "{text}"
            );
        }
    }
}
