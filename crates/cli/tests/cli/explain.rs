//! `error`.

use mainstay_types::{Code, Reason};
use serde_json::json;

use crate::support::say;

#[test]
fn a_code_has_its_page_in_any_case() {
    for text in ["STORE_LOCKED", "store_locked", "store-locked"] {
        assert_eq!(say(&["error", text]).data(), Code::StoreLocked.page());
    }
    let shown = say(&["error", "STORE_LOCKED", "--json"]).json();
    assert_eq!(
        shown,
        json!({
            "code": "STORE_LOCKED",
            "family": "fault",
            "retry_helps": "later",
            "summary": "another process holds the store",
            "page": Code::StoreLocked.page(),
        })
    );
}

#[test]
fn without_a_code_all_are_listed() {
    let out = say(&["error"]).data();
    assert_eq!(out.lines().count(), Code::ALL.len() + 1, "{out}");
    let listed: Vec<&str> = out
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let all: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(listed, all);
    let shown = say(&["error", "--json"]).json();
    assert_eq!(shown["codes"].as_array().unwrap().len(), Code::ALL.len());
    assert_eq!(shown["codes"][0]["page"], serde_json::Value::Null);
}

#[test]
fn a_word_that_is_no_code_is_told_apart() {
    for (word, what) in [
        ("NONSENSE", "there is no such code"),
        ("EFFECT_UNKNOWN", "it is the failure kind of an attempt"),
    ] {
        let said = say(&["error", word]);
        let told =
            format!("no error code: {word}: {what}\n\nhint: `mainstay error` lists the codes\n");
        assert_eq!((said.code, said.out.as_str(), said.err), (1, "", told));
    }
}

#[test]
fn a_reason_says_what_it_means_and_what_to_do() {
    for (word, says, to_do) in [
        (
            "COMPENSATED",
            "has been undone since",
            "another business id",
        ),
        (
            "key-held-by-other-run",
            "Another run holds the key",
            "by hand",
        ),
        ("DONE_TWICE", "may be, too", "receiver's own books"),
        ("WRITE_RESPONSE_LOST", "no answer came", "by itself"),
    ] {
        let said = say(&["error", word]).data();
        assert!(said.contains(says) && said.contains(to_do), "{said}");
    }
    for reason in Reason::ALL.iter().map(|reason| reason.as_str()) {
        let said = say(&["error", reason]).data();
        assert!(said.starts_with(&format!("# {reason}\n")), "{said}");
    }
    let shown = say(&["error", "COMPENSATED", "--json"]).json();
    assert_eq!(shown["family"], "reason");
    assert_eq!(shown["retry_helps"], serde_json::Value::Null);
}
