//! `cargo xtask package`: the workspace's crates as packages, the way a registry would get them.
//!
//! All can be packed; what is in the packages is checked for the product's crates. It must never
//! upload anything.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tools;
use crate::tree::Tree;

/// Packs every crate and lets cargo check what is in the product's packages; `false` when it could
/// not. Packing looks at names, versions, licences, files and dependencies on each
/// other, the check at whether a file was left behind.
///
/// Cargo can build packages by itself, but keeps what it unpacked and built by name and version:
/// at the same version it would look at yesterday's. So they are unpacked here.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let tree = Tree::load(root)?;
    let mut pack = Command::new(tools::cargo());
    // A checkout with changes is what a contributor has.
    pack.args([
        "package",
        "--workspace",
        "--allow-dirty",
        "--quiet",
        "--no-verify",
    ]);
    if !succeeds(pack.current_dir(root))? {
        return Ok(false);
    }
    build(root, &products(&tree))
}

/// Unpacks the packages into a workspace of their own and lets cargo check it.
fn build(root: &Path, packages: &[String]) -> Result<bool> {
    let target = tools::target(root);
    let folder = target.join("packed");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for package in packages {
        unpack(&target.join("package"), package, &folder)?;
    }
    fs::write(folder.join("Cargo.toml"), workspace(packages))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut check = Command::new(tools::cargo());
    check.args(["check", "--workspace", "--quiet"]);
    let check = check.current_dir(&folder);
    succeeds(check.env("CARGO_TARGET_DIR", &target))
}

/// Unpacks a package of whatever version into a folder of its own name. Its files get the time of
/// now: a package's own times say nothing of its content, and cargo goes by them.
fn unpack(packed: &Path, package: &str, folder: &Path) -> Result<()> {
    let is_it = |path: &Path| {
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("");
        path.extension() == Some(OsStr::new("crate"))
            && name
                .rsplit_once('-')
                .is_some_and(|(name, _)| name == package)
    };
    let files =
        fs::read_dir(packed).with_context(|| format!("cannot list {}", packed.display()))?;
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let newest = files
        .filter(|path| is_it(path))
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    let newest = newest.with_context(|| format!("cargo made no package of `{package}`"))?;
    let into = folder.join(package);
    fs::create_dir_all(&into)?;
    let mut unpack = Command::new("tar");
    unpack.args(["--touch", "--strip-components=1", "-xzf"]);
    if !succeeds(unpack.arg(&newest).arg("-C").arg(&into))? {
        bail!("cannot unpack {}", newest.display());
    }
    Ok(())
}

/// A workspace of the packages, in which they find each other and not a registry's.
fn workspace(packages: &[String]) -> String {
    let mut text = format!("[workspace]\nresolver = \"3\"\nmembers = {packages:?}\n");
    text.push_str("\n[patch.crates-io]\n");
    for package in packages {
        writeln!(text, "{package} = {{ path = \"{package}\" }}").expect("a string takes all");
    }
    text
}

fn succeeds(command: &mut Command) -> Result<bool> {
    let status = tools::in_own_name(command).stdin(Stdio::null()).status();
    let program = command.get_program().to_string_lossy().into_owned();
    Ok(status
        .with_context(|| format!("{program} cannot be started"))?
        .success())
}

/// Folders whose crates are not for others.
const OURS_ALONE: [&str; 4] = ["examples/", "tests/", "crates/xtask/", "fuzz/"];

/// The packages that are for others.
fn products(tree: &Tree) -> Vec<String> {
    let manifests = tree.manifests().into_iter();
    let is_ours = |path: &str| OURS_ALONE.iter().any(|folder| path.starts_with(folder));
    manifests
        .filter(|(path, _)| !is_ours(path))
        .filter_map(|(_, table)| {
            let package = table.get("package")?.as_table()?;
            Some(package.get("name")?.as_str()?.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_for_others_is_told_from_what_is() {
        let tree = Tree::of(&[
            ("examples/a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
            ("crates/xtask/Cargo.toml", "[package]\nname = \"xtask\"\n"),
            ("ledger/Cargo.toml", "[package]\nname = \"c\"\n"),
            ("tests/Cargo.toml", "[package]\nname = \"tests\"\n"),
            ("fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n"),
        ]);
        assert_eq!(products(&tree), ["b", "c"]);
    }

    #[test]
    fn packages_find_each_other_in_their_workspace() {
        let text = workspace(&["a".to_owned(), "b-c".to_owned()]);
        let table: toml::Table = text.parse().expect("it is a manifest");
        assert_eq!(
            table["workspace"]["members"].as_array().map(Vec::len),
            Some(2)
        );
        let patched = &table["patch"]["crates-io"];
        assert_eq!(patched["b-c"]["path"].as_str(), Some("b-c"));
    }
}
