//! `cargo xtask api`: the facade's public API as one text, held against the one in the tree.
//!
//! Whoever changes what users can name or call sees it in the diff, and so does the reviewer. It
//! must never fail for want of a tool: where the list cannot be made, that is said aloud. Nothing
//! but `--write` changes the file.

mod facade;
mod listing;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::ci::Ended;
use crate::tools::{self, PUBLIC_API};
use crate::tree::Tree;
use facade::Facade;

/// The golden file.
const GOLDEN: &str = "crates/mainstay/api/public-api.txt";
/// Lines of a difference that are printed.
const SHOWN_MAX: usize = 60;

/// What to do with the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Hold it against the golden file.
    Compare,
    /// Make it the golden file.
    Write,
}

/// Compares or writes; badly ended when the API is not what the golden file says.
pub(crate) fn run(root: &Path, mode: Mode) -> Result<Ended> {
    let compiler = compiler()?;
    let golden = fs::read_to_string(root.join(GOLDEN)).unwrap_or_default();
    let made_by = golden
        .lines()
        .next()
        .and_then(|line| line.strip_prefix(HEAD));
    // Another compiler writes the same API in other words; only a new list would be comparable.
    if let (Mode::Compare, Some(made_by)) = (mode, made_by)
        && made_by != compiler
    {
        return skipped(&format!(
            "the list was made by {made_by}, here is {compiler}"
        ));
    }
    if PUBLIC_API.ensure().is_err() {
        return skipped("cargo-public-api could not be installed");
    }
    let facade = Facade::read(&Tree::load(root)?)?;
    let Some(list) = list(root, &facade)? else {
        return skipped("this compiler's description is not one that cargo-public-api reads");
    };
    let list = format!("{HEAD}{compiler}\n{list}");
    match mode {
        Mode::Write => {
            let path = root.join(GOLDEN);
            fs::create_dir_all(path.parent().context("it has a folder")?)?;
            fs::write(&path, &list).with_context(|| format!("cannot write {GOLDEN}"))?;
            eprintln!("api: {GOLDEN} has {} lines", list.lines().count());
            Ok(Ended::Well)
        }
        Mode::Compare => Ok(Ended::well(compare(&golden, &list))),
    }
}

/// How the golden file begins; the compiler follows.
const HEAD: &str = "# What users of the facade can name and call, as described by ";

fn skipped(why: &str) -> Result<Ended> {
    eprintln!("api: SKIPPED, THE PUBLIC API WAS NOT LISTED: {why}");
    Ok(Ended::WithoutLooking)
}

/// The compiler by its release line, for example `rustc 1.95`.
fn compiler() -> Result<String> {
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .context("rustc cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    let [name, version] = words[..] else {
        bail!("rustc says `{}` of itself", text.trim());
    };
    let line: Vec<&str> = version.split('.').take(2).collect();
    Ok(format!("{name} {}", line.join(".")))
}

/// The list; `None` when the tool does not understand the compiler.
fn list(root: &Path, facade: &Facade) -> Result<Option<String>> {
    // A folder of its own: the descriptions need the compiler's unstable side, and what is built
    // with that must not replace what the other checks have built.
    let target = tools::target(root).join("api");
    describe(root, &target, facade)?;
    let mut parts = Vec::new();
    for package in facade.packages() {
        let name = package.replace('-', "_");
        let described = target.join("doc").join(format!("{name}.json"));
        let output = Command::new(tools::cargo())
            .args(["public-api", "-sss", "--color", "never", "--rustdoc-json"])
            .arg(&described)
            .current_dir(root)
            .stdin(Stdio::null())
            .output()
            .context("cargo public-api cannot be started")?;
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let wanted = facade.wanted(&name);
        let lines = wanted.map_or_else(
            || text.lines().map(str::to_owned).collect(),
            |wanted| listing::blocks(&text, &wanted),
        );
        parts.push(format!("\n## {package}\n{}\n", lines.join("\n")));
    }
    Ok(Some(parts.concat()))
}

/// Lets rustdoc describe the facade and what is behind it, as JSON, in one build, so that every
/// crate has the features that the facade asks for.
fn describe(root: &Path, target: &Path, facade: &Facade) -> Result<()> {
    let mut arguments: Vec<OsString> = vec!["doc".into(), "--no-deps".into(), "--quiet".into()];
    for package in facade.packages() {
        arguments.extend(["-p".into(), package.into()]);
    }
    let features: Vec<String> = facade
        .features
        .iter()
        .map(|feature| format!("mainstay/{feature}"))
        .collect();
    arguments.extend(["--features".into(), features.join(",").into()]);
    let status = tools::in_own_name(Command::new(tools::cargo()).args(&arguments))
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTDOCFLAGS", "-Z unstable-options --output-format json")
        .stdin(Stdio::null())
        .status()
        .context("cargo doc cannot be started")?;
    if !status.success() {
        bail!("the sources cannot be described\n\nhint: `cargo doc --workspace` says more");
    }
    Ok(())
}

/// Says what is new and what is gone; `false` when there is either.
fn compare(golden: &str, list: &str) -> bool {
    let differences = listing::differences(golden, list);
    if differences.is_empty() {
        return true;
    }
    for line in differences.iter().take(SHOWN_MAX) {
        println!("{line}");
    }
    if SHOWN_MAX < differences.len() {
        println!("and {} lines more", differences.len() - SHOWN_MAX);
    }
    println!("{GOLDEN} is not the facade's public API");
    println!("    hint: `cargo xtask api --write`, then read the diff");
    false
}
