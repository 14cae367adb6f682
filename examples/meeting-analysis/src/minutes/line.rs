//! What one line of a file is: heading, bullet, table row, rule or text.
//!
//! Looks at one line only; what lines mean together is the parser's business.

use super::SectionKind;

/// Longest text of a line that may be a heading without heading marks, in bytes.
const PLAIN_HEADING_BYTES_MAX: usize = 60;

/// One line, its marks taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Blank,
    /// ```` ``` ```` or `~~~`.
    Fence,
    /// `===` or `---`: underlines the line above, or separates.
    Rule {
        level: u8,
    },
    Heading {
        level: u8,
        text: &'a str,
    },
    Bullet {
        indent: usize,
        checked: Option<bool>,
        text: &'a str,
    },
    /// `|---|---|`.
    TableRule,
    TableRow {
        text: &'a str,
    },
    Text {
        indent: usize,
        text: &'a str,
    },
}

pub(super) fn classify(raw: &str) -> Line<'_> {
    let unquoted = raw.trim_start().strip_prefix("> ").unwrap_or(raw);
    let text = unquoted.trim();
    if text.is_empty() || text == ">" {
        return Line::Blank;
    }
    if text.starts_with("```") || text.starts_with("~~~") {
        return Line::Fence;
    }
    if let Some(level) = rule_level(text) {
        return Line::Rule { level };
    }
    if let Some(heading) = heading(text) {
        return heading;
    }
    let indent = indent_of(unquoted);
    if let Some((rest, checked)) = bullet(text) {
        return Line::Bullet {
            indent,
            checked,
            text: rest,
        };
    }
    if is_table_rule(text) {
        return Line::TableRule;
    }
    if text.starts_with('|') && 1 < text.len() {
        return Line::TableRow { text };
    }
    Line::Text { indent, text }
}

fn indent_of(line: &str) -> usize {
    let blank = line.len() - line.trim_start().len();
    line[..blank]
        .chars()
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

fn rule_level(text: &str) -> Option<u8> {
    let all = |mark: char| 3 <= text.len() && text.chars().all(|c| c == mark);
    match (all('='), all('-') || all('*') || all('_')) {
        (true, _) => Some(1),
        (false, true) => Some(2),
        (false, false) => None,
    }
}

fn heading(text: &str) -> Option<Line<'_>> {
    let marks = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[marks..];
    if (1..=6).contains(&marks) && rest.starts_with([' ', '\t']) {
        let text = rest.trim().trim_end_matches('#').trim_end();
        let level = u8::try_from(marks).expect("1 to 6 was checked above");
        return (!text.is_empty()).then_some(Line::Heading { level, text });
    }
    // A whole line in bold does the duty of a heading in many minutes.
    let bold = text
        .strip_prefix("**")
        .and_then(|inner| inner.strip_suffix("**"));
    let bold = bold.filter(|inner| !inner.contains("**") && inner.len() <= PLAIN_HEADING_BYTES_MAX);
    if let Some(inner) = bold.filter(|inner| !inner.trim().is_empty()) {
        return Some(Line::Heading {
            level: 5,
            text: inner.trim().trim_end_matches(':'),
        });
    }
    is_shouted(text).then_some(Line::Heading {
        level: 2,
        text: text.trim_end_matches(':'),
    })
}

/// `ACTION ITEMS`: upper case throughout, words only.
fn is_shouted(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    5 <= letters
        && text.len() <= PLAIN_HEADING_BYTES_MAX
        && text.starts_with(char::is_alphanumeric)
        && !text.contains(char::is_lowercase)
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || " &/-:.()".contains(c))
}

/// The content of a list item and the state of its checkbox.
fn bullet(text: &str) -> Option<(&str, Option<bool>)> {
    let after_mark = match text.strip_prefix(['*', '-', '+', '•', '◦', '▪', '‣']) {
        Some(rest) => rest,
        None => after_number(text)?,
    };
    if !after_mark.starts_with([' ', '\t']) {
        return None;
    }
    let rest = after_mark.trim_start();
    let boxed = [("[ ]", false), ("[]", false), ("[x]", true), ("[X]", true)];
    let found = boxed
        .iter()
        .find_map(|(mark, on)| Some((rest.strip_prefix(mark)?, *on)));
    match found {
        Some((rest, on)) if rest.is_empty() || rest.starts_with(' ') => {
            Some((rest.trim(), Some(on)))
        }
        Some(_) | None if rest.starts_with("~~") => Some((rest, Some(true))),
        Some(_) | None => Some((rest, None)),
    }
}

/// `12. text`, `3) text`, `a) text`.
fn after_number(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits) {
        return text[digits..].strip_prefix(['.', ')']);
    }
    let letter = text
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_lowercase());
    if letter {
        text[1..].strip_prefix(')')
    } else {
        None
    }
}

fn is_table_rule(text: &str) -> bool {
    text.contains('|')
        && text.contains("--")
        && text
            .bytes()
            .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}

/// A short line that stands alone and ends with a colon: `Moderation team update:`.
pub(super) fn is_label(text: &str) -> bool {
    text.len() <= PLAIN_HEADING_BYTES_MAX
        && text.ends_with(':')
        && !text[..text.len() - 1].contains([':', '.', '?', '!'])
}

/// Whether a line inside a paragraph starts something of its own: `Avery: ...`, `ACTION: ...`.
///
/// Only a label of one to three words that starts in upper case (or is a known word for
/// attendance, actions and decisions) counts, so that wrapped prose stays together.
pub(super) fn starts_own(text: &str) -> bool {
    let Some(colon) = text
        .char_indices()
        .take(40)
        .find_map(|(at, c)| (c == ':').then_some(at))
    else {
        return text.starts_with("TODO ");
    };
    let (label, rest) = (&text[..colon], &text[colon + 1..]);
    let words = label.split_whitespace().count();
    (rest.is_empty() || rest.starts_with(' '))
        && (1..=3).contains(&words)
        && label.starts_with(char::is_uppercase)
        && label
            .chars()
            .all(|c| c.is_alphanumeric() || " @.'’-_()/".contains(c))
}

/// Whether a line inside a bullet starts something of its own. Stricter than [`starts_own`]:
/// wrapped bullets are the rule, labels inside them the exception.
pub(super) fn is_marked(text: &str) -> bool {
    const MARKS: [&str; 8] = [
        "ACTION",
        "Action:",
        "Action item:",
        "AI:",
        "TODO",
        "DECISION",
        "Decision:",
        "RESOLVED",
    ];
    MARKS.iter().any(|mark| text.starts_with(mark))
}

fn bare(heading: &str) -> String {
    let lower = heading.to_lowercase();
    lower
        .trim_start_matches(|c: char| c.is_ascii_digit() || " .)#*_".contains(c))
        .trim_end_matches([':', ' ', '.', '*', '_'])
        .to_owned()
}

pub(super) fn is_agenda(heading: &str) -> bool {
    let bare = bare(heading);
    bare.contains("agenda") || bare == "topics"
}

/// What a heading announces.
pub(super) fn heading_kind(heading: &str) -> SectionKind {
    let bare = bare(heading);
    let has = |words: &[&str]| words.iter().any(|word| bare.contains(word));
    let is = |words: &[&str]| words.contains(&bare.as_str());
    if is(&["present", "attendance", "attending", "roll call"])
        || has(&[
            "attendees",
            "participants",
            "members present",
            "in attendance",
            "who was there",
        ])
    {
        return SectionKind::Attendance;
    }
    if is(&["absent", "regrets", "apologies"]) || bare.starts_with("apologies ") {
        return SectionKind::Absence;
    }
    if has(&["action"]) && has(&["previous", "last", "review of", "past", "earlier", "old "]) {
        return SectionKind::PastActions;
    }
    if is(&[
        "actions",
        "todo",
        "todos",
        "to do",
        "to-do",
        "to dos",
        "follow-ups",
        "follow ups",
    ]) || has(&[
        "action item",
        "action point",
        "actions agreed",
        "actions arising",
    ]) || is(&[
        "next actions",
        "new actions",
        "next steps",
        "follow-up",
        "summary of actions",
    ]) {
        return SectionKind::Actions;
    }
    if is(&[
        "decisions",
        "resolutions",
        "decisions made",
        "decisions taken",
        "resolved",
    ]) {
        return SectionKind::Decisions;
    }
    if is(&[
        "links",
        "upcoming meetings",
        "calendar",
        "recording",
        "recordings",
        "zoom",
    ]) {
        return SectionKind::Boilerplate;
    }
    SectionKind::Discussion
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bullet_of(raw: &str) -> (usize, Option<bool>, &str) {
        let line = classify(raw);
        let Line::Bullet {
            indent,
            checked,
            text,
        } = line
        else {
            panic!("{raw:?} is {line:?}")
        };
        (indent, checked, text)
    }

    #[test]
    fn bullets_of_every_habit_are_bullets() {
        assert_eq!(bullet_of("* one"), (0, None, "one"));
        assert_eq!(bullet_of("    - two"), (4, None, "two"));
        assert_eq!(bullet_of("\t• three"), (4, None, "three"));
        assert_eq!(bullet_of("12. four"), (0, None, "four"));
        assert_eq!(bullet_of("  b) five"), (2, None, "five"));
        assert_eq!(bullet_of("- [ ] open"), (0, Some(false), "open"));
        assert_eq!(bullet_of("- [x] done"), (0, Some(true), "done"));
        assert_eq!(bullet_of("- ~~gone~~"), (0, Some(true), "~~gone~~"));
    }

    #[test]
    fn lines_that_only_look_like_bullets_are_text() {
        for raw in [
            "6.4 landed on master",
            "*Extracted from",
            "**Bold** start",
            "2026. or 1)x",
        ] {
            assert!(
                matches!(classify(raw), Line::Text { .. } | Line::Bullet { .. }),
                "{raw}"
            );
        }
        assert!(matches!(
            classify("6.4 landed on master"),
            Line::Text { .. }
        ));
        assert!(matches!(classify("*Extracted from"), Line::Text { .. }));
    }

    #[test]
    fn headings_come_as_marks_as_bold_lines_and_in_capitals() {
        assert_eq!(
            classify("## Present ##"),
            Line::Heading {
                level: 2,
                text: "Present"
            }
        );
        assert_eq!(
            classify("**Action items:**"),
            Line::Heading {
                level: 5,
                text: "Action items"
            }
        );
        assert_eq!(
            classify("ACTION ITEMS:"),
            Line::Heading {
                level: 2,
                text: "ACTION ITEMS"
            }
        );
        assert_eq!(classify("===="), Line::Rule { level: 1 });
        assert!(matches!(classify("#18248 is open"), Line::Text { .. }));
    }

    #[test]
    fn headings_tell_what_their_section_is_for() {
        use SectionKind as K;
        let table = [
            ("Present", K::Attendance),
            ("1. Attendees:", K::Attendance),
            ("Apologies", K::Absence),
            ("7. Action Items", K::Actions),
            ("Review of action items", K::PastActions),
            ("Decisions", K::Decisions),
            ("Upcoming Meetings", K::Boilerplate),
            ("nodejs/TSC", K::Discussion),
            ("Presentation of the budget", K::Discussion),
        ];
        for (heading, kind) in table {
            assert_eq!(heading_kind(heading), kind, "{heading}");
        }
    }
}
