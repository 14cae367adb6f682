//! Rule `error-pages`: each error code has one page with the same parts in the same order. It
//! must never invent a code: the list is the one the product is compiled with.

use mainstay_types::code::Code;

use crate::finding::Finding;
use crate::tree::Tree;

const FOLDER: &str = "crates/types/errors/";
const CODES: &str = "crates/types/src/code.rs";
/// The parts of a page below its title, in order.
const PARTS: [&str; 3] = ["## Cause", "## What to do", "## Example"];
/// Whether trying again can help; a sentence may follow after a full stop.
const RETRY: [&str; 3] = ["yes", "no", "later"];

const WRITE_PAGE: &str = "a page has `# CODE`, `Retry helps: yes|no|later`, `## Cause`, \
                          `## What to do`, `## Example`";
const ORPHAN_PAGE: &str = "remove the page, or add the code to crates/types/src/code.rs";

/// Holds codes and pages to each other.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    pages_of(tree, &codes)
}

fn pages_of(tree: &Tree, codes: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for code in codes {
        let path = format!("{FOLDER}{code}.md");
        match tree.text(&path) {
            Some(text) => findings.extend(page(&path, code, text)),
            None => {
                let message = format!("code {code} has no page {path}");
                findings.push(Finding::error(CODES, 0, message, WRITE_PAGE));
            }
        }
    }
    let pages = tree.files().filter_map(|(path, _)| {
        let name = path.strip_prefix(FOLDER)?.strip_suffix(".md")?;
        (name != "README").then_some((path, name))
    });
    for (path, name) in pages {
        if !codes.contains(&name) {
            let message = format!("page without a code `{name}`");
            findings.push(Finding::error(path, 1, message, ORPHAN_PAGE));
        }
    }
    findings
}

fn page(path: &str, code: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report =
        |line, message: String| findings.push(Finding::error(path, line, message, WRITE_PAGE));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    if lines.first() != Some(&format!("# {code}").as_str()) {
        report(1, format!("the title is not `# {code}`"));
    }
    let retry: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("Retry helps: "))
        .collect();
    match retry[..] {
        [words] if RETRY.contains(&words.split('.').next().unwrap_or(words)) => {}
        [words] => report(1, format!("`Retry helps: {words}` is not yes, no or later")),
        [] => report(1, "the page does not say whether a retry helps".to_owned()),
        [..] => report(1, "the page says twice whether a retry helps".to_owned()),
    }
    let found: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| line.starts_with("## "))
        .collect();
    if found != PARTS {
        report(1, format!("the parts are [{}]", found.join(", ")));
    }
    for part in PARTS {
        if lines.contains(&part) && !has_words(&lines, part) {
            report(1, format!("nothing is said under `{part}`"));
        }
    }
    findings
}

fn has_words(lines: &[&str], part: &str) -> bool {
    lines
        .iter()
        .skip_while(|line| **line != part)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .any(|line| line.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# KEY_HELD\n\nRetry helps: later\n\n## Cause\nA.\n\n## What to do\nB.\n\n\
                        ## Example\nC.\n";

    fn messages(text: &str, codes: &[&str]) -> Vec<String> {
        let tree = Tree::of(&[("crates/types/errors/KEY_HELD.md", text)]);
        pages_of(&tree, codes)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_code_without_a_page_and_a_page_without_a_code_are_named() {
        assert!(messages(GOOD, &["KEY_HELD"]).is_empty());
        assert_eq!(messages(GOOD, &["KEY_HELD", "INBOX_FULL"]).len(), 1);
        assert_eq!(messages(GOOD, &[]), ["page without a code `KEY_HELD`"]);
    }

    #[test]
    fn a_page_has_its_title_its_retry_line_and_its_parts_in_order() {
        let broken = |from: &str, to: &str| messages(&GOOD.replace(from, to), &["KEY_HELD"]);
        assert_eq!(
            broken("# KEY_HELD", "# KEYS"),
            ["the title is not `# KEY_HELD`"]
        );
        assert_eq!(
            broken("later", "maybe"),
            ["`Retry helps: maybe` is not yes, no or later"]
        );
        assert!(broken("later", "later. When it is settled.").is_empty());
        assert_eq!(broken("Retry helps: later\n", "").len(), 1);
        assert_eq!(broken("## Cause", "## Why").len(), 1);
        assert_eq!(broken("B.", ""), ["nothing is said under `## What to do`"]);
    }

    #[test]
    fn the_list_of_codes_is_the_products_and_not_empty() {
        let missing = check(&Tree::of(&[]));
        assert_eq!(missing.len(), Code::ALL.len());
        assert!(!missing.is_empty());
    }
}
