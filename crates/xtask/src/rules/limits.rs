//! Rule `limits`: every bound says its unit, who enforces it and what happens beyond, and somebody
//! does enforce it. It must never look for limits elsewhere: one file holds them all, that is the
//! point.

use std::collections::BTreeSet;

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta};

use crate::finding::Finding;
use crate::tree::Tree;

const FILE: &str = "crates/types/src/limits.rs";
const PARTS: [&str; 3] = ["Unit:", "Enforced by:", "Beyond:"];
const UNUSED: &str = "take it out with what it bounded";
const HINT: &str = "`/// What it bounds. Unit: bytes. Enforced by: class. Beyond: INVALID_INPUT.`";

/// Reads the doc comment of every named constant of the limits file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(rust) = tree.rust_of(FILE) else {
        return vec![Finding::note(
            FILE,
            "there is no readable file of limits".to_owned(),
        )];
    };
    let used = used(tree);
    let mut findings = Vec::new();
    for item in &rust.ast.items {
        let Item::Const(item) = item else { continue };
        // `const _` is a compile-time assert that ties limits together.
        if item.ident == "_" {
            continue;
        }
        let name = item.ident.to_string();
        if !used.contains(name.as_str()) {
            let line = item.ident.span().start().line;
            let message = format!("limit `{name}` bounds nothing: nobody names it");
            findings.push(Finding::error(FILE, line, message, UNUSED));
        }
        let docs = docs(&item.attrs);
        let missing: Vec<&str> = PARTS
            .into_iter()
            .filter(|part| !has_part(&docs, part))
            .collect();
        if !missing.is_empty() {
            let message = format!("limit `{}` does not say {}", item.ident, missing.join(" "));
            findings.push(Finding::error(
                FILE,
                item.ident.span().start().line,
                message,
                HINT,
            ));
        }
    }
    findings
}

/// Every word in a file that may enforce a limit, and in the value of another limit.
fn used(tree: &Tree) -> BTreeSet<&str> {
    let elsewhere = tree.rust().filter(|(path, _)| *path != FILE);
    let tokens = elsewhere.flat_map(|(_, rust)| &rust.tokens);
    let mut used: BTreeSet<&str> = tokens.map(|token| token.text.as_str()).collect();
    let values = tree.text(FILE).unwrap_or("").lines();
    let values = values.filter(|line| line.starts_with("pub const ") || line.starts_with("    "));
    let values = values.filter_map(|line| line.split_once('='));
    used.extend(values.flat_map(|(_, value)| {
        value.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
    }));
    used
}

/// Whether something is said after `part`.
fn has_part(docs: &str, part: &str) -> bool {
    docs.split_once(part).is_some_and(|(_, rest)| {
        rest.trim_start()
            .chars()
            .next()
            .is_some_and(char::is_alphanumeric)
            || rest.trim_start().starts_with(['`', '['])
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "`syn` keeps its enums open")]
fn docs(attributes: &[Attribute]) -> String {
    attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Some(text.value()),
                // A doc made by a macro has no words we could read here.
                _ => None,
            },
            Meta::NameValue(_) | Meta::Path(_) | Meta::List(_) => None,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let user = "fn f() { let _ = limits::A; }";
        check(&Tree::of(&[(FILE, text), ("crates/class/src/a.rs", user)]))
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_limit_that_leaves_a_part_out_is_named_with_the_part() {
        assert_eq!(
            messages("/// Input. Unit: bytes. Enforced by: class.\npub const A: u64 = 1;"),
            ["limit `A` does not say Beyond:"]
        );
        assert_eq!(
            messages("/// Unit: . Enforced by: x. Beyond: y\npub const A: u64 = 1;").len(),
            1
        );
        assert_eq!(messages("pub const A: u64 = 1;").len(), 1);
    }

    #[test]
    fn a_limit_that_nobody_names_is_told_and_one_that_another_rests_on_is_not() {
        let doc = "/// Unit: bytes. Enforced by: class. Beyond: refused.\n";
        let both = format!("{doc}pub const A: u64 = 2 * B;\n{doc}pub const B: u64 = 1;\n");
        assert!(messages(&both).is_empty());
        let unused = format!("{doc}pub const A: u64 = 2;\n{doc}pub const B: u64 = 1;\n");
        assert_eq!(
            messages(&unused),
            ["limit `B` bounds nothing: nobody names it"]
        );
    }

    #[test]
    fn a_limit_with_all_parts_and_an_assert_between_limits_pass() {
        let text = "/// Input.\n///\n/// Unit: bytes. Enforced by: `class`.\n/// Beyond: refused.\n\
                    pub const A: u64 = 1;\nconst _: () = assert!(A > 0);";
        assert!(messages(text).is_empty());
    }
}
