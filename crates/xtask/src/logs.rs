//! The same seeds give the same logs, byte for byte: in another process, in a release build, and
//! with `serde_json` keeping the order of keys or sorting them.
//!
//! A simulator whose seeds mean something else in another build is of no use to whoever gets a seed
//! from CI.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tools;

/// Worlds in CI.
pub(crate) const SEEDS_CI: u64 = 100;
/// Worlds when it is asked for.
pub(crate) const SEEDS_FULL: u64 = 1_000;

/// How the program is built that prints the hash.
const BUILDS: [(&str, &[&str]); 4] = [
    ("debug", &[]),
    ("debug, another process", &[]),
    (
        "debug, keys in their order",
        &["--features", "preserve-order"],
    ),
    ("release", &["--release"]),
];

/// Whether every build prints the same hash for so many seeds.
pub(crate) fn run(root: &Path, seeds: u64) -> Result<bool> {
    let mut hashes = Vec::new();
    for (name, options) in BUILDS {
        let hash = hash(root, options, seeds).with_context(|| name.to_owned())?;
        eprintln!("{hash}  {name}");
        hashes.push(hash);
    }
    let are_same = hashes.iter().all(|hash| *hash == hashes[0]);
    if !are_same {
        eprintln!("the same {seeds} seeds gave other logs: something depends on the build");
    }
    Ok(are_same)
}

fn hash(root: &Path, options: &[&str], seeds: u64) -> Result<String> {
    let mut command = Command::new(tools::cargo());
    let output = tools::in_own_name(&mut command)
        .args(["run", "--quiet", "--package", "mainstay-chaos"])
        .args(["--example", "log_hash"])
        .args(options)
        .args(["--", &seeds.to_string()])
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be started")?;
    let text = String::from_utf8(output.stdout).context("the hash is no text")?;
    let hash = text.trim();
    if !output.status.success() || hash.len() != 64 {
        bail!("it printed no hash: {hash}");
    }
    Ok(hash.to_owned())
}
