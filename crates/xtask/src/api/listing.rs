//! Lists of a public API as text: the parts that are asked for, and how two lists differ. It must
//! never reorder what it is given.

use std::collections::BTreeSet;

/// Words that stand between `pub` and the path of a declared item.
const KEYWORDS: [&str; 13] = [
    "struct", "enum", "trait", "union", "fn", "type", "const", "static", "use", "mod", "macro",
    "async", "unsafe",
];

/// The lines that belong to the items at these paths: each declaration, and what follows it up to
/// the next item's.
pub(super) fn blocks(list: &str, wanted: &BTreeSet<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut is_wanted = false;
    let mut inside: Option<&str> = None;
    for line in list.lines() {
        if let Some(path) = declared(line) {
            // A method is declared below its type's path; it does not begin a new item.
            let is_part = inside.is_some_and(|item| is_below(path, item));
            if !is_part {
                inside = Some(path);
                is_wanted = wanted.contains(path);
            }
        }
        if is_wanted {
            kept.push(line.to_owned());
        }
    }
    kept
}

/// The path of an item that this line declares, without its generics; `None` for an `impl`, a
/// field, a variant, and what is declared inside of a type with parameters.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("#[non_exhaustive] ").unwrap_or(line);
    let begun = line.strip_prefix("pub ")?;
    let mut rest = begun;
    while let Some((word, after)) = rest.split_once(' ')
        && KEYWORDS.contains(&word)
    {
        rest = after;
    }
    let path = path(rest);
    (rest.len() < begun.len() && !is_inside_of_generics(rest, path)).then_some(path)
}

fn path(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
    let path = &text[..end.unwrap_or(text.len())];
    path.trim_end_matches(':')
}

/// Whether `path` goes on behind its generics: `a::B<T>::c`.
fn is_inside_of_generics(text: &str, path: &str) -> bool {
    let rest = &text[path.len()..];
    if !rest.starts_with('<') {
        return false;
    }
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !rest[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest[at + 1..].starts_with("::");
        }
    }
    false
}

/// Whether the last part but one of `path` is the item at `item`, by whatever module it is reached.
fn is_below(path: &str, item: &str) -> bool {
    let name = item.rsplit("::").next().unwrap_or(item);
    let mut parts = path.rsplit("::");
    parts.next();
    let is_type = name.starts_with(char::is_uppercase);
    is_type && parts.next() == Some(name)
}

/// Lines that are new (`+`) or gone (`-`), each as often as it is.
pub(super) fn differences(old: &str, new: &str) -> Vec<String> {
    let mut left: Vec<&str> = old.lines().collect();
    let mut found = Vec::new();
    for line in new.lines() {
        match left.iter().position(|known| *known == line) {
            Some(at) => drop(left.remove(at)),
            None => found.push(format!("+{line}")),
        }
    }
    let gone = left.into_iter().map(|line| format!("-{line}"));
    gone.chain(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
pub mod a
pub use a::Used
pub mod a::inner
pub struct a::inner::Other
pub fn a::inner::Other::new() -> Self
pub fn a::inner::free()
pub struct a::Kept<T>(_)
impl<T: core::fmt::Debug> a::inner::Kept<T>
pub async fn a::inner::Kept<T>::ask<F: Fn() -> T>(&self, F) -> T
pub const fn a::inner::Kept::plain() -> u8
#[non_exhaustive] pub enum a::Also
pub a::Also::One
pub fn a::Also::is_one(&self) -> bool
pub const a::LIMIT: usize
pub unsafe trait a::Last
pub fn a::Last::done(&self)";

    fn of(paths: &[&str]) -> Vec<String> {
        blocks(LIST, &paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn an_item_comes_with_everything_that_is_declared_for_it() {
        let lines: Vec<&str> = LIST.lines().collect();
        assert_eq!(of(&["a::Kept"]), lines[6..10]);
        assert_eq!(of(&["a::Also"]), lines[10..13]);
        assert_eq!(of(&["a::Last"]), lines[14..]);
    }

    #[test]
    fn items_without_parts_are_one_line_and_an_unknown_path_is_none() {
        assert_eq!(of(&["a::Used", "a::inner::free", "a::LIMIT"]).len(), 3);
        assert!(of(&["a::inner::Kept", "a::Nobody"]).is_empty());
    }

    #[test]
    fn a_difference_names_what_is_gone_and_what_is_new() {
        assert!(differences("a\nb\n", "b\na\n").is_empty());
        assert_eq!(differences("a\na\nb\n", "a\nc\n"), ["-a", "-b", "+c"]);
    }
}
