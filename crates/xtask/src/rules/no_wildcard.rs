//! Rule `no-wildcard`: no catch-all arm in a match of the core, so that a new variant of a
//! command, event or state stops the build wherever it must be learnt. It must never speak about
//! matches on numbers and text, which have no variants.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ExprMatch, Pat};

use crate::finding::Finding;
use crate::source::Rust;
use crate::tree::Tree;

const FOLDERS: [&str; 1] = ["crates/machine/src/"];

const HINT: &str = "write the variants out, joined with `|` where they mean the same";

/// Looks at every match outside of tests.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, rust) in tree.rust_below(&FOLDERS) {
        if !tree.is_test_file(path) {
            Matches {
                path,
                rust,
                findings: &mut findings,
            }
            .visit_file(&rust.ast);
        }
    }
    findings
}

struct Matches<'a> {
    path: &'a str,
    rust: &'a Rust,
    findings: &'a mut Vec<Finding>,
}

impl<'ast> Visit<'ast> for Matches<'_> {
    fn visit_expr_match(&mut self, item: &'ast ExprMatch) {
        let has_variants = !item.arms.iter().any(|arm| is_literal(&arm.pat));
        for arm in item.arms.iter().filter(|arm| is_wild(&arm.pat)) {
            let line = arm.pat.span().start().line;
            if has_variants && !self.rust.is_test_line(line) {
                let message = "a catch-all arm hides new variants".to_owned();
                self.findings
                    .push(Finding::error(self.path, line, message, HINT));
            }
        }
        visit::visit_expr_match(self, item);
    }
}

/// `_`, or a tuple or alternative of nothing else.
#[expect(clippy::wildcard_enum_match_arm, reason = "`syn` keeps its enums open")]
fn is_wild(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Paren(inner) => is_wild(&inner.pat),
        Pat::Tuple(tuple) => !tuple.elems.is_empty() && tuple.elems.iter().all(is_wild),
        Pat::Or(or) => or.cases.iter().any(is_wild),
        // A guard or a name: not everything gets through.
        _ => false,
    }
}

/// A number, character, string or range: what is matched has no variants to miss. `true` and
/// `false` have, and they can both be written.
#[expect(clippy::wildcard_enum_match_arm, reason = "`syn` keeps its enums open")]
fn is_literal(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => !matches!(literal.lit, syn::Lit::Bool(_)),
        Pat::Range(_) => true,
        Pat::Guard(guarded) => is_literal(&guarded.pat),
        Pat::Or(or) => or.cases.iter().all(is_literal),
        // Everything else is a shape.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let tree = Tree::of(&[("crates/machine/src/decide.rs", text)]);
        check(&tree)
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn a_catch_all_on_variants_is_refused_even_as_a_tuple() {
        assert_eq!(lines("fn f() { match a {\n A::B => 1,\n _ => 2,\n} }"), [3]);
        assert_eq!(
            lines("fn f() { match a {\n (A, B) => 1,\n (_, _) => 2,\n} }"),
            [3]
        );
        assert_eq!(lines("fn f() { match a {\n A::B | _ => 1,\n} }"), [2]);
    }

    #[test]
    fn numbers_text_guards_fields_and_tests_are_free() {
        assert!(lines("fn f() { match a { 0 => 1, 1..=4 => 2, _ => 3 } }").is_empty());
        assert!(lines("fn f() { match a { \"x\" => 1, _ => 3 } }").is_empty());
        assert!(lines("fn f() { match a { A(_) => 1, _ if b => 2, B => 3 } }").is_empty());
        assert!(lines("#[cfg(test)]\nmod t { fn f() { match a { A => 1, _ => 2 } } }").is_empty());
    }

    #[test]
    fn other_crates_are_left_to_clippy() {
        let tree = Tree::of(&[(
            "runtime/src/lib.rs",
            "fn f() { match a { A => 1, _ => 2 } }",
        )]);
        assert!(check(&tree).is_empty());
    }
}
