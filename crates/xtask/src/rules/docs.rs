//! Rule `docs`: the pages a newcomer opens exist and name every crate. It must never check what
//! they say beyond that: doc tests and people do.

use crate::finding::Finding;
use crate::tree::Tree;

const PAGES: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    CRATES,
    CODE_MAP,
];
const CRATES: &str = "crates/README.md";
const CODE_MAP: &str = "ARCHITECTURE.md";

const WRITE: &str = "write it";
const NAME_IT: &str = "one line: what the crate is for";
const INVARIANT: &str = "`*Invariant:*` says what never happens and where to see it";

/// Asks for the pages, and for every crate's name on the maps.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in PAGES {
        if tree.text(page).is_none_or(|text| text.trim().is_empty()) {
            let message = "the page is missing or empty".to_owned();
            findings.push(Finding::error(page, 0, message, WRITE));
        }
    }
    if tree
        .text(CODE_MAP)
        .is_some_and(|text| !text.contains("*Invariant:*"))
    {
        let message = "the code map states no invariant".to_owned();
        findings.push(Finding::error(CODE_MAP, 1, message, INVARIANT));
    }
    for (manifest, table) in tree.manifests() {
        let folder = manifest
            .trim_end_matches("Cargo.toml")
            .trim_end_matches('/');
        let package = table["package"]
            .get("name")
            .and_then(toml::Value::as_str)
            .unwrap_or("");
        let mut ask = |page: &str| {
            if tree
                .text(page)
                .is_some_and(|text| !names(text, folder, package))
            {
                let message = format!("does not name the crate `{package}` (`{folder}`)");
                findings.push(Finding::error(page, 1, message, NAME_IT));
            }
        };
        ask(CODE_MAP);
        if folder.starts_with("crates/") {
            ask(CRATES);
        }
    }
    findings
}

/// A page names a crate by its folder, by the folder's last part with a slash, or by its package
/// name in full.
fn names(text: &str, folder: &str, package: &str) -> bool {
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    [folder.to_owned(), format!("{last}/"), package.to_owned()]
        .iter()
        .any(|name| {
            text.match_indices(name.as_str()).any(|(at, _)| {
                let after = text[at + name.len()..].chars().next();
                !text[..at].chars().next_back().is_some_and(part)
                    && (name.ends_with('/') || !after.is_some_and(part))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: (&str, &str) = (
        "crates/graph/Cargo.toml",
        "[package]\nname = \"mainstay-graph\"\n",
    );

    fn about(pages: &[(&str, &str)], page: &str) -> Vec<String> {
        let files: Vec<(&str, &str)> = pages.iter().copied().chain([MANIFEST]).collect();
        check(&Tree::of(&files))
            .into_iter()
            .filter(|finding| finding.path == page)
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_missing_page_is_asked_for() {
        assert_eq!(about(&[], "README.md"), ["the page is missing or empty"]);
        assert_eq!(about(&[("README.md", " \n")], "README.md").len(), 1);
    }

    #[test]
    fn a_code_map_without_invariants_or_without_a_crate_is_refused() {
        assert_eq!(about(&[(CODE_MAP, "Nothing.")], CODE_MAP).len(), 2);
        assert!(about(&[(CODE_MAP, "`graph/` *Invariant:* none")], CODE_MAP).is_empty());
    }

    #[test]
    fn a_crate_is_named_by_folder_or_package_but_not_by_a_longer_name() {
        assert!(about(&[(CRATES, "- `mainstay-graph`: classes")], CRATES).is_empty());
        assert!(about(&[(CRATES, "- [graph](graph/): classes")], CRATES).is_empty());
        assert_eq!(
            about(&[(CRATES, "- `mainstay-graphs`, `subgraph/`")], CRATES).len(),
            1
        );
    }
}
