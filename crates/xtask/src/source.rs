//! One Rust file as its syntax tree and as a flat list of tokens with their places. It must
//! never interpret what it reads: words and shapes only, meaning is the rules'.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word,
    /// One character of punctuation, or a bracket.
    Mark,
    /// A string, byte string or C string.
    Text,
    /// A number, character or byte.
    Value,
    /// The text of a doc comment.
    Doc,
}

/// One token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// As written; a raw name without its `r#`.
    pub(crate) text: String,
    pub(crate) start: LineColumn,
    pub(crate) end: LineColumn,
}

/// A path as it is used: `std::time::Instant`, from code or expanded out of a `use`.
#[derive(Clone, Debug)]
pub(crate) struct UsedPath {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// A parsed Rust file.
pub(crate) struct Rust {
    pub(crate) ast: syn::File,
    pub(crate) tokens: Vec<Token>,
    /// Lines of items that exist only under `#[cfg(test)]` or `#[test]`.
    test_lines: Vec<RangeInclusive<usize>>,
    modules_for_tests: Vec<String>,
}

impl Rust {
    /// Parses a file's text; the error says what the parser missed, and where.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let stream: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
        let ast: syn::File = syn::parse2(stream.clone())
            .map_err(|error| format!("line {}: {error}", error.span().start().line))?;
        let lines: Vec<&str> = text.lines().collect();
        let mut tokens = Vec::new();
        flatten(stream, &lines, &mut tokens);
        let mut items = TestItems {
            lines: Vec::new(),
            modules: Vec::new(),
        };
        items.visit_file(&ast);
        Ok(Self {
            ast,
            tokens,
            test_lines: items.lines,
            modules_for_tests: items.modules,
        })
    }

    /// Whether `line` belongs to code that only tests compile.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|range| range.contains(&line))
    }

    /// Names of the modules declared `#[cfg(test)] mod name;`.
    pub(crate) fn modules_for_tests(&self) -> impl Iterator<Item = &str> {
        self.modules_for_tests.iter().map(String::as_str)
    }

    /// Every path in the file: chains in code, macros included, and each leaf of each `use`.
    pub(crate) fn paths(&self) -> Vec<UsedPath> {
        let mut paths = chains(&self.tokens);
        let mut uses = Uses { paths: Vec::new() };
        uses.visit_file(&self.ast);
        paths.append(&mut uses.paths);
        paths
    }
}

fn flatten(stream: TokenStream, lines: &[&str], out: &mut Vec<Token>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push(token(Kind::Mark, open.to_owned(), group.span_open()));
                flatten(group.stream(), lines, out);
                out.push(token(Kind::Mark, close.to_owned(), group.span_close()));
            }
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                let bare = text.strip_prefix("r#").unwrap_or(&text).to_owned();
                out.push(token(Kind::Word, bare, ident.span()));
            }
            TokenTree::Punct(punct) => {
                out.push(token(Kind::Mark, punct.as_char().to_string(), punct.span()));
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let kind = literal_kind(&text, literal.span(), lines);
                out.push(token(kind, text, literal.span()));
            }
        }
    }
}

fn token(kind: Kind, text: String, span: Span) -> Token {
    Token {
        kind,
        text,
        start: span.start(),
        end: span.end(),
    }
}

/// A doc comment reaches us as a string whose place in the file starts with a comment sign.
fn literal_kind(text: &str, span: Span, lines: &[&str]) -> Kind {
    let start = span.start();
    let written: String = lines
        .get(start.line.saturating_sub(1))
        .map(|line| line.chars().skip(start.column).take(2).collect())
        .unwrap_or_default();
    if written == "//" || written == "/*" {
        return Kind::Doc;
    }
    let body = text.trim_start_matches(['b', 'c', 'r', '#']);
    if body.starts_with('"') {
        Kind::Text
    } else {
        Kind::Value
    }
}

/// Chains `a::b::c` in a flat token list; a lone name is a chain of one.
fn chains(tokens: &[Token]) -> Vec<UsedPath> {
    let mut paths: Vec<UsedPath> = Vec::new();
    let mut joined = false;
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Word {
            match paths.last_mut().filter(|_| joined) {
                Some(path) => path.segments.push(token.text.clone()),
                None => paths.push(UsedPath {
                    segments: vec![token.text.clone()],
                    line: token.start.line,
                }),
            }
            joined = false;
        } else {
            // The second colon of `::` right after a name keeps the chain open.
            joined = token.text == ":"
                && index >= 2
                && tokens[index - 1].text == ":"
                && tokens[index - 2].kind == Kind::Word;
        }
    }
    paths
}

struct Uses {
    paths: Vec<UsedPath>,
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.expand(&mut Vec::new(), &item.tree);
    }
}

impl Uses {
    fn expand(&mut self, prefix: &mut Vec<String>, tree: &UseTree) {
        let (leaf, span) = match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.expand(prefix, &path.tree);
                prefix.pop();
                return;
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.expand(prefix, tree);
                }
                return;
            }
            UseTree::Name(name) => (name.ident.to_string(), name.ident.span()),
            UseTree::Rename(rename) => (rename.ident.to_string(), rename.ident.span()),
            UseTree::Glob(glob) => ("*".to_owned(), glob.span()),
        };
        let mut segments = prefix.clone();
        segments.push(leaf);
        self.paths.push(UsedPath {
            segments,
            line: span.start().line,
        });
    }
}

struct TestItems {
    lines: Vec<RangeInclusive<usize>>,
    modules: Vec<String>,
}

impl<'ast> Visit<'ast> for TestItems {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_test_only) {
            visit::visit_item(self, item);
            return;
        }
        let span = item.span();
        self.lines.push(span.start().line..=span.end().line);
        if let Item::Mod(module) = item
            && module.content.is_none()
        {
            self.modules.push(module.ident.to_string());
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "`syn` keeps its enums open")]
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        // Shapes this workspace does not use.
        _ => &[],
    }
}

/// `#[test]`, or a `#[cfg(..)]` that asks for `test` and nowhere for its opposite.
fn is_test_only(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string();
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            !text.contains("not") && words.any(|word| word == "test")
        }
        Meta::List(_) | Meta::NameValue(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Rust {
        Rust::parse(text).expect("the sample parses")
    }

    #[test]
    fn a_path_is_seen_in_code_in_macros_and_inside_a_grouped_use() {
        let rust = parse("use std::{fmt, time::Instant};\nfn f() { go!(a::b(), c); }");
        let paths: Vec<String> = rust
            .paths()
            .iter()
            .map(|path| path.segments.join("::"))
            .collect();
        assert!(
            paths.contains(&"std::time::Instant".to_owned()),
            "{paths:?}"
        );
        assert!(paths.contains(&"a::b".to_owned()), "{paths:?}");
        assert!(!paths.contains(&"b::c".to_owned()), "{paths:?}");
    }

    #[test]
    fn doc_comments_are_told_from_strings() {
        let rust = parse("/// Says it.\nconst A: &str = \"said\";");
        let kinds: Vec<Kind> = rust.tokens.iter().map(|token| token.kind).collect();
        assert!(
            kinds.contains(&Kind::Doc) && kinds.contains(&Kind::Text),
            "{kinds:?}"
        );
    }

    #[test]
    fn lines_of_modules_for_tests_are_known() {
        let rust = parse("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}");
        let tests: Vec<usize> = (1..=6).filter(|line| rust.is_test_line(*line)).collect();
        assert_eq!(tests, [2, 3, 4, 5]);
    }

    #[test]
    fn a_file_that_does_not_parse_says_where() {
        let error = Rust::parse("fn a() {}\nfn {")
            .err()
            .expect("it does not parse");
        assert!(!error.is_empty());
    }
}
