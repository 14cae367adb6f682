//! Rule `manifests`: what all crates share is written once, in the workspace's manifest. It must
//! never look at versions themselves: cargo and deny do.

use crate::finding::Finding;
use crate::tree::Tree;

const SHARED_KEYS: [&str; 4] = ["version", "edition", "rust-version", "license"];
const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

const INHERIT: &str = "write `KEY.workspace = true`";
const LINTS: &str = "write `[lints]` and `workspace = true`";
const DEPENDENCY: &str = "add it to `[workspace.dependencies]` with its smallest features, and \
                          write `NAME.workspace = true`";

/// Holds every package manifest to the workspace.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, table) in tree.manifests() {
        let mut report = |message, hint| findings.push(Finding::error(&path, 0, message, hint));
        for key in SHARED_KEYS {
            if !table["package"].get(key).is_some_and(inherits) {
                report(format!("`{key}` is not the workspace's"), INHERIT);
            }
        }
        if !table.get("lints").is_some_and(inherits) {
            report("the workspace's lints are not on".to_owned(), LINTS);
        }
        for section in SECTIONS {
            let entries = table.get(section).and_then(toml::Value::as_table);
            for (name, value) in entries.into_iter().flatten() {
                if !inherits(value) && !is_left_out(section, value) {
                    report(
                        format!("`{name}` ({section}) is not the workspace's"),
                        DEPENDENCY,
                    );
                }
            }
        }
    }
    findings
}

/// A member for tests, by its path alone: cargo leaves it out of packages, so that they ask no
/// registry for it.
fn is_left_out(section: &str, value: &toml::Value) -> bool {
    let only_path = value.as_table().is_some_and(|table| {
        table.len() == 1 && table.get("path").is_some_and(toml::Value::is_str)
    });
    section == "dev-dependencies" && only_path
}

fn inherits(value: &toml::Value) -> bool {
    value.get("workspace").and_then(toml::Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
        [dependencies]\nuuid = { workspace = true, optional = true }\n\
        [lints]\nworkspace = true\n";

    fn messages(text: &str) -> Vec<String> {
        check(&Tree::of(&[("crates/a/Cargo.toml", text)]))
            .into_iter()
            .map(|f| f.message)
            .collect()
    }

    #[test]
    fn a_version_of_its_own_a_stray_dependency_and_missing_lints_are_refused() {
        assert!(messages(GOOD).is_empty());
        assert_eq!(
            messages(&GOOD.replace(
                "version.workspace = true\nedition",
                "version = \"1\"\nedition"
            )),
            ["`version` is not the workspace's"]
        );
        assert_eq!(
            messages(&GOOD.replace("{ workspace = true, optional = true }", "\"1\"")),
            ["`uuid` (dependencies) is not the workspace's"]
        );
        assert_eq!(messages(&GOOD.replace("[lints]", "[other]")).len(), 1);
        let by_path = "[dev-dependencies]\nb = { path = \"../b\" }\n[lints]";
        assert!(messages(&GOOD.replace("[lints]", by_path)).is_empty());
        let elsewhere = by_path.replace("dev-dependencies", "build-dependencies");
        assert_eq!(messages(&GOOD.replace("[lints]", &elsewhere)).len(), 1);
    }
}
