//! Rule `leaks`: nothing in the tree names one machine's folders, a package host or a secret. It
//! must never print a secret it found, only where it is.

use crate::finding::Finding;
use crate::tree::Tree;

/// Paths that exist on somebody's machine only, when they start a path. In halves, so that this
/// file is no violation.
const FOLDERS: [&str; 4] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Use", "rs/"),
];

/// Hosts that a package client is configured with; a project names packages, not hosts.
const HOSTS: [&str; 8] = [
    concat!("index.cra", "tes.io"),
    concat!("static.cra", "tes.io"),
    concat!("crates.io-", "index"),
    concat!("registry.npm", "js.org"),
    concat!("files.python", "hosted.org"),
    concat!("pypi.", "org/simple"),
    concat!("proxy.gol", "ang.org"),
    concat!("/artifac", "tory/"),
];

/// How secrets begin.
const SECRETS: [&str; 4] = [
    concat!("PRIVATE", " KEY-----"),
    concat!("AKI", "A"),
    concat!("gh", "p_"),
    concat!("xo", "xb-"),
];

/// Files that may name a thing of the lists, each with its reason.
const ALLOWED: [(&str, &str); 2] = [
    // Written by cargo: where each package came from.
    ("Cargo.lock", concat!("crates.io-", "index")),
    ("fuzz/Cargo.lock", concat!("crates.io-", "index")),
];

const PATH_HINT: &str = "use a relative path, an environment variable or a temporary folder";
const HOST_HINT: &str = "leave hosts to the configuration of whoever builds";
const SECRET_HINT: &str = "remove it, and replace it where it is in use: it is known now";

/// Reads every line of every text file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        for (index, line) in text.lines().enumerate() {
            let mut report = |message: String, hint| {
                findings.push(Finding::error(path, index + 1, message, hint));
            };
            for folder in FOLDERS.iter().filter(|folder| starts_a_path(line, folder)) {
                report(format!("a machine's own path below `{folder}`"), PATH_HINT);
            }
            for host in HOSTS.iter().filter(|host| line.contains(**host)) {
                if !ALLOWED.contains(&(path, host)) {
                    report(format!("names the package host `{host}`"), HOST_HINT);
                }
            }
            if SECRETS.iter().any(|secret| starts_a_word(line, secret)) {
                report("looks like a secret".to_owned(), SECRET_HINT);
            }
        }
    }
    findings
}

/// Whether `folder` occurs as the start of a path with a name after it, not in the middle of
/// another path or address.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | '~'))
            && after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_'))
    })
}

/// Key ids and tokens start a word and go on with letters or digits; a PEM header just ends.
fn starts_a_word(line: &str, secret: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    line.match_indices(secret).any(|(at, _)| {
        let rest = &line[at + secret.len()..];
        secret.ends_with("-----")
            || (!line[..at].chars().next_back().is_some_and(letter)
                && rest.chars().take_while(|c| letter(*c)).count() >= 12)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: &str) -> Vec<String> {
        check(&Tree::of(&[(path, line)]))
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_path_of_one_machine_is_refused_wherever_it_stands() {
        for folder in FOLDERS {
            let line = format!("store = \"{folder}anna/store\"");
            assert_eq!(found("docs/a.md", &line).len(), 1, "{line}");
        }
    }

    #[test]
    fn paths_inside_other_paths_and_addresses_are_free() {
        assert!(found("a.md", &format!("https://example.org{}x", FOLDERS[0])).is_empty());
        assert!(found("a.md", &format!("crates{}lib.rs", FOLDERS[1])).is_empty());
        assert!(found("a.md", &format!("{{base}}{}x", FOLDERS[2])).is_empty());
        assert!(found("a.md", &format!("everything below {}", FOLDERS[2])).is_empty());
    }

    #[test]
    fn a_package_host_is_refused_outside_of_the_lock_file() {
        assert_eq!(found("deny.toml", HOSTS[0]).len(), 1);
        assert_eq!(found("README.md", HOSTS[2]).len(), 1);
        assert!(found("Cargo.lock", HOSTS[2]).is_empty());
    }

    #[test]
    fn a_secret_is_found_and_not_repeated() {
        let key = format!("{}0123456789ABCDEF", SECRETS[1]);
        let messages = found("a.toml", &key);
        assert_eq!(messages, ["looks like a secret"]);
        assert_eq!(
            found("a.pem", &format!("-----BEGIN {}", SECRETS[0])).len(),
            1
        );
        assert!(found("a.rs", SECRETS[1]).is_empty());
    }
}
