//! Misuse of the builder does not compile, and the compiler names the way out. A case never tests
//! more than one mistake, and `fixes` holds the words its text must have.

use std::path::Path;

/// Each case, and what its error must say.
const FIXES: [(&str, &str); 16] = [
    ("write_without_find", "missing: `find`"),
    ("write_without_resolution", "missing: `RESOLUTION`"),
    ("soft_write", "`.when(&predicate)`"),
    ("write_with_other_provider", "`.or_human()`"),
    (
        "read_with_effect",
        "implement `Write` and use `.write(..)` or `.each(..)`",
    ),
    ("read_undone", "only a write can be undone"),
    ("write_as_read", "use `.write(..)` or `.each(..)`"),
    (
        "local_with_timeout",
        "leave the setting out, or make it a `.read(..)`",
    ),
    ("soft_ref_as_if_there", "found `Option<&Vec<String>>`"),
    (
        "closure_with_wrong_argument",
        "(&'b Vec<String>, &'b Vec<String>)",
    ),
    (
        "closure_with_wrong_result",
        "expected `String`, found `usize`",
    ),
    ("nine_refs", "nest them: `((a, b, c, d, e), (f, g, h, i))`"),
    ("predicate_as_ref", "it goes to `.when(&predicate)`"),
    ("tool_as_ref", "it goes to `.offer(&tool)`"),
    (
        "value_without_schema",
        "#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]",
    ),
    (
        "business_id_from_a_value",
        "expected closure that takes 1 argument",
    ),
];

#[test]
fn each_mistake_is_refused_with_the_way_out() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/good.rs");
    for (case, _) in FIXES {
        cases.compile_fail(format!("tests/ui/{case}.rs"));
    }
}

#[test]
fn the_recorded_texts_name_the_fix() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    for (case, fix) in FIXES {
        let text = std::fs::read_to_string(folder.join(case).with_extension("stderr"));
        let text = text.unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(text.contains(fix), "{case} does not say `{fix}`:\n{text}");
    }
    let cases = std::fs::read_dir(&folder).expect("the folder of the cases");
    let cases = cases.filter_map(Result::ok).filter(|entry| {
        entry.path().extension().is_some_and(|end| end == "rs") && entry.file_name() != "good.rs"
    });
    assert_eq!(
        cases.count(),
        FIXES.len(),
        "a case without a fix, or a fix without a case"
    );
}
