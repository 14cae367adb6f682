//! Rule `cancel-safety`: every future that a user can get says what becomes of it when it is
//! dropped. It must never judge what is said: that is the tests' and the reader's.

use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ImplItemFn, ItemFn, ItemImpl, ItemTrait, Lit, Meta, PathSegment, ReturnType,
    Signature, TraitItem, TraitItemFn, Visibility,
};

use crate::finding::Finding;
use crate::tree::Tree;

const FACADE: &str = "crates/mainstay/Cargo.toml";
/// Names of types that are futures, or make one.
const FUTURES: [&str; 3] = ["BoxFuture", "Future", "IntoFuture"];
/// What a doc comment must say, in this or the other spelling.
const SAID: [&str; 2] = ["cancel safe", "cancel-safe"];

const HINT: &str = "a line that begins with `Cancel safe.` or `Not cancel safe:` and says what a \
                    dropped future leaves behind";

/// Reads the facade's sources, and those of every crate it stands on.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = sources(tree);
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let mut findings = Vec::new();
    for (path, rust) in tree.rust_below(&sources) {
        if tree.is_test_file(path) {
            continue;
        }
        let mut futures = Futures {
            path,
            findings: &mut findings,
        };
        futures.visit_file(&rust.ast);
        findings.retain(|finding| finding.path != path || !rust.is_test_line(finding.line));
    }
    findings
}

/// The source folders of the facade and of our crates that it depends on.
fn sources(tree: &Tree) -> Vec<String> {
    let manifests = tree.manifests();
    let Some((_, facade)) = manifests.iter().find(|(path, _)| path == FACADE) else {
        return Vec::new();
    };
    let behind = facade.get("dependencies").and_then(toml::Value::as_table);
    let is_behind = |table: &toml::Table| {
        let name = table["package"].get("name").and_then(toml::Value::as_str);
        name.is_some_and(|name| behind.is_some_and(|behind| behind.contains_key(name)))
    };
    let seen = manifests
        .iter()
        .filter(|(path, table)| path == FACADE || is_behind(table));
    seen.map(|(path, _)| format!("{}src/", path.trim_end_matches("Cargo.toml")))
        .collect()
}

struct Futures<'a> {
    path: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Futures<'_> {
    /// `docs` are those of the function and of what may speak for it.
    fn function(&mut self, signature: &Signature, docs: &[&[Attribute]]) {
        if !gives_a_future(signature) || docs.iter().any(|docs| says_it(docs)) {
            return;
        }
        let (name, line) = (&signature.ident, signature.ident.span().start().line);
        let message = format!("`{name}` gives a future and does not say whether it is cancel safe");
        self.findings
            .push(Finding::error(self.path, line, message, HINT));
    }
}

impl<'ast> Visit<'ast> for Futures<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if is_public(&item.vis) {
            self.function(&item.sig, &[&item.attrs]);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if is_public(&item.vis) {
            self.function(&item.sig, &[&item.attrs]);
        }
    }

    /// A trait may speak for all of its methods.
    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        if !is_public(&item.vis) {
            return;
        }
        for method in &item.items {
            if let TraitItem::Fn(TraitItemFn { attrs, sig, .. }) = method {
                self.function(sig, &[attrs, &item.attrs]);
            }
        }
    }

    /// What is awaited through `IntoFuture` says it on the implementation.
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        visit::visit_item_impl(self, item);
        let awaited = item
            .trait_
            .as_ref()
            .and_then(|(path, ..)| path.segments.last());
        if let Some(segment) = awaited.filter(|segment| segment.ident == "IntoFuture") {
            let line = segment.ident.span().start().line;
            if !says_it(&item.attrs) {
                let message = "what is awaited does not say whether it is cancel safe".to_owned();
                self.findings
                    .push(Finding::error(self.path, line, message, HINT));
            }
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn gives_a_future(signature: &Signature) -> bool {
    struct Named(bool);
    impl<'ast> Visit<'ast> for Named {
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            self.0 |= FUTURES.iter().any(|name| segment.ident == name);
            visit::visit_path_segment(self, segment);
        }
    }
    let mut named = Named(signature.asyncness.is_some());
    if let ReturnType::Type(_, output) = &signature.output {
        named.visit_type(output);
    }
    named.0
}

fn says_it(attributes: &[Attribute]) -> bool {
    let text: String = attributes.iter().filter_map(doc_line).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    SAID.iter().any(|said| text.contains(said))
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    if let Expr::Lit(literal) = &pair.value
        && let Lit::Str(text) = &literal.lit
        && pair.path.is_ident("doc")
    {
        return Some(format!("{}\n", text.value()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[
            (
                FACADE,
                "[package]\nname = \"mainstay\"\n[dependencies]\nmainstay-runtime = {}\n",
            ),
            (
                "runtime/Cargo.toml",
                "[package]\nname = \"mainstay-runtime\"\n",
            ),
            ("chaos/Cargo.toml", "[package]\nname = \"mainstay-chaos\"\n"),
            ("runtime/src/lib.rs", source),
            ("chaos/src/lib.rs", "pub async fn of_no_user() {}"),
        ]);
        check(&tree)
            .into_iter()
            .map(|finding| (finding.line, finding.message))
            .collect()
    }

    #[test]
    fn a_public_future_without_its_line_is_found_wherever_it_comes_from() {
        let source = "pub async fn a() {}\n\
            pub fn b() -> BoxFuture<'static, ()> {}\n\
            impl C { pub fn d(&self) -> impl Future<Output = ()> {} }\n\
            pub trait E { fn f(&self) -> Option<BoxFuture<'_, ()>>; }\n\
            impl IntoFuture for G { type Output = (); }\n";
        let lines: Vec<usize> = found(source).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_line_in_either_spelling_is_enough_and_a_trait_speaks_for_its_methods() {
        let source = "/// Does it. Not cancel\n/// safe: half of it stays.\npub async fn a() {}\n\
            /// Every method is cancel-safe.\npub trait B { fn c(&self) -> BoxFuture<'_, ()>; }\n\
            /// Cancel safe.\nimpl IntoFuture for D { type Output = (); }\n";
        assert_eq!(found(source), []);
    }

    #[test]
    fn what_no_user_can_call_needs_no_line() {
        let source = "async fn a() {}\npub(crate) async fn b() {}\n\
            trait C { fn d(&self) -> BoxFuture<'_, ()>; }\npub fn e(_: impl Future) {}\n\
            #[cfg(test)]\nmod tests {\n    pub async fn f() {}\n}\n";
        assert_eq!(found(source), []);
    }
}
