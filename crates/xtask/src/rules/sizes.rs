//! Rule `sizes`: how long a file, a function, a line and a parameter list may be. It must never
//! count what a person cannot break up: addresses, and strings without a space in them.

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, FnArg, Signature};

use crate::finding::Finding;
use crate::source::{Kind, Rust};
use crate::tree::Tree;

/// A soft bound that warns and a hard one that fails.
struct Bound {
    soft: usize,
    hard: usize,
}

/// Lines of a file.
const FILE_LINES: Bound = Bound {
    soft: 400,
    hard: 800,
};
/// Lines of a function, from its name to its last brace.
const FUNCTION_LINES: Bound = Bound { soft: 40, hard: 70 };
/// Characters of a line.
const COLUMNS_MAX: usize = 100;
/// Parameters besides the receiver.
const PARAMETERS_MAX: usize = 4;

const SPLIT_FILE: &str = "one noun per file: move a noun, or the tests, to a file of its own";
const SPLIT_FUNCTION: &str = "name the stages and call them; a router is one line per arm";
const OPTIONS: &str = "make an options struct, or excuse a method with \
                       `#[expect(clippy::too_many_arguments, reason = \"..\")]`";
const BREAK_LINE: &str = "`cargo fmt`; break a string with `\\` at the line's end";

/// Measures every Rust file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| path.ends_with(".rs")) {
        let lines = text.lines().count();
        findings.extend(FILE_LINES.judge(lines, |bounds| {
            Finding::error(
                path,
                1,
                format!("the file has {lines} lines ({bounds})"),
                SPLIT_FILE,
            )
        }));
    }
    for (path, rust) in tree.rust() {
        let mut functions = Functions {
            path,
            findings: &mut findings,
        };
        functions.visit_file(&rust.ast);
        findings.extend(long_lines(path, tree.text(path).unwrap_or_default(), rust));
    }
    findings
}

impl Bound {
    /// What `found` deserves: nothing, a warning, or the error that `finding` makes.
    fn judge(&self, found: usize, finding: impl FnOnce(String) -> Finding) -> Option<Finding> {
        if found <= self.soft {
            return None;
        }
        let error = finding(format!("soft {}, hard {}", self.soft, self.hard));
        let Finding {
            path,
            line,
            message,
            hint,
            ..
        } = &error;
        let warning = Finding::warning(path, *line, message.clone(), hint);
        Some(if found <= self.hard { warning } else { error })
    }
}

struct Functions<'a> {
    path: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Functions<'_> {
    fn length(&mut self, signature: &Signature, block: &Block) {
        let first = signature.span().start().line;
        let last = block.span().end().line;
        let lines = last + 1 - first;
        let name = &signature.ident;
        self.findings.extend(FUNCTION_LINES.judge(lines, |bounds| {
            Finding::error(
                self.path,
                first,
                format!("function `{name}` has {lines} lines ({bounds})"),
                SPLIT_FUNCTION,
            )
        }));
    }

    fn parameters(&mut self, signature: &Signature, attributes: &[Attribute]) {
        let count = signature
            .inputs
            .iter()
            .filter(|input| matches!(input, FnArg::Typed(_)))
            .count();
        if count <= PARAMETERS_MAX || attributes.iter().any(is_excused) {
            return;
        }
        let Signature { ident, .. } = signature;
        let message = format!("function `{ident}` takes {count} parameters (at most 4)");
        self.findings
            .push(Finding::error(self.path, line_of(ident), message, OPTIONS));
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.length(&item.sig, &item.block);
        self.parameters(&item.sig, &item.attrs);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // The parameters of a trait's method were chosen where the trait was declared.
        if item.trait_.is_none() {
            for part in &item.items {
                if let syn::ImplItem::Fn(method) = part {
                    self.parameters(&method.sig, &method.attrs);
                }
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.length(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.parameters(&item.sig, &item.attrs);
        if let Some(block) = &item.default {
            self.length(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn line_of(ident: &Ident) -> usize {
    ident.span().start().line
}

/// `#[expect(clippy::too_many_arguments, reason = "..")]`: said, with a reason, and checked by
/// the compiler to be still needed.
fn is_excused(attribute: &Attribute) -> bool {
    attribute.meta.require_list().is_ok_and(|list| {
        let text = list.tokens.to_string();
        list.path.is_ident("expect")
            && text.contains("too_many_arguments")
            && text.contains("reason")
    })
}

fn long_lines(path: &str, text: &str, rust: &Rust) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        let number = index + 1;
        if columns <= COLUMNS_MAX || line.contains("://") || holds_unbreakable(rust, number) {
            continue;
        }
        let message = format!("the line has {columns} columns (at most {COLUMNS_MAX})");
        findings.push(Finding::error(path, number, message, BREAK_LINE));
    }
    findings
}

/// Whether a string crosses the limit on this line and cannot be broken there: it runs over
/// several lines, so that a break would change its value, or has no space to break at.
fn holds_unbreakable(rust: &Rust, line: usize) -> bool {
    rust.tokens
        .iter()
        .filter(|token| token.kind == Kind::Text)
        .any(|token| {
            let covers = (token.start.line..=token.end.line).contains(&line);
            let one_line = token.start.line == token.end.line;
            covers && (!one_line || (token.end.column > COLUMNS_MAX && !token.text.contains(' ')))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Weight;

    fn found(text: &str) -> Vec<(Weight, usize, String)> {
        check(&Tree::of(&[("a/src/lib.rs", text)]))
            .into_iter()
            .map(|finding| (finding.weight, finding.line, finding.message))
            .collect()
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    go();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_seventy_lines_warns_and_of_seventy_one_fails() {
        let weight = |lines| {
            found(&function_of(lines))
                .first()
                .map(|(weight, ..)| *weight)
        };
        assert_eq!(weight(40), None);
        assert_eq!(weight(41), Some(Weight::Warning));
        assert_eq!(weight(70), Some(Weight::Warning));
        assert_eq!(weight(71), Some(Weight::Error));
    }

    #[test]
    fn attributes_and_docs_do_not_count_as_a_functions_lines() {
        assert!(
            found(&format!(
                "/// Says\n/// much.\n#[inline]\n{}",
                function_of(40)
            ))
            .is_empty()
        );
    }

    #[test]
    fn a_file_of_eight_hundred_lines_warns_and_one_more_fails() {
        let weight = |lines| {
            found(&"// x\n".repeat(lines))
                .first()
                .map(|(weight, ..)| *weight)
        };
        assert_eq!(weight(400), None);
        assert_eq!(weight(800), Some(Weight::Warning));
        assert_eq!(weight(801), Some(Weight::Error));
    }

    #[test]
    fn a_fifth_parameter_is_refused_but_not_in_the_impl_of_a_trait() {
        let list = "a: A, b: B, c: C, d: D, e: E";
        assert_eq!(found(&format!("fn f({list}) {{}}")).len(), 1);
        assert_eq!(
            found(&format!("impl T {{ fn f(&self, {list}) {{}} }}")).len(),
            1
        );
        assert_eq!(
            found(&format!("trait T {{ fn f(&self, {list}); }}")).len(),
            1
        );
        assert!(
            found(&format!(
                "impl Foreign for T {{ fn f(&self, {list}) {{}} }}"
            ))
            .is_empty()
        );
        assert!(found("impl T { fn f(&self, a: A, b: B, c: C, d: D) {} }").is_empty());
    }

    #[test]
    fn a_fifth_parameter_is_excused_only_with_a_reason() {
        let method = |attribute| {
            found(&format!(
                "impl T {{\n#[{attribute}]\nfn f(&self, a: A, b: B, c: C, d: D, e: E) {{}}\n}}"
            ))
        };
        assert!(
            method("expect(clippy::too_many_arguments, reason = \"the shape of a call\")")
                .is_empty()
        );
        assert_eq!(method("expect(clippy::too_many_arguments)").len(), 1);
    }

    #[test]
    fn a_long_line_is_refused_unless_nothing_in_it_can_break() {
        let words = "word ".repeat(25);
        let digits = "0123456789".repeat(11);
        assert_eq!(found(&format!("// {words}\n")).len(), 1);
        assert_eq!(found(&format!("const A: &str = \"{words}\";\n")).len(), 1);
        assert!(found(&format!("const A: &str = \"{digits}\";\n")).is_empty());
        assert!(found(&format!("// see https://example.org/{digits}\n")).is_empty());
        assert!(found(&format!("const A: &str = r\"x\n{words}\ny\";\n")).is_empty());
    }
}
