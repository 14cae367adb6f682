//! Rule `machine-tree`: what cargo really links below the core and below the facade. It must
//! never guess from manifests: features decide, so cargo is asked.

use std::path::Path;
use std::process::Command;

use crate::finding::Finding;
use crate::tree::Tree;

const MACHINE: &str = "crates/machine/Cargo.toml";
const FACADE: &str = "crates/mainstay/Cargo.toml";

/// Everything the core may stand on: ours, then uuid and blake3, then what these two bring.
const MACHINE_MAY_HOLD: [&str; 9] = [
    "mainstay-machine",
    "mainstay-types",
    "mainstay-graph",
    "uuid",
    "blake3",
    // Below blake3: fixed arrays, configuration switches, comparison in constant time, and which
    // instructions this processor has (through libc where only the system knows).
    "arrayvec",
    "cfg-if",
    "constant_time_eq",
    "cpufeatures",
];

/// Only needed by `cpufeatures`, and only on some processors.
const MACHINE_MAY_HOLD_THERE: [&str; 1] = ["libc"];

/// uuid may parse and print; drawing ids is the port's.
const UUID_FEATURES: [&str; 2] = ["default", "std"];

/// What a user of the facade must not have to build: a command line, and doubles for tests.
const FACADE_MUST_NOT_HOLD: [&str; 10] = [
    "clap",
    "clap_builder",
    "mainstay-cli",
    "mainstay-sim",
    "mainstay-testing",
    "mainstay-chaos",
    "mainstay-fault-disk",
    "mainstay-fault-proxy",
    "proptest",
    "tokio-test",
];

const CORE_HINT: &str = "the core stands on our types and graph, uuid without chance, and blake3";
const FACADE_HINT: &str = "put it behind a feature that is off by default";
const CARGO_HINT: &str = "make `cargo metadata` work first";

/// One package as cargo would link it.
#[derive(Debug, PartialEq, Eq)]
struct Linked {
    name: String,
    features: Vec<String>,
}

/// Asks cargo for both trees; a crate that is not there yet is a note.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(root) = tree.root() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (manifest, package, judge) in [
        (
            MACHINE,
            "mainstay-machine",
            machine as fn(&[Linked]) -> Vec<Finding>,
        ),
        (FACADE, "mainstay", facade),
    ] {
        if tree.text(manifest).is_none() {
            findings.push(Finding::note(
                manifest,
                format!("there is no `{package}` yet"),
            ));
            continue;
        }
        match cargo_tree(root, package) {
            Ok(text) => findings.extend(judge(&linked(&text))),
            Err(error) => findings.push(Finding::error(manifest, 0, error, CARGO_HINT)),
        }
    }
    findings
}

fn machine(packages: &[Linked]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |message| findings.push(Finding::error(MACHINE, 0, message, CORE_HINT));
    for Linked { name, features } in packages {
        let known = MACHINE_MAY_HOLD.contains(&name.as_str())
            || MACHINE_MAY_HOLD_THERE.contains(&name.as_str());
        if !known {
            report(format!("the core's tree holds `{name}`"));
        }
        let strange = features
            .iter()
            .filter(|feature| !UUID_FEATURES.contains(&feature.as_str()));
        if name == "uuid" {
            for feature in strange {
                report(format!(
                    "uuid is built with feature `{feature}` below the core"
                ));
            }
        }
    }
    findings
}

fn facade(packages: &[Linked]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |message| findings.push(Finding::error(FACADE, 0, message, FACADE_HINT));
    for Linked { name, features } in packages {
        if FACADE_MUST_NOT_HOLD.contains(&name.as_str()) {
            report(format!(
                "with default features the facade's tree holds `{name}`"
            ));
        }
        if name == "tokio" && features.iter().any(|feature| feature == "test-util") {
            report("with default features tokio is built with `test-util`".to_owned());
        }
    }
    findings
}

/// Lines `name v1.2.3 (path)|feature,feature`, one for each package.
fn linked(text: &str) -> Vec<Linked> {
    let mut packages: Vec<Linked> = Vec::new();
    for line in text.lines() {
        let (package, features) = line.split_once('|').unwrap_or((line, ""));
        let Some(name) = package.split_whitespace().next() else {
            continue;
        };
        let features = features.trim_end_matches("(*)").trim().split(',');
        let package = Linked {
            name: name.to_owned(),
            features: features
                .filter(|f| !f.is_empty())
                .map(str::to_owned)
                .collect(),
        };
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    packages
}

fn cargo_tree(root: &Path, package: &str) -> Result<String, String> {
    let output = Command::new(crate::tools::cargo())
        .args([
            "tree", "--quiet", "-e", "normal", "--prefix", "none", "--format", "{p}|{f}",
        ])
        .args(["-p", package])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo tree cannot be started: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text
            .lines()
            .find(|line| line.starts_with("error"))
            .unwrap_or("no message");
        return Err(format!("cargo tree -p {package} failed: {line}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_stranger_below_the_core_is_named() {
        let tree =
            "mainstay-machine v0.1.0 (crates/machine)|\nuuid v1.29.3|std\nserde v1.0.228|std\n";
        assert_eq!(
            messages(machine(&linked(tree))),
            ["the core's tree holds `serde`"]
        );
    }

    #[test]
    fn uuid_below_the_core_must_not_draw() {
        let tree = "uuid v1.29.3|rng,std,v7 (*)\n";
        assert_eq!(messages(machine(&linked(tree))).len(), 2);
        assert!(machine(&linked("uuid v1.29.3|std (*)\n")).is_empty());
    }

    #[test]
    fn the_facade_brings_no_clap_no_simulator_and_no_test_clock() {
        let tree = "mainstay v0.1.0|default\nclap v4.5.0|std\nmainstay-sim v0.1.0|\n\
                    mainstay-testing v0.1.0|\ntokio v1.54.0|rt,test-util\n";
        assert_eq!(messages(facade(&linked(tree))).len(), 4);
        assert!(facade(&linked("mainstay v0.1.0|default\ntokio v1.54.0|rt,sync\n")).is_empty());
    }
}
