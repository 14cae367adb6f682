//! Rule `golden`: a golden file, once committed, changes only together with a changelog line
//! about a new format version. It must never read what is in the files: that they changed is
//! enough, because data written by the old code is out there.
//!
//! Both the working tree and the history that git has are asked, so that a commit cannot slip
//! past by being committed.

use std::path::Path;
use std::process::Command;

use crate::finding::Finding;
use crate::tree::Tree;

const CHANGELOG: &str = "CHANGELOG.md";
/// What an added changelog line must say.
const VERSION_WORDS: &str = "format version";
/// Which paths git is asked about.
const GOLDEN_PATHS: &str = ":(glob)**/golden/**";

const HINT: &str = "write a new file for a new format version, keep reading the old one, and say \
                    `format version` in the changelog in the same commit";

/// Looks for changed or deleted golden files, uncommitted and in the history.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(root) = tree.root() else {
        return Vec::new();
    };
    if !tree.files().any(|(path, _)| path.contains("/golden/")) && !root.join(".git").exists() {
        return Vec::new();
    }
    let Some(commits) = history(root) else {
        let message = "no commits to compare golden files with".to_owned();
        return vec![Finding::note("golden", message)];
    };
    let mut findings = Vec::new();
    for (commit, paths) in commits {
        let range = [format!("{commit}^"), commit.clone()];
        if !paths.is_empty() && !says_new_version(root, &range) {
            findings.extend(
                paths
                    .iter()
                    .map(|path| changed(path, &format!("in {commit}"))),
            );
        }
    }
    let paths = uncommitted(root);
    if !paths.is_empty() && !says_new_version(root, &["HEAD".to_owned()]) {
        findings.extend(paths.iter().map(|path| changed(path, "and not committed")));
    }
    findings
}

fn changed(path: &str, place: &str) -> Finding {
    let message = format!("a frozen file was changed or deleted {place}");
    Finding::error(path, 0, message, HINT)
}

/// Commits that changed or deleted golden files, with the files; `None` without any commit.
fn history(root: &Path) -> Option<Vec<(String, Vec<String>)>> {
    let text = git(
        root,
        &[
            "log",
            "--diff-filter=MDT",
            "--no-renames",
            "--name-only",
            "--format=commit %h",
            "--relative",
            "--",
            GOLDEN_PATHS,
        ],
    )?;
    let mut commits: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("commit "), commits.last_mut()) {
            (Some(commit), _) => commits.push((commit.to_owned(), Vec::new())),
            (None, Some((_, paths))) => paths.push(line.to_owned()),
            (None, None) => {}
        }
    }
    Some(commits)
}

fn uncommitted(root: &Path) -> Vec<String> {
    let arguments = [
        "diff",
        "HEAD",
        "--diff-filter=MDT",
        "--no-renames",
        "--name-only",
        "--",
        GOLDEN_PATHS,
    ];
    git(root, &arguments)
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Whether the changelog gained a line about a format version in `range`.
fn says_new_version(root: &Path, range: &[String]) -> bool {
    let mut arguments = vec!["diff", "--unified=0"];
    arguments.extend(range.iter().map(String::as_str));
    arguments.extend(["--", CHANGELOG]);
    git(root, &arguments)
        .unwrap_or_default()
        .lines()
        .any(|line| {
            line.starts_with('+') && !line.starts_with("+++") && line.contains(VERSION_WORDS)
        })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const GOLDEN: &str = "tests/golden/v1.bin.txt";

    /// A repository with one golden file in its first commit.
    fn repository() -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path();
        fs::create_dir_all(root.join("tests/golden")).unwrap();
        fs::write(root.join(GOLDEN), "one\n").unwrap();
        fs::write(root.join(CHANGELOG), "# Changes\n").unwrap();
        run(root, &["init", "--quiet"]);
        commit(root);
        folder
    }

    fn run(root: &Path, arguments: &[&str]) {
        assert!(git(root, arguments).is_some(), "git {arguments:?}");
    }

    fn commit(root: &Path) {
        run(root, &["add", "--all"]);
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let what = [
            "-c",
            "commit.gpgsign=false",
            "commit",
            "--quiet",
            "--message",
            "change",
        ];
        run(root, &[&who[..], &what[..]].concat());
    }

    fn messages(root: &Path) -> Vec<String> {
        let tree = Tree::load(root).expect("the tree can be read");
        check(&tree)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.path, finding.message))
            .collect()
    }

    #[test]
    fn a_changed_golden_file_is_refused_before_and_after_its_commit() {
        let folder = repository();
        let root = folder.path();
        assert!(messages(root).is_empty());

        fs::write(root.join(GOLDEN), "two\n").unwrap();
        assert_eq!(messages(root).len(), 1);

        commit(root);
        assert_eq!(messages(root).len(), 1, "committing it does not hide it");
    }

    #[test]
    fn a_new_format_version_in_the_same_commit_makes_the_change_good() {
        let folder = repository();
        let root = folder.path();
        fs::write(root.join(GOLDEN), "two\n").unwrap();
        fs::write(
            root.join(CHANGELOG),
            "# Changes\n- Codec: format version 2.\n",
        )
        .unwrap();
        assert!(messages(root).is_empty());
        commit(root);
        assert!(messages(root).is_empty());
    }

    #[test]
    fn a_new_golden_file_is_free_and_a_deleted_one_is_not() {
        let folder = repository();
        let root = folder.path();
        fs::write(root.join("tests/golden/v2.txt"), "two\n").unwrap();
        commit(root);
        assert!(messages(root).is_empty());
        fs::remove_file(root.join(GOLDEN)).unwrap();
        assert_eq!(messages(root).len(), 1);
    }

    #[test]
    fn without_a_commit_the_rule_says_that_it_did_not_look() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        run(folder.path(), &["init", "--quiet"]);
        fs::create_dir_all(folder.path().join("tests/golden")).unwrap();
        fs::write(folder.path().join(GOLDEN), "one\n").unwrap();
        let findings = check(&Tree::load(folder.path()).unwrap());
        assert_eq!(findings[0].weight, crate::finding::Weight::Note);
    }
}
