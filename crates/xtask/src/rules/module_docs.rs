//! Rule `module-docs`: every Rust file starts with `//!`. It must never judge the prose.

use crate::finding::Finding;
use crate::tree::Tree;

const HINT: &str = "start with `//! What this is. What it must never do.`";

/// Holds every Rust file's first line to the rule, parsed or not.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .filter(|(path, _)| path.ends_with(".rs"))
        .filter(|(_, text)| !starts_with_docs(text))
        .map(|(path, _)| {
            Finding::error(path, 1, "the file does not say what it is".to_owned(), HINT)
        })
        .collect()
}

fn starts_with_docs(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_opening_line_is_named() {
        let tree = Tree::of(&[
            ("a.rs", "//! Fine.\n"),
            ("b.rs", "use std::fmt;\n"),
            ("c.rs", "//!\n//! Late.\n"),
            ("d.rs", ""),
            ("e.md", "# not Rust\n"),
        ]);
        let paths: Vec<String> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(paths, ["b.rs", "c.rs", "d.rs"]);
    }
}
