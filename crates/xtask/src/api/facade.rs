//! What the facade shows of the crates behind it, read from its sources. It must never guess a
//! name: what a `pub use` does not say is not shown.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use syn::{Item, UseTree, Visibility};

use crate::tree::Tree;

const MANIFEST: &str = "crates/mainstay/Cargo.toml";
const SOURCES: &str = "crates/mainstay/src/";
const FACADE: &str = "mainstay";

/// Features that add no name: another TLS library is another build, not another API.
const WITHOUT_NAMES: [&str; 2] = ["default", "tls"];

/// The facade's re-exports.
pub(super) struct Facade {
    /// The features that bring names.
    pub(super) features: Vec<String>,
    /// Packages behind it, by name.
    behind: Vec<String>,
    /// Paths by crate, `mainstay_class::Budget`; a path of one part is the whole crate.
    shown: BTreeMap<String, BTreeSet<String>>,
}

impl Facade {
    pub(super) fn read(tree: &Tree) -> Result<Self> {
        let manifests = tree.manifests();
        let manifest = manifests.iter().find(|(path, _)| path == MANIFEST);
        let (_, manifest) = manifest.context("there is no facade")?;
        let keys = |section: &str| {
            let table = manifest.get(section).and_then(toml::Value::as_table);
            let keys = table.into_iter().flat_map(toml::Table::keys);
            keys.cloned().collect::<Vec<String>>()
        };
        let mut shown = BTreeMap::new();
        for (_, rust) in tree.rust_below(&[SOURCES]) {
            collect(&rust.ast.items, &mut shown);
        }
        let behind = keys("dependencies")
            .into_iter()
            .filter(|package| shown.contains_key(&package.replace('-', "_")))
            .collect();
        let features = keys("features").into_iter();
        Ok(Self {
            features: features
                .filter(|feature| !WITHOUT_NAMES.contains(&feature.as_str()))
                .collect(),
            behind,
            shown,
        })
    }

    /// The facade, then what it shows something of.
    pub(super) fn packages(&self) -> impl Iterator<Item = &str> {
        std::iter::once(FACADE).chain(self.behind.iter().map(String::as_str))
    }

    /// The paths to list of a crate; `None` for all of it.
    pub(super) fn wanted(&self, name: &str) -> Option<BTreeSet<String>> {
        let paths = self.shown.get(name)?;
        (!paths.contains(name)).then(|| paths.clone())
    }
}

fn collect(items: &[Item], shown: &mut BTreeMap<String, BTreeSet<String>>) {
    for item in items {
        if let Item::Use(item) = item
            && matches!(item.vis, Visibility::Public(_))
        {
            expand(String::new(), &item.tree, shown);
        }
        if let Item::Mod(module) = item
            && let Some((_, items)) = &module.content
        {
            collect(items, shown);
        }
    }
}

/// `path` ends with `::` or is empty.
fn expand(path: String, tree: &UseTree, shown: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut show = |path: &str| {
        let name = path.split("::").next().unwrap_or(path);
        if name.starts_with("mainstay_") {
            let paths = shown.entry(name.to_owned()).or_default();
            paths.insert(path.to_owned());
        }
    };
    match tree {
        UseTree::Path(part) => expand(format!("{path}{}::", part.ident), &part.tree, shown),
        UseTree::Name(leaf) if leaf.ident == "self" => show(path.trim_end_matches("::")),
        UseTree::Name(leaf) => show(&format!("{path}{}", leaf.ident)),
        UseTree::Rename(leaf) => show(&format!("{path}{}", leaf.ident)),
        UseTree::Glob(_) => show(path.trim_end_matches("::")),
        UseTree::Group(group) => {
            for tree in &group.items {
                expand(path.clone(), tree, shown);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_globs_renames_and_whole_crates_are_found_wherever_they_stand() {
        let tree = Tree::of(&[
            (
                MANIFEST,
                "[package]\nname = \"mainstay\"\n[features]\ndefault = []\ntls = []\nhttp = []\n\
                 [dependencies]\nmainstay-class = {}\nmainstay-http = {}\nmainstay-types = {}\n\
                 mainstay-unused = {}\nserde = {}\n",
            ),
            (
                "crates/mainstay/src/lib.rs",
                "pub mod a { pub use mainstay_class::{call::Call, Budget as B}; }\n\
                 pub use mainstay_http as http;\npub mod types { pub use mainstay_types::*; }\n\
                 use mainstay_unused::C;\npub use a::Call;\n",
            ),
        ]);
        let facade = Facade::read(&tree).expect("there is a facade");
        let packages: Vec<&str> = facade.packages().collect();
        assert_eq!(
            packages,
            [
                "mainstay",
                "mainstay-class",
                "mainstay-http",
                "mainstay-types"
            ]
        );
        let class = facade.wanted("mainstay_class").expect("a part of it");
        let class: Vec<&str> = class.iter().map(String::as_str).collect();
        assert_eq!(
            class,
            ["mainstay_class::Budget", "mainstay_class::call::Call"]
        );
        assert_eq!(facade.wanted("mainstay_http"), None);
        assert_eq!(facade.wanted("mainstay_types"), None);
        assert_eq!(facade.features, ["http"]);
    }
}
