//! The table of rules: one file each, one line each. It must never hold a rule's logic.

mod arrows;
mod cancel_safety;
mod cargo_trees;
mod core_purity;
mod docs;
mod error_pages;
mod golden;
mod leaks;
mod limits;
mod manifests;
mod module_docs;
mod no_wildcard;
mod proofs;
mod sizes;
mod vocabulary;

use crate::finding::Finding;
use crate::tree::Tree;

/// One rule of the workspace.
pub(crate) struct Rule {
    /// Its name in every finding.
    pub(crate) name: &'static str,
    /// What it protects, in one sentence.
    pub(crate) protects: &'static str,
    /// Everything it finds in a tree.
    pub(crate) check: fn(&Tree) -> Vec<Finding>,
}

impl Rule {
    const fn new(
        name: &'static str,
        protects: &'static str,
        check: fn(&Tree) -> Vec<Finding>,
    ) -> Self {
        Self {
            name,
            protects,
            check,
        }
    }
}

/// Every rule, in the order in which `tidy --list` shows them.
pub(crate) const RULES: &[Rule] = &[
    Rule::new(
        "arrows",
        "crates depend on each other only as the architecture draws it",
        arrows::check,
    ),
    Rule::new(
        "machine-tree",
        "the core's and the facade's dependency trees stay as small as promised",
        cargo_trees::check,
    ),
    Rule::new(
        "manifests",
        "versions, lints and dependencies are set once, in the workspace",
        manifests::check,
    ),
    Rule::new(
        "sizes",
        "files, functions, parameter lists and lines stay readable",
        sizes::check,
    ),
    Rule::new(
        "proofs",
        "a promise about the store names the test that tries to break it",
        proofs::check,
    ),
    Rule::new(
        "module-docs",
        "every file says what it is and what it must never do",
        module_docs::check,
    ),
    Rule::new(
        "vocabulary",
        "one word for one thing; nothing unfinished on the main branch",
        vocabulary::check,
    ),
    Rule::new(
        "cancel-safety",
        "whoever drops one of our futures knows what it leaves behind",
        cancel_safety::check,
    ),
    Rule::new(
        "no-wildcard",
        "a new variant must be learnt by every match of the core",
        no_wildcard::check,
    ),
    Rule::new(
        "core-purity",
        "decisions take time, chance and order as arguments only",
        core_purity::check,
    ),
    Rule::new(
        "error-pages",
        "every code has a page that says cause, remedy and example",
        error_pages::check,
    ),
    Rule::new(
        "limits",
        "every limit states its unit, its enforcer and what lies beyond",
        limits::check,
    ),
    Rule::new(
        "golden",
        "stored formats never change under readers of old data",
        golden::check,
    ),
    Rule::new(
        "leaks",
        "no machine's path, package host or key lands in the tree",
        leaks::check,
    ),
    Rule::new(
        "docs",
        "the pages a newcomer opens exist and name every crate",
        docs::check,
    ),
];

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn rule_names_are_unique() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}
