//! Labels that say outright what a text is: `Action:`, `AI -`, `TODO`; and what is none or done.
//!
//! Looks at the text alone; who is to do it is read elsewhere.

use super::DETAIL_CHARS_MAX;

pub(super) fn is_item(text: &str) -> bool {
    let bare = text.trim_end_matches(['.', '!']).to_lowercase();
    let nothing = [
        "none",
        "n/a",
        "nothing",
        "no action items",
        "no actions",
        "tbd",
        "no new actions",
    ];
    bare.chars().any(char::is_alphabetic)
        && !nothing.contains(&bare.as_str())
        && !bare.starts_with("none ")
        && !bare.starts_with("no action")
        && !is_done(text)
}

pub(super) fn is_done(text: &str) -> bool {
    const MARKS: [&str; 9] = [
        "(done)",
        "[done]",
        "- done",
        "– done",
        ": done",
        "(closed)",
        "(completed)",
        "- completed",
        "✓",
    ];
    let lower = crate::minutes::head(text, DETAIL_CHARS_MAX * 4).to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark)) || lower.starts_with("done")
}

/// The text behind `Action:`, `Action item (Kai):`, `AI -` or `TODO` at the start.
pub(super) fn label(text: &str) -> Option<&str> {
    const LABELS: [(&str, bool); 9] = [
        ("action items", true),
        ("action item", true),
        ("action point", true),
        ("action", true),
        ("next action", true),
        ("follow-up", true),
        ("to-do", true),
        ("todo", true),
        ("AI", false),
    ];
    let text = text.trim_start_matches(['*', '(', '[', ' ']);
    let lower = crate::minutes::head(text, 64).to_lowercase();
    LABELS.iter().find_map(|(label, folded)| {
        let fits = if *folded {
            lower.starts_with(label)
        } else {
            text.starts_with(label)
        };
        let rest = text.get(label.len()..).filter(|_| fits)?;
        let shouted = text[..label.len()].chars().all(|c| c.is_uppercase());
        after_label(rest, shouted && *folded)
    })
}

/// What follows a label: behind `:` or a dash at once, or `on Kai:`; bare only if shouted.
fn after_label(rest: &str, bare: bool) -> Option<&str> {
    let trimmed = rest.trim_start();
    for mark in [":", "- ", "– ", "— "] {
        if let Some(what) = trimmed.strip_prefix(mark) {
            return Some(what.trim());
        }
    }
    // `Action on Kai: ..`, `Action (Kai): ..`, `AI Kai: ..` keep the name for the owner.
    let named = trimmed
        .split_once(':')
        .filter(|(name, _)| name.split_whitespace().count() <= 4);
    let spaced = rest.starts_with([' ', '(', '[']);
    if named.is_some() && spaced {
        let what = ["on ", "for ", "by "]
            .iter()
            .find_map(|word| trimmed.strip_prefix(word));
        return Some(what.unwrap_or(trimmed));
    }
    (bare && rest.starts_with(' ')).then_some(trimmed)
}
