//! Canonical JSON of serde values, against serde_json's data model and against spelled-out texts.
//! It must never compare floats by their text: `1.0` is `1` here and `1.0` there.
#![cfg(feature = "serde")]

use std::collections::{BTreeMap, HashMap};

use mainstay_types::json::{parse, to_canonical};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Serializes `value`: ours must be `expected`, and the data serde_json makes of it.
fn check<T: Serialize + ?Sized>(value: &T, expected: &str) {
    let ours = to_canonical(value).expect(expected);
    assert_eq!(ours, expected);
    let theirs = serde_json::to_string(value).expect(expected);
    assert_eq!(
        parse(&theirs)
            .expect("serde_json writes JSON")
            .to_canonical(),
        expected
    );
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapper(i64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pair(u8, String);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Plain {
    Red,
    #[serde(rename = "dark blue")]
    Blue,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum External {
    Unit,
    New(u64),
    Tuple(i8, bool),
    Named { z: f64, a: Option<String> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
enum Internal {
    Empty,
    Named { z: u64, a: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Empty,
    New(Vec<i64>),
    Named { x: i64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Named { only: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    absent: Option<u8>,
    depth: i16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    zulu: u64,
    scores: HashMap<String, f64>,
    by_number: HashMap<i32, Vec<Wrapper>>,
    by_color: BTreeMap<Plain, char>,
    external: Vec<External>,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Untagged,
    pair: (Pair, Unit, ()),
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    rare: Vec<bool>,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: HashMap<String, String>,
}

#[test]
fn scalars_look_as_serde_json_writes_them() {
    check(&(), "null");
    check(&Unit, "null");
    check(&true, "true");
    check(&'é', "\"é\"");
    check("a\"b", r#""a\"b""#);
    check(&u64::MAX, "18446744073709551615");
    check(&i64::MIN, "-9223372036854775808");
    check(&u128::MAX, "340282366920938463463374607431768211455");
    check(&i128::MIN, "-170141183460469231731687303715884105728");
    check(&Option::<u8>::None, "null");
    check(&Some(Some(3_u8)), "3");
    check(&1.0_f64, "1");
    check(&-0.0_f64, "0");
    check(&1e21_f64, "1e+21");
    check(&0.1_f32, "0.1");
    check(&f32::MAX, "3.4028235e+38");
    check(&Wrapper(-5), "-5");
    check(&std::net::Ipv4Addr::LOCALHOST, "\"127.0.0.1\"");
}

#[test]
fn the_one_single_whose_short_text_misleads_readers_is_written_in_full() {
    for number in [7.038531e-26_f32, -7.038531e-26_f32] {
        let text = to_canonical(&number).expect("finite");
        let double: f64 = text.parse().expect("a number");
        assert_eq!(double, f64::from(number), "{text} is the exact value");
    }
    check(&7.03853e-26_f32, "7.03853e-26");
}

#[test]
fn enums_keep_their_tagging() {
    check(&Plain::Blue, r#""dark blue""#);
    check(&External::Unit, r#""Unit""#);
    check(&External::New(7), r#"{"New":7}"#);
    check(&External::Tuple(-1, true), r#"{"Tuple":[-1,true]}"#);
    check(
        &External::Named { z: 0.5, a: None },
        r#"{"Named":{"a":null,"z":0.5}}"#,
    );
    check(&Internal::Empty, r#"{"type":"Empty"}"#);
    check(
        &Internal::Named { z: 1, a: true },
        r#"{"a":true,"type":"Named","z":1}"#,
    );
    check(&Adjacent::Empty, r#"{"t":"Empty"}"#);
    check(&Adjacent::New(vec![2, 1]), r#"{"c":[2,1],"t":"New"}"#);
    check(&Adjacent::Named { x: 1 }, r#"{"c":{"x":1},"t":"Named"}"#);
    check(&Untagged::Number(1), "1");
    check(&Untagged::Named { only: true }, r#"{"only":true}"#);
}

#[test]
fn flattened_and_skipped_fields_leave_no_trace() {
    let rest = BTreeMap::from([("b", 2), ("Z", 1)]);
    #[derive(Serialize)]
    struct Flat<'a> {
        zulu: u8,
        #[serde(flatten)]
        inner: Inner,
        #[serde(flatten)]
        tagged: Internal,
        #[serde(flatten)]
        rest: &'a BTreeMap<&'a str, u8>,
    }
    let tagged = Internal::Named { z: 9, a: false };
    let flat = Flat {
        zulu: 0,
        inner: Inner {
            absent: None,
            depth: 1,
        },
        tagged,
        rest: &rest,
    };
    check(
        &flat,
        r#"{"Z":1,"a":false,"b":2,"depth":1,"type":"Named","z":9,"zulu":0}"#,
    );
    check(
        &Inner {
            absent: Some(4),
            depth: -1,
        },
        r#"{"absent":4,"depth":-1}"#,
    );
}

#[test]
fn keys_that_are_scalars_become_texts() {
    check(
        &BTreeMap::from([(10, 'a'), (9, 'b'), (-1, 'c')]),
        r#"{"-1":"c","10":"a","9":"b"}"#,
    );
    check(
        &BTreeMap::from([(u64::MAX, 1)]),
        r#"{"18446744073709551615":1}"#,
    );
    check(
        &BTreeMap::from([(u128::MAX, 1)]),
        r#"{"340282366920938463463374607431768211455":1}"#,
    );
    check(
        &BTreeMap::from([(true, 1), (false, 2)]),
        r#"{"false":2,"true":1}"#,
    );
    check(&BTreeMap::from([('€', 1), ('\n', 2)]), r#"{"\n":2,"€":1}"#);
    check(
        &BTreeMap::from([(Plain::Red, 1), (Plain::Blue, 2)]),
        r#"{"Red":1,"dark blue":2}"#,
    );
    check(
        &BTreeMap::from([(std::net::Ipv4Addr::LOCALHOST, 1)]),
        r#"{"127.0.0.1":1}"#,
    );
    let utf16 = BTreeMap::from([("\u{1f602}", 1), ("\u{fb33}", 2)]);
    check(&utf16, "{\"\u{1f602}\":1,\"\u{fb33}\":2}");
}

#[test]
fn the_order_of_insertion_and_the_hash_seed_leave_no_trace() {
    let key = |n: usize| format!("key {}", n * 7919 % 100);
    let map = |shift: usize| -> HashMap<String, usize> {
        (0..100)
            .map(|n| key((n * 37 + shift) % 100))
            .map(|k| (k.clone(), k.len()))
            .collect()
    };
    let mut sorted: Vec<String> = (0..100).map(key).collect();
    sorted.sort();
    let entries: Vec<String> = sorted
        .iter()
        .map(|k| format!("\"{k}\":{}", k.len()))
        .collect();
    let expected = format!("{{{}}}", entries.join(","));
    let maps: Vec<_> = (0..20).map(map).collect();
    let first: Vec<&String> = maps[0].keys().collect();
    let shuffled = maps
        .iter()
        .any(|map| map.keys().collect::<Vec<_>>() != first);
    assert!(
        shuffled,
        "the maps iterate in different orders, or this test shows nothing"
    );
    for map in &maps {
        assert_eq!(to_canonical(map), Ok(expected.clone()));
    }
}

fn any_external() -> impl Strategy<Value = External> {
    prop_oneof![
        Just(External::Unit),
        any::<u64>().prop_map(External::New),
        any::<(i8, bool)>().prop_map(|(a, b)| External::Tuple(a, b)),
        (any_double(), any::<Option<String>>()).prop_map(|(z, a)| External::Named { z, a }),
    ]
}

fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any::<i32>().prop_map(f64::from),
        -1e22..1e22
    ]
    .prop_filter("finite", |f| f.is_finite())
}

fn any_tagged() -> impl Strategy<Value = (Internal, Adjacent, Untagged)> {
    (
        prop_oneof![
            Just(Internal::Empty),
            any::<(u64, bool)>().prop_map(|(z, a)| Internal::Named { z, a }),
        ],
        prop_oneof![
            Just(Adjacent::Empty),
            any::<Vec<i64>>().prop_map(Adjacent::New),
            any::<i64>().prop_map(|x| Adjacent::Named { x }),
        ],
        prop_oneof![
            any::<i64>().prop_map(Untagged::Number),
            any::<String>().prop_map(Untagged::Text),
            any::<bool>().prop_map(|only| Untagged::Named { only }),
        ],
    )
}

type Maps = (
    HashMap<String, f64>,
    HashMap<i32, Vec<Wrapper>>,
    BTreeMap<Plain, char>,
);

fn any_maps() -> impl Strategy<Value = Maps> {
    let wrappers = prop::collection::vec(any::<i64>().prop_map(Wrapper), 0..3);
    let color = prop_oneof![Just(Plain::Red), Just(Plain::Blue)];
    (
        prop::collection::hash_map(any::<String>(), any_double(), 0..12),
        prop::collection::hash_map(any::<i32>(), wrappers, 0..6),
        prop::collection::btree_map(color, any::<char>(), 0..3),
    )
}

prop_compose! {
    fn any_everything()(
        (scores, by_number, by_color) in any_maps(),
        (internal, adjacent, untagged) in any_tagged(),
        zulu in prop_oneof![any::<u64>(), Just(u64::MAX)],
        external in prop::collection::vec(any_external(), 0..4),
        pair in any::<(u8, String)>().prop_map(|(n, s)| (Pair(n, s), Unit, ())),
        rare in any::<Vec<bool>>(),
        inner in any::<(Option<u8>, i16)>().prop_map(|(absent, depth)| Inner { absent, depth }),
        // Upper case: a flattened name that a field has too is refused, and tested above.
        rest in prop::collection::hash_map("[A-Z\u{1f600}-\u{1f64f}\u{e000}]{1,3}", ".{0,3}", 0..5),
    ) -> Everything {
        Everything {
            zulu, scores, by_number, by_color, external, internal, adjacent, untagged, pair, rare,
            inner, rest,
        }
    }
}

/// Whether both trees hold the same data, numbers compared by value.
fn same_data(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_data(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            let same = |(key, a)| b.get(key).is_some_and(|b| same_data(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        (Json::Number(a), Json::Number(b)) if a.is_f64() || b.is_f64() => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn serde_json_reads_from_our_text_what_it_would_have_written(value in any_everything()) {
        let ours = to_canonical(&value).expect("all of it is finite");
        let read: serde_json::Value = serde_json::from_str(&ours).expect("our text is JSON");
        let theirs = serde_json::to_value(&value).expect("all of it is finite");
        prop_assert!(same_data(&read, &theirs), "{ours}\n{theirs}");
        prop_assert_eq!(parse(&ours).expect("our text is JSON").to_canonical(), ours);
    }

    #[test]
    fn a_user_value_comes_back_from_its_text_unchanged(value in any_everything()) {
        let ours = to_canonical(&value).expect("all of it is finite");
        let back: Everything = serde_json::from_str(&ours).expect("the text fits the type");
        prop_assert_eq!(&back, &value);
        prop_assert_eq!(to_canonical(&back).expect("finite"), ours);
    }

    #[test]
    fn a_single_comes_back_to_the_same_bits(bits in any::<u32>()) {
        let number = f32::from_bits(bits);
        if number.is_finite() && number != 0.0 {
            let text = to_canonical(&number).expect("finite");
            let back: f32 = serde_json::from_str(&text).expect("a number");
            prop_assert_eq!(back.to_bits(), bits, "{}", text);
        }
    }
}
