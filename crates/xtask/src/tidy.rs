//! Runs every rule over the tree and says all it found at once. It must never stop at the first
//! finding: a contributor fixes a list, not a line per run.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::finding::{Finding, Weight};
use crate::rules::{RULES, Rule};
use crate::tree::Tree;

/// What is printed; errors and skipped rules always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Everything,
    ErrorsOnly,
}

/// Checks the tree below `root`: findings on stdout, the sum on stderr, code 1 on any error.
pub(crate) fn run(root: &Path, show: Show) -> Result<ExitCode> {
    let tree = Tree::load(root)?;
    let findings = check(&tree, RULES);
    for finding in &findings {
        if finding.weight != Weight::Warning || show == Show::Everything {
            println!("{finding}");
        }
    }
    let count = |weight| {
        findings
            .iter()
            .filter(|finding| finding.weight == weight)
            .count()
    };
    let errors = count(Weight::Error);
    eprintln!(
        "tidy: {} rules, {errors} violations, {} warnings, {} not checked",
        RULES.len(),
        count(Weight::Warning),
        count(Weight::Note),
    );
    Ok(if errors == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints each rule's name and what it protects.
pub(crate) fn list() {
    for rule in RULES {
        println!("{:<14} {}", rule.name, rule.protects);
    }
}

fn check(tree: &Tree, rules: &[Rule]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = tree
        .unparsable()
        .map(|(path, error)| {
            let message = format!("does not parse: {error}");
            let finding = Finding::error(path, 0, message, "no rule looked into this file");
            Finding {
                rule: "parse",
                ..finding
            }
        })
        .collect();
    for rule in rules {
        let found = (rule.check)(tree).into_iter();
        findings.extend(found.map(|finding| Finding {
            rule: rule.name,
            ..finding
        }));
    }
    findings.sort_by(|a, b| (a.weight, &a.path, a.line).cmp(&(b.weight, &b.path, b.line)));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_parse_is_a_violation_of_its_own() {
        let findings = check(&Tree::of(&[("a/src/lib.rs", "//! Doc.\nfn {")]), &[]);
        assert_eq!(findings.len(), 1);
        assert_eq!(
            (findings[0].rule, findings[0].weight),
            ("parse", Weight::Error)
        );
    }

    #[test]
    fn a_finding_names_its_place_its_rule_and_the_way_out() {
        let tree = Tree::of(&[("a/src/lib.rs", "fn a() {}\n")]);
        let text: Vec<String> = check(&tree, RULES).iter().map(Finding::to_string).collect();
        assert!(
            text.iter()
                .any(|line| line.starts_with("a/src/lib.rs:1 module-docs ")
                    && line.contains("\n    hint: ")),
            "{text:#?}"
        );
    }
}
