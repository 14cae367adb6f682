//! The policy folder of this example: complete, and found by the minutes that need it.
//!
//! Scores are not checked, only what is found: a better word in a policy may change the order.

use std::path::{Path, PathBuf};

use meeting_analysis::minutes::{INPUT_BYTES_MAX, Minutes};
use meeting_analysis::policy::{
    AllowedUse, Grade, PolicyError, PolicyEvidence, PolicyIndex, PolicyQuery, SNIPPET_CHARS_MAX,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("policies")
}

fn index() -> PolicyIndex {
    PolicyIndex::open(&folder()).expect("the folder is complete")
}

fn search(index: &PolicyIndex, terms: &str) -> PolicyEvidence {
    let terms = terms.split(' ').map(str::to_owned).collect();
    index
        .search(&PolicyQuery { terms, top: 5 }, 7)
        .expect("searchable")
}

fn ids(evidence: &PolicyEvidence) -> Vec<&str> {
    evidence
        .passages
        .iter()
        .map(|passage| passage.doc_id.as_str())
        .collect()
}

#[test]
fn the_folder_holds_at_least_24_documents_of_readable_length() {
    let index = index();
    assert!(24 <= index.documents().len());
    for document in index.documents() {
        let words = document.body.split_whitespace().count();
        assert!(
            (150..=350).contains(&words),
            "{} has {words} words",
            document.id
        );
        let day = document.effective.len() == 10 && document.effective.starts_with("20");
        assert!(day, "{}: effective {}", document.id, document.effective);
    }
    let used = |allowed| {
        index
            .documents()
            .iter()
            .any(|document| document.allowed_use == allowed)
    };
    assert!(used(AllowedUse::Quote) && used(AllowedUse::Cite) && used(AllowedUse::Internal));
}

#[test]
fn questions_find_the_policy_that_answers_them() {
    let index = index();
    let table = [
        ("minutes publish secretary correction", "POL-01"),
        ("action item owner ticket", "POL-02"),
        ("quorum vote majority", "POL-04"),
        ("backport lts minor", "POL-06"),
        ("semver-major breaking approval", "POL-07"),
        ("deprecation migration guide", "POL-08"),
        ("embargo cve vulnerability triage", "POL-09"),
        ("rotate signing key fingerprint", "POL-10"),
        ("spam block moderator appeal", "POL-12"),
        ("travel lodging summit receipts", "POL-15"),
        ("dormant working group charter", "POL-16"),
        ("cache runner flaky", "POL-18"),
        ("guest invite observer", "POL-22"),
        ("web administrator access role", "POL-26"),
    ];
    for (terms, id) in table {
        let evidence = search(&index, terms);
        let found = ids(&evidence);
        assert!(
            found.iter().take(2).any(|found| *found == id),
            "{terms}: {found:?}"
        );
    }
}

#[test]
fn evidence_says_when_from_what_and_how_good_it_is() {
    let index = index();
    let evidence = search(&index, "releases");
    assert_eq!((evidence.retrieved_at_ms, evidence.grade), (7, Grade::Live));
    assert_eq!(evidence.source_digest, index.source_digest());
    assert!(
        evidence
            .passages
            .iter()
            .map(|passage| passage.score)
            .is_sorted_by(|a, b| b <= a)
    );
    for passage in &evidence.passages {
        assert!(
            !passage.snippet.is_empty() && !passage.version.is_empty(),
            "{passage:?}"
        );
        assert!(
            passage.snippet.chars().count() <= SNIPPET_CHARS_MAX,
            "{passage:?}"
        );
    }
    assert!(search(&index, "xyzzy").passages.is_empty());
}

#[test]
fn the_same_search_gives_the_same_evidence_in_another_index() {
    let sample = std::fs::read(folder().join("../minutes/steering-2026-03.md")).expect("there");
    let minutes = Minutes::parse("m.md", &sample, INPUT_BYTES_MAX).expect("text");
    let query = PolicyQuery::about(&minutes);
    let first = index().search(&query, 7).expect("searchable");
    assert!(!first.passages.is_empty());
    for _ in 0..5 {
        assert_eq!(index().search(&query, 7).expect("searchable"), first);
    }
}

#[test]
fn the_digest_changes_with_any_document_and_with_nothing_else() {
    let copy = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(folder()).expect("readable") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, copy.path().join(path.file_name().expect("a file"))).expect("copied");
    }
    let before = PolicyIndex::open(copy.path()).expect("complete");
    assert_eq!(before.source_digest(), index().source_digest());
    let voting = copy.path().join("voting.md");
    let text = std::fs::read_to_string(&voting).expect("readable");
    std::fs::rename(&voting, copy.path().join("a-vote.md")).expect("renamed");
    let renamed = PolicyIndex::open(copy.path()).expect("complete");
    assert_eq!(renamed.source_digest(), before.source_digest());
    let cite = text.replace("allowed_use: quote", "allowed_use: cite");
    std::fs::write(copy.path().join("a-vote.md"), cite).expect("writable");
    let changed = PolicyIndex::open(copy.path()).expect("complete");
    assert_ne!(changed.source_digest(), before.source_digest());
}

#[test]
fn a_folder_that_is_not_complete_is_refused_with_the_file() {
    let empty = tempfile::tempdir().expect("a folder");
    let opened = PolicyIndex::open(empty.path());
    assert!(
        matches!(opened, Err(PolicyError::Count { count: 0, .. })),
        "{opened:?}"
    );
    let gone = PolicyIndex::open(&empty.path().join("gone"));
    assert!(matches!(gone, Err(PolicyError::Read { .. })), "{gone:?}");
    let voting = std::fs::read_to_string(folder().join("voting.md")).expect("readable");
    std::fs::write(empty.path().join("a.md"), &voting).expect("writable");
    std::fs::write(empty.path().join("b.md"), &voting).expect("writable");
    let twice = PolicyIndex::open(empty.path());
    assert!(
        matches!(&twice, Err(PolicyError::RepeatedId { id, .. }) if id == "POL-04"),
        "{twice:?}"
    );
    std::fs::write(empty.path().join("b.md"), "# no front matter\n").expect("writable");
    let broken = PolicyIndex::open(empty.path());
    assert!(
        matches!(&broken, Err(PolicyError::Document { path, .. }) if path.ends_with("b.md")),
        "{broken:?}"
    );
}
