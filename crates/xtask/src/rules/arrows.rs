//! Rule `arrows`: which crate may depend on which, as the architecture draws it. It must never
//! grow an arrow to make a build pass: a new edge is a decision and a commit of its own.

use crate::finding::Finding;
use crate::tree::Tree;

/// One crate: its package, its folder, and what of ours it may use.
struct Place {
    package: &'static str,
    folder: &'static str,
    uses: Uses,
}

enum Uses {
    /// Exactly these packages, or fewer.
    Only(&'static [&'static str]),
    /// Any crate of ours; cargo itself refuses a cycle.
    Anything,
    /// The facade and other examples: an example shows what a user can write.
    AsAUser,
}

const fn place(package: &'static str, folder: &'static str, uses: Uses) -> Place {
    Place {
        package,
        folder,
        uses,
    }
}

const ADAPTER: Uses = Uses::Only(&["mainstay-types", "mainstay-dispatch"]);
const BACKEND: Uses = Uses::Only(&["mainstay-types", "mainstay-machine", "mainstay-ledger"]);

/// The picture of the architecture page as a table. Crates that do not exist yet have their
/// arrows waiting for them.
const PLACES: &[Place] = &[
    place("mainstay-types", "crates/types", Uses::Only(&[])),
    place(
        "mainstay-graph",
        "crates/graph",
        Uses::Only(&["mainstay-types"]),
    ),
    place(
        "mainstay-machine",
        "crates/machine",
        Uses::Only(&["mainstay-types", "mainstay-graph"]),
    ),
    place(
        "mainstay-gates",
        "crates/gates",
        Uses::Only(&["mainstay-types"]),
    ),
    place(
        "mainstay-dispatch",
        "crates/dispatch",
        Uses::Only(&["mainstay-types", "mainstay-graph"]),
    ),
    place(
        "mainstay-class",
        "crates/class",
        Uses::Only(&["mainstay-types", "mainstay-graph", "mainstay-dispatch"]),
    ),
    place(
        "mainstay-router",
        "crates/router",
        Uses::Only(&["mainstay-types", "mainstay-graph", "mainstay-gates"]),
    ),
    place(
        "mainstay-gateway",
        "crates/gateway",
        Uses::Only(&["mainstay-types"]),
    ),
    place(
        "mainstay-ledger",
        "ledger",
        Uses::Only(&["mainstay-types", "mainstay-graph", "mainstay-machine"]),
    ),
    place("mainstay-ledger-log", "ledger/log", BACKEND),
    // A table for the log, and nothing else: the rest of the ledger is the log's.
    place(
        "mainstay-ledger-sled",
        "ledger/sled",
        Uses::Only(&["mainstay-types", "mainstay-ledger-log"]),
    ),
    place("mainstay-ledger-postgres", "ledger/postgres", BACKEND),
    place(
        "mainstay-runtime",
        "runtime",
        Uses::Only(&[
            "mainstay-types",
            "mainstay-graph",
            "mainstay-machine",
            "mainstay-gates",
            "mainstay-dispatch",
            "mainstay-class",
            "mainstay-ledger",
            "mainstay-router",
        ]),
    ),
    place("mainstay-http", "crates/adapters/http", ADAPTER),
    // Speaks HTTP through the one client that has the deadline and the one table of endings.
    place(
        "mainstay-model",
        "crates/adapters/model",
        Uses::Only(&["mainstay-types", "mainstay-dispatch", "mainstay-http"]),
    ),
    place("mainstay-mcp", "crates/adapters/mcp", ADAPTER),
    place("mainstay-a2a", "crates/adapters/a2a", ADAPTER),
    place(
        "mainstay-sim",
        "crates/sim",
        Uses::Only(&[
            "mainstay-types",
            "mainstay-graph",
            "mainstay-machine",
            "mainstay-dispatch",
            "mainstay-ledger",
        ]),
    ),
    // An engine in memory for users' unit tests. Not in sim: that stands below the runtime.
    place(
        "mainstay-testing",
        "crates/testing",
        Uses::Only(&[
            "mainstay-types",
            "mainstay-machine",
            "mainstay-dispatch",
            "mainstay-class",
            "mainstay-ledger",
            "mainstay-sim",
            "mainstay-runtime",
        ]),
    ),
    // An experiment tries engines on a real store, as a user would have one.
    place(
        "mainstay-chaos",
        "chaos",
        Uses::Only(&[
            "mainstay-types",
            "mainstay-graph",
            "mainstay-machine",
            "mainstay-gates",
            "mainstay-dispatch",
            "mainstay-class",
            "mainstay-ledger",
            "mainstay-ledger-sled",
            "mainstay-router",
            "mainstay-sim",
            "mainstay-runtime",
            "mainstay-fault-disk",
            "mainstay-fault-proxy",
        ]),
    ),
    // Knows files and nothing of what they mean; its draws are the simulator's.
    place(
        "mainstay-fault-disk",
        "chaos/disk",
        Uses::Only(&["mainstay-types", "mainstay-sim"]),
    ),
    // Knows bytes and nothing of what they mean: whatever speaks TCP can be tried behind it.
    place("mainstay-fault-proxy", "chaos/proxy", Uses::Only(&[])),
    place(
        "mainstay-socket",
        "crates/socket",
        Uses::Only(&["mainstay-types", "mainstay-ledger", "mainstay-runtime"]),
    ),
    place(
        "mainstay-console",
        "crates/console",
        Uses::Only(&[
            "mainstay-types",
            "mainstay-ledger",
            "mainstay-runtime",
            "mainstay-socket",
        ]),
    ),
    place(
        "mainstay-cli",
        "crates/cli",
        Uses::Only(&[
            "mainstay-types",
            "mainstay-graph",
            "mainstay-class",
            // `bench` measures classes of its own, whose dependency is here.
            "mainstay-dispatch",
            "mainstay-machine",
            "mainstay-runtime",
            "mainstay-ledger",
            "mainstay-ledger-sled",
            "mainstay-ledger-postgres",
            "mainstay-socket",
            "mainstay-console",
            "mainstay-chaos",
            "mainstay-fault-proxy",
        ]),
    ),
    place("mainstay", "crates/mainstay", Uses::Anything),
    place("mainstay-tests", "tests", Uses::Anything),
    // Reads the list of error codes, to hold every one of them to its page.
    place("xtask", "crates/xtask", Uses::Only(&["mainstay-types"])),
    place(
        "meeting-analysis",
        "examples/meeting-analysis",
        Uses::AsAUser,
    ),
    place("axum-service", "examples/axum-service", Uses::AsAUser),
    place("ticket-service", "examples/ticket-service", Uses::AsAUser),
    place(
        "specialist-service",
        "examples/specialist-service",
        Uses::AsAUser,
    ),
    place("service-kit", "examples/service-kit", Uses::AsAUser),
    place(
        "mainstay-fuzz",
        "fuzz",
        Uses::Only(&["mainstay-ledger", "mainstay-ledger-log"]),
    ),
];

/// Arrows that exist for tests only: the deterministic doubles, and the suite a backend or a
/// port is held to. Cargo lets these run against the direction of the real ones.
const TEST_ARROWS: &[(&str, &str)] = &[
    ("mainstay-dispatch", "mainstay-sim"),
    ("mainstay-class", "mainstay-sim"),
    ("mainstay-runtime", "mainstay-sim"),
    ("mainstay-http", "mainstay-sim"),
    ("mainstay-model", "mainstay-sim"),
    // Connections that break on purpose.
    ("mainstay-http", "mainstay-fault-proxy"),
    ("mainstay-model", "mainstay-fault-proxy"),
    // A real server that commits and then drops the reply.
    ("mainstay-http", "ticket-service"),
    // The suite of what every ledger has to do, and samples for it.
    ("mainstay-ledger-sled", "mainstay-ledger"),
    ("mainstay-ledger-sled", "mainstay-machine"),
];

const HINT: &str = "move the code to where the arrow already points, or change the picture in \
                    the architecture and this table in a commit of its own";

/// Holds every manifest to [`PLACES`] and [`TEST_ARROWS`].
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests();
    let ours: Vec<&str> = manifests
        .iter()
        .filter_map(|(_, table)| package_name(table))
        .collect();
    let mut findings = Vec::new();
    for (path, table) in &manifests {
        let Some(package) = package_name(table) else {
            continue;
        };
        let Some(place) = PLACES.iter().find(|place| place.package == package) else {
            let message = format!("package `{package}` is not in the table of crates");
            findings.push(Finding::error(path, 0, message, HINT));
            continue;
        };
        let folder = path.trim_end_matches("Cargo.toml").trim_end_matches('/');
        if folder != place.folder {
            let message = format!("package `{package}` belongs in `{}`", place.folder);
            findings.push(Finding::error(path, 0, message, "move the folder"));
        }
        for (section, target) in dependencies(table) {
            if !ours.contains(&target.as_str()) && !target.starts_with("mainstay") {
                continue;
            }
            let tests_only =
                section == "dev-dependencies" && TEST_ARROWS.contains(&(package, target.as_str()));
            if !tests_only && !is_allowed(place, &target) && package != target {
                let text = tree.text(path).unwrap_or_default();
                let line = line_of(text, &target);
                let message = format!("`{package}` must not depend on `{target}` ({section})");
                findings.push(Finding::error(path, line, message, HINT));
            }
        }
    }
    findings
}

fn is_allowed(place: &Place, target: &str) -> bool {
    match place.uses {
        Uses::Only(list) => list.contains(&target),
        Uses::Anything => true,
        Uses::AsAUser => {
            let example = |place: &&Place| place.folder.starts_with("examples/");
            target == "mainstay"
                || PLACES
                    .iter()
                    .filter(example)
                    .any(|place| place.package == target)
        }
    }
}

fn package_name(table: &toml::Table) -> Option<&str> {
    table.get("package")?.get("name")?.as_str()
}

/// Every dependency of a manifest: its section and the real package name.
fn dependencies(table: &toml::Table) -> Vec<(&'static str, String)> {
    let targets = table.get("target").and_then(toml::Value::as_table);
    let tables = std::iter::once(table).chain(
        targets
            .into_iter()
            .flat_map(|all| all.values().filter_map(|v| v.as_table())),
    );
    let mut found = Vec::new();
    for table in tables {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(entries) = table.get(section).and_then(toml::Value::as_table) else {
                continue;
            };
            found.extend(entries.iter().map(|(name, value)| {
                let renamed = value.get("package").and_then(toml::Value::as_str);
                (section, renamed.unwrap_or(name).to_owned())
            }));
        }
    }
    found
}

/// The first line that names `target` as a key; 0 when it hides in a table header.
fn line_of(text: &str, target: &str) -> usize {
    let names = |line: &str| {
        line.trim_start()
            .strip_prefix(target)
            .is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
    };
    text.lines().position(names).map_or(0, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(package: &str, rest: &str) -> String {
        format!("[package]\nname = \"{package}\"\n{rest}")
    }

    fn messages(files: &[(&str, String)]) -> Vec<String> {
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
        check(&Tree::of(&files))
            .iter()
            .map(|f| format!("{}: {}", f.line, f.message))
            .collect()
    }

    #[test]
    fn the_core_may_not_learn_of_the_runtime() {
        let text = manifest(
            "mainstay-machine",
            "[dependencies]\nmainstay-types.workspace = true\nmainstay-runtime.workspace = true\n",
        );
        assert_eq!(
            messages(&[("crates/machine/Cargo.toml", text)]),
            ["5: `mainstay-machine` must not depend on `mainstay-runtime` (dependencies)"]
        );
    }

    #[test]
    fn a_renamed_or_target_bound_arrow_is_seen() {
        let text = manifest(
            "mainstay-graph",
            "[target.'cfg(unix)'.build-dependencies]\nx = { package = \"mainstay-class\" }\n",
        );
        assert_eq!(messages(&[("crates/graph/Cargo.toml", text)]).len(), 1);
    }

    #[test]
    fn a_test_arrow_is_fine_as_a_dev_dependency_only() {
        let dev = "[dev-dependencies]\nmainstay-sim.workspace = true\n";
        let plain = "[dependencies]\nmainstay-sim.workspace = true\n";
        let check = |rest| messages(&[("runtime/Cargo.toml", manifest("mainstay-runtime", rest))]);
        assert!(check(dev).is_empty());
        assert_eq!(check(plain).len(), 1);
    }

    #[test]
    fn an_unknown_crate_and_a_crate_in_the_wrong_folder_are_refused() {
        let unknown = messages(&[("crates/new/Cargo.toml", manifest("mainstay-new", ""))]);
        assert_eq!(
            unknown,
            ["0: package `mainstay-new` is not in the table of crates"]
        );
        let moved = messages(&[("graph/Cargo.toml", manifest("mainstay-graph", ""))]);
        assert_eq!(
            moved,
            ["0: package `mainstay-graph` belongs in `crates/graph`"]
        );
    }

    #[test]
    fn an_example_uses_the_facade_and_examples_only() {
        let text = manifest(
            "meeting-analysis",
            "[dependencies]\nmainstay.workspace = true\nservice-kit.workspace = true\n\
             mainstay-ledger.workspace = true\n",
        );
        let found = messages(&[
            ("examples/meeting-analysis/Cargo.toml", text),
            (
                "examples/service-kit/Cargo.toml",
                manifest("service-kit", ""),
            ),
        ]);
        assert_eq!(
            found,
            ["6: `meeting-analysis` must not depend on `mainstay-ledger` (dependencies)"]
        );
    }
}
