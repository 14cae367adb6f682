//! Reading, writing and walking canonical JSON. It must never compare our writer only with our
//! reader: expectations are spelled out here.

use mainstay_types::Code;
use mainstay_types::json::{
    BYTES_MAX, DEPTH_MAX, JsonError, Object, Place, Position, Value, parse, parse_within,
};
use proptest::prelude::*;

fn canonical(text: &str) -> String {
    parse(text).expect("the text is JSON").to_canonical()
}

/// Reads `text`, which must fail at `line` and `column` with this reason.
fn check_refused(text: &str, reason: &str, line: usize, column: usize) {
    let error = parse(text).expect_err(text);
    let at = error.position().expect("reading fails at a position");
    assert_eq!(
        (error.reason(), at.line, at.column),
        (reason, line, column),
        "{text:?}: {error}"
    );
    assert_eq!(error.code(), Code::InvalidInput);
}

#[test]
fn keys_are_ordered_by_utf16_units_not_by_code_points() {
    let text = r#"{
        "\u20ac": "Euro", "\r": "Return", "\ufb33": "Dalet", "1": "One",
        "\ud83d\ude02": "Tears", "\u0080": "Control", "\u00f6": "O"
    }"#;
    let expected = "{\"\\r\":\"Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"\u{f6}\":\"O\",\
        \"\u{20ac}\":\"Euro\",\"\u{1f602}\":\"Tears\",\"\u{fb33}\":\"Dalet\"}";
    assert_eq!(canonical(text), expected);
}

#[test]
fn a_key_is_ordered_before_the_longer_key_it_begins() {
    let text = "{\"ab\":1,\"a\":2,\"\":3,\"B\":4,\"a\u{1f600}\":5,\"a\u{e000}\":6}";
    let expected = "{\"\":3,\"B\":4,\"a\":2,\"ab\":1,\"a\u{1f600}\":5,\"a\u{e000}\":6}";
    assert_eq!(canonical(text), expected);
}

#[test]
fn order_reaches_objects_inside_lists_and_objects() {
    assert_eq!(
        canonical(
            " { \"z\" : [ {\"b\":1 , \"a\":[ ] } , { } ] , \"y\" : { \"d\":null,\"c\":true } }"
        ),
        r#"{"y":{"c":true,"d":null},"z":[{"a":[],"b":1},{}]}"#,
    );
}

#[test]
fn only_what_must_be_escaped_is_escaped() {
    let cases = [
        ("\u{8}\t\n\u{c}\r", r#""\b\t\n\f\r""#),
        ("\"\\/", r#""\"\\/""#),
        ("\u{0}\u{b}\u{f}\u{1f}", r#""\u0000\u000b\u000f\u001f""#),
        (
            "\u{7f}\u{80}\u{2028}\u{feff}\u{1f602}é",
            "\"\u{7f}\u{80}\u{2028}\u{feff}\u{1f602}é\"",
        ),
        ("", r#""""#),
    ];
    for (text, expected) in cases {
        assert_eq!(Value::from(text).to_canonical(), expected);
        assert_eq!(
            parse(expected).expect("our text is JSON"),
            Value::from(text)
        );
    }
}

#[test]
fn every_escape_is_read() {
    assert_eq!(
        parse(r#""\"\\\/\b\f\n\r\t\u0041\u00E9\u20ac\uD83D\uDE02\uffff""#).expect("JSON"),
        Value::from("\"\\/\u{8}\u{c}\n\r\tAé€\u{1f602}\u{ffff}"),
    );
}

#[test]
fn what_the_grammar_forbids_is_refused_where_it_stands() {
    let cases = [
        ("", 1, 1),
        ("  \n ", 2, 2),
        ("nul", 1, 1),
        ("tru e", 1, 1),
        ("[1,]", 1, 4),
        ("[1 2]", 1, 4),
        ("[,1]", 1, 2),
        ("[1", 1, 3),
        ("{\"a\":1,}", 1, 8),
        ("{\"a\" 1}", 1, 6),
        ("{\"a\":}", 1, 6),
        ("{a:1}", 1, 2),
        ("{'a':1}", 1, 2),
        ("{1:1}", 1, 2),
        ("{", 1, 2),
        ("01", 1, 2),
        ("-", 1, 2),
        ("-01", 1, 3),
        ("+1", 1, 1),
        (".5", 1, 1),
        ("1.", 1, 3),
        ("1.e5", 1, 3),
        ("1e", 1, 3),
        ("1e+", 1, 4),
        ("0x10", 1, 2),
        ("NaN", 1, 1),
        ("Infinity", 1, 1),
        ("-Infinity", 1, 2),
        ("\"abc", 1, 5),
        ("\"a\nb\"", 1, 3),
        ("\"a\u{1}b\"", 1, 3),
        ("\"\\x\"", 1, 3),
        ("\"\\", 1, 3),
        ("\"\\u12", 1, 6),
        ("\"\\u12g4\"", 1, 6),
        ("\"\\u+123\"", 1, 4),
        ("1 1", 1, 3),
        ("null,", 1, 5),
        ("[]]", 1, 3),
        ("// no\n1", 1, 1),
        ("[1,\n 2,\n é]", 3, 2),
        ("\"éé\" x", 1, 6),
        ("\u{a0}1", 1, 1),
        ("\u{feff}1", 1, 1),
        ("1\u{feff}", 1, 2),
    ];
    for (text, line, column) in cases {
        check_refused(text, "JSON_SYNTAX", line, column);
    }
}

#[test]
fn lone_surrogates_are_refused_at_their_escape() {
    for text in [
        r#""a\ud83d""#,
        r#""a\ude02""#,
        r#""a\ud83dx""#,
        r#""a\ud83d\n""#,
        r#""a\ud83d\u0041""#,
        r#""a\ud83d\ud83d\ude02""#,
        r#""a\ude02\ud83d""#,
    ] {
        check_refused(text, "JSON_SYNTAX", 1, 3);
    }
}

#[test]
fn a_position_counts_bytes_and_characters_apart() {
    let error = parse("[\n\"é\" 1]").expect_err("a comma is missing");
    let at = Position {
        byte: 7,
        line: 2,
        column: 5,
    };
    assert_eq!(
        error,
        JsonError::Syntax {
            at,
            expected: "`,` or `]`"
        }
    );
    assert_eq!(
        error.to_string(),
        "expected `,` or `]` at line 2 column 5 (byte 7)"
    );
    assert_eq!(error.path(), None);
}

#[test]
fn a_key_seen_twice_is_refused_however_it_is_spelled() {
    check_refused("{\"a\":1,\n \"\\u0061\":1}", "JSON_DUPLICATE_KEY", 2, 2);
    check_refused(
        r#"[{"k":{}, "x":{"y":1,"y":2}}]"#,
        "JSON_DUPLICATE_KEY",
        1,
        22,
    );
    assert!(
        parse(r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#).is_ok(),
        "other objects have own keys"
    );
    // Equal to the eye, different as text: no normalization happens.
    assert!(parse("{\"\u{e9}\":1,\"e\u{301}\":1}").is_ok());
}

#[test]
fn depth_is_bounded_at_its_limit() {
    let nest = |open: &str, close: &str, n: usize| open.repeat(n) + "1" + &close.repeat(n);
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deepest = nest(open, close, DEPTH_MAX);
        assert_eq!(canonical(&deepest), deepest);
        let error = parse(&nest(open, close, DEPTH_MAX + 1)).expect_err("one level too deep");
        assert_eq!(error.reason(), "JSON_TOO_DEEP");
    }
    let hostile = parse(&"[".repeat(1_000_000)).expect_err("far too deep");
    let at = Position {
        byte: DEPTH_MAX,
        line: 1,
        column: DEPTH_MAX + 1,
    };
    assert_eq!(
        hostile,
        JsonError::TooDeep {
            at: Place::Text(at),
            max: DEPTH_MAX
        }
    );
}

#[test]
fn length_is_bounded_before_anything_is_read() {
    assert_eq!(parse_within("[1]", 3), Ok(Value::list([1])));
    assert_eq!(
        parse_within("[1]", 2),
        Err(JsonError::TooLarge { bytes: 3, max: 2 })
    );
    let spaces = " ".repeat(BYTES_MAX);
    assert_eq!(
        parse(&spaces).expect_err("no value").reason(),
        "JSON_SYNTAX"
    );
    assert_eq!(
        parse(&(spaces + "1")).expect_err("too long").reason(),
        "JSON_TOO_LARGE"
    );
}

#[test]
fn a_pointer_walks_objects_and_lists() {
    let value = parse(r#"{"a":[{"b":7},[true]],"":1,"x/y":2,"m~n":3,"~1":4,"0":5}"#).expect("JSON");
    let at = |pointer: &str| value.pointer(pointer).map(Value::to_canonical);
    assert_eq!(value.pointer(""), Some(&value));
    assert_eq!(at("/a/0/b").as_deref(), Some("7"));
    assert_eq!(at("/a/1/0").as_deref(), Some("true"));
    assert_eq!(at("/").as_deref(), Some("1"));
    assert_eq!(at("/x~1y").as_deref(), Some("2"));
    assert_eq!(at("/m~0n").as_deref(), Some("3"));
    assert_eq!(at("/~01").as_deref(), Some("4"));
    assert_eq!(at("/0").as_deref(), Some("5"));
    for nowhere in [
        "a", "/b", "/a/2", "/a/-", "/a/00", "/a/+1", "/a/", "/a/0/b/c", "/m~2n", "/m~",
    ] {
        assert_eq!(at(nowhere), None, "{nowhere}");
    }
}

#[test]
fn accessors_answer_only_for_their_own_kind() {
    let value = Value::object([
        ("text", Value::from("t")),
        ("truth", true.into()),
        ("none", Option::<u8>::None.into()),
        ("list", vec![1, 2].into()),
        ("below", (-1).into()),
        ("high", u64::MAX.into()),
        ("huge", u128::MAX.into()),
        ("half", Value::float(0.5).expect("finite")),
    ]);
    let entry = |key: &str| value.get(key).expect("the key is there");
    assert_eq!(entry("text").as_str(), Some("t"));
    assert_eq!(entry("text").as_u64(), None);
    assert_eq!(entry("truth").as_bool(), Some(true));
    assert_eq!(entry("truth").as_str(), None);
    assert!(entry("none").is_null() && !entry("truth").is_null());
    assert_eq!(
        entry("list").as_list(),
        Some([Value::Int(1), Value::Int(2)].as_slice())
    );
    assert_eq!(entry("list").get("0"), None);
    assert_eq!(
        (entry("below").as_i64(), entry("below").as_u64()),
        (Some(-1), None)
    );
    assert_eq!(
        (entry("below").as_i128(), entry("below").as_u128()),
        (Some(-1), None)
    );
    assert_eq!(
        (entry("high").as_i64(), entry("high").as_u64()),
        (None, Some(u64::MAX))
    );
    assert_eq!(
        (entry("huge").as_i128(), entry("huge").as_u128()),
        (None, Some(u128::MAX))
    );
    assert_eq!(
        (entry("half").as_f64(), entry("half").as_i64()),
        (Some(0.5), None)
    );
    assert_eq!(value.as_object().map(Object::len), Some(8));
    assert_eq!(value.get("absent"), None);
    assert_eq!(value.to_string().parse::<Value>(), Ok(value));
}

#[test]
#[should_panic(expected = "written twice")]
fn an_object_written_in_code_with_a_key_twice_is_a_bug() {
    let _never = Value::object([("a", 1), ("a", 2)]);
}

fn any_text() -> impl Strategy<Value = String> {
    let chars = prop_oneof![
        3 => any::<char>(),
        2 => prop::char::range('\0', '\u{2f}'),
        1 => prop::char::range('\u{d000}', '\u{d7ff}'),
        1 => prop::char::range('\u{e000}', '\u{10ffff}'),
        1 => Just('\\'),
        1 => Just('"'),
    ];
    prop::collection::vec(chars, 0..8).prop_map(String::from_iter)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i128>().prop_map(Value::from),
        any::<u128>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| Value::float(f).ok()),
        (-1e22..1e22).prop_map(|f| Value::float(f).expect("finite")),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::btree_map(any_text(), inner, 0..6).prop_map(Value::Object),
        ]
    })
}

proptest! {
    #[test]
    fn a_canonical_text_reads_back_as_the_equal_value(value in any_value()) {
        let text = value.to_canonical();
        prop_assert_eq!(parse(&text), Ok(value));
    }

    #[test]
    fn values_are_equal_exactly_when_their_texts_are(a in any_value(), b in any_value()) {
        prop_assert_eq!(a == b, a.to_canonical() == b.to_canonical());
    }

    #[test]
    fn canonical_text_is_a_fixed_point(value in any_value()) {
        // Another writer's spelling of the same data: spaces, other escapes, other key order.
        let text = serde_json::from_str::<serde_json::Value>(&value.to_canonical())
            .map(|data| serde_json::to_string_pretty(&data).expect("a tree prints"))
            .expect("our text is JSON to others");
        let once = canonical(&text);
        prop_assert_eq!(canonical(&once), once);
    }

    #[test]
    fn another_reader_sees_the_same_texts_and_keys(text in any_text()) {
        let ours = Value::object([(text.clone(), text.clone())]).to_canonical();
        let theirs: serde_json::Value = serde_json::from_str(&ours).expect("our text is JSON");
        prop_assert_eq!(theirs.get(&text).and_then(serde_json::Value::as_str), Some(&*text));
    }

    #[test]
    fn any_text_is_read_or_refused_as_another_reader_does(
        text in "[\\[\\]{}:,\"\\\\u0-9a-f.eE+ tn-]{0,24}",
    ) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match parse(&text) {
            Ok(_) => prop_assert!(theirs.is_ok(), "{text:?} is accepted only here"),
            Err(JsonError::DuplicateKey { .. }) => {}
            Err(error) => prop_assert!(theirs.is_err(), "{text:?} is refused only here: {error}"),
        }
    }
}
